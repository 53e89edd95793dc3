"""What AWS would refuse is refused wherever a call is made: by a laboratory, by another process, by a function."""

from typing import Any

import pytest

from tests.support.gateway import Gateway
from tests.support.laboratory import Laboratory, said
from tests.support.limits import AwsWouldRefuse
from turnkeeper import settings

TOO_LARGE = {"pk": {"S": "TASK#1"}, "sk": {"S": "TASK"}, "content": {"S": "x" * 400 * 1024}}


def put(client: Any, table: str) -> None:
    client.put_item(TableName=table, Item=TOO_LARGE)


def test_no_client_of_a_laboratory_sends_what_is_refused(lab: Laboratory) -> None:
    for client in (lab.dynamodb, lab.another_process().table.client):
        with pytest.raises(AwsWouldRefuse, match="409600 bytes"):
            put(client, lab.table)
    with pytest.raises(AwsWouldRefuse, match="not empty"):
        lab.sqs.send_message(
            QueueUrl=lab.queue_url, MessageBody="", MessageGroupId="g", MessageDeduplicationId="d"
        )

    assert lab.everything() == {}


def test_no_client_of_a_function_sends_what_is_refused(api: Gateway, live_lab: Laboratory) -> None:
    assert api.post("/v1/tasks", {"agent": "echo"}).status == 201

    with pytest.raises(AwsWouldRefuse, match="409600 bytes"):
        put(settings.runtime().table.client, live_lab.table)
    with pytest.raises(AwsWouldRefuse, match="a URL lasts"):
        settings.s3().generate_presigned_url(
            ClientMethod="get_object", Params={"Bucket": "b", "Key": "k"}, ExpiresIn=604_801
        )


def test_nothing_in_the_product_takes_a_refusal_for_a_fault(lab: Laboratory) -> None:
    task = lab.create(said("hi")).task
    refused: list[str] = []

    def send(**_: Any) -> Any:
        refused.append("once")
        put(lab.dynamodb, lab.table)

    process = lab.another_process()
    process.table.client.__dict__["transact_write_items"] = send
    lab.runtime = process

    with pytest.raises(AwsWouldRefuse):
        lab.send(task.id, "more")
    assert refused == ["once"]
