"""One request in, one answer out, one line in the log; whatever goes wrong in between becomes a problem.

The line says which route, how it ended and by which correlation id to find it. It never says who asked or
what was written (SEC-5), and so a failure is logged as classes and places in our code, without its message.
"""

from collections.abc import Callable
from functools import wraps
from typing import Any

from aws_lambda_powertools.logging import Logger
from aws_lambda_powertools.utilities.typing import LambdaContext

from turnkeeper.edge.answers import Answer
from turnkeeper.edge.problems import problem, row_of
from turnkeeper.traces import causes

type Event = dict[str, Any]

_FAILED = 500
_logger = Logger(service="turnkeeper", location=None)


def exchange(answered: Callable[[Event, LambdaContext], Answer]) -> Callable[[Event, LambdaContext], Answer]:
    """*answered* as a Lambda handler: it always answers, and each request leaves one line."""

    @wraps(answered)
    def handle(event: Event, context: LambdaContext) -> Answer:
        facts: dict[str, Any] = {}
        try:
            answer = answered(event, context)
        except Exception as error:  # noqa: BLE001 - the edge: nothing may reach a caller as a bare 500
            answer = problem(error, repeatable=_is_repeatable(event))
            facts = _facts(error, answer["statusCode"])
        status = answer["statusCode"]
        answer["headers"]["X-Correlation-Id"] = context.aws_request_id
        facts |= {"route": event.get("routeKey"), "status": status, "correlation_id": context.aws_request_id}
        tell = _logger.error if status >= _FAILED else _logger.info
        tell("request", extra=facts)
        return answer

    return handle


def _is_repeatable(event: Event) -> bool:
    """The request is idempotent by nature or by its key (RET-3)."""
    http = (event.get("requestContext") or {}).get("http") or {}
    return http.get("method") in {"GET", "PUT"} or "idempotency-key" in (event.get("headers") or {})


def _facts(error: Exception, status: int) -> dict[str, Any]:
    facts: dict[str, Any] = {"code": row_of(error).code.label, "error": type(error).__name__}
    if status >= _FAILED:
        facts["causes"] = causes(error)
    return facts
