"""Whether the same request is sent once more, and after how long: what is not safe to repeat never is (RET-3).

A refusal's own contract decides. What the gateway refuses before anything ran may be repeated by anybody, and what
came to nothing that we know of only where the request says the same however often it is sent.
"""

import random
from collections.abc import Callable
from dataclasses import dataclass

from turnkeeper_client.errors import AnswerLost, TurnkeeperError, Unreachable, refusal
from turnkeeper_client.plans import Answer, Pause, Raw, Request, Silence
from turnkeeper_client.problems import Problem, problem_of

RESULT_STATE_UNKNOWN = 6005
TIMEOUT = 5004
AFTER_TRANSITION = frozenset({3002, 3003, 4001})
"""What no waiting mends: something else has to happen first (RET-5)."""
UNSETTLED = frozenset({"possible", "unknown"})
REPEAT_TO_FIND_OUT = "repeat_the_request"
"""The reconciliation of a request with a key: said again, it answers what it made."""
REFUSED_BY_THE_GATEWAY = frozenset({429})
"""The gateway's own, before anything ran."""
LOST_BEHIND_THE_GATEWAY = frozenset({500, 502, 503, 504})
"""The gateway's own words for a function that did not answer, or could not be asked: nobody knows which."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Patience:
    """How often a request is tried and how long the pauses between are; they double, and half of each is chance.

    A server that wants a longer pause than `longest_s` is not waited for: the refusal is raised, and says how long.
    """

    attempts: int = 6
    first_s: float = 0.25
    longest_s: float = 20.0
    chance: Callable[[], float] = random.random

    def pause(self, attempt: int, asked_s: float | None) -> float | None:
        """How long to wait after that *attempt*, never less than was asked for; None: not at all, give up."""
        if attempt >= self.attempts or (asked_s or 0) > self.longest_s:
            return None
        backoff = min(self.longest_s, self.first_s * 2.0 ** (attempt - 1))
        return (asked_s or 0) + backoff * (0.5 + 0.5 * self.chance())


PATIENCE = Patience()


def may_repeat(problem: Problem, *, is_repeatable: bool) -> bool:
    """The request that met *problem* may be sent once more; *is_repeatable*: by nature, or by its key."""
    if problem.code is None:
        return problem.status in REFUSED_BY_THE_GATEWAY or (
            is_repeatable and problem.status in LOST_BEHIND_THE_GATEWAY
        )
    retry = problem.retry
    if problem.code == RESULT_STATE_UNKNOWN or (
        problem.code == TIMEOUT and retry.side_effect_state in UNSETTLED
    ):
        return is_repeatable and retry.safe and retry.reconciliation_action == REPEAT_TO_FIND_OUT
    if problem.code in AFTER_TRANSITION:
        return False
    return is_repeatable and retry.retryable and retry.safe


def patiently[T, S](plan: Raw[T, S], patience: Patience) -> Raw[T, S]:
    """*plan* as a connection runs it: each of its requests is repeated as its refusals allow, else they are raised."""
    try:
        step = next(plan)
        while True:
            if not isinstance(step, Request):
                got = yield step
                step = plan.send(got)
                continue
            try:
                answer = yield from answered(step, patience)
            except TurnkeeperError as error:
                step = plan.throw(error)
            else:
                step = plan.send(answer)
    except StopIteration as end:
        result: T = end.value
        return result
    finally:
        plan.close()


def answered(request: Request, patience: Patience) -> Raw[Answer, Request]:
    """The answer to *request*, which is a success; raises the refusal that no patience mends."""
    attempt = 0
    while True:
        attempt += 1
        came: Answer | Silence = yield request
        if isinstance(came, Answer) and came.is_success:
            return came
        error, repeat, asked_s = _judged(came, request)
        pause = patience.pause(attempt, asked_s) if repeat else None
        if pause is None:
            raise error
        yield Pause(pause)


def _judged(came: Answer | Silence, request: Request) -> tuple[TurnkeeperError, bool, float | None]:
    """What *came* is as an error, whether *request* may be repeated, and when the server would have that."""
    if isinstance(came, Silence):
        if not came.was_sent:
            return Unreachable(came.reason), True, None
        return AnswerLost(came.reason), request.is_repeatable, None
    problem = problem_of(came)
    return refusal(problem), may_repeat(problem, is_repeatable=request.is_repeatable), problem.after_s
