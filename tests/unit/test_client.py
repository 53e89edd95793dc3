"""The client by itself: repeats as Agent Status Codes have it, answers nobody has seen yet, two sides that agree."""

import inspect
from datetime import UTC, datetime
from itertools import product
from typing import Any

import pytest

from turnkeeper.asc.registry import Code
from turnkeeper.asc.retry import Budget, Contract, SideEffects, should_retry
from turnkeeper.edge.problems import PROBLEMS, problem
from turnkeeper_client import AsyncClient, Client, NotUnderstood, Patience, Refused
from turnkeeper_client.errors import refusal
from turnkeeper_client.host_clients import AsyncHost, Host
from turnkeeper_client.plans import Answer, path
from turnkeeper_client.problems import Problem, Retry, problem_of
from turnkeeper_client.results import Task
from turnkeeper_client.retrying import may_repeat
from turnkeeper_client.shapes import answered_by
from turnkeeper_client.working import AsyncTurn, Turn

BUDGET = Budget(
    attempts_left=1, now=datetime(2026, 1, 1, tzinfo=UTC), deadline=datetime(2026, 1, 2, tzinfo=UTC)
)


@pytest.mark.parametrize("code", Code)
@pytest.mark.clause("RET-3")
def test_it_repeats_what_agent_status_codes_allow_and_nothing_else(code: Code) -> None:
    for retryable, safe, keyed, effects in product((True, False), (True, False), (True, False), SideEffects):
        refused = Problem(
            status=503,
            detail="",
            code=code.value,
            retry=Retry(retryable=retryable, safe=safe, side_effect_state=effects.value),
        )
        contract = Contract(retryable=retryable, safe=safe, side_effect_state=effects)

        assert may_repeat(refused, is_repeatable=keyed) == should_retry(
            contract, code=code.value, name=code.name, budget=BUDGET, idempotent=keyed
        )


@pytest.mark.parametrize("error", PROBLEMS, ids=lambda error: error.__name__)
@pytest.mark.parametrize("repeatable", [True, False])
def test_every_refusal_of_ours_is_of_a_kind_that_the_client_knows(
    *, error: type[Exception], repeatable: bool
) -> None:
    told: Any = problem(error.__new__(error), repeatable=repeatable)
    headers = {name.lower(): value for name, value in told["headers"].items()}

    found = refusal(problem_of(Answer(told["statusCode"], headers, told["body"].encode())))

    assert type(found) is not Refused
    assert (found.status, found.code) == (PROBLEMS[error].status, PROBLEMS[error].code)
    assert found.problem.scope == "turnkeeper.request"
    assert (found.problem.after_s is not None) == found.retry.retryable


@pytest.mark.parametrize(
    ("blocks", "is_awaited"), [(Client, AsyncClient), (Host, AsyncHost), (Turn, AsyncTurn)]
)
def test_both_sides_can_do_the_same_in_the_same_words(blocks: type, is_awaited: type) -> None:
    def offered(side: type) -> dict[str, Any]:
        return {
            name: (inspect.signature(method).parameters, method.__doc__)
            for name, method in vars(side).items()
            if inspect.isfunction(method) and not name.startswith("_")
        }

    assert offered(blocks) == offered(is_awaited)
    assert all(words for _, words in offered(blocks).values())


def test_a_method_shows_the_arguments_of_its_plan() -> None:
    assert list(inspect.signature(Client.create).parameters) == ["self", "agent", "says", "parameters", "key"]
    assert list(inspect.signature(Turn.emit).parameters) == ["self", "says", "usage"]


def task(**more: Any) -> dict[str, Any]:
    status = {
        "phase": "pondering",
        "revision": "r",
        "notifications": [{"kind": "new", "since": WHEN, "x": 1}],
    }
    return {"id": "t", "agent": "a", "responsible_user": "u", "created_at": WHEN, "status": status, **more}


WHEN = "2026-11-30T12:00:00.000000Z"


def test_what_a_newer_server_says_is_kept_and_breaks_nothing() -> None:
    found = Task.of(task(colour="green"))

    assert found.status.phase == "pondering"
    assert (found.raw["colour"], found.status.notifications[0].raw["x"]) == ("green", 1)
    assert found.created_at == datetime(2026, 11, 30, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("body", "at"),
    [
        ("<html>", "the body"),
        ("[]", "Task"),
        ('{"id": "t"}', "Task.agent"),
        ('{"id": "t", "agent": "a", "responsible_user": "u", "created_at": "then"}', "Task.created_at"),
        ('{"id": "t", "agent": "a", "responsible_user": "u", "created_at": 1}', "Task.created_at"),
    ],
)
def test_what_is_no_answer_of_ours_is_refused_by_its_place(body: str, at: str) -> None:
    with pytest.raises(NotUnderstood) as refused:
        answered_by(Task, Answer(200, {}, body.encode()))

    assert refused.value.at == at


@pytest.mark.parametrize(
    "body",
    [
        "",
        "no",
        "[1]",
        '{"agent_status": 5, "retry": [], "errors": "all", "detail": {}}',
        '{"agent_status": {"code": true}, "retry": {"retryable": 1, "safe": "yes"}, "errors": [1]}',
    ],
)
def test_a_refusal_that_cannot_be_read_promises_nothing(body: str) -> None:
    said = problem_of(Answer(503, {"content-type": "application/problem+json; charset=utf-8"}, body.encode()))

    assert (said.code, said.retry, said.places) == (None, Retry(), ())
    assert str(refusal(said)) == "HTTP 503 (HTTP 503)"


def test_a_code_that_nobody_knows_yet_is_kept() -> None:
    body = b'{"detail": "Odd.", "agent_status": {"code": 4999, "name": "ODD"}}'

    found = refusal(problem_of(Answer(418, {"content-type": "application/problem+json"}, body)))

    assert type(found) is Refused
    assert (found.code, found.name, str(found)) == (4999, "ODD", "Odd. (ASC-4999)")


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "7"}, 7.0),
        ({"retry-after": "Mon, 30 Nov 2026 12:00:09 GMT", "date": "Mon, 30 Nov 2026 12:00:00 GMT"}, 9.0),
        ({"retry-after": "Mon, 30 Nov 2026 12:00:09 GMT"}, None),
        ({"retry-after": "soon"}, None),
        ({}, None),
    ],
)
def test_retry_after_is_read_in_both_of_its_forms(headers: dict[str, str], seconds: float | None) -> None:
    assert problem_of(Answer(429, headers, b"{}")).after_s == seconds


def test_pauses_double_up_to_a_bound_and_are_never_shorter_than_was_asked_for() -> None:
    patience = Patience(attempts=9, first_s=1, longest_s=4, chance=lambda: 0.0)

    assert [patience.pause(attempt, None) for attempt in range(1, 6)] == [0.5, 1.0, 2.0, 2.0, 2.0]
    assert patience.pause(1, 3.0) == 3.5
    assert patience.pause(1, 5.0) is None
    assert patience.pause(9, None) is None


def test_nothing_in_a_path_leads_elsewhere() -> None:
    assert path("tasks", "../host/x?y", query={"ref": "task://a b+c", "no": None}) == (
        "v1/tasks/..%2Fhost%2Fx%3Fy?ref=task%3A%2F%2Fa%20b%2Bc"
    )
