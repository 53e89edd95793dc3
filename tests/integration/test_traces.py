"""One trace from the request through the queue into the turn, and its id in the envelope."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.envelopes import developer, operator
from tests.support.gateway import Context, forget_settings, load
from tests.support.hosting import Host
from tests.support.laboratory import Laboratory
from turnkeeper.tracing import trace_id

pytestmark = pytest.mark.usefixtures("developers")
EVENTS = Path(__file__).parents[2] / "events"
HEADER = "Root=1-5759e988-bd862e3fe1be46a994272793;Parent=53995c3f42cd8ad8;Sampled=1"
TRACE = "5759e988bd862e3fe1be46a994272793"
ANOTHERS = HEADER.replace("5759e988", "6759e988")


def wake_ups(lab: Laboratory) -> list[dict[str, Any]]:
    """What lies in the queue, with the headers that came with it."""
    received = lab.sqs.receive_message(
        QueueUrl=lab.queue_url, MaxNumberOfMessages=10, MessageSystemAttributeNames=["All"]
    )
    found: list[dict[str, Any]] = received.get("Messages", [])
    return found


@pytest.mark.clause("PROF-4")
def test_one_trace_runs_from_the_request_through_the_queue_into_the_turn_and_the_envelope(
    host: Host, live_lab: Laboratory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("_X_AMZN_TRACE_ID", HEADER)
    task_id = host.task("hi", agent="echo")
    (message,) = wake_ups(live_lab)
    assert message["Attributes"]["AWSTraceHeader"] == HEADER
    assert HEADER not in message["Body"]

    monkeypatch.setenv("_X_AMZN_TRACE_ID", ANOTHERS)
    event = json.loads((EVENTS / "turns" / "wake_up.json").read_text(encoding="utf-8"))
    (record,) = event["Records"]
    record |= {"body": message["Body"], "receiptHandle": message["ReceiptHandle"]}
    record["attributes"]["AWSTraceHeader"] = message["Attributes"]["AWSTraceHeader"]
    assert load("turns")(event, Context()) == {"batchItemFailures": []}

    assert "trace_id" not in developer(host, task_id)["provenance"]
    monkeypatch.setenv("TURNKEEPER_DEPLOYMENT_HOSTS", json.dumps([host.signer.principal]))
    forget_settings()
    assert operator(host, task_id)["provenance"]["trace_id"] == TRACE


@pytest.mark.clause("PROF-4")
def test_a_hosts_turn_is_in_the_trace_of_the_request_that_began_it(
    host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("_X_AMZN_TRACE_ID", HEADER)
    task_id, fence = host.running()

    monkeypatch.setenv("_X_AMZN_TRACE_ID", ANOTHERS)
    host.finish(task_id, fence, "done")

    assert operator(host, task_id)["provenance"]["trace_id"] == TRACE


def test_what_is_not_traced_names_no_trace(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("_X_AMZN_TRACE_ID", "Sampled=0")
    task_id, _ = host.running()

    assert "trace_id" not in operator(host, task_id)["provenance"]


@pytest.mark.parametrize(
    ("header", "found"),
    [
        (HEADER, TRACE),
        ("Sampled=1;Root=1-5759e988-bd862e3fe1be46a994272793", TRACE),
        ("Root=1-00000000-000000000000000000000000", None),
        ("Root=2-5759e988-bd862e3fe1be46a994272793", None),
        ("Root=1-5759E988-bd862e3fe1be46a994272793", None),
        ("Self=1-5759e988-bd862e3fe1be46a994272793", None),
        ("", None),
        (None, None),
    ],
)
def test_a_header_names_a_trace_or_none(header: str | None, found: str | None) -> None:
    assert trace_id(header) == found
