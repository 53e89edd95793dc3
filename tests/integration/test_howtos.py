"""The how-tos do what they say: their code is run as it stands on the page."""

import json
import subprocess
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk.assertions import Match, Template

from infra import NODE
from tests.support.clients import Wire, host_client, take_one
from tests.support.hosting import AGENT, Hosts
from tests.support.laboratory import Laboratory
from tests.support.pages import blocks_in, run_python
from tests.support.scripted import Scripted
from turnkeeper.edge import manifests
from turnkeeper.guards import rules
from turnkeeper_client.queues import Queue
from turnkeeper_client.strands import StrandsHost

ALICE = "alice-sub"


@pytest.fixture
def side() -> str:
    """The pages' code blocks."""
    return "blocking"


@pytest.fixture
def acme(wire: Wire, hosts: Hosts) -> Any:  # noqa: ARG001 - without it there are no hosts
    return host_client("blocking", wire, "acme")


@pytest.fixture
def queue(hosts: Hosts) -> Queue:
    return Queue(hosts.acme.lab.sqs, hosts.acme.queue_url)


def said(alice: Any, task_id: str) -> list[str]:
    return [entry.text for entry in alice.messages(task_id).messages]


@pytest.mark.parametrize(
    ("page", "number"), [("howto/lambda.md", 0), ("howto/reviews.md", 0), ("howto/reviews.md", 1)]
)
def test_a_manifest_of_the_pages_is_taken(page: str, number: int) -> None:
    event = {"body": blocks_in(page, "yaml")[number], "headers": {"content-type": "application/yaml"}}

    found = manifests.manifest(event, enforced=frozenset(manifests.ENFORCEABLE))

    rules.of(found)
    assert json.loads(found)["name"] in event["body"]


def test_the_function_of_the_page_answers_a_turn_and_speaks_along_the_way(
    acme: Any, alice: Any, invoke: Any, live_lab: Laboratory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BASE_URL", "https://api.example")
    names = run_python("howto/lambda.md")
    names["Host"] = lambda *_: nullcontext(acme)  # the keys of a shell are not looked for

    def function(event: Any) -> Any:
        names["progress"](event, "One moment.")
        return names["handle"](event, None)

    invoke(function)
    task_id = alice.create(AGENT, "hello").task.id
    live_lab.work()

    assert said(alice, task_id) == ["hello", "One moment.", "HELLO"]


@pytest.mark.parametrize(("decision", "end"), [("approve", "It is sent."), ("deny", "Then I leave it.")])
def test_the_graph_of_the_page_stops_for_a_person_and_goes_on(
    acme: Any, queue: Queue, alice: Any, decision: str, end: str
) -> None:
    names = run_python("howto/loop.md")
    acme.register("letters", names["MANIFEST"])
    task_id = alice.create("letters", "your parcel is late").task.id

    assert take_one(acme, queue, names["run"])
    (review,) = alice.reviews().reviews
    alice.decide(review.id, decision)
    assert take_one(acme, queue, names["run"])

    assert review.subject == "Send this? Dear customer, your parcel is late"
    assert said(alice, task_id) == ["your parcel is late", "I have drafted it.", end]
    assert alice.task(task_id).status.phase == "idle"


@pytest.mark.parametrize(("decision", "end"), [("approve", "Booked."), ("deny", "Not booked: Too dear.")])
def test_the_agent_of_the_page_asks_for_an_approval(
    acme: Any, queue: Queue, alice: Any, decision: str, end: str
) -> None:
    agent = run_python("howto/reviews.md")["agent"]
    acme.register(
        "desk",
        {
            "kind": "commonagents.info/v1/agent",
            "name": "desk",
            "description": "Books.",
            "turnkeeper": {"runs": "external"},
        },
    )
    task_id = alice.create("desk", "Bern").task.id

    take_one(acme, queue, agent)
    (review,) = alice.reviews().reviews
    alice.decide(review.id, decision, comment="Too dear." if decision == "deny" else None)
    take_one(acme, queue, agent)

    assert review.subject == "Book this? Bern"
    assert said(alice, task_id)[-1] == end


@pytest.mark.parametrize(("number", "subject"), [(0, "Spend 120?"), (1, "Say this: A refund of 5.")])
def test_the_guardrails_of_the_page_ask_for_a_review(
    acme: Any, queue: Queue, alice: Any, number: int, subject: str
) -> None:
    manifest = blocks_in("howto/reviews.md", "yaml")[number]
    name = ["spender", "careful"][number]
    acme.register(name, manifest)
    parameters = {"price": 120} if number == 0 else {}
    alice.create(name, "A refund of 5.", parameters=parameters)

    take_one(acme, queue, lambda turn: turn.text)

    assert [review.subject for review in alice.reviews().reviews] == [subject]


def test_files_are_sent_and_fetched_as_the_page_says(alice: Any, live_lab: Laboratory) -> None:
    names = run_python("howto/files.md")
    task_id = alice.create("echo").task.id

    uri = names["ask_about"](alice, task_id, "week48.csv", b"day,parcels")
    live_lab.work()

    assert uri.startswith("task://")
    assert names["fetched"](alice, task_id, uri) == b"day,parcels"


def test_the_webhook_of_the_page_is_a_stack_that_calls_for_ends_and_for_what_waits() -> None:
    names = run_python("howto/webhooks.md")
    stack = names["Webhook"](
        cdk.App(),
        "Webhook",
        bus_name="turnkeeper-prod",
        endpoint="https://example.com/hook",
        key_in="hook-key",
    )

    template = Template.from_stack(stack)

    template.has_resource_properties(
        "AWS::Events::ApiDestination",
        {"HttpMethod": "POST", "InvocationEndpoint": "https://example.com/hook"},
    )
    template.has_resource_properties("AWS::Events::Connection", {"AuthorizationType": "API_KEY"})
    for status in (
        {"phase": ["terminal"]},
        {"notifications": {"kind": ["review_required", "user_auth_required"]}},
    ):
        template.has_resource_properties(
            "AWS::Events::Rule",
            {
                "EventBusName": "turnkeeper-prod",
                "EventPattern": {
                    "source": ["turnkeeper"],
                    "detail-type": ["Task Status Changed"],
                    "detail": {"status": status},
                },
                "Targets": [
                    Match.object_like(
                        {
                            "InputTransformer": {
                                "InputPathsMap": {
                                    "detail-id": "$.detail.id",
                                    "detail-status-revision": "$.detail.status.revision",
                                },
                                "InputTemplate": ('{"task":<detail-id>,"revision":<detail-status-revision>}'),
                            }
                        }
                    )
                ],
            },
        )


def test_the_receiver_of_the_page_takes_each_call_once_and_no_strangers() -> None:
    names = run_python("howto/webhooks.md")
    looked: list[str] = []
    names["look_at"] = looked.append
    body, headers = {"task": "t", "revision": "r"}, {"x-turnkeeper-key": "s3cret"}

    answers = [
        names["receive"](sent, body, "s3cret")
        for sent in ({}, {"x-turnkeeper-key": "guess"}, headers, headers)
    ]

    assert answers == [401, 401, 202, 202]
    assert looked == ["t"]


def test_a_browser_follows_as_the_page_says(tmp_path: Path) -> None:
    (script,) = blocks_in("howto/browser.md", "js")
    (tmp_path / "follow.mjs").write_text(script, encoding="utf-8")
    task = {"id": "t", "status": {"phase": "processing"}}
    ended = {"id": "t", "status": {"phase": "terminal"}}
    waiting, seen = (
        {"type": "input", "received_at": "1"},
        {"type": "input", "received_at": "1", "committed_at": "2"},
    )
    output = {"type": "output", "committed_at": "3"}
    script_of_answers = [
        [200, task, {"ETag": '"a"', "Poll-After": "1"}],
        [200, {"messages": [waiting], "next": "c1", "more": False}, {}],
        [304, None, {"Poll-After": "2"}],
        [503, None, {"Retry-After": "7"}],
        [200, ended, {"ETag": '"b"'}],
        [200, {"messages": [seen], "next": "c2", "more": True}, {}],
        [200, {"messages": [output], "next": "c3", "more": False}, {}],
    ]
    (tmp_path / "run.mjs").write_text(
        f"""
        import {{ follow }} from "./follow.mjs";
        const answers = {json.dumps(script_of_answers)}, asked = [], shown = [], slept = [];
        globalThis.fetch = async (url, {{ headers }}) => {{
          asked.push([url, headers["If-None-Match"] ?? null]);
          const [status, body, more] = answers.shift();
          return new Response(body && JSON.stringify(body), {{ status, headers: more }});
        }};
        await follow({{
          baseUrl: "https://api", token: () => "x", id: "t",
          show: (task, entries) => shown.push([task.status.phase, entries.map((one) => one.key)]),
          sleep: async (seconds) => void slept.push(seconds),
        }});
        console.log(JSON.stringify({{ asked, shown, slept }}));
        """
    )

    done = subprocess.run(
        [str(NODE), "run.mjs"], cwd=tmp_path, capture_output=True, text=True, check=True, timeout=60
    )

    heard = json.loads(done.stdout)
    base = "https://api/v1/tasks/t"
    assert heard["asked"] == [
        [base, None],
        [f"{base}/messages?limit=100", None],
        [base, '"a"'],
        [base, '"a"'],
        [base, '"a"'],
        [f"{base}/messages?limit=100&after=c1", None],
        [f"{base}/messages?limit=100&after=c2", None],
    ]
    assert heard["shown"] == [["processing", ["1"]], ["terminal", ["1", "3"]]]
    assert heard["slept"] == [1, 2, 7]


def test_the_strands_agent_of_the_page_books_what_its_user_approves(
    acme: Any, alice: Any, queue: Queue, hosts: Hosts
) -> None:
    page: dict[str, Any] = {}
    # The second block needs a deployment.
    exec(blocks_in("howto/strands.md", "python")[0], page)  # noqa: S102 - our own page
    assert hosts.acme.register().status == 200
    task_id = alice.create(AGENT, "Book Bern.").task.id

    def take(*script: Any) -> None:
        model = Scripted(*script)
        take_one(acme, queue, StrandsHost(acme, lambda messages: page["make"](messages, model)))

    take({"to": "Bern"})
    (review,) = alice.reviews().reviews
    alice.decide(review.id, "approve")
    take("It is booked.")

    assert said(alice, task_id) == ["Book Bern.", "It is booked."]
    assert review.subject == 'book: {"to": "Bern"}'
