"""What a refusal looks like outside: one table from its class to HTTP, agent status and retry contract.

Problem details (RFC 9457) with an agent status in them (BND-HTTP-1). It speaks of the request alone (MOD-5),
which a refusal ends; whether the task is over, the status object says. Repeating what stored nothing is safe,
and retrying it makes sense only where waiting is enough (RET-2, RET-5).
"""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, NoReturn

from turnkeeper.asc.registry import Code
from turnkeeper.domain import errors
from turnkeeper.edge.answers import Answer, told

SCOPE = "turnkeeper.request"
MOST_PLACES = 20


class Strategy(StrEnum):
    """What has to happen before the same request can succeed (RET-1)."""

    NEVER = "never"
    CORRECT = "after_correction"
    SIGN_IN = "after_signing_in_as_a_user"
    SIGN_IN_AS_A_HOST = "after_signing_as_a_host"
    COMMIT_INPUTS = "after_a_turn_committed_the_inputs"
    REACH_UNITS = "after_the_units_were_reached"
    MAKE_RUNNABLE = "after_the_task_became_runnable"
    BACK_OFF = "exponential_backoff"
    RECONCILE = "after_reconciliation"


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """How one class of error is told: *after_ms* where waiting helps, *detail* in place of its message."""

    status: int
    code: Code
    strategy: Strategy
    after_ms: int | None = None
    side_effects: str = "none"
    detail: str | None = None


# An unknown route, an unknown task and another's task look the same, so the words fit each of them (SEC-2).
NOTHING_HERE = Row(
    status=404, code=Code.NOT_FOUND, strategy=Strategy.NEVER, detail="There is no such task or route for you."
)
A_BUG = Row(
    status=500,
    code=Code.INTERNAL_ERROR,
    strategy=Strategy.NEVER,
    side_effects="possible",
    detail="This is a fault of ours. Whoever runs this deployment finds it in the log by X-Correlation-Id.",
)
PROBLEMS: dict[type[Exception], Row] = {
    errors.MalformedRequest: Row(status=400, code=Code.INVALID_REQUEST, strategy=Strategy.CORRECT),
    errors.InvalidInput: Row(status=422, code=Code.INVALID_REQUEST, strategy=Strategy.CORRECT),
    errors.InputTooLarge: Row(status=413, code=Code.INVALID_REQUEST, strategy=Strategy.CORRECT),
    errors.TaskNotFound: NOTHING_HERE,
    errors.NotAHuman: Row(status=403, code=Code.PERMISSION_DENIED, strategy=Strategy.SIGN_IN),
    errors.NotAHost: Row(status=403, code=Code.PERMISSION_DENIED, strategy=Strategy.SIGN_IN_AS_A_HOST),
    errors.TaskIsTerminal: Row(status=409, code=Code.FAILED_PRECONDITION, strategy=Strategy.NEVER),
    errors.InputsArePending: Row(status=409, code=Code.FAILED_PRECONDITION, strategy=Strategy.COMMIT_INPUTS),
    errors.UnitsNotReached: Row(status=409, code=Code.FAILED_PRECONDITION, strategy=Strategy.REACH_UNITS),
    errors.KeyReused: Row(status=409, code=Code.CONFLICT, strategy=Strategy.CORRECT),
    errors.StaleFence: Row(status=409, code=Code.CONFLICT, strategy=Strategy.NEVER),
    errors.TurnNotRunnable: Row(status=409, code=Code.FAILED_PRECONDITION, strategy=Strategy.MAKE_RUNNABLE),
    errors.NothingLeftToRun: Row(
        status=409, code=Code.FAILED_PRECONDITION, strategy=Strategy.MAKE_RUNNABLE, side_effects="confirmed"
    ),
    errors.WaitNotFound: Row(status=404, code=Code.NOT_FOUND, strategy=Strategy.NEVER),
    errors.WaitIsOver: Row(status=409, code=Code.CONFLICT, strategy=Strategy.NEVER),
    errors.ReviewIsOver: Row(status=409, code=Code.FAILED_PRECONDITION, strategy=Strategy.NEVER),
    errors.CallReused: Row(status=409, code=Code.CONFLICT, strategy=Strategy.CORRECT),
    errors.StoreIsBusy: Row(
        status=503, code=Code.ABORTED_CONCURRENCY, strategy=Strategy.BACK_OFF, after_ms=1000
    ),
    errors.StoreIsUnavailable: Row(
        status=503, code=Code.DEPENDENCY_UNAVAILABLE, strategy=Strategy.BACK_OFF, after_ms=2000
    ),
    errors.GuardrailsUnavailable: Row(
        status=503, code=Code.DEPENDENCY_UNAVAILABLE, strategy=Strategy.BACK_OFF, after_ms=2000
    ),
    errors.CommitUnknown: Row(
        status=503,
        code=Code.RESULT_STATE_UNKNOWN,
        strategy=Strategy.RECONCILE,
        after_ms=1000,
        side_effects="unknown",
    ),
    Exception: A_BUG,
}


def problem(error: Exception, *, repeatable: bool) -> Answer:
    """*error* as the caller gets it; *repeatable*: the request is idempotent or carries a key."""
    # Only when something was refused: the poll's cold start does not pay for it.
    from turnkeeper.asc.bindings import http  # noqa: PLC0415

    row = row_of(error)
    places = getattr(error, "places", ())
    told_as = {
        "status": {"code": row.code.value, "name": row.code.name, "scope": SCOPE, "terminal": True},
        "message": {"user": row.detail or _several(len(places)) or str(error)},
        "retry": _retry(row, repeatable=repeatable),
    }
    body = http.problem(told_as, http_status=row.status)
    if places:
        body["errors"] = [{"at": place.at, "problem": place.problem} for place in places[:MOST_PLACES]]
    return told(row.status, body, media_type=http.PROBLEM_TYPE, retry_after_s=http.retry_after(told_as))


def _several(wrong: int) -> str | None:
    if wrong > MOST_PLACES:
        return f"More than {MOST_PLACES} places are wrong; errors names the first."
    return "Several places are wrong; errors names each." if wrong > 1 else None


def refuse_unknown_route(_: Exception) -> NoReturn:
    """What is not there looks like what is another's."""
    raise errors.TaskNotFound


def refuse_more_than_a_route(app: Any, answered: Callable[[Any], Any]) -> Any:
    """The answer of a route, unless its path goes on with a line break, which the resolver's patterns overlook."""
    if app.current_event.path.endswith("\n"):
        raise errors.TaskNotFound
    return answered(app)


def row_of(error: Exception) -> Row:
    """The row of the table that tells *error*: its class's own or its nearest ancestor's."""
    return next(PROBLEMS[kind] for kind in type(error).__mro__ if kind in PROBLEMS)


def _retry(row: Row, *, repeatable: bool) -> dict[str, Any]:
    safe = row.side_effects == "none" or repeatable
    retry: dict[str, Any] = {
        "retryable": safe and row.after_ms is not None,
        "safe": safe,
        "strategy": row.strategy.value,
        "side_effect_state": row.side_effects,
    }
    if retry["retryable"]:
        retry["after_ms"] = row.after_ms
    if row.strategy is Strategy.RECONCILE:
        retry["reconciliation_action"] = (
            "repeat_the_request" if repeatable else "read_the_task_before_repeating"
        )
    return retry
