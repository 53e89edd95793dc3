"""The settings of one deployment: read from the CDK context, typed, and refused in a sentence.

cdk.json holds a value for every setting; `-c name=value` overrides one. Nothing has a second default in code.
"""

import json
import re
from collections.abc import Mapping
from enum import IntEnum, StrEnum
from typing import Annotated, Literal, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator

QUEUE_MARGIN_SECONDS = 60
"""A message stays hidden this much longer than the function that works on it may run."""

OF_THE_CDK = frozenset({"cli-telemetry", "acknowledged-issue-numbers", "cdk-migrate"})
"""Context keys of the CDK's own that its usual marks (`:`, `/`) do not give away."""


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


class SettingRefused(ValueError):
    """A setting is unknown, badly typed or at odds with another; the message names it."""


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


NESTED = (
    ("heartbeat_seconds", "lease_seconds"),
    # A worker hides its message for its lease and 5 s; the queue hides one for a turn's time and 60 s.
    ("lease_seconds", "turn_timeout_seconds"),
    ("wake_grace_seconds", "wake_grace_max_seconds"),
)
"""Pairs of which the first is the shorter."""

ISSUER = ("oidc_issuer", "oidc_audience", "human_claim")
"""What an issuer other than our own user pool needs, all of it."""

LARGEST_PUT = 5 * 1024**3
"""Bytes that S3 takes in one request."""

MOST_HOSTS = MOST_FUNCTIONS = 10
MOST_SEVERITIES = 8
"""Functions are told all of them, and a function's environment holds 4 KB."""

Seconds = Annotated[int, Field(ge=1)]
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


class ExternalHost(BaseModel):
    """Whoever drives turns from outside: who that is to the gateway, and to a queue's policy."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    principal: Principal
    """The account, and the stable id of the role (AROA…) or user (AIDA…)."""
    arn: Annotated[str | None, Field(pattern=r"^arn:aws[a-z-]*:iam::\d{12}:(role|user)/[\w+=,.@/-]+$")] = None
    """The same role or user; without it nothing here lets the host into its queue, and its own policies must."""

    @model_validator(mode="after")
    def _is_one_principal(self) -> Self:
        account, _, unique_id = self.principal.partition("/")
        if self.arn is not None:
            kind = "role" if unique_id.startswith("AROA") else "user"
            if f"::{account}:{kind}/" not in self.arn:
                raise ValueError(f"{self.arn} cannot be {self.principal}, a {kind} of account {account}.")
        return self


class Stage(BaseModel):
    """What one deployment is told; the field names are the context keys."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    stage: Annotated[str, Field(pattern=r"^[a-z][a-z0-9-]{0,31}$")]
    keep_data: bool
    arch: Arch
    log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR"]
    log_retention_days: LogRetention

    lease_seconds: Seconds
    heartbeat_seconds: Seconds
    wake_grace_seconds: Seconds
    wake_grace_max_seconds: Seconds
    idempotency_seconds: Seconds
    retention_seconds: Seconds
    turn_timeout_seconds: Annotated[int, Field(ge=1, le=900)]
    turns_concurrency: Annotated[int, Field(ge=2, le=1000)]
    sweep_enabled: bool

    largest_file_bytes: Annotated[int, Field(ge=1, le=LARGEST_PUT)]
    file_url_seconds: Annotated[int, Field(ge=1, le=3600)]

    external_hosts: Annotated[
        dict[HostName, ExternalHost], Field(max_length=MOST_HOSTS), BeforeValidator(read_as_json)
    ]
    deployment_hosts: Annotated[
        tuple[Principal, ...], Field(max_length=MOST_HOSTS), BeforeValidator(split_on_commas)
    ]
    auditors: Annotated[tuple[Principal, ...], Field(max_length=MOST_HOSTS), BeforeValidator(split_on_commas)]
    reporters: Annotated[
        dict[Issuer, Annotated[tuple[ScopeName, ...], Field(max_length=16)]],
        Field(max_length=MOST_HOSTS),
        BeforeValidator(read_as_json),
    ]
    severities: Annotated[
        dict[StatusCode, Severity], Field(max_length=MOST_SEVERITIES), BeforeValidator(read_as_json)
    ]
    host_functions: Annotated[
        tuple[FunctionArn, ...], Field(max_length=MOST_FUNCTIONS), BeforeValidator(split_on_commas)
    ]

    throttle_rate: Annotated[int, Field(ge=1)]
    throttle_burst: Annotated[int, Field(ge=1)]
    cors_origins: Annotated[tuple[Origin, ...], BeforeValidator(split_on_commas)]
    oidc_issuer: Annotated[str | None, Field(pattern=r"^https?://\S+$"), Optional]
    oidc_audience: Annotated[str | None, Optional]
    human_claim: Annotated[str | None, Optional]
    developer_claim: Annotated[str | None, Field(pattern=r"^[^=\s]+(=[^=\s,\[\]]+)?$"), Optional]

    @classmethod
    def from_context(cls, context: Mapping[str, object]) -> Self:
        """Read the settings out of *context*; the CDK's own keys are not ours to judge."""
        ours = {key: value for key, value in context.items() if not _is_of_the_cdk(key)}
        try:
            return cls.model_validate(ours)
        except ValidationError as refused:
            raise SettingRefused(" ".join(_sentences(refused))) from None

    @property
    def queue_visibility_seconds(self) -> int:
        """How long a message stays hidden unless its worker says otherwise."""
        return self.turn_timeout_seconds + QUEUE_MARGIN_SECONDS

    @model_validator(mode="after")
    def _waits_fit_into_each_other(self) -> Self:
        for shorter, longer in NESTED:
            short, long = getattr(self, shorter), getattr(self, longer)
            if short > long:
                raise ValueError(f"{shorter} ({short}) must not exceed {longer} ({long}).")
        if self.heartbeat_seconds == self.lease_seconds:
            raise ValueError(f"heartbeat_seconds ({self.heartbeat_seconds}) must come before the lease ends.")
        return self

    @model_validator(mode="after")
    def _hosts_are_told_apart(self) -> Self:
        names: dict[str, str] = {}
        for name, host in self.external_hosts.items():
            other = names.setdefault(host.principal, name)
            if other != name:
                raise ValueError(f"external_hosts: {other} and {name} are the same principal.")
            if host.principal in self.deployment_hosts:
                said = (
                    f"external_hosts: {name} acts as the deployment (deployment_hosts), which has no queue."
                )
                raise ValueError(said)
        return self

    @model_validator(mode="after")
    def _issuer_is_whole_or_absent(self) -> Self:
        missing = [name for name in ISSUER if getattr(self, name) is None]
        if 0 < len(missing) < len(ISSUER):
            said = f"An issuer of your own needs {', '.join(ISSUER)}; missing: {', '.join(missing)}."
            raise ValueError(said)
        return self


def queue_of(host: str) -> str:
    """Return what the queue of *host* is called in the stack, and begins the name of its output: `HostQueueMyTeam`."""
    return "HostQueue" + "".join(part.capitalize() for part in host.split("-"))


def _is_of_the_cdk(key: str) -> bool:
    return key in OF_THE_CDK or re.search(r"[:/]", key) is not None


def _sentences(refused: ValidationError) -> list[str]:
    said = []
    for error in refused.errors():
        name = ".".join(str(part) for part in error["loc"])
        match error["type"]:
            case "extra_forbidden":
                said.append(f"The setting {name} is unknown.")
            case "missing":
                said.append(f"The setting {name} is missing.")
            case "value_error" if not error["loc"]:
                said.append(error["msg"].removeprefix("Value error, "))
            case _:
                problem = error["msg"].removeprefix("Value error, ").removesuffix(".")
                said.append(f"The setting {name} cannot be {error['input']!r}: {problem}.")
    return said
