"""Hosts of an offline deployment: IAM users who may call the hosts' API, each woken by a queue of its own.

A host's id is in the settings of the deployment that declares it, so the user is made first, then deployed for, then
let in to the API that there is by then.
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from botocore.exceptions import ClientError
from pydantic import TypeAdapter, ValidationError

from infra import stage
from infra.notation import HostName
from offline.deployment import Deployment
from offline.endpoint import ACCOUNT, REGION, Endpoint

PATH = "/turnkeeper/hosts/"
POLICY = "calls-the-hosts-api"
STEWARD = "deployment"
"""The host of the built-in agents, which acts as the deployment itself."""


class HostNameRefused(ValueError):
    """No host can have this name; the message says which could."""


@dataclass(frozen=True)
class Host:
    """Somebody who drives the tasks of agents of its own."""

    name: str
    principal: str
    arn: str


@dataclass(frozen=True)
class Keys:
    """What a host signs with."""

    access_key_id: str
    secret_access_key: str


def make_host(endpoint: Endpoint, name: str) -> Host:
    """Have *name* be a host; one that is already stays the same."""
    check(name)
    iam = endpoint.client("iam")
    try:
        user = iam.create_user(UserName=name, Path=PATH)["User"]
    except ClientError as error:
        if error.response["Error"]["Code"] != "EntityAlreadyExists":
            raise
        user = iam.get_user(UserName=name)["User"]
    return _host(user)


def hosts_of(endpoint: Endpoint) -> list[Host]:
    """Every host that was made."""
    pages = endpoint.client("iam").get_paginator("list_users").paginate(PathPrefix=PATH)
    return [_host(user) for page in pages for user in page["Users"]]


def declaration(hosts: Iterable[Host]) -> dict[str, dict[str, str]]:
    """The setting `external_hosts` that gives each of *hosts* its queue."""
    return {
        host.name: {"principal": host.principal, "arn": host.arn} for host in hosts if host.name != STEWARD
    }


def settings(hosts: Iterable[Host]) -> dict[str, str]:
    """What a deployment is told so that it knows each of *hosts*."""
    known = list(hosts)
    stewards = [host.principal for host in known if host.name == STEWARD]
    return {"external_hosts": json.dumps(declaration(known)), "deployment_hosts": ",".join(stewards)}


def let_in(deployment: Deployment, host: Host) -> None:
    """Let *host* call the hosts' API of *deployment*, and nothing else there."""
    deployment.client("iam").put_user_policy(
        UserName=host.name, PolicyName=POLICY, PolicyDocument=json.dumps(may_call(deployment))
    )


def may_call(deployment: Deployment) -> dict[str, Any]:
    """The policy of whoever may call the hosts' API of *deployment*."""
    invoke = f"arn:aws:execute-api:{REGION}:{ACCOUNT}:{deployment.api_id}/*/*/v1/host/*"
    statement = {"Effect": "Allow", "Action": "execute-api:Invoke", "Resource": invoke}
    return {"Version": "2012-10-17", "Statement": [statement]}


def keys_of(endpoint: Endpoint, host: Host) -> Keys:
    """The keys of *host*, made when first asked for: the same ones from then on."""
    secrets, name = endpoint.client("secretsmanager"), f"turnkeeper/hosts/{host.name}"
    try:
        return Keys(**json.loads(secrets.get_secret_value(SecretId=name)["SecretString"]))
    except ClientError as error:
        if error.response["Error"]["Code"] != "ResourceNotFoundException":
            raise
    made = endpoint.client("iam").create_access_key(UserName=host.name)["AccessKey"]
    keys = Keys(made["AccessKeyId"], made["SecretAccessKey"])
    secrets.create_secret(Name=name, SecretString=json.dumps(vars(keys)))
    return keys


def queue_of(deployment: Deployment, host: Host) -> str | None:
    """Where *host* is woken; None until a deployment declares it."""
    return deployment.outputs.get(f"{stage.queue_of(host.name)}Url")


def check(name: str) -> None:
    """Refuse a *name* that no host can have."""
    try:
        TypeAdapter(HostName).validate_python(name)
    except ValidationError:
        raise HostNameRefused(
            f"{name!r} cannot be a host: small letters, digits and hyphens, as in my-team."
        ) from None


def _host(user: dict[str, str]) -> Host:
    return Host(user["UserName"], f"{ACCOUNT}/{user['UserId']}", user["Arn"])
