"""A Turnkeeper that was deployed with the CDK CLI, as the end-to-end tests use it: over HTTP, and from behind."""

import json
import os
import signal
import ssl
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from offline.deployment import Deployment
from offline.engine import Engine
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
        """An access token of the user *name*, who is made when they are none."""
        return token(self.deployment, name)

    def http(self, name: str | None = None) -> httpx.Client:
        """A client of the API, signed in as *name* or as nobody; its paths begin with v1."""
        return self.http_as(self.token_for(name) if name else None)

    def http_as(self, token: str | None) -> httpx.Client:
        """A client of the API that sends *token*; its paths begin with v1."""
        headers = {"authorization": f"Bearer {token}"} if token else {}
        certificate = self.deployment.endpoint.certificate
        trust = ssl.create_default_context(cafile=certificate) if certificate else True
        return httpx.Client(base_url=f"{self.base_url}/", headers=headers, verify=trust, timeout=30)

    def client(self, service: str) -> Any:
        """A boto3 client of *service*."""
        return self.deployment.client(service)

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
        wanted = f"AWS_LAMBDA_FUNCTION_NAME={self.function(name)}".encode()
        return [
            pid
            for pid in processes_of(self.engine.process_group)
            if wanted in Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
        ]

    def kill_workers(self, name: str) -> int:
        """Kill every process that runs the function *name*, at once and for good; how many there were."""
        found = self.workers(name)
        for pid in found:
            os.kill(pid, signal.SIGKILL)
        return len(found)


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
