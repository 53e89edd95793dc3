"""The settings of one deployment: read from the CDK context, typed, and refused in a sentence.

cdk.json holds a value for every setting, or one for each stage below `stages`; `-c name=value` overrides either.
Nothing has a second default in code.
"""

import json
import re
from collections.abc import Mapping
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator

from infra import ROOT
from infra.notation import (
    AgentName,
    AlarmTarget,
    Arch,
    CertificateArn,
    ConsoleCertificateArn,
    DomainName,
    Endpoint,
    FunctionArn,
    HostName,
    Issuer,
    KeyName,
    LogRetention,
    ModelArn,
    Optional,
    Origin,
    Principal,
    ScopeName,
    Seconds,
    Severity,
    StatusCode,
    ZoneId,
    read_as_json,
    split_on_commas,
)

QUEUE_MARGIN_SECONDS = 60
"""A message stays hidden this much longer than the function that works on it may run."""

OF_THE_CDK = frozenset({"cli-telemetry", "acknowledged-issue-numbers", "cdk-migrate"})
"""Context keys of the CDK's own that its usual marks (`:`, `/`) do not give away."""


class SettingRefused(ValueError):
    """A setting is unknown, badly typed or at odds with another; the message names it."""


NESTED = (
    ("heartbeat_seconds", "lease_seconds"),
    # A worker hides its message for its lease and 5 s; the queue hides one for a turn's time and 60 s.
    ("lease_seconds", "turn_timeout_seconds"),
    ("wake_grace_seconds", "wake_grace_max_seconds"),
    # Nothing that was begun while a task lived reaches it after it was deleted.
    ("turn_timeout_seconds", "retention_seconds"),
    ("file_url_seconds", "retention_seconds"),
    ("idempotency_seconds", "retention_seconds"),
)
"""Pairs of which the first is the shorter."""

STAGES = "stages"
"""The context key below which each stage has the settings that are its own."""

ISSUER = ("oidc_issuer", "oidc_audience", "human_claim")
"""What an issuer other than our own user pool needs, all of it."""

COGNITO_HUMAN_CLAIM = "username"
"""Cognito puts it into the access token of a person, and into no client's."""

NOT_COGNITOS = ("amazon", "aws", "cognito")
"""Words that Cognito takes in no address of a sign-in page."""

BUILT_IN = frozenset(
    file.stem for file in (ROOT / "layers/shared/python/turnkeeper/agents/manifests").glob("*.json")
)
"""The agents that every deployment ships."""

LARGEST_PUT = 5 * 1024**3
"""Bytes that S3 takes in one request."""

MOST_HOSTS = MOST_FUNCTIONS = 10
MOST_SEVERITIES = 8
"""Functions are told all of them, and a function's environment holds 4 KB."""

TOLD_BYTES = 3_110
"""What that leaves for all that hosts, reporters, auditors and claims are told by, together."""

LONGEST_ADDRESS = 134
"""Of a queue."""


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


class ConsoleSignIn(BaseModel):
    """Where an issuer of one's own signs people in, and as what client of it the console comes."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    client_id: Annotated[str, Field(min_length=1, max_length=200)]
    authorization_endpoint: Endpoint
    token_endpoint: Endpoint
    end_session_endpoint: Endpoint | None = None
    scope: Annotated[str, Field(pattern=r"^([\x21-\x7e]+ )*openid( [\x21-\x7e]+)*$")] = "openid"


class BedrockAgent(BaseModel):
    """An agent that is a model of Bedrock's."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    model: Annotated[str, Field(min_length=1, max_length=256)]
    """What is asked for: the id or the ARN of a model or of an inference profile."""
    arns: Annotated[tuple[ModelArn, ...], Field(min_length=1, max_length=16)]
    """What may be invoked for that: the model itself, or a profile and its models in each of its regions."""
    description: Annotated[str, Field(min_length=1, max_length=256)] | None = None
    system: Annotated[str, Field(min_length=1, max_length=2048)] | None = None
    max_tokens: Annotated[int, Field(ge=1, le=1_000_000)] | None = None
    temperature: Annotated[float, Field(ge=0, le=1)] | None = None


class Stage(BaseModel):
    """What one deployment is told; the field names are the context keys."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    stage: Annotated[str, Field(pattern=r"^[a-z][a-z0-9-]{0,31}$")]
    keep_data: bool
    deletion_protection: bool
    point_in_time_recovery: bool
    access_logs: bool
    encryption_key: Annotated[KeyName | None, Optional]
    operations: bool
    alarm_target: Annotated[AlarmTarget | None, Optional]
    arch: Arch
    snap_start: bool
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

    bedrock_agents: Annotated[
        dict[AgentName, BedrockAgent], Field(max_length=MOST_FUNCTIONS), BeforeValidator(read_as_json)
    ]

    throttle_rate: Annotated[int, Field(ge=1)]
    throttle_burst: Annotated[int, Field(ge=1)]
    domain_name: Annotated[DomainName | None, Optional]
    certificate_arn: Annotated[CertificateArn | None, Optional]
    hosted_zone_id: Annotated[ZoneId | None, Optional]
    cors_origins: Annotated[tuple[Origin, ...], BeforeValidator(split_on_commas)]
    console: bool
    console_domain_name: Annotated[DomainName | None, Optional]
    console_certificate_arn: Annotated[ConsoleCertificateArn | None, Optional]
    console_sign_in: Annotated[ConsoleSignIn | None, BeforeValidator(read_as_json), Optional]
    oidc_issuer: Annotated[str | None, Field(pattern=r"^https?://\S+$"), Optional]
    oidc_audience: Annotated[str | None, Optional]
    human_claim: Annotated[str | None, Optional]
    developer_claim: Annotated[str | None, Field(pattern=r"^[^=\s]+(=[^=\s,\[\]]+)?$"), Optional]

    @classmethod
    def from_context(cls, context: Mapping[str, object]) -> Self:
        """Read the settings out of *context*; the CDK's own keys are not ours to judge."""
        ours = {key: value for key, value in context.items() if not _is_of_the_cdk(key)}
        stages, name = ours.pop(STAGES, None), ours.get("stage")
        if not isinstance(stages, Mapping) or not all(isinstance(own, Mapping) for own in stages.values()):
            raise SettingRefused(f"{STAGES} must hold the settings of each stage, by its name.")
        for other, own in stages.items():
            if unknown := sorted(own.keys() - cls.model_fields.keys()):
                raise SettingRefused(f"The setting {unknown[0]} of {STAGES}.{other} is unknown.")
        own_names = {each for own in stages.values() for each in own}
        for other, own in stages.items():
            # One that only some have stands above them too, where it is what counts: theirs would do nothing.
            if missing := sorted(own_names - own.keys()):
                raise SettingRefused(
                    f"The setting {missing[0]} is missing in {STAGES}.{other}: it is said for every stage, or for all."
                )
        if name not in stages:
            raise SettingRefused(f"There is no stage {name!r} below {STAGES}; there are {', '.join(stages)}.")
        own_settings: Mapping[str, Any] = stages[name]
        try:
            return cls.model_validate({**own_settings, **ours})
        except ValidationError as refused:
            raise SettingRefused(" ".join(_sentences(refused))) from None

    @property
    def told_of_models(self) -> dict[str, dict[str, Any]]:
        """What functions are told of the agents that are models: all but what may be invoked for them."""
        return {
            name: agent.model_dump(exclude={"arns"}, exclude_none=True)
            for name, agent in self.bedrock_agents.items()
        }

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
    def _what_needs_another_has_it(self) -> Self:
        if self.deletion_protection and not self.keep_data:
            raise ValueError(
                "deletion_protection needs keep_data: what is protected cannot go with its stack."
            )
        if self.alarm_target is not None and not self.operations:
            raise ValueError("alarm_target needs operations: without it there are no alarms.")
        if (self.domain_name is None) != (self.certificate_arn is None):
            raise ValueError("domain_name and certificate_arn come together.")
        if self.hosted_zone_id is not None and self.domain_name is None:
            raise ValueError("hosted_zone_id needs domain_name, which it is to hold.")
        return self

    @model_validator(mode="after")
    def _names_of_agents_are_free(self) -> Self:
        if taken := sorted(self.bedrock_agents.keys() & BUILT_IN):
            raise ValueError(
                f"bedrock_agents: {taken[0]} comes with every deployment; tasks of it would go on with another agent."
            )
        return self

    @model_validator(mode="after")
    def _all_that_functions_are_told_fits(self) -> Self:
        queues = {host.principal: "q" * LONGEST_ADDRESS for host in self.external_hosts.values()}
        taken = len(json.dumps(queues, separators=(",", ":"))) + sum(
            len(json.dumps(told))
            for told in (self.host_functions, self.reporters, self.severities, self.told_of_models)
        )
        to_hosts = len(json.dumps(self.auditors)) + len(json.dumps(self.deployment_hosts))
        to_people = len(self.human_claim or "") + len(self.developer_claim or "")
        if (taken := taken + max(to_hosts, to_people)) > TOLD_BYTES:
            raise ValueError(
                "external_hosts, host_functions, bedrock_agents, reporters, severities, auditors, deployment_hosts and "
                f"claims are together {taken} bytes in a function's environment, which has room for {TOLD_BYTES}."
            )
        return self

    @model_validator(mode="after")
    def _issuer_is_whole_or_absent(self) -> Self:
        missing = [name for name in ISSUER if getattr(self, name) is None]
        if 0 < len(missing) < len(ISSUER):
            said = f"An issuer of your own needs {', '.join(ISSUER)}; missing: {', '.join(missing)}."
            raise ValueError(said)
        return self

    @model_validator(mode="after")
    def _console_is_whole_or_absent(self) -> Self:
        if (self.console_domain_name is None) != (self.console_certificate_arn is None):
            raise ValueError("console_domain_name and console_certificate_arn come together.")
        if self.console_domain_name is not None and self.console_domain_name == self.domain_name:
            raise ValueError(
                "console_domain_name and domain_name must differ: the console asks the API by that name."
            )
        if not self.console and (self.console_domain_name or self.console_sign_in):
            raise ValueError(
                "console_domain_name and console_sign_in need console: without it they do nothing."
            )
        if self.console and (self.oidc_issuer is None) != (self.console_sign_in is None):
            raise ValueError(
                "An issuer of your own and console_sign_in come together where there is a console: "
                "say both, or console=false."
            )
        if (
            self.console
            and self.oidc_issuer is None
            and (word := next((w for w in NOT_COGNITOS if w in self.stage), None))
        ):
            raise ValueError(
                f"A stage with {word!r} in its name cannot have a sign-in page of Cognito's: console=false."
            )
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
