"""A host as the end-to-end tests use it: its signature on the hosts' API, and its own queue."""

import json
import time
from collections.abc import Generator
from dataclasses import dataclass
from typing import Any

import boto3
import httpx
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

from offline.endpoint import REGION
from tests.support.deployed import Deployed

UNSIGNED_HEADERS = {"accept-encoding", "connection", "user-agent"}


class Signed(httpx.Auth):
    """Signs each request as the gateway wants it signed."""

    requires_request_body = True

    def __init__(self, credentials: Credentials) -> None:
        self._signer: Any = SigV4Auth(credentials, "execute-api", REGION)

    def auth_flow(self, request: httpx.Request) -> Generator[httpx.Request, httpx.Response]:
        headers = {name: value for name, value in request.headers.items() if name not in UNSIGNED_HEADERS}
        signed: Any = AWSRequest(
            method=request.method, url=str(request.url), data=request.content, headers=headers
        )
        self._signer.add_auth(signed)
        request.headers.update(dict(signed.headers.items()))
        yield request


@dataclass(frozen=True)
class TestHost:
    """Somebody who registers agents and drives their tasks, with the credentials of one principal."""

    __test__ = False

    name: str
    principal: str
    credentials: Credentials
    deployed: Deployed

    @property
    def queue_url(self) -> str:
        """Where it is woken."""
        return self.deployed.outputs[f"HostQueue{self.name.title()}Url"]

    def http(self) -> httpx.Client:
        """A client of the API that signs as this host; its paths begin with v1."""
        client = self.deployed.http()
        client.auth = Signed(self.credentials)
        return client

    def client(self, service: str) -> Any:
        """A boto3 client of *service* that may do what this host may."""
        certificate = self.deployed.deployment.endpoint.certificate
        session: Any = boto3.Session(
            aws_access_key_id=self.credentials.access_key,
            aws_secret_access_key=self.credentials.secret_key,
            aws_session_token=self.credentials.token,
            region_name=REGION,
        )
        trust = str(certificate) if certificate else None
        return session.client(service, endpoint_url=self.deployed.endpoint_url, verify=trust)

    def register(self, agent: str, **settings: object) -> None:
        """Have *agent* be this host's, with *settings* beside how it runs."""
        ours = {"runs": "external", **settings}
        manifest = {
            "kind": "commonagents.info/v1/agent",
            "name": agent,
            "description": "",
            "turnkeeper": ours,
        }
        with self.http() as http:
            answer = http.put(f"v1/host/agents/{agent}", json=manifest)
        assert answer.status_code == 200, answer.text

    def woken(self, task: str, *, within: float = 20) -> None:
        """Return when a wake-up for *task* came, and forget it."""
        sqs, deadline = self.client("sqs"), time.monotonic() + within
        while time.monotonic() < deadline:
            for message in sqs.receive_message(QueueUrl=self.queue_url, WaitTimeSeconds=1).get(
                "Messages", ()
            ):
                sqs.delete_message(QueueUrl=self.queue_url, ReceiptHandle=message["ReceiptHandle"])
                if json.loads(message["Body"])["task"] == task:
                    return
        raise AssertionError(f"{self.name} was not woken for {task} within {within} s")
