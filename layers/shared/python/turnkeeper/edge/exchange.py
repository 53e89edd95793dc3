"""One request in, one answer out, one line in the log; whatever goes wrong in between becomes a problem.

The line says which route, how it ended and by which correlation id to find it. It never says who asked or
what was written (SEC-5), and so a failure is logged as classes and places in our code, without its message.
"""

import logging
from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Any

from turnkeeper.edge.answers import Answer

if TYPE_CHECKING:
    from aws_lambda_powertools.utilities.typing import LambdaContext

type Event = dict[str, Any]
type Handler = Callable[[Event, "LambdaContext"], Answer]

_FAILED = 500

log = logging.getLogger("turnkeeper")


def exchange(answered: Handler) -> Handler:
    """*answered* as a Lambda handler: it always answers, and each request leaves one line."""

    @wraps(answered)
    def handle(event: Event, context: "LambdaContext") -> Answer:
        facts: dict[str, Any] = {}
        try:
            answer = answered(event, context)
        except Exception as error:  # noqa: BLE001 - the edge: nothing may reach a caller as a bare 500
            answer, facts = _refused(error, event)
        status = answer["statusCode"]
        answer["headers"]["X-Correlation-Id"] = context.aws_request_id
        facts |= {"route": event.get("routeKey"), "status": status, "correlation_id": context.aws_request_id}
        tell = log.error if status >= _FAILED else log.info
        tell("request", extra=facts)
        return answer

    return handle


def _refused(error: Exception, event: Event) -> tuple[Answer, dict[str, Any]]:
    """*error* as the caller gets it, and what the log says of it."""
    # Only when something was refused: the poll's cold start does not pay for them.
    from turnkeeper.edge.problems import problem, row_of  # noqa: PLC0415
    from turnkeeper.traces import causes  # noqa: PLC0415

    answer = problem(error, repeatable=_is_repeatable(event))
    facts: dict[str, Any] = {"code": row_of(error).code.label, "error": type(error).__name__}
    if answer["statusCode"] >= _FAILED:
        facts["causes"] = causes(error)
    return answer, facts


def _is_repeatable(event: Event) -> bool:
    """The request is idempotent by nature or by its key (RET-3)."""
    http = (event.get("requestContext") or {}).get("http") or {}
    return http.get("method") in {"GET", "PUT"} or "idempotency-key" in (event.get("headers") or {})
