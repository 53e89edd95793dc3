"""What a refusal looks like outside: problem details with an agent status and a retry contract."""

import importlib
import json
import pkgutil
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

import turnkeeper
from turnkeeper.asc.registry import Code
from turnkeeper.asc.retry import Budget, Contract, SideEffects, Verdict, verdict
from turnkeeper.domain import errors
from turnkeeper.domain.errors import Place, TaskError
from turnkeeper.edge.problems import MOST_PLACES, PROBLEMS, problem

EXAMPLES: list[TaskError] = [
    errors.MalformedRequest("limit", "must be a whole number"),
    errors.InvalidInput([Place("message[0].text", "is missing"), Place("x", "is an unknown parameter")]),
    errors.InputTooLarge(300_000, 262_144),
    errors.TaskNotFound(),
    errors.NotAHuman(),
    errors.NotAHost(),
    errors.TaskIsTerminal("completed"),
    errors.InputsArePending(3),
    errors.UnitsNotReached(1),
    errors.KeyReused(),
    errors.StaleFence(7),
    errors.TurnNotRunnable(),
    errors.NothingLeftToRun(),
    errors.WaitNotFound(),
    errors.WaitIsOver("done"),
    errors.ReviewIsOver(decided=True),
    errors.CallReused(),
    errors.StoreIsBusy(),
    errors.StoreIsUnavailable(),
    errors.GuardrailsUnavailable(),
    errors.CommitUnknown(),
]
STATUS = {
    "MalformedRequest": (400, 4000),
    "InvalidInput": (422, 4000),
    "InputTooLarge": (413, 4000),
    "TaskNotFound": (404, 4006),
    "NotAHuman": (403, 4002),
    "NotAHost": (403, 4002),
    "TaskIsTerminal": (409, 4001),
    "InputsArePending": (409, 4001),
    "UnitsNotReached": (409, 4001),
    "KeyReused": (409, 4005),
    "StaleFence": (409, 4005),
    "TurnNotRunnable": (409, 4001),
    "NothingLeftToRun": (409, 4001),
    "WaitNotFound": (404, 4006),
    "WaitIsOver": (409, 4005),
    "ReviewIsOver": (409, 4001),
    "CallReused": (409, 4005),
    "StoreIsBusy": (503, 5006),
    "StoreIsUnavailable": (503, 5003),
    "GuardrailsUnavailable": (503, 5003),
    "CommitUnknown": (503, 6005),
}
any_refusal = pytest.mark.parametrize("error", EXAMPLES, ids=lambda error: type(error).__name__)


def told(error: Exception, *, repeatable: bool = False) -> dict[str, Any]:
    """The body of *error*'s answer."""
    body: dict[str, Any] = json.loads(problem(error, repeatable=repeatable)["body"])
    return body


def descendants(kind: type[Exception]) -> Iterator[type[Exception]]:
    for child in kind.__subclasses__():
        yield child
        yield from descendants(child)


def test_every_refusal_there_is_has_a_row_in_the_table() -> None:
    for module in pkgutil.walk_packages(turnkeeper.__path__, "turnkeeper."):
        importlib.import_module(module.name)
    every = {kind for kind in descendants(TaskError) if kind.__module__.startswith("turnkeeper.")}

    assert every <= PROBLEMS.keys()
    assert {kind.__name__ for kind in every} == {type(error).__name__ for error in EXAMPLES} == STATUS.keys()


@pytest.mark.clause("BND-HTTP-1")
@any_refusal
def test_a_refusal_is_a_problem_with_an_agent_status_and_a_retry_contract(error: TaskError) -> None:
    answer = problem(error, repeatable=False)
    body = json.loads(answer["body"])
    status, code = STATUS[type(error).__name__]

    assert answer["statusCode"] == body["status"] == status
    assert answer["headers"]["Content-Type"] == "application/problem+json"
    assert body["type"] == f"urn:agent-status:{Code(code).name}"
    assert body["title"] == Code(code).name.replace("_", " ").capitalize()
    assert body["agent_status"] == {
        "code": code,
        "name": Code(code).name,
        "scope": "turnkeeper.request",
        "terminal": True,
    }
    assert body["detail"]
    assert {"retryable", "safe", "strategy", "side_effect_state"} <= body["retry"].keys()


@any_refusal
def test_a_refusal_is_kept_by_no_cache(error: TaskError) -> None:
    assert problem(error, repeatable=False)["headers"]["Cache-Control"] == "private, no-store"


def test_every_wrong_place_is_told_with_how_to_mend_it() -> None:
    body = told(errors.InvalidInput([Place("message[0].text", "is missing"), Place("x", "is unknown here")]))

    assert body["errors"] == [
        {"at": "message[0].text", "problem": "is missing"},
        {"at": "x", "problem": "is unknown here"},
    ]
    assert body["detail"] == "Several places are wrong; errors names each."


def test_a_single_wrong_place_is_the_detail_too() -> None:
    body = told(errors.MalformedRequest("limit", "must be a whole number"))

    assert body["detail"] == "limit: must be a whole number"
    assert body["errors"] == [{"at": "limit", "problem": "must be a whole number"}]


def test_at_most_20_places_are_told() -> None:
    places = [Place(f"p{number}", "is wrong") for number in range(1000)]

    assert len(told(errors.InvalidInput(places))["errors"]) == 20


@pytest.mark.clause("SEC-2")
def test_the_answer_for_what_is_not_there_names_neither_a_task_nor_a_route() -> None:
    assert problem(errors.TaskNotFound(), repeatable=False) == problem(errors.TaskNotFound(), repeatable=True)
    assert told(errors.TaskNotFound())["detail"] == "There is no such task or route for you."


@pytest.mark.clause("RET-2")
@any_refusal
@pytest.mark.parametrize("repeatable", [True, False])
def test_only_what_time_can_heal_is_retryable(error: TaskError, *, repeatable: bool) -> None:
    answer = problem(error, repeatable=repeatable)
    retry = json.loads(answer["body"])["retry"]
    waits = errors.StoreIsBusy | errors.StoreIsUnavailable | errors.GuardrailsUnavailable
    heals = isinstance(error, waits)
    heals = heals or (isinstance(error, errors.CommitUnknown) and repeatable)

    assert retry["retryable"] is heals
    assert ("after_ms" in retry) is heals
    assert ("Retry-After" in answer["headers"]) is heals


@pytest.mark.clause("RET-1")
@pytest.mark.parametrize(
    ("error", "seconds"), [(errors.StoreIsBusy(), "1"), (errors.StoreIsUnavailable(), "2")]
)
def test_a_known_delay_stands_in_the_header_and_in_the_contract(error: TaskError, seconds: str) -> None:
    answer = problem(error, repeatable=False)

    assert answer["headers"]["Retry-After"] == seconds
    assert json.loads(answer["body"])["retry"] == {
        "retryable": True,
        "safe": True,
        "strategy": "exponential_backoff",
        "side_effect_state": "none",
        "after_ms": int(seconds) * 1000,
    }


@pytest.mark.clause("RET-3")
@pytest.mark.clause("RET-4")
@pytest.mark.parametrize(
    ("repeatable", "contract"),
    [
        (
            True,
            {
                "retryable": True,
                "safe": True,
                "after_ms": 1000,
                "reconciliation_action": "repeat_the_request",
            },
        ),
        (
            False,
            {"retryable": False, "safe": False, "reconciliation_action": "read_the_task_before_repeating"},
        ),
    ],
)
def test_an_unknown_result_is_reconciled_and_repeated_blindly_only_with_a_key(
    contract: dict[str, Any], *, repeatable: bool
) -> None:
    body = told(errors.CommitUnknown(), repeatable=repeatable)

    assert body["agent_status"]["name"] == "RESULT_STATE_UNKNOWN"
    assert body["retry"] == {"strategy": "after_reconciliation", "side_effect_state": "unknown", **contract}


@pytest.mark.clause("RET-5")
@pytest.mark.parametrize("error", [errors.InputsArePending(1), errors.TurnNotRunnable()])
def test_a_failed_precondition_names_the_transition_that_mends_it(error: TaskError) -> None:
    retry = told(error)["retry"]

    assert retry["retryable"] is False
    assert retry["strategy"] in {"after_a_turn_committed_the_inputs", "after_the_task_became_runnable"}


@pytest.mark.clause("ENV-4")
def test_a_bug_is_told_without_any_of_it() -> None:
    answer = problem(RuntimeError("the secret plan"), repeatable=False)
    body = json.loads(answer["body"])

    assert answer["statusCode"] == 500
    assert body["agent_status"]["code"] == 6001
    assert body["retry"] == {
        "retryable": False,
        "safe": False,
        "strategy": "never",
        "side_effect_state": "possible",
    }
    assert "secret" not in json.dumps(answer)
    assert "RuntimeError" not in json.dumps(answer)


def test_an_error_without_a_row_is_told_as_its_nearest_ancestor() -> None:
    class CursorTooOld(errors.MalformedRequest):
        pass

    assert told(CursorTooOld("after", "is too old"))["status"] == 400


def test_when_more_places_are_wrong_than_are_named_the_answer_says_so() -> None:
    body = told(errors.InvalidInput([errors.Place(f"x{n}", "is missing") for n in range(MOST_PLACES + 1)]))

    assert body["detail"] == "More than 20 places are wrong; errors names the first."
    assert len(body["errors"]) == MOST_PLACES


@pytest.mark.clause("RET-3")
@pytest.mark.clause("RET-4")
@any_refusal
@pytest.mark.parametrize("repeatable", [True, False])
def test_whoever_follows_the_rules_of_retrying_does_what_the_table_means(
    error: TaskError, *, repeatable: bool
) -> None:
    body = told(error, repeatable=repeatable)
    retry = {**body["retry"], "side_effect_state": SideEffects(body["retry"]["side_effect_state"])}
    now = datetime(2026, 11, 30, tzinfo=UTC)
    budget = Budget(attempts_left=1, now=now, deadline=now + timedelta(minutes=1))
    status = body["agent_status"]

    found = verdict(
        Contract(**retry), code=status["code"], name=status["name"], budget=budget, idempotent=repeatable
    )

    if isinstance(error, errors.CommitUnknown):
        assert found is Verdict.RECONCILE_FIRST
    elif isinstance(error, errors.StoreIsBusy | errors.StoreIsUnavailable | errors.GuardrailsUnavailable):
        assert found is (Verdict.RETRY if repeatable else Verdict.NO_KEY)
    else:
        assert found in {Verdict.NOT_RETRYABLE, Verdict.TRANSITION_FIRST}
