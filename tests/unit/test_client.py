"""The client by itself: repeats as Agent Status Codes have it, answers nobody has seen yet, two sides that agree."""

import asyncio
import inspect
import threading
import traceback
from collections.abc import Callable
from datetime import UTC, datetime
from itertools import product
from typing import Any

import httpx
import pytest

from tests.support.clients import BASE_URL, SIDES, Handler, clients
from turnkeeper.asc.registry import Code
from turnkeeper.asc.retry import Budget, Contract, SideEffects, should_retry
from turnkeeper.edge.problems import PROBLEMS, problem
from turnkeeper_client import (
    AsyncClient,
    Client,
    NotUnderstood,
    Patience,
    Refused,
    TurnkeeperError,
    Unsendable,
)
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
        "[" * 100_000,
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
        ({"retry-after": "0"}, None),
        ({"retry-after": "9" * 400}, float("inf")),
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


@pytest.mark.parametrize(("after_ms", "seconds"), [(-5_000, None), (0, None), (1_500, 1.5), (10**400, 1e9)])
def test_a_contract_that_says_when_is_never_waited_for_backwards_or_beyond_counting(
    after_ms: int, seconds: float | None
) -> None:
    body = f'{{"retry": {{"after_ms": {after_ms}}}}}'.encode()

    assert problem_of(Answer(503, {"content-type": "application/problem+json"}, body)).after_s == seconds


def answering(*answers: httpx.Response) -> tuple[list[httpx.Request], Handler]:
    """A server that gives these answers in turn, the last for ever, and what it was asked."""
    asked: list[httpx.Request] = []

    def answer(request: httpx.Request) -> httpx.Response:
        asked.append(request)
        return answers[min(len(asked), len(answers)) - 1]

    return asked, answer


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("token", ["s3cret\n", " s3cret", "s3cret\x00", "s3crét"])
@pytest.mark.parametrize("given", [str, lambda token: lambda: token], ids=["as it is", "by a function"])
def test_a_token_that_no_header_takes_is_refused_and_told_to_nobody(
    side: str, token: str, given: Callable[[str], Any]
) -> None:
    asked, answer = answering(httpx.Response(200))

    with clients(side) as make, pytest.raises(Unsendable) as refused:
        make(answer, token=given(token)).task("t")

    told = "".join(traceback.format_exception(refused.value))
    assert "s3c" not in told
    assert "the token" in str(refused.value)
    assert asked == []


@pytest.mark.parametrize("side", SIDES)
def test_what_cannot_be_written_is_no_lost_answer_and_not_quoted(side: str) -> None:
    def refuse(request: httpx.Request) -> httpx.Response:
        raise httpx.LocalProtocolError("Illegal header value b'Bearer s3cret'", request=request)

    with clients(side) as make, pytest.raises(TurnkeeperError) as refused:
        make(refuse).task("t")

    assert "s3cret" not in str(refused.value)


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("name", ["", ".", ".."])
def test_a_name_that_is_none_leads_nowhere_else(side: str, name: str) -> None:
    asked, answer = answering(httpx.Response(200, json=task()))

    with clients(side) as make:
        made = make(answer)
        for ask in (made.task, made.messages, lambda name: made.say(name, "hi"), made.agent_status):
            with pytest.raises(Unsendable):
                ask(name)
        with pytest.raises(Unsendable):
            made.say("t", "hi", key="a\nb")

    assert asked == []


def test_the_loop_goes_on_while_somebody_gives_a_token() -> None:
    _, answer = answering(httpx.Response(200, json=task()))
    went_on = threading.Event()

    def token() -> str:
        return "fresh" if went_on.wait(10.0) else "the loop stood still"

    async def ask() -> str:
        seen: list[str] = []

        def handler(request: httpx.Request) -> httpx.Response:
            seen.append(request.headers["authorization"])
            return answer(request)

        async with AsyncClient(BASE_URL, token, transport=httpx.MockTransport(handler)) as made:
            asking = asyncio.ensure_future(made.task("t"))
            for _ in range(3):
                await asyncio.sleep(0)
            went_on.set()
            await asking
        return seen[0]

    assert asyncio.run(ask()) == "Bearer fresh"


def looked_at(phase: str, **headers: str) -> httpx.Response:
    """A look at a task in that *phase*."""
    status = {"phase": phase, "revision": phase, "notifications": []}
    return httpx.Response(200, json=task(status=status), headers={"etag": f'"{phase}"', **headers})


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("headers", [{}, {"poll-after": "0"}], ids=["nobody says", "at once"])
def test_it_follows_to_the_end_without_a_storm_whatever_became_of_poll_after(
    side: str, headers: dict[str, str]
) -> None:
    page = httpx.Response(200, json={"messages": [], "next": "n", "more": False})
    pauses: list[float] = []

    for follow in (
        lambda made: [one.task.status.phase for one in made.follow("t")],
        lambda made: made.settled("t"),
    ):
        _, answer = answering(
            looked_at("processing", **headers),
            page,
            looked_at("processing", **headers),
            page,
            looked_at("terminal"),
            page,
        )
        _, short = answering(*[looked_at("processing", **headers)] * 2, looked_at("terminal"), page)
        with clients(side) as make:
            found = follow(make(answer if not pauses else short, pauses=pauses))
        assert (found if isinstance(found, list) else [found.task.status.phase])[-1] == "terminal"

    assert len(pauses) == 4
    assert min(pauses) > 0


@pytest.mark.parametrize("side", SIDES)
def test_pages_that_lead_nowhere_are_not_read_for_ever(side: str) -> None:
    page = httpx.Response(200, json={"messages": [], "next": "n", "more": True})
    asked, answer = answering(looked_at("idle"), page)

    with clients(side) as make, pytest.raises(NotUnderstood):
        make(answer).settled("t")

    assert len(asked) == 3
