"""Retention on what was deployed: the sweep may delete an ended task with all that is its own, and does."""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import httpx
import pytest

from tests.e2e.test_files import CSV, deliver, make, offered, part
from tests.support.deployed import Deployed, eventually
from turnkeeper.domain.instants import to_text
from turnkeeper.service.retention import MARGIN


@pytest.fixture
def alice(authorised_deployment: Deployed) -> Iterator[httpx.Client]:
    with authorised_deployment.http("alice") as client:
        yield client


def partition(deployed: Deployed, task_id: str) -> list[str]:
    """The sort keys of all that lies in a task's partition."""
    found = deployed.client("dynamodb").query(
        TableName=deployed.outputs["TableName"],
        KeyConditionExpression="pk = :pk",
        ExpressionAttributeValues={":pk": {"S": f"TASK#{task_id}"}},
    )
    return [item["sk"]["S"] for item in found["Items"]]


def files(deployed: Deployed, task_id: str) -> list[Any]:
    """Every version of every file of a task's own."""
    bucket = deployed.outputs["BucketName"]
    page = deployed.client("s3").list_object_versions(Bucket=bucket, Prefix=f"task/{task_id}/")
    return [*page.get("Versions", ()), *page.get("DeleteMarkers", ())]


def ended_with_a_file(deployed: Deployed, alice: httpx.Client) -> str:
    """A task that has ended, and names a file."""
    task = make(alice, "mayfly")
    offer = offered(alice, task, CSV)
    with deployed.http() as nobody:
        assert deliver(nobody, offer["upload"], CSV) == 200
    assert alice.post(f"{task}/inputs", json=part(offer["file"])).status_code == 202
    eventually(lambda: alice.get(task).json()["status"]["phase"] == "terminal")
    return task.rpartition("/")[2]


def put_over(deployed: Deployed, task_id: str) -> None:
    """Have the retention of an ended task be over by now."""
    deployed.client("dynamodb").update_item(
        TableName=deployed.outputs["TableName"],
        Key={"pk": {"S": f"TASK#{task_id}"}, "sk": {"S": "TASK"}},
        UpdateExpression="SET due_at = :past",
        ExpressionAttributeValues={":past": {"S": to_text(datetime.now(UTC) - MARGIN)}},
    )


def test_an_ended_task_is_deleted_whole_with_its_files_and_no_other_is(
    authorised_deployment: Deployed, alice: httpx.Client
) -> None:
    deployed = authorised_deployment
    kept, over = (ended_with_a_file(deployed, alice) for _ in range(2))
    assert {sk.partition("#")[0] for sk in partition(deployed, over)} == {"FILE", "IN", "LOG", "MSG", "TASK"}
    unknown = alice.get(f"v1/tasks/{'0' * 32}")

    put_over(deployed, over)
    gone = alice.get(f"v1/tasks/{over}")
    before = partition(deployed, over)
    swept = deployed.sweep()

    assert (gone.status_code, gone.content) == (404, unknown.content)
    assert before
    assert (swept["deleted"], swept["failed"]) == (1, 0)
    assert (partition(deployed, over), files(deployed, over)) == ([], [])
    assert alice.get(f"v1/tasks/{over}").content == unknown.content
    assert alice.get(f"v1/tasks/{kept}").status_code == 200
    assert files(deployed, kept)
