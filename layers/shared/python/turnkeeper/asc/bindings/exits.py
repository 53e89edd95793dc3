"""Commands: a status as an exit code for scripts, and still the whole envelope for everybody else (BND-EXIT).

The code is ten times the class's digit; success is 0, once it has ended (MOD-5). Only an unknown result has one of its
own, because a script must never repeat it blindly (RET-4).
"""

import json
from collections.abc import Mapping
from typing import Any, TextIO

from turnkeeper.asc.registry import Code
from turnkeeper.asc.said import SaidStatus

RESULT_STATE_UNKNOWN = 61
NOT_FINISHED = 10


def exit_status(status: SaidStatus) -> int:
    """The exit code for *status*: 0 for success, 10 for work that goes on, else ten times the first digit."""
    if status.code == Code.RESULT_STATE_UNKNOWN:
        return RESULT_STATE_UNKNOWN
    match status.code // 1000:
        case 2:
            return 0 if status.terminal else NOT_FINISHED
        case 8:
            return 0
        case digit:
            return digit * NOT_FINISHED


def finish(status: SaidStatus, envelope: Mapping[str, Any], output: TextIO) -> int:
    """The exit code for *status*; the disclosed *envelope* stands as one line in *output*."""
    output.write(json.dumps(envelope, ensure_ascii=False) + "\n")
    return exit_status(status)
