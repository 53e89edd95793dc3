"""Manifests of agents, as hosts send them: JSON or YAML, under the published form's names of either age (AG-1).

What we act on is checked here, to the last expression; what goes to whoever runs the turn is kept as it came; and a
name nobody knows is refused with its place.
"""

from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from itertools import islice
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, model_validator

from turnkeeper.domain.errors import InputTooLarge, InvalidInput, MalformedRequest, Place
from turnkeeper.domain.manifest import DURATION, LONGEST, duration
from turnkeeper.domain.places import path
from turnkeeper.domain.task import Runs
from turnkeeper.domain.uris import Root
from turnkeeper.edge import strict_json
from turnkeeper.edge.bodies import Sent, body, checked, refusal
from turnkeeper.edge.problems import MOST_PLACES
from turnkeeper.edge.requests import AgentName
from turnkeeper.guards import declared, evaluator

ENFORCED: frozenset[str] = frozenset({"parameters", "guardrails", "exposes", "mount"})
"""The fields that the runner enforces, of `parameters`, `guardrails`, `exposes` and `mount`.

The one switch: a manifest that says anything in one of the others is refused, since nothing would come of it. Whoever
makes the runner act on a field adds it here.
"""
ENFORCEABLE = ("parameters", "guardrails", "exposes", "mount")
NOT_ACTED_ON = ("namespace", "default_message", "priority", "memory")
"""Fields that are known and kept, and change nothing."""
LARGEST_MANIFEST = 64 * 1024
MOST_USED = 10**12
MOST_STEPS = 16
MOST_PROPERTIES = 64
MOST_CHOICES = 100
MOST_EXPOSED = 16

_YAML = ("application/yaml", "application/x-yaml", "text/")
_NOTHING: tuple[Any, ...] = (None, [], {}, "none")

type Count = Annotated[int, Field(ge=0, le=MOST_USED)]
type Size = Annotated[int, Field(ge=0, le=MOST_USED)]
type ParameterName = Annotated[str, Field(min_length=1, max_length=64)]


def _duration(text: str) -> str:
    try:
        duration(text)
    except ValueError as error:
        raise refusal(str(error)) from None
    return text


_SPELT = {"pattern": DURATION, "examples": ["30m"], "description": f"At most {LONGEST.days}d."}

type Duration = Annotated[str, AfterValidator(_duration), Field(json_schema_extra=_SPELT)]


def _some_time(text: str) -> str:
    if not duration(text):
        raise refusal("must be longer than nothing")
    return text


type Span = Annotated[
    str, AfterValidator(_duration), AfterValidator(_some_time), Field(json_schema_extra=_SPELT)
]


class Limits(Sent):
    """What a task may use at most (LC-4); each under its older and its newer name."""

    max_turns: Annotated[int, Field(ge=1)] | None = None
    max_llm_turns: Annotated[int, Field(ge=1)] | None = None
    max_prompt_tokens: Count | None = None
    max_completion_tokens: Count | None = None
    max_age: Span | None = None
    max_tool_calls: Count | None = None
    max_capability_uses: Count | None = None


class Ours(Sent):
    """Our own settings of an agent: how its turns run and how its tasks live."""

    runs: Runs = Field(default=Runs.EXTERNAL, strict=False)
    function: Annotated[str, Field(min_length=1, max_length=256)] | None = None
    lifespan: Duration | None = None
    repeatable: bool = False
    attempts: Annotated[int, Field(ge=1, le=10)] | None = None
    backoff: Annotated[list[Duration], Field(min_length=1, max_length=10)] | None = None
    turn_limit: Span | None = None
    delegates_from: Annotated[list[AgentName], Field(max_length=100)] | None = None

    @model_validator(mode="after")
    def _function_where_one_runs(self) -> "Ours":
        if (self.runs is Runs.LAMBDA) != (self.function is not None):
            raise refusal("names a function exactly when it runs as lambda")
        return self


def _binding(said: Any) -> Any:
    names = said if isinstance(said, list) else [] if isinstance(said, bool | None) else [None]
    if not all(isinstance(name, str) for name in names):
        raise refusal("must be true or false, or a list of names")
    return said


class Schema(Sent):
    """What a parameter, or a value within one, may be."""

    type: Literal["string", "number", "integer", "boolean", "object", "array", "file"] | None = None
    title: str | None = None
    description: str | None = None
    default: Any = None
    enum: Annotated[list[Any], Field(min_length=1, max_length=MOST_CHOICES)] | None = None
    items: "Schema | None" = None
    properties: Annotated[dict[ParameterName, "Schema"], Field(max_length=MOST_PROPERTIES)] | None = None
    required: Annotated[list[str], Field(max_length=MOST_PROPERTIES)] | None = None
    require_binding: Annotated[
        Any,
        AfterValidator(_binding),
        Field(json_schema_extra={"type": ["boolean", "array", "null"], "items": {"type": "string"}}),
    ] = None
    minimum: float | None = None
    maximum: float | None = None
    min_length: Size | None = Field(default=None, alias="minLength")
    max_length: Size | None = Field(default=None, alias="maxLength")
    min_items: Size | None = Field(default=None, alias="minItems")
    max_items: Size | None = Field(default=None, alias="maxItems")


class Parameters(Sent):
    """What inputs may carry beside their message (IN-1a)."""

    type: Literal["object"]
    properties: Annotated[dict[ParameterName, Schema], Field(max_length=MOST_PROPERTIES)] | None = None
    required: Annotated[list[str], Field(max_length=MOST_PROPERTIES)] | None = None
    require_binding: list[str] | None = None
    description: str | None = None


class GuardrailStep(Sent):
    """One step, under its newer and its older names (AG-2)."""

    assert_: str | None = Field(default=None, alias="assert")
    transform: str | None = None
    match: str | None = None
    condition: str | None = None
    deny_message: str | None = None
    error_message: str | None = None
    on_error: Literal["fail_call", "lock_task", "ignore"] | None = None
    on_fail: Literal["block", "continue", "lock_task"] | None = None

    @model_validator(mode="after")
    def _one_act_and_one_age(self) -> "GuardrailStep":
        if (self.assert_ is None) == (self.transform is None):
            raise refusal("must have one of assert and transform")
        if self.deny_message is not None and self.error_message is not None:
            raise refusal("has deny_message and its older name error_message; say one")
        if self.on_error is not None and self.on_fail is not None:
            raise refusal("has on_error and its older name on_fail; say one")
        if self.deny_message is not None and self.transform is not None:
            raise refusal("has a deny_message, which only an assert may")
        return self


class Guardrails(Sent):
    """What is checked before an input reaches the agent, and before its output leaves it."""

    before: Annotated[list[GuardrailStep], Field(max_length=MOST_STEPS)] | None = None
    after: Annotated[list[GuardrailStep], Field(max_length=MOST_STEPS)] | None = None


def _mount(said: Any) -> Any:
    """The older form names one root or none, the newer one lists them."""
    roots = said if isinstance(said, list) else [] if said is None or said == "none" else [said]
    if not all(isinstance(root, str) and root in Root for root in roots):
        raise refusal("must be a list of workspace, agent and task, or one of them, or none")
    if len(set(roots)) < len(roots):
        raise refusal("names a root twice")
    return said


_MOUNTS: dict[str, Any] = {
    "anyOf": [
        {"enum": ["none", None, *Root]},
        {"type": "array", "items": {"enum": [*Root]}, "uniqueItems": True},
    ]
}


class AgentManifest(Sent):
    """An agent as its host registers it."""

    kind: Literal[
        "commonagents.info/v1/agent", "commonagents.info/v1beta1/agent", "commonagents.info/v1beta2/agent"
    ]
    name: AgentName
    description: Annotated[str, Field(max_length=4096)]
    limits: Limits | None = None
    turnkeeper: Ours | None = None
    parameters: Parameters | None = None
    guardrails: Guardrails | None = None
    exposes: Annotated[dict[ParameterName, str | None], Field(max_length=MOST_EXPOSED)] | None = None
    mount: Annotated[Any, AfterValidator(_mount), Field(json_schema_extra=_MOUNTS)] = None
    # Not ours to act on: kept, and handed to whoever runs the turn.
    namespace: Any = None
    prompt: Any = None
    default_message: Any = None
    model: Any = None
    priority: Any = None
    memory: Any = None
    capabilities: Any = None
    model_capabilities: Any = None


def manifest(event: Mapping[str, Any], *, enforced: AbstractSet[str] = ENFORCED) -> str:
    """The body of *event* as a checked manifest, as JSON."""
    sent = _read(event)
    document = strict_json.written(sent)
    if (size := strict_json.size(document)) > LARGEST_MANIFEST:
        problem = f"is {size} bytes serialised; at most {LARGEST_MANIFEST} are taken"
        raise InvalidInput([Place("body", problem)])
    checked(AgentManifest, sent)
    wrong = list(_not_enforced(sent, enforced))
    wrong = wrong or [*islice(declared.wrong(sent, evaluator.shared()), MOST_PLACES + 1)]
    if wrong:
        raise InvalidInput(wrong)
    return document


def not_acted_on(fields: Mapping[str, Any]) -> list[str]:
    """The places in a checked manifest of what is known and kept, and changes nothing."""
    found = [name for name in NOT_ACTED_ON if fields.get(name) is not None]
    schema = fields.get("parameters") or {}
    if schema.get("require_binding") is not None:
        found.append("parameters.require_binding")
    found += [
        path(("parameters", "properties", name, "require_binding"))
        for name, one in (schema.get("properties") or {}).items()
        if one.get("require_binding") is not None
    ]
    found += [path((*at, "match")) for at, step in declared.steps(fields) if step.get("match") is not None]
    return found


def _read(event: Mapping[str, Any]) -> dict[str, Any]:
    kind = (event.get("headers") or {}).get("content-type", "").strip().lower()
    if not kind.startswith(_YAML):
        return body(event)
    from turnkeeper.edge import strict_yaml  # noqa: PLC0415 - few hosts send it

    sent = event.get("body") or ""
    if len(sent) > (most := 2 * LARGEST_MANIFEST):
        raise InputTooLarge(len(sent), most)
    text = strict_json.unpacked(sent, is_base64=bool(event.get("isBase64Encoded")))
    if not text.strip():
        raise MalformedRequest("body", "is empty; send a manifest")
    return strict_yaml.read(text)


def _not_enforced(fields: Mapping[str, Any], enforced: AbstractSet[str]) -> Iterator[Place]:
    for name in ENFORCEABLE:
        if name not in enforced and fields.get(name) not in _NOTHING:
            yield Place(name, "is not enforced by this deployment yet, and so not taken")
