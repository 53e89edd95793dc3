"""The log of the functions that load little: lines of the same shape as the other functions', once each."""

import io
import json
import logging
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from aws_lambda_powertools import Logger

from turnkeeper.edge.lines import Lines

ROOT = Path(__file__).parents[2]
FACTS = {"route": "GET /v1/tasks/{task_id}", "status": 404, "when": object()}
SPEAKS = """
import logging, sys
logging.basicConfig(stream=sys.stdout, level="INFO", format="lambda's own: %(message)s")
from turnkeeper.edge import lines
lines.speak()
lines.speak()
logging.getLogger("turnkeeper.store").info("quiet")
logging.getLogger("turnkeeper").warning("loud", extra={"status": 503})
logging.getLogger("botocore").warning("a library")
"""


def line_of(logger: logging.Logger, stream: io.StringIO) -> dict[str, Any]:
    logger.error("request", extra=FACTS)
    said: dict[str, Any] = json.loads(stream.getvalue())
    return said


@pytest.fixture
def as_it_was() -> Iterator[None]:
    """What a Logger of powertools changes of all that is logged is taken back."""
    handlers = logging.getLogger().handlers
    filters = [list(handler.filters) for handler in handlers]
    yield
    for handler, before in zip(handlers, filters, strict=True):
        handler.filters[:] = before


@pytest.mark.usefixtures("as_it_was")
def test_a_line_has_what_powertools_would_say() -> None:
    theirs = io.StringIO()
    # By another name: the functions may have made the one of ours, with its stream.
    powertools = Logger(service="another", location=None, stream=theirs)
    ours = io.StringIO()
    plain, handler = logging.getLogger("plain"), logging.StreamHandler(ours)
    handler.setFormatter(Lines())
    plain.addHandler(handler)
    plain.propagate = False

    said, wanted = line_of(plain, ours), line_of(powertools, theirs)  # type: ignore[arg-type]

    assert said.keys() == wanted.keys()
    assert len(said["timestamp"]) == len(wanted["timestamp"])
    assert {name: said[name] for name in ("level", "message", "service", "route", "status")} == {
        "level": "ERROR",
        "message": "request",
        "service": "turnkeeper",
        "route": FACTS["route"],
        "status": 404,
    }


@pytest.mark.parametrize(("level", "heard"), [("INFO", ["quiet", "loud"]), ("WARNING", ["loud"])])
def test_the_product_is_heard_once_at_its_level_and_others_as_ever(level: str, heard: list[str]) -> None:
    path = os.pathsep.join([str(ROOT / "layers" / "shared" / "python")])

    said = subprocess.run(
        [sys.executable, "-c", SPEAKS],
        env={"PYTHONPATH": path, "POWERTOOLS_LOG_LEVEL": level},
        capture_output=True,
        text=True,
        check=True,
    ).stdout.splitlines()

    assert [json.loads(line)["message"] for line in said[:-1]] == heard
    assert said[-1] == "lambda's own: a library"
