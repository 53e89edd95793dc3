"""Which machine it was, as far as figures depend on it, and how much of it others took; no name or path of its own."""

import platform
import re
import threading
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Self

import psutil
from pydantic import BaseModel, ConfigDict

LIBRARIES = ("aws-lambda-powertools", "boto3", "botocore", "moto", "pydantic")
LOOK_S = 0.25
BUSY = 0.15
"""Beyond this share of the machine's processors taken by others, times are no longer ours alone."""


class Machine(BaseModel):
    """What a figure depends on, other than the code."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    cpu: str
    cores: int
    memory_gb: float
    kernel: str
    python: str
    libraries: dict[str, str]


def this_machine() -> Machine:
    """The machine that this runs on."""
    return Machine(
        cpu=_cpu(),
        cores=psutil.cpu_count() or 1,
        memory_gb=round(psutil.virtual_memory().total / 1e9, 1),
        kernel=f"{platform.system()} {re.match(r'[0-9.]*', platform.release()).group()}",  # type: ignore[union-attr]
        python=platform.python_version(),
        libraries={name: found for name in LIBRARIES if (found := _version(name))},
    )


def load() -> float:
    """How many processes wanted a processor in the last minute."""
    return round(psutil.getloadavg()[0], 2)


def busy_seconds() -> float:
    """How many seconds the processors of this machine have worked, for whomever."""
    times = psutil.cpu_times()
    waited = sum(getattr(times, name, 0.0) for name in ("idle", "iowait"))
    twice = sum(getattr(times, name, 0.0) for name in ("guest", "guest_nice"))
    return float(sum(times) - waited - twice)


class Descendants:
    """What the processes worked that this one has started, and those that they started; it looks while it is open.

    Whoever ends without being waited for (an emulator on its leash) is known by the last look, and whoever is too short
    for a look by having been waited for: the greater of both counts.
    """

    def __init__(self) -> None:
        self._seen: dict[tuple[int, float], float] = {}
        self._reaped, self._is_over = _reaped(), threading.Event()
        self._looks = threading.Thread(target=self._look, daemon=True)

    def __enter__(self) -> Self:
        self._looks.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._is_over.set()
        self._looks.join()

    @property
    def seconds(self) -> float:
        """What they worked since this was made."""
        return max(sum(self._seen.values()), _reaped() - self._reaped)

    def _look(self) -> None:
        while not self._is_over.wait(LOOK_S):
            for process in psutil.Process().children(recursive=True):
                with suppress(psutil.Error), process.oneshot():
                    times = process.cpu_times()
                    self._seen[process.pid, process.create_time()] = times.user + times.system


def _reaped() -> float:
    times = psutil.Process().cpu_times()
    return float(times.children_user + times.children_system)


def _cpu() -> str:
    try:
        told = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    except OSError:
        told = ""
    found = re.search(r"^model name\s*: (.+)$", told, re.MULTILINE)
    return found.group(1).strip() if found else platform.processor() or platform.machine()


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None
