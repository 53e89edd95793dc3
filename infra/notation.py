"""How a setting is written: what a number, a name or an address may look like, in cdk.json or after `-c`."""

import json
from enum import IntEnum, StrEnum
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field


class Arch(StrEnum):
    """The processor that the functions run on, and that their layer is built for."""

    ARM64 = "arm64"
    X86_64 = "x86_64"


class LogRetention(IntEnum):
    """The days that a log line is kept."""

    WEEK = 7
    MONTH = 30
    QUARTER = 90
    YEAR = 365


def split_on_commas(value: object) -> object:
    """Let `-c name=a,b` stand for a list."""
    if isinstance(value, str):
        return tuple(part.strip() for part in value.split(",") if part.strip())
    return value


def read_as_json(value: object) -> object:
    """Let `-c name={…}` stand for an object; an empty text for an empty one."""
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value or "{}")
    except json.JSONDecodeError as error:
        raise ValueError(f"it is not JSON ({error})") from None


def none_if_empty(value: object) -> object:
    """Let `-c name=` take a setting back."""
    return None if value == "" else value


LONGEST_SECONDS = 100 * 366 * 24 * 3600
"""A century: no calendar ends within it of any task's end."""

Seconds = Annotated[int, Field(ge=1, le=LONGEST_SECONDS)]
Origin = Annotated[str, Field(pattern=r"^(\*|https?://[^/\s]+)$")]
Optional = BeforeValidator(none_if_empty)
# Written together with capitals for the hyphens, two names stay two.
HostName = Annotated[str, Field(pattern=r"^[a-z][a-z0-9]*(-[a-z][a-z0-9]*)*$", max_length=24)]
Principal = Annotated[str, Field(pattern=r"^\d{12}/A(ROA|IDA)[A-Z0-9]+$")]
Issuer = Annotated[str, Field(pattern=r"^[\x21-\x7e]{1,64}$")]
ScopeName = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_.-]{0,39}$")]
StatusCode = Annotated[int, Field(ge=1000, le=9899)]
Severity = Literal["critical", "error", "warning", "notice", "info", "debug"]
FunctionArn = Annotated[
    str, Field(pattern=r"^arn:aws[a-z-]*:lambda:[a-z0-9-]+:\d{12}:function:[\w-]{1,64}(:[\w$-]{1,128})?$")
]
# No more than these models and profiles: a wildcard would be all of them.
ModelArn = Annotated[
    str,
    Field(
        pattern=r"^arn:aws[a-z-]*:bedrock:[a-z0-9-]*:(\d{12})?:"
        r"(foundation-model|inference-profile|application-inference-profile|provisioned-model|imported-model)/[\w.:-]+$"
    ),
]
AgentName = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9_-]{0,63}$")]
# A key that the stack makes, or somebody else's.
KeyName = Annotated[str, Field(pattern=r"^(own|arn:aws[a-z-]*:kms:[a-z0-9-]+:\d{12}:key/[\w-]+)$")]
CertificateArn = Annotated[
    str, Field(pattern=r"^arn:aws[a-z-]*:acm:[a-z0-9-]+:\d{12}:certificate/[0-9a-f-]+$")
]
# Of the one region where CloudFront looks for certificates.
ConsoleCertificateArn = Annotated[
    str, Field(pattern=r"^arn:aws[a-z-]*:acm:us-east-1:\d{12}:certificate/[0-9a-f-]+$")
]
Endpoint = Annotated[str, Field(pattern=r"^https://[^\s\"'<>;,]+$", max_length=500)]
DomainName = Annotated[
    str, Field(pattern=r"^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]{2,63}$", max_length=253)
]
ZoneId = Annotated[str, Field(pattern=r"^Z[A-Z0-9]{1,31}$")]
# Where an alarm goes: a topic that there is, or a mailbox that a topic of the stack's own writes to.
AlarmTarget = Annotated[
    str,
    Field(
        pattern=r"^(arn:aws[a-z-]*:sns:[a-z0-9-]+:\d{12}:[A-Za-z0-9_-]{1,256}|[^@\s:]+@[^@\s:]+\.[^@\s:]+)$"
    ),
]
