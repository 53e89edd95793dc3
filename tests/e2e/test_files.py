"""Files on what was deployed: sent to the bucket itself, named in an input, and got back by whoever may."""

from collections.abc import Iterator
from typing import Any
from urllib.parse import quote, unquote, urlsplit

import httpx
import pytest

from tests.support.deployed import SHORT, Deployed
from tests.support.hosts import HostClient, manifest

CSV = b"day,parcels\r\nMonday,3\r\n"


@pytest.fixture(scope="module")
def alice(authorised_deployment: Deployed) -> Iterator[httpx.Client]:
    with authorised_deployment.http("alice") as client:
        yield client


@pytest.fixture(scope="module")
def bob(authorised_deployment: Deployed) -> Iterator[httpx.Client]:
    with authorised_deployment.http("bob") as client:
        yield client


@pytest.fixture(scope="module")
def nobody(authorised_deployment: Deployed) -> Iterator[httpx.Client]:
    """Whoever has a signed URL, and nothing else."""
    with authorised_deployment.http() as client:
        yield client


def make(client: httpx.Client, agent: str = "echo") -> str:
    made = client.post("v1/tasks", json={"agent": agent})
    assert made.status_code == 201, made.text
    return f"v1/tasks/{made.json()['id']}"


def offered(client: httpx.Client, task: str, content: bytes, name: str = "week 48, é.csv") -> Any:
    """Where a file may be sent."""
    asked = {"name": name, "mimeType": "text/csv", "sizeBytes": len(content)}
    answer = client.post(f"{task}/files", json=asked)
    assert answer.status_code == 201, answer.text
    return answer.json()


def deliver(client: httpx.Client, upload: Any, content: bytes, **headers: str) -> int:
    """What S3 says to *content*."""
    sent = client.put(upload["url"], content=content, headers=upload["headers"] | headers)
    return sent.status_code


def part(file: str, **more: object) -> dict[str, Any]:
    return {"message": [{"mimeType": "text/csv", "file": file, **more}]}


@pytest.mark.clause("CP-4")
@pytest.mark.clause("CP-5")
def test_a_file_is_sent_named_and_got_back_as_an_attachment(
    alice: httpx.Client, bob: httpx.Client, nobody: httpx.Client
) -> None:
    task = make(alice)
    offer = offered(alice, task, CSV)
    early = alice.get(f"{task}/files", params={"ref": offer["file"]})

    assert deliver(nobody, offer["upload"], CSV) == 200
    accepted = alice.post(f"{task}/inputs", json=part(offer["file"]))
    found = alice.get(f"{task}/files", params={"ref": offer["file"]})
    got = nobody.get(found.json()["url"])
    strangers = bob.get(f"{task}/files", params={"ref": offer["file"]})
    (entry, *_) = alice.get(f"{task}/messages").json()["messages"]

    assert (accepted.status_code, found.status_code) == (202, 200), accepted.text
    assert entry["message"] == [{"mimeType": "text/csv", "file": offer["file"], "sizeBytes": len(CSV)}]
    assert (got.status_code, got.content) == (200, CSV)
    assert got.headers["content-disposition"] == (
        "attachment; filename=\"week 48, _.csv\"; filename*=UTF-8''week%2048%2C%20%C3%A9.csv"
    )
    assert (early.status_code, early.content) == (404, strangers.content)
    assert strangers.status_code == 404


@pytest.mark.clause("CP-5")
def test_s3_takes_exactly_what_was_declared_and_takes_it_once(
    authorised_deployment: Deployed, alice: httpx.Client, nobody: httpx.Client
) -> None:
    offer = offered(alice, make(alice), CSV)

    refused = [
        deliver(nobody, offer["upload"], CSV + b"."),
        deliver(nobody, offer["upload"], CSV[:-1]),
        deliver(nobody, offer["upload"], CSV, **{"Content-Type": "text/html"}),
        deliver(nobody, offer["upload"], CSV, **{"Content-Disposition": "inline"}),
        deliver(nobody, offer["upload"], CSV, **{"If-None-Match": '"x"'}),
        deliver(nobody, {**offer["upload"], "url": offer["upload"]["url"].replace(".csv", ".exe")}, CSV),
    ]
    first = deliver(nobody, offer["upload"], CSV)
    second = deliver(nobody, offer["upload"], bytes(reversed(CSV)))

    assert refused == [403] * 6
    assert (first, second) == (200, 412)
    with_key = authorised_deployment.client("s3").list_object_versions(
        Bucket=authorised_deployment.outputs["BucketName"], Prefix=key_of(offer)
    )
    assert [(version["Key"], version["Size"]) for version in with_key["Versions"]] == [
        (key_of(offer), len(CSV))
    ]


@pytest.mark.clause("CP-4")
def test_a_reference_pins_what_it_named_whatever_becomes_of_the_file(
    authorised_deployment: Deployed, alice: httpx.Client, acme: HostClient, nobody: httpx.Client
) -> None:
    with acme.http() as http:
        registered = http.put("v1/host/agents/archivist", json=manifest("archivist") | {"mount": ["agent"]})
    assert registered.status_code == 200, registered.text
    price_list = {
        "Bucket": authorised_deployment.outputs["BucketName"],
        "Key": f"agent/{acme_principal(authorised_deployment, 'archivist')}/archivist/prices.csv",
    }
    s3, task = authorised_deployment.client("s3"), make(alice, "archivist")

    received = []
    for content in (b"old", b"new!"):
        s3.put_object(Body=content, **price_list)
        answer = alice.post(f"{task}/inputs", json=part("agent://prices.csv"))
        assert answer.status_code == 202, answer.text
        received.append(answer.headers["received-at"])
    s3.delete_object(**price_list)

    def got(**query: str) -> bytes:
        found = alice.get(f"{task}/files", params={"ref": "agent://prices.csv", **query})
        return nobody.get(found.json()["url"]).content

    assert [got(at=at) for at in received] == [b"old", b"new!"]
    assert got() == b"new!"
    refused = alice.post(f"{task}/inputs", json=part("agent://prices.csv"))
    assert (refused.status_code, refused.json()["errors"][0]["at"]) == (422, "message[0].file")
    assert alice.post(f"{task}/inputs", json=part("task://a/b.csv")).json()["errors"] == [
        {
            "at": "message[0].file",
            "problem": "is in a root that is not available here; available roots: agent://",
        }
    ]


@pytest.mark.clause("CP-4")
def test_a_host_reads_what_its_task_names_and_answers_with_a_file(
    alice: httpx.Client, acme: HostClient, globex: HostClient, nobody: httpx.Client
) -> None:
    assert acme.register("helper").status_code == 200
    task = make(alice, "helper")
    offer = offered(alice, task, CSV)
    assert deliver(nobody, offer["upload"], CSV) == 200
    assert alice.post(f"{task}/inputs", json=part(offer["file"])).status_code == 202
    task_id = task.rpartition("/")[2]
    acme.woken(task_id)
    fence = acme.post(task_id, "turns").json()["turn"]["fence"]

    with acme.http() as http, globex.http() as other:
        hosts_task = f"v1/host/tasks/{task_id}"
        # A signature is over %20; a plus would be taken for it.
        asked = f"{hosts_task}/files?ref={quote(offer['file'], safe='')}"
        read, others = http.get(asked), other.get(asked)
        answer = offered(http, hosts_task, b"done", "answer.csv")
        delivered = deliver(nobody, answer["upload"], b"done")
        finished = http.post(f"{hosts_task}/finish", json={"fence": fence, **part(answer["file"])})
    got = alice.get(f"{task}/files", params={"ref": answer["file"]})

    assert nobody.get(read.json()["url"]).content == CSV
    assert others.status_code == 404
    assert (delivered, finished.status_code) == (200, 200), finished.text
    assert nobody.get(got.json()["url"]).content == b"done"


@pytest.mark.clause("TS-5c")
def test_an_ended_task_takes_no_file_and_gives_out_those_it_has(
    alice: httpx.Client, acme: HostClient, nobody: httpx.Client
) -> None:
    assert acme.register("helper").status_code == 200
    task = make(alice, "helper")
    offer = offered(alice, task, CSV)
    assert deliver(nobody, offer["upload"], CSV) == 200
    assert alice.post(f"{task}/inputs", json=part(offer["file"])).status_code == 202
    ended = acme.post(task.rpartition("/")[2], "complete", {"discard_pending": True})
    assert ended.status_code == 200, ended.text

    refused = alice.post(
        f"{task}/files", json={"name": "a.csv", "mimeType": "text/csv", "sizeBytes": len(CSV)}
    )
    found = alice.get(f"{task}/files", params={"ref": offer["file"]})

    assert (refused.status_code, refused.json()["agent_status"]["code"]) == (409, 4001)
    assert nobody.get(found.json()["url"]).content == CSV


def test_without_roles_and_tls_it_is_the_same_walk(deployment: Deployed) -> None:
    with deployment.http("alice") as alice, deployment.http() as nobody:
        task = make(alice)
        offer = offered(alice, task, CSV)
        assert deliver(nobody, offer["upload"], CSV + b".") == 403
        assert deliver(nobody, offer["upload"], CSV) == 200
        assert alice.post(f"{task}/inputs", json=part(offer["file"])).status_code == 202
        found = alice.get(f"{task}/files", params={"ref": offer["file"]})

        assert nobody.get(found.json()["url"]).content == CSV


def test_the_bucket_is_as_the_template_has_it(deployment: Deployed) -> None:
    s3, bucket = deployment.client("s3"), {"Bucket": deployment.outputs["BucketName"]}

    (rule,) = s3.get_bucket_cors(**bucket)["CORSRules"]
    closed = s3.get_public_access_block(**bucket)["PublicAccessBlockConfiguration"]

    assert s3.get_bucket_versioning(**bucket)["Status"] == "Enabled"
    assert rule["AllowedOrigins"] == [SHORT["cors_origins"]]
    assert rule["AllowedMethods"] == ["GET", "PUT"]
    assert {*closed.values()} == {True}


def key_of(offer: Any) -> str:
    """Where an offered file will lie."""
    return unquote(urlsplit(offer["upload"]["url"]).path).split("/", 2)[2]


def acme_principal(deployed: Deployed, agent: str) -> str:
    """The owner of an agent, as the table has it."""
    key = {"pk": {"S": f"AGENT#{agent}"}, "sk": {"S": "CURRENT"}}
    item = deployed.client("dynamodb").get_item(TableName=deployed.outputs["TableName"], Key=key)["Item"]
    return str(item["owner"]["S"])
