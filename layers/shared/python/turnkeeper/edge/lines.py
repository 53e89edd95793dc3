"""The log of functions that load as little as they can: lines in the shape of powertools' Logger, without it.

They are the poll and `publish`: to import that Logger costs a tenth of a poll's cold start (docs/decisions/0090).
"""

import json
import logging
import os
import sys
import time

PRODUCT = "turnkeeper"
_OF_EVERY_RECORD = {*logging.makeLogRecord({}).__dict__, "message", "asctime"}
_encode = json.JSONEncoder(default=str).encode


class Lines(logging.Formatter):
    """A record as one JSON object: level, message, timestamp, service, and what was said beside."""

    converter = staticmethod(time.gmtime)

    def format(self, record: logging.LogRecord) -> str:
        """The line; what JSON cannot say stands in it as text."""
        line = {
            "level": record.levelname,
            "message": record.getMessage(),
            "timestamp": f"{self.formatTime(record)}+0000",
            "service": PRODUCT,
            **{name: value for name, value in vars(record).items() if name not in _OF_EVERY_RECORD},
        }
        return _encode(line)


def speak() -> None:
    """Have what the product logs written as lines, at the level that the stack sets; Lambda's own handler drops it."""
    product = logging.getLogger(PRODUCT)
    if product.handlers:
        return
    handler = logging.StreamHandler(sys.stdout)
    handler.setFormatter(Lines())
    product.addHandler(handler)
    product.setLevel(os.environ.get("POWERTOOLS_LOG_LEVEL", "INFO"))
    product.propagate = False
