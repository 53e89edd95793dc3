"""A Turnkeeper that was deployed with the CDK CLI, as the end-to-end tests use it: over HTTP, and from behind."""

import json
import os
import signal
import ssl
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import httpx

from offline.deployment import Deployment
from offline.endpoint import Endpoint
from offline.engine import Engine
from offline.issuer import Issuer
from offline.users import token

SHORT = {
    "lease_seconds": "6",
    "heartbeat_seconds": "2",
    "wake_grace_seconds": "5",
    "wake_grace_max_seconds": "20",
    "cors_origins": "http://localhost:3000",
}
"""Settings with which nothing takes long."""


@dataclass(frozen=True)
class Deployed:
    """A deployment and the engine it is on."""

    engine: Engine
    deployment: Deployment

    @property
    def base_url(self) -> str:
        """Where the routes begin, without a slash at the end."""
        return self.deployment.base_url

    @property
    def endpoint_url(self) -> str:
        """Where AWS clients find the engine."""
        return self.deployment.endpoint_url

    @property
    def outputs(self) -> Mapping[str, str]:
        """The stack's outputs."""
        return self.deployment.outputs

    def token_for(self, name: str) -> str:
        """An access token of *name*: of a user of its pool, or of whoever its issuer says is one."""
        if "UserPoolId" not in self.outputs:
            return Issuer.kept_in(self.engine.state_dir).person(name)
        return token(self.deployment, name)

    def http(self, name: str | None = None) -> httpx.Client:
        """A client of the API, signed in as *name* or as nobody; its paths begin with v1."""
        return self.http_as(self.token_for(name) if name else None)

    def http_as(self, token: str | None) -> httpx.Client:
        """A client of the API that sends *token*; its paths begin with v1."""
        headers = {"authorization": f"Bearer {token}"} if token else {}
        certificate = self.deployment.endpoint.certificate
        trust = ssl.create_default_context(cafile=certificate) if certificate else True
        return httpx.Client(base_url=f"{self.base_url}/", headers=headers, verify=trust, timeout=60)

    def client(self, service: str) -> Any:
        """A boto3 client of *service*, always the same one: to make one takes longer than most of what is watched."""
        return client_of(self.deployment.endpoint, service)

    def function(self, name: str) -> str:
        """The physical name of the function *name*."""
        functions = self.client("lambda").list_functions()["Functions"]
        (found,) = [f["FunctionName"] for f in functions if f"Functions{name.title()}" in f["FunctionName"]]
        return str(found)

    def invoke(self, name: str, event: Mapping[str, Any]) -> Any:
        """What the function *name* answers to *event*; an error of its own is raised."""
        call = self.client("lambda").invoke(FunctionName=self.function(name), Payload=json.dumps(event))
        answer = json.loads(call["Payload"].read())
        if "FunctionError" in call:
            raise AssertionError(answer)
        return answer

    def sweep(self) -> dict[str, Any]:
        """What a sweep did, run now and not at the next minute."""
        counts: dict[str, Any] = self.invoke("sweep", {})
        return counts

    def stored(self, task_id: str) -> dict[str, Any]:
        """The item of a task as it lies in the table, in wire form; looking at it expires nothing."""
        key = {"pk": {"S": f"TASK#{task_id}"}, "sk": {"S": "TASK"}}
        table = self.outputs["TableName"]
        item: dict[str, Any] = self.client("dynamodb").get_item(TableName=table, Key=key)["Item"]
        return item

    @contextmanager
    def nobody_at_work(self) -> Iterator[None]:
        """Wake-ups stay in the queue while the block runs."""
        functions = self.client("lambda")
        found = functions.list_event_source_mappings(FunctionName=self.function("turns"))
        (mapping,) = [mapping["UUID"] for mapping in found["EventSourceMappings"]]
        functions.update_event_source_mapping(UUID=mapping, Enabled=False)
        try:
            yield
        finally:
            functions.update_event_source_mapping(UUID=mapping, Enabled=True)

    def workers(self, name: str) -> list[int]:
        """The processes that run the function *name* now."""
        return self.workers_of(self.function(name))

    def workers_of(self, physical_name: str) -> list[int]:
        """The processes that run the function of this *physical_name* now, whosever it is."""
        wanted = f"AWS_LAMBDA_FUNCTION_NAME={physical_name}".encode()
        return [
            pid
            for pid in processes_of(self.engine.process_group)
            if wanted in environment_of(pid).split(b"\0")
        ]

    def kill_workers(self, name: str) -> int:
        """Kill every process that runs the function *name*, at once and for good; how many there were."""
        return kill(self.workers(name))


@cache
def client_of(endpoint: Endpoint, service: str) -> Any:
    """A boto3 client of *service* at *endpoint*."""
    return endpoint.client(service)


def eventually(holds: Callable[[], bool], *, within: float = 30, every: float = 0.1) -> None:
    """Return as soon as it *holds*."""
    deadline = time.monotonic() + within
    while not holds():
        assert time.monotonic() < deadline, f"not within {within} s"
        time.sleep(every)


def kill(processes: list[int]) -> int:
    """Kill *processes*, at once and for good; how many there were."""
    for pid in processes:
        os.kill(pid, signal.SIGKILL)
    return len(processes)


def environment_of(pid: int) -> bytes:
    """What the process *pid* has in its environment; nothing when it is gone."""
    try:
        return Path(f"/proc/{pid}/environ").read_bytes()
    except OSError:
        return b""


def processes_of(group: int) -> list[int]:
    """The processes of the process group *group*."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                # What follows the command in parentheses: state, parent, group.
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            if int(fields[2]) == group and fields[0] != "Z":
                found.append(int(entry.name))
    return found
