"""How long polls take: one client, one connection that is kept, as many polls after another as fit into a moment."""

import http.client
import time
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any

import psutil

from bench.figures import percentile
from bench.peers.conversation import PeerFailed, Poll

LEAST = 8
"""So many polls at least, however long they take."""


@dataclass(frozen=True, slots=True)
class Size:
    """How much an answer is on the wire, and whether it has a mark by which a client can ask for news alone."""

    body: int
    all: int
    etag: str | None


def size(poll: Poll) -> Size:
    """What one answer to *poll* takes."""
    with closing(_connection(poll)) as connection:
        answer, body = _ask(connection, poll)
        head = sum(len(name) + len(value) + len(": \r\n") for name, value in answer.getheaders())
        status_line = len(f"HTTP/1.1 {answer.status} {answer.reason}\r\n\r\n")
        return Size(len(body), len(body) + head + status_line, answer.getheader("etag"))


def burst(poll: Poll, seconds: float, processes: Sequence[int] = ()) -> dict[str, float]:
    """Polls a second, their p50 and p95, and what the *processes* worked for each."""
    took: list[float] = []
    with closing(_connection(poll)) as connection:
        _ask(connection, poll)  # the connection, and whatever is made at the first
        worked, began = worked_by(processes), time.perf_counter()
        while (now := time.perf_counter()) - began < seconds or len(took) < LEAST:
            _ask(connection, poll)
            took.append((time.perf_counter() - now) * 1_000)
        lasted = time.perf_counter() - began
    measured = {
        "per_second": round(len(took) / lasted, 1),
        "p50_ms": round(percentile(took, 50), 3),
        "p95_ms": round(percentile(took, 95), 3),
    }
    if processes:
        measured["cpu_ms"] = round((worked_by(processes) - worked) * 1_000 / len(took), 3)
    return measured


def worked_by(processes: Sequence[int]) -> float:
    """How many seconds of CPU the *processes* have had."""
    total = 0.0
    for pid in processes:
        try:
            times = psutil.Process(pid).cpu_times()
        except psutil.NoSuchProcess:
            continue
        total += times.user + times.system
    return total


def _connection(poll: Poll) -> http.client.HTTPConnection:
    return http.client.HTTPConnection("127.0.0.1", poll.port, timeout=30)


def _ask(connection: http.client.HTTPConnection, poll: Poll) -> tuple[Any, bytes]:
    connection.request("GET", poll.path, headers=dict(poll.headers))
    answer = connection.getresponse()
    body = answer.read()
    if answer.status not in poll.works:
        raise PeerFailed(f"{poll.what} was answered with {answer.status}: {body[:200]!r}")
    return answer, body
