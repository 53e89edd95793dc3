"""A whole run through the functions with secrets wherever secrets come in: none comes out where it must not."""

import json
import logging
import traceback
from collections.abc import Generator, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from aws_lambda_powertools.logging.filters import SuppressFilter

from tests.support.envelopes import developer, operator, public
from tests.support.gateway import Context, Gateway, forget_settings, load
from tests.support.hosting import Host, report, text
from tests.support.laboratory import ALICE, Laboratory
from turnkeeper import settings
from turnkeeper.agents import builtin
from turnkeeper.agents.protocol import Need, Pause, Say, Step, TurnView
from turnkeeper.domain.waits import WaitKind
from turnkeeper.service import agent_status

pytestmark = pytest.mark.usefixtures("developers")
EVENTS = Path(__file__).parents[2] / "events"
SAMPLE_ID = "5f0c1e9a7b3d4826a1c0de5f9b7e3d24"
PROMPT, ARGUMENT, RAISED, CAUSE, CLOSING, DIAGNOSIS, HEARD = (
    f"canary-{name}" for name in ("prompt", "argument", "raised", "cause", "closing", "diagnosis", "heard")
)
SECRETS = (PROMPT, ARGUMENT, RAISED, CAUSE, CLOSING, DIAGNOSIS, HEARD)


def refuse() -> Say:
    raise KeyError(CAUSE)


def pay(turn: TurnView) -> Say:
    try:
        return refuse()
    except KeyError as error:
        raise RuntimeError(f"card {RAISED} was refused for {turn.inputs}") from error


class Indiscreet:
    """Calls a tool with an argument that is nobody's business, and fails with words that are not either."""

    def run(self, turn: TurnView) -> Generator[Step, None, Say | None]:
        try:
            if turn.memo is None:
                ask = Need(id="r", kind=WaitKind.REVIEW, reviewer=ALICE, subject=f"Pay {ARGUMENT}?")
                yield Pause((ask,), memo={"tool": "pay", "arguments": {"card": ARGUMENT}})
            yield Say("Paying.")
            return pay(turn)
        finally:
            if turn.memo is None:
                raise OSError(CLOSING)


class Everything(logging.Handler):
    """Every record that anybody logs, with all that is in it, as a formatter might write it."""

    def __init__(self) -> None:
        super().__init__(logging.DEBUG)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        trace = "".join(traceback.format_exception(*record.exc_info)) if record.exc_info else ""
        self.lines.append(f"{record.getMessage()} {json.dumps(record.__dict__, default=str)} {trace}")


@pytest.fixture
def logged(api: Gateway) -> Iterator[Everything]:  # noqa: ARG001 - the functions load in its environment
    """What is logged meanwhile, as loudly as a deployment can be told to be."""
    for function in ("tasks", "host", "turns", "sweep"):
        load(function)
    handler, root, ours = Everything(), logging.getLogger(), logging.getLogger("turnkeeper")
    levels = [(logger, logger.level) for logger in (root, ours)]
    for logger in (root, ours):
        logger.addHandler(handler)
    root.setLevel(logging.INFO)
    ours.setLevel(logging.DEBUG)
    yield handler
    for logger, level in levels:
        logger.removeHandler(handler)
        logger.setLevel(level)


class Timed(Context):
    """A context that knows how long the function may still run."""

    def get_remaining_time_in_millis(self) -> int:
        return 50_000


def wake(task_id: str) -> dict[str, Any]:
    """What `turns` answers to a wake-up for the task."""
    event = (EVENTS / "turns" / "wake_up.json").read_text(encoding="utf-8")
    return load("turns")(json.loads(event.replace(SAMPLE_ID, task_id)), Timed())


def told(host: Host, task_id: str) -> str:
    """All that the public and developers are told of it."""
    header = host.api.get(f"/v1/tasks/{task_id}").headers["Agent-Status"]
    return json.dumps([public(host, task_id), developer(host, task_id), header])


@pytest.mark.clause("SEC-5")
@pytest.mark.clause("ENV-8")
@pytest.mark.clause("SEC-1")
def test_no_secret_comes_out_in_an_envelope_a_log_or_a_metric(
    host: Host,
    live_lab: Laboratory,
    logged: Everything,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setitem(builtin.AGENTS, "echo", Indiscreet)
    seen: list[str] = []

    ours = host.task(PROMPT, agent="echo")
    assert wake(ours) == {"batchItemFailures": []}
    seen.append(told(host, ours))
    (review,) = host.api.get("/v1/reviews").json["reviews"]
    host.api.post(f"/v1/reviews/{review['id']}", {"decision": "approve", "comment": PROMPT})
    for _ in range(8):
        wake(ours)
        seen.append(told(host, ours))
        turn = live_lab.stored(ours).turn
        if turn is None:
            break
        if turn.retry_at:
            later = turn.retry_at + timedelta(seconds=1)
            monkeypatch.setattr(settings, "utc_now", lambda now=later: now)
            forget_settings()
    assert live_lab.stored(ours).is_terminal

    theirs, fence = host.running(PROMPT)
    words = {"message": {"user": HEARD, "developer": HEARD}, "details": {"org.example.words": HEARD}}
    known = {"provenance": {"provider": "search", "notes": HEARD}, "mood": HEARD}
    assert host.report(theirs, fence, report(5001, "RATE_LIMITED", **words, **known)).status == 200
    seen.append(told(host, theirs))
    end = {
        "outcome": 5003,
        "message": {"user": "The library is closed."},
        "diagnostics": {"dependency": DIAGNOSIS, "details": {"org.example.raw": DIAGNOSIS}},
    }
    assert host.ask(theirs, "error", end).status == 200
    seen.append(told(host, theirs))
    assert host.ask(theirs, "finish", {"fence": fence, **text(PROMPT)}).status == 409
    load("sweep")(json.loads((EVENTS / "sweep" / "scheduled.json").read_text(encoding="utf-8")), Timed())

    out = capfd.readouterr()
    assert "CloudWatchMetrics" in out.out
    for secret in SECRETS:
        assert secret not in "".join(seen)
        assert not [line for line in logged.lines if secret in line]
        assert secret not in out.out + out.err
        assert not [
            entry for task in (ours, theirs) for entry in live_lab.journal(task) if secret in str(entry)
        ]
    assert DIAGNOSIS in json.dumps(operator(host, theirs))
    for task in (ours, theirs):
        whole = agent_status.for_auditor(live_lab.runtime, task_id=task, is_known=lambda _: False).envelope
        assert whole
        assert not [secret for secret in SECRETS if secret != DIAGNOSIS and secret in json.dumps(whole)]
    assert any("RuntimeError" in line and "test_canary" in line for line in logged.lines)


@pytest.mark.parametrize("function", ["turns", "sweep", "tasks", "host", "status"])
def test_what_the_service_logs_is_not_kept_from_the_log(api: Gateway, function: str) -> None:  # noqa: ARG001
    """A logger named as a function would have Lambda's own drop every record with that word in its name."""
    load(function)

    for name in ("turnkeeper.service.turns", "turnkeeper.service.sweep", "turnkeeper.queue"):
        record = logging.LogRecord(name, logging.ERROR, __file__, 1, "it failed", None, None)
        ours = logging.getLogger("turnkeeper").handlers
        assert any(handler.filter(record) for handler in ours)
        suppressed = {
            rule.logger
            for handler in logging.getLogger().handlers
            for rule in handler.filters
            if isinstance(rule, SuppressFilter)
        }
        assert suppressed <= {"turnkeeper"}
