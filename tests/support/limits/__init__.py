"""What AWS refuses and engines let through: a session that is watched checks each call before it is sent.

moto and the emulator take what DynamoDB, SQS and S3 would not. Botocore tells of each call's parameters before it
serialises them, so whatever a client is used for is checked: the product's, a test's, an injector's. Each rule is one
of AWS's documented ones, with its number.
"""

from typing import Any

from tests.support.limits import dynamodb, s3, sqs
from tests.support.limits.refusal import AwsWouldRefuse

__all__ = ["AwsWouldRefuse", "watch"]

CHECKS = {"dynamodb": dynamodb.check, "sqs": sqs.check, "s3": s3.check}


def watch(session: Any) -> None:
    """Check every call of every client that *session* makes from now on; twice is once."""
    for service, check in CHECKS.items():
        session.register(f"before-parameter-build.{service}", _before(check), unique_id=f"limits-{service}")
    session.register("after-call.dynamodb", _after, unique_id="limits-answers")
    session.get_component("event_emitter").register_last(
        "creating-client-class", s3.bound_urls, unique_id="limits-urls"
    )


def _before(check: Any) -> Any:
    def hear(params: Any, model: Any, **_kwargs: Any) -> None:
        check(model.name, params)

    return hear


def _after(parsed: Any, **_kwargs: Any) -> None:
    dynamodb.check_answer(parsed)
