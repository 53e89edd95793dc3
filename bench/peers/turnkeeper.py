"""Ours, as `make up` runs it: the deployed stack on the offline engine, whose own cost is measured beside it.

The engine stands in for API Gateway, Lambda, SQS and DynamoDB. To kill it would try the engine's durability, which is
not the product's: what is killed is the worker that runs the turn, and time is then looked at once, as each minute.
"""

import io
import tempfile
import time
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Any

import httpx

from bench.figures import spread
from bench.peers.conversation import Line, NoSuchConversation, PeerFailed, Poll, Role
from offline.deployment import deploy
from offline.endpoint import ACCOUNT, REGION
from offline.engine import Engine
from tests.support.deployed import SHORT, Deployed, processes_of
from tests.support.engines import Engine as Store
from tests.support.laboratory import Laboratory

SETTINGS = SHORT | {"lease_seconds": "4", "heartbeat_seconds": "1", "sweep_enabled": "false"}
"""A lease is over soon, so that a trial is; its length is a setting, 60 s as a rule."""
PAGE = 1_000
EMPTY = "def handle(event, context):\n    print('{}')\n    return {'statusCode': 200, 'body': '{}'}\n"
"""It writes a line, as ours does: the engine answers much later for a function that writes none."""


class Turnkeeper:
    """The deployed stack; a conversation is a task of the agent that answers at once, or of the one that takes 2 s."""

    name = "Turnkeeper (offline engine)"
    how = (
        "the stack as `cdk deploy` makes it, on the offline engine; a conversation is a task of `echo`, or of "
        "`slow_echo` (2 s), polled by its status"
    )
    command = "python -m offline up"
    patience_s = 25.0
    """A lease (4 s here) must be over before anybody takes a turn up again, and the engine runs one turn at a time."""
    ages_s = (0.7, 0.9, 1.1)

    def __init__(self) -> None:
        self.recent: list[str] = []
        self.killed = self.met = 0
        """How many workers were killed, and how many turns had been begun and not ended then."""

    @contextmanager
    def running(self) -> Iterator[None]:
        """It is deployed within the block."""
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as place, Engine(Path(place)) as engine:
            self.deployed = Deployed(engine, deploy(engine, context=SETTINGS))
            self.token = self.deployed.token_for("alice")
            with self.deployed.http_as(self.token) as self.http:
                yield

    def versions(self) -> Mapping[str, str]:
        """Of what it is made."""
        return {"turnkeeper": "this tree", "boto3": version("boto3")}

    def create(self, text: str) -> str:
        """Begin a task with a first input."""
        agent = "slow_echo" if float(text.split(" ", 1)[0]) else "echo"
        body = {"agent": agent, "input": {"message": [{"mimeType": "text/plain", "text": text}]}}
        task: str = self._told(self.http.post("v1/tasks", json=body))["id"]
        return task

    def send(self, conversation: str, text: str) -> int:
        """Send another input."""
        body = {"message": [{"mimeType": "text/plain", "text": text}]}
        self.recent.append(conversation)
        return self.http.post(f"v1/tasks/{conversation}/inputs", json=body).status_code

    def is_busy(self, conversation: str) -> bool:
        """Whether its phase is `processing`."""
        return bool(self._status(conversation)["status"]["phase"] == "processing")

    def lines(self, conversation: str) -> Sequence[Line]:
        """Its messages."""
        answer = self._told(self.http.get(f"v1/tasks/{conversation}/messages", params={"limit": PAGE}))
        return [
            Line(
                Role.PERSON if entry["type"] == "input" else Role.AGENT,
                "".join(part.get("text", "") for part in entry["message"]),
            )
            for entry in answer["messages"]
        ]

    def filled(self, messages: int) -> str:
        """Its inputs are accepted by the product's own code, and one turn answers all of them."""
        conversation = self.create("0 hello")
        while self.is_busy(conversation):
            time.sleep(0.05)
        user = self._status(conversation)["responsible_user"]
        # It wakes a queue of its own, so that the engine is not busy with hundreds of wake-ups afterwards.
        store, table = Store("ministack", self.deployed.endpoint_url), self.deployed.outputs["TableName"]
        lab = Laboratory(store, dynamodb=self.deployed.client("dynamodb"), table=table)
        for number in range(max(messages - 4, 0)):
            lab.send(conversation, f"0 message {number}", caller=user)
        if messages > 2:  # noqa: PLR2004 - one that was said and one that was answered
            self.send(conversation, "0 the last")
        return conversation

    def polls(self, conversation: str) -> Sequence[Poll]:
        """The status of the task."""
        port = self.deployed.engine.port
        path = f"{self.deployed.base_url.partition(f':{port}')[2]}/v1/tasks/{conversation}"
        return [Poll("GET /v1/tasks/{id}", port, path, {"authorization": f"Bearer {self.token}"})]

    def processes(self) -> Sequence[int]:
        """The engine, and the workers of all functions."""
        return processes_of(self.deployed.engine.process_group)

    def crash(self) -> None:
        """Kill the worker that runs turns, while it is at one."""
        self.met += sum("turn" in self.deployed.stored(task) for task in set(self.recent))
        self.killed += self.deployed.kill_workers("turns")
        self.recent.clear()

    def start_again(self) -> None:
        """Nothing is to be done; AWS starts workers by itself, and so does the engine."""

    def pass_time(self) -> None:
        """Sweep, as the product does each minute."""
        self.deployed.sweep()

    def own_cost(self) -> Poll:
        """A poll of an empty function behind an API without an authorizer: all of it is the engine's."""
        functions, gateway = self.deployed.client("lambda"), self.deployed.client("apigatewayv2")
        code = io.BytesIO()
        with zipfile.ZipFile(code, "w") as archive:
            archive.writestr("empty.py", EMPTY)
        made = functions.create_function(
            FunctionName="empty",
            Runtime="python3.13",
            Handler="empty.handle",
            Role=f"arn:aws:iam::{ACCOUNT}:role/empty",
            Code={"ZipFile": code.getvalue()},
        )
        api = gateway.create_api(Name="empty", ProtocolType="HTTP")["ApiId"]
        integration = gateway.create_integration(
            ApiId=api,
            IntegrationType="AWS_PROXY",
            IntegrationUri=made["FunctionArn"],
            PayloadFormatVersion="2.0",
        )["IntegrationId"]
        gateway.create_route(ApiId=api, RouteKey="GET /empty", Target=f"integrations/{integration}")
        gateway.create_stage(ApiId=api, StageName="$default", AutoDeploy=True)
        functions.add_permission(
            FunctionName="empty",
            StatementId="api",
            Action="lambda:InvokeFunction",
            Principal="apigateway.amazonaws.com",
            SourceArn=f"arn:aws:execute-api:{REGION}:{ACCOUNT}:{api}/*",
        )
        port = self.deployed.engine.port
        return Poll("an empty function", port, f"/_aws/execute-api/{api}/empty")

    def reads(self, times: int = 40) -> dict[str, Any]:
        """Milliseconds of one GetItem of an item that is not there: the engine's and boto3's, none of ours."""
        client, key = self.deployed.client("dynamodb"), {"pk": {"S": "TASK#0"}, "sk": {"S": "TASK"}}
        took = []
        for _ in range(times):
            began = time.perf_counter()
            client.get_item(TableName=self.deployed.outputs["TableName"], Key=key, ConsistentRead=True)
            took.append(round((time.perf_counter() - began) * 1_000, 3))
        return spread(took)

    def _status(self, conversation: str) -> Any:
        return self._told(self.http.get(f"v1/tasks/{conversation}"))

    def _told(self, answer: httpx.Response) -> Any:
        if answer.status_code == httpx.codes.NOT_FOUND:
            raise NoSuchConversation(str(answer.request.url.path))
        if answer.is_error:
            raise PeerFailed(
                f"{answer.request.method} was answered with {answer.status_code}: {answer.text[:200]}"
            )
        return answer.json()
