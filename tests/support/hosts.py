"""A host as the end-to-end tests use it: its signature on the hosts' API, and its own queue."""

import io
import json
import ssl
import time
import zipfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import boto3
import httpx
from botocore.credentials import Credentials

from offline import hosts
from offline.endpoint import ACCOUNT, REGION, Endpoint
from offline.signing import Signed
from tests.support.deployed import Deployed

type Body = Mapping[str, Any]

KEPT_SECONDS = 600
"""How long a host that dies keeps its wake-up from everybody else: longer than any test."""
AGENT_FUNCTION = Path(__file__).parent / "agent_function.py"


@dataclass(frozen=True)
class HostClient:
    """Whoever has the credentials of one principal, at one deployment."""

    credentials: Credentials
    base_url: str
    endpoint: Endpoint
    queue_url: str

    def http(self) -> httpx.Client:
        """A client of the API that signs; its paths begin with v1."""
        certificate = self.endpoint.certificate
        trust = ssl.create_default_context(cafile=certificate) if certificate else True
        return httpx.Client(
            base_url=f"{self.base_url}/", auth=Signed(self.credentials), verify=trust, timeout=30
        )

    def client(self, service: str) -> Any:
        """A boto3 client of *service* that may do what this host may."""
        session: Any = boto3.Session(
            aws_access_key_id=self.credentials.access_key,
            aws_secret_access_key=self.credentials.secret_key,
            aws_session_token=self.credentials.token,
            region_name=REGION,
        )
        trust = str(self.endpoint.certificate) if self.endpoint.certificate else None
        return session.client(service, endpoint_url=self.endpoint.url, verify=trust)

    def register(self, agent: str, **ours: object) -> httpx.Response:
        """The answer to a manifest of *agent* with *ours* under `turnkeeper`."""
        with self.http() as http:
            return http.put(f"v1/host/agents/{agent}", json=manifest(agent, **ours))

    def post(self, task: str, what: str, body: Body | None = None) -> httpx.Response:
        """The answer to `POST /v1/host/tasks/{task}/{what}`."""
        with self.http() as http:
            return http.post(f"v1/host/tasks/{task}/{what}", json=body)

    def woken(self, task: str, *, within: float = 20, keep: bool = False) -> None:
        """Return when a wake-up for *task* came; it is deleted unless it is to *keep*, others' are in any case."""
        sqs, deadline = self.client("sqs"), time.monotonic() + within
        while time.monotonic() < deadline:
            received = sqs.receive_message(
                QueueUrl=self.queue_url, WaitTimeSeconds=1, VisibilityTimeout=KEPT_SECONDS
            )
            for message in received.get("Messages", ()):
                is_it = json.loads(message["Body"])["task"] == task
                if not (is_it and keep):
                    sqs.delete_message(QueueUrl=self.queue_url, ReceiptHandle=message["ReceiptHandle"])
                if is_it:
                    return
        raise AssertionError(f"not woken for {task} within {within} s")


def manifest(agent: str, **ours: object) -> dict[str, Any]:
    """A manifest of *agent* with *ours* under `turnkeeper`; it runs outside unless those say otherwise."""
    settings = {"runs": "external", **ours}
    return {"kind": "commonagents.info/v1/agent", "name": agent, "description": "", "turnkeeper": settings}


def said(text: str) -> dict[str, Any]:
    """An input or an output with one text part."""
    return {"message": [{"mimeType": "text/plain", "text": text}]}


def make_role(endpoint: Endpoint, name: str) -> hosts.Host:
    """Have a role *name* that a function may run as, and that somebody of the account may take."""
    trusted = [
        {"Effect": "Allow", "Principal": principal, "Action": "sts:AssumeRole"}
        for principal in ({"Service": "lambda.amazonaws.com"}, {"AWS": f"arn:aws:iam::{ACCOUNT}:root"})
    ]
    role = endpoint.client("iam").create_role(
        RoleName=name, AssumeRolePolicyDocument=json.dumps({"Version": "2012-10-17", "Statement": trusted})
    )["Role"]
    return hosts.Host(name, f"{ACCOUNT}/{role['RoleId']}", role["Arn"])


def make_function(endpoint: Endpoint, name: str, *, role: str) -> str:
    """Have tests/support/agent_function.py be the Lambda function *name*, which runs as *role*; its ARN."""
    zipped = io.BytesIO()
    with zipfile.ZipFile(zipped, "w") as archive:
        archive.write(AGENT_FUNCTION, "agent_function.py")
    made = endpoint.client("lambda").create_function(
        FunctionName=name,
        Runtime="python3.13",
        Role=role,
        Handler="agent_function.handle",
        Code={"ZipFile": zipped.getvalue()},
        Timeout=60,
    )
    arn: str = made["FunctionArn"]
    return arn


def tell_function(name: str, host: HostClient) -> None:
    """Have the function *name* know its API, and act there as *host*."""
    session = [host.credentials.access_key, host.credentials.secret_key, host.credentials.token]
    told = {"BASE_URL": host.base_url, "SESSION_OF_THE_ROLE": json.dumps(session)}
    host.endpoint.client("lambda").update_function_configuration(
        FunctionName=name, Environment={"Variables": told}
    )


def declaration(known: Iterable[hosts.Host]) -> dict[str, str]:
    """What a deployment is told of the hosts there are."""
    return {"external_hosts": json.dumps(hosts.declaration(known))}


def user_at(deployed: Deployed, host: hosts.Host) -> HostClient:
    """The user *host* with its keys, let in to the API."""
    hosts.let_in(deployed.deployment, host)
    keys = hosts.keys_of(deployed.deployment.endpoint, host)
    return _client(deployed, host, Credentials(keys.access_key_id, keys.secret_access_key))


def role_at(deployed: Deployed, host: hosts.Host, *, session: str) -> HostClient:
    """The role *host* in a *session* of its own, let in to the API."""
    deployed.client("iam").put_role_policy(
        RoleName=host.name,
        PolicyName=hosts.POLICY,
        PolicyDocument=json.dumps(hosts.may_call(deployed.deployment)),
    )
    taken = deployed.client("sts").assume_role(RoleArn=host.arn, RoleSessionName=session)["Credentials"]
    return _client(
        deployed,
        host,
        Credentials(taken["AccessKeyId"], taken["SecretAccessKey"], taken["SessionToken"]),
    )


def _client(deployed: Deployed, host: hosts.Host, credentials: Credentials) -> HostClient:
    queue = hosts.queue_of(deployed.deployment, host)
    assert queue is not None
    return HostClient(credentials, deployed.base_url, deployed.deployment.endpoint, queue)
