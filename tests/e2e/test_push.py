"""Push on what was deployed: a rule on the bus hears every status of a task, and each is what the poll answers."""

import json
import uuid
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from tests.support.deployed import Deployed, eventually

INPUT = {"message": [{"mimeType": "text/plain", "text": "hello"}]}


@pytest.fixture
def alice(authorised_deployment: Deployed) -> Iterator[httpx.Client]:
    with authorised_deployment.http("alice") as client:
        yield client


class Listener:
    """Whoever made a rule on the bus, with a queue as its target; it keeps what it heard."""

    def __init__(self, deployed: Deployed) -> None:
        self.deployed, self.name = deployed, f"listens-{uuid.uuid4().hex[:8]}"
        self.sqs, self.events = deployed.client("sqs"), deployed.client("events")
        self.bus = deployed.outputs["EventBusName"]
        self.heard: list[dict[str, Any]] = []
        self.url = self.sqs.create_queue(QueueName=self.name)["QueueUrl"]
        arn = self.sqs.get_queue_attributes(QueueUrl=self.url, AttributeNames=["QueueArn"])["Attributes"][
            "QueueArn"
        ]
        lets_in = {
            "Effect": "Allow",
            "Principal": {"Service": "events.amazonaws.com"},
            "Action": "sqs:SendMessage",
            "Resource": arn,
        }
        policy = json.dumps({"Version": "2012-10-17", "Statement": [lets_in]})
        self.sqs.set_queue_attributes(QueueUrl=self.url, Attributes={"Policy": policy})
        pattern = json.dumps({"source": ["turnkeeper"], "detail-type": ["Task Status Changed"]})
        self.events.put_rule(Name=self.name, EventBusName=self.bus, EventPattern=pattern)
        self.events.put_targets(Rule=self.name, EventBusName=self.bus, Targets=[{"Id": "queue", "Arn": arn}])

    def of(self, task_id: str) -> list[Any]:
        """The details of all events about a task so far."""
        received = self.sqs.receive_message(QueueUrl=self.url, MaxNumberOfMessages=10)
        for message in received.get("Messages", ()):
            self.heard.append(json.loads(message["Body"]))
            self.sqs.delete_message(QueueUrl=self.url, ReceiptHandle=message["ReceiptHandle"])
        return [event["detail"] for event in self.heard if event["detail"]["id"] == task_id]

    def leave(self) -> None:
        self.events.remove_targets(Rule=self.name, EventBusName=self.bus, Ids=["queue"])
        self.events.delete_rule(Name=self.name, EventBusName=self.bus)
        self.sqs.delete_queue(QueueUrl=self.url)


@pytest.fixture
def listener(authorised_deployment: Deployed) -> Iterator[Listener]:
    listens = Listener(authorised_deployment)
    yield listens
    listens.leave()


@pytest.mark.clause("PO-2")
def test_every_status_of_a_task_is_heard_as_the_poll_answers_it_and_nothing_else_is(
    authorised_deployment: Deployed, alice: httpx.Client, listener: Listener
) -> None:
    def polled(task_id: str) -> Any:
        return alice.get(f"v1/tasks/{task_id}").json()

    brief = alice.post("v1/tasks", json={"agent": "mayfly"}).json()["id"]
    with authorised_deployment.nobody_at_work():
        task_id = alice.post("v1/tasks", json={"agent": "echo"}).json()["id"]
        answers = [polled(task_id)]
        assert alice.post(f"v1/tasks/{task_id}/inputs", json=INPUT).status_code == 202
        answers.append(polled(task_id))
    eventually(lambda: polled(task_id)["status"]["phase"] == "idle")
    answers.append(polled(task_id))
    eventually(lambda: polled(brief)["status"]["phase"] == "terminal")

    eventually(lambda: all(answer in listener.of(task_id) for answer in answers))
    eventually(lambda: polled(brief) in listener.of(brief))

    # Between the second answer and the third the turn began, which shows too: its input was committed.
    heard = listener.of(task_id)
    assert len({detail["status"]["revision"] for detail in heard}) == len(answers) + 1
    for detail in heard:
        assert detail.keys() == answers[0].keys()
        assert detail["status"].keys() == answers[0]["status"].keys()
    log = authorised_deployment.engine.log.read_text()
    assert "took nothing" not in log
    untold = authorised_deployment.client("sqs").get_queue_attributes(
        QueueUrl=authorised_deployment.outputs["UntoldQueueUrl"],
        AttributeNames=["ApproximateNumberOfMessages"],
    )
    assert untold["Attributes"]["ApproximateNumberOfMessages"] == "0"
