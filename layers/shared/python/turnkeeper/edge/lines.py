"""The log of the one function that cannot afford powertools' Logger: its lines in the same shape, and nothing else.

Importing that Logger costs a tenth of what a cold start of the poll does (docs/decisions/0090).
"""

import json
import logging
import os
import sys
from datetime import UTC, datetime

PRODUCT = "turnkeeper"
_OF_EVERY_RECORD = {*logging.makeLogRecord({}).__dict__, "message", "asctime"}


class Lines(logging.Formatter):
    """A record as one JSON object: level, message, timestamp, service, and what was said beside."""

    def format(self, record: logging.LogRecord) -> str:
        """The line; what JSON cannot say stands in it as text."""
        at = datetime.fromtimestamp(record.created, UTC)
        line = {
            "level": record.levelname,
            "message": record.getMessage(),
            "timestamp": f"{at:%Y-%m-%d %H:%M:%S},{int(record.msecs):03d}+0000",
            "service": PRODUCT,
            **{name: value for name, value in vars(record).items() if name not in _OF_EVERY_RECORD},
        }
        return json.dumps(line, default=str)


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
