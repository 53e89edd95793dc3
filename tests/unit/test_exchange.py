"""One request in, one answer out, one line in the log."""

import json
import logging
from collections.abc import Callable
from typing import Any

import pytest
from botocore.exceptions import ClientError

from tests.support.gateway import REQUEST_ID, Context, event, logged
from turnkeeper.domain import errors
from turnkeeper.edge.answers import Answer
from turnkeeper.edge.exchange import exchange

PLAN = "the plan nobody may read"


def exchanged(request: dict[str, Any], answered: Callable[..., Answer]) -> tuple[Answer, dict[str, Any]]:
    """What the caller gets, and the one line that is logged."""
    with logged() as lines:
        answer = exchange(answered)(request, Context())  # type: ignore[arg-type]
    (line,) = lines()
    said: dict[str, Any] = json.loads(line)
    return answer, said


@pytest.mark.clause("RET-3")
@pytest.mark.parametrize(
    ("method", "key", "safe"),
    [("GET", None, True), ("PUT", None, True), ("POST", None, False), ("POST", "k", True)],
)
def test_what_may_be_repeated_is_told_by_the_method_and_the_key_whatever_the_route(
    method: str, key: str | None, *, safe: bool
) -> None:
    headers = {"Idempotency-Key": key} if key else {}
    request = event(method, "/v1/host/agents/helper", headers=headers)

    answer, _ = exchanged(request, raising(errors.CommitUnknown()))

    assert request["routeKey"] == "ANY /v1/host/{proxy+}"
    assert json.loads(answer["body"])["retry"]["safe"] is safe


def raising(error: Exception) -> Callable[..., Answer]:
    def answered(*_: object) -> Answer:
        raise error

    return answered


def fine(*_: object) -> Answer:
    return {"statusCode": 200, "headers": {}, "body": PLAN}


def test_an_answer_carries_the_correlation_id_in_a_header_only() -> None:
    answer, _ = exchanged(event("GET", "/v1/tasks"), fine)
    refusal, _ = exchanged(event("GET", "/v1/tasks"), raising(errors.TaskNotFound()))

    assert answer["headers"]["X-Correlation-Id"] == refusal["headers"]["X-Correlation-Id"] == REQUEST_ID
    assert REQUEST_ID not in refusal["body"]


def test_a_request_leaves_one_line_that_says_route_status_and_correlation_id() -> None:
    _, line = exchanged(event("GET", f"/v1/tasks/{'a' * 32}/messages"), fine)

    assert {"service", "timestamp", *line} == {
        "level",
        "message",
        "timestamp",
        "service",
        "route",
        "status",
        "correlation_id",
    }
    assert (line["level"], line["route"], line["status"], line["correlation_id"]) == (
        "INFO",
        "GET /v1/tasks/{task_id}/messages",
        200,
        REQUEST_ID,
    )


def test_the_line_of_a_refusal_says_which_it_was() -> None:
    _, line = exchanged(event("POST", "/v1/tasks"), raising(errors.MalformedRequest("body", PLAN)))

    assert (line["level"], line["status"]) == ("INFO", 400)
    assert (line["code"], line["error"]) == ("ASC-4000", "MalformedRequest")
    assert "causes" not in line


@pytest.mark.clause("SEC-5")
@pytest.mark.parametrize(
    "error",
    [errors.MalformedRequest("body", PLAN), RuntimeError(PLAN), KeyError(PLAN), errors.StoreIsBusy()],
)
def test_the_log_knows_neither_who_asked_nor_what_was_written(error: Exception) -> None:
    request = event("POST", "/v1/tasks", body={"agent": PLAN}, query={"after": PLAN}, headers={"x": PLAN})

    for answered in (fine, raising(error)):
        _, line = exchanged(request, answered)
        assert PLAN not in json.dumps(line)
        assert "alice" not in json.dumps(line)


def test_a_bug_is_answered_with_500_and_logged_with_where_it_happened_and_why() -> None:
    denied = ClientError({"Error": {"Code": "AccessDenied", "Message": PLAN}}, "GetItem")

    def answered(*_: object) -> Answer:
        try:
            return raising(denied)()
        except ClientError as error:
            raise RuntimeError(PLAN) from error

    answer, line = exchanged(event("GET", "/v1/tasks"), answered)

    assert answer["statusCode"] == 500
    assert PLAN not in answer["body"]
    assert (line["level"], line["code"], line["error"]) == ("ERROR", "ASC-6001", "RuntimeError")
    assert [(cause["error"], cause["aws_code"]) for cause in line["causes"]] == [
        ("RuntimeError", None),
        ("ClientError", "AccessDenied"),
    ]
    assert all(cause["trace"][-1].endswith("answered") for cause in line["causes"])


def test_a_failure_of_the_store_is_logged_as_an_error_with_its_cause() -> None:
    _, line = exchanged(event("GET", "/v1/tasks"), raising(errors.StoreIsUnavailable()))

    assert (line["level"], line["status"], line["causes"][0]["error"]) == ("ERROR", 503, "StoreIsUnavailable")


@pytest.mark.clause("RET-3")
@pytest.mark.parametrize(
    ("request_", "safe"),
    [
        (event("POST", "/v1/tasks"), False),
        (event("POST", "/v1/tasks", headers={"Idempotency-Key": "k"}), True),
        (event("GET", "/v1/tasks"), True),
        ({**event("POST", "/v1/tasks"), "headers": None}, False),
    ],
)
def test_a_request_may_be_repeated_blindly_when_it_reads_or_carries_a_key(
    request_: dict[str, Any], *, safe: bool
) -> None:
    answer, _ = exchanged(request_, raising(errors.CommitUnknown()))

    assert json.loads(answer["body"])["retry"]["safe"] is safe


def test_only_one_logger_speaks() -> None:
    """The resolver logs what it re-raises; nobody must hear it."""
    assert logging.getLogger("aws_lambda_powertools").propagate is False
