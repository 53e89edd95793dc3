"""Manifests in the published form, of either age: what is taken, what is refused, and where."""

import base64
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from turnkeeper.domain.errors import InputTooLarge, InvalidInput, MalformedRequest
from turnkeeper.domain.uris import Root
from turnkeeper.edge.manifests import ENFORCEABLE, manifest, not_acted_on
from turnkeeper.guards import rules
from turnkeeper.guards.steps import Act, Policy, Step

ROOT = Path(__file__).parents[2]
ALL = frozenset(ENFORCEABLE)
BARE = {"kind": "commonagents.info/v1/agent", "name": "travel_desk", "description": "Books trains."}
NEWER = """
kind: commonagents.info/v1/agent
name: travel_desk
description: Books trains and hotels up to a limit.
prompt: |
  You book what {context.user.id} asks for.
model: bedrock/some-model
mount: [task, agent]
limits: {max_llm_turns: 10, max_age: 30m, max_capability_uses: 5}
parameters:
  type: object
  properties:
    to: {type: string, description: "Where it goes."}
    price: {type: number, default: 0}
    class: {type: string, enum: [first, second], default: second}
    ticket: {type: file}
    message: {default: [{mimeType: text/plain, text: "Book it."}]}
  required: [to]
  require_binding: [to]
capabilities: {timetable: "*"}
model_capabilities: [web_search]
guardrails:
  before:
    - assert: "size(input.message) > 0 && input.message.all(p, p.mimeType == 'text/plain')"
      deny_message: "Nothing but text, please, about {input.to}."
    - transform: "input.put('to', input.to.trim())"
      condition: "has(input.to)"
      match: anything
    - assert: "input.price <= 300.0 || review(context.user.id)"
      deny_message: "{input.price} was not approved."
      on_error: lock_task
  after:
    - assert: "!output.message.exists(p, p.text.contains('secret'))"
      on_error: ignore
exposes:
  to: "context.input[0].to"
  answered: "size(context.output) > 0"
  later:
"""
OLDER = """
kind: "commonagents.info/v1beta1/agent"
namespace: travel
name: packing_list
description: Says what to pack.
mount: agent
memory: user
priority: 3
default_message: "What shall I pack?"
limits: {max_turns: 4, max_prompt_tokens: 1000, max_tool_calls: 2}
parameters:
  type: object
  properties:
    to: {type: string}
    days: {type: integer, default: 3, require_binding: true}
guardrails:
  before:
    - assert: "size(input.message[0].text) < 500"
      error_message: "Too long for a list."
      on_fail: continue
"""


def sent(body: str | dict[str, Any], content_type: str | None = None) -> dict[str, Any]:
    text = body if isinstance(body, str) else json.dumps(body)
    return {"body": text, "headers": {"content-type": content_type} if content_type else {}}


def yaml(text: str) -> dict[str, Any]:
    """*text* as the gateway hands on what it does not know for a text."""
    packed = base64.b64encode(text.encode()).decode()
    return {
        "body": packed,
        "isBase64Encoded": True,
        "headers": {"content-type": "application/yaml; charset=utf-8"},
    }


def taken(event: dict[str, Any]) -> dict[str, Any]:
    fields: dict[str, Any] = json.loads(manifest(event, enforced=ALL))
    return fields


def refused(**fields: Any) -> dict[str, str]:
    with pytest.raises(InvalidInput) as error:
        manifest(sent({**BARE, **fields}), enforced=ALL)
    return {place.at: place.problem for place in error.value.places}


@pytest.mark.clause("AG-1")
def test_a_manifest_of_the_newer_form_loads_and_its_rules_are_there() -> None:
    found = rules.of(manifest(yaml(NEWER), enforced=ALL))

    assert found.parameters.required == {"to"}
    assert found.parameters.numbers == {"price"}
    assert found.parameters.default_message == [{"mimeType": "text/plain", "text": "Book it."}]
    assert found.before[1:] == (
        Step(act=Act.TRANSFORM, expression="input.put('to', input.to.trim())", condition="has(input.to)"),
        Step(
            act=Act.ASSERT,
            expression="input.price <= 300.0 || review(context.user.id)",
            deny_message="{input.price} was not approved.",
            on_error=Policy.LOCK_TASK,
        ),
    )
    assert [step.on_error for step in found.after] == [Policy.IGNORE]
    assert found.exposes == {
        "to": "context.input[0].to",
        "answered": "size(context.output) > 0",
        "later": None,
    }
    assert found.mount == {Root.TASK, Root.AGENT}


@pytest.mark.clause("AG-1")
def test_a_manifest_of_the_older_form_loads_under_its_older_names() -> None:
    found = rules.of(manifest(yaml(OLDER), enforced=ALL))

    assert found.parameters.required == {"to"}
    assert found.before == (
        Step(
            act=Act.ASSERT,
            expression="size(input.message[0].text) < 500",
            deny_message="Too long for a list.",
            on_error=Policy.IGNORE,
            on_denial=Policy.IGNORE,
        ),
    )
    assert found.mount == {Root.AGENT}


@pytest.mark.clause("AG-1")
def test_what_is_known_and_not_acted_on_is_named() -> None:
    assert not_acted_on(taken(yaml(NEWER))) == ["parameters.require_binding", "guardrails.before[1].match"]
    assert not_acted_on(taken(yaml(OLDER))) == [
        "namespace",
        "default_message",
        "priority",
        "memory",
        "parameters.properties.days.require_binding",
    ]
    assert not_acted_on(taken(sent(BARE))) == []


@pytest.mark.clause("AG-1")
@pytest.mark.parametrize(
    "kind", ["application/yaml", "application/x-yaml", "text/yaml", "text/plain", "Text/X-YAML"]
)
def test_yaml_is_known_by_its_content_type_and_is_the_same_manifest_as_its_json(kind: str) -> None:
    fields = taken(yaml(NEWER))

    assert (
        taken(sent(NEWER, kind)) == taken(sent(fields)) == taken(sent(fields, "application/json")) == fields
    )
    assert taken(sent(json.dumps(fields), kind)) == fields


def test_yaml_that_calls_itself_something_else_is_malformed() -> None:
    for kind in (None, "application/json", "application/x-www-form-urlencoded"):
        with pytest.raises(MalformedRequest):
            manifest(sent(NEWER, kind))


@pytest.mark.parametrize("body", ["", " \n", "a: &x 1\nb: *x", "- a", "a: yes"])
def test_yaml_that_is_no_manifest_is_malformed(body: str) -> None:
    with pytest.raises(MalformedRequest):
        manifest(sent(body, "application/yaml"))


def test_a_body_that_can_be_no_manifest_is_not_even_parsed() -> None:
    with pytest.raises(InputTooLarge):
        manifest(sent("{" * 200_000, "application/yaml"))


def test_a_manifest_has_64_kb_and_not_one_byte_more() -> None:
    def with_size(size: int) -> dict[str, Any]:
        empty = len(json.dumps({**BARE, "prompt": ""}, separators=(",", ":")))
        return {**BARE, "prompt": "p" * (size - empty)}

    manifest(sent(with_size(64 * 1024)))
    with pytest.raises(InvalidInput, match="body: is 65537 bytes serialised; at most 65536 are taken"):
        manifest(sent(with_size(64 * 1024 + 1)))


@pytest.mark.clause("AG-1")
def test_what_the_runner_does_not_enforce_is_not_taken() -> None:
    fields = taken(yaml(NEWER))

    for one in ENFORCEABLE:
        with pytest.raises(InvalidInput) as error:
            manifest(sent(fields), enforced=ALL - {one})
        assert [(place.at, place.problem) for place in error.value.places] == [
            (one, "is not enforced by this deployment yet, and so not taken")
        ]


@pytest.mark.clause("AG-1")
@pytest.mark.parametrize("nothing", [None, {}, []])
def test_a_field_that_asks_for_nothing_needs_nobody_to_enforce_it(nothing: object) -> None:
    fields = {"exposes": nothing or None, "parameters": None, "guardrails": nothing or None, "mount": "none"}

    assert manifest(sent({**BARE, **fields}), enforced=frozenset())
    assert manifest(sent({**BARE, "mount": []}), enforced=frozenset())


STEP = {"assert": "true"}


def guarded(side: str = "before", **step: Any) -> dict[str, Any]:
    return {"guardrails": {side: [STEP, step]}}


def parameter(**schema: Any) -> dict[str, Any]:
    return {"parameters": {"type": "object", "properties": {"a": schema}}}


AT = "guardrails.before[1]"
MOUNT = "must be a list of workspace, agent and task, or one of them, or none"
TYPES = "must be 'string', 'number', 'integer', 'boolean', 'object', 'array' or 'file'"
WRONG: dict[str, tuple[dict[str, Any], dict[str, str]]] = {
    "an unknown field": ({"tools": []}, {"tools": "is unknown here"}),
    "an unknown field of a step": (guarded(**STEP, invoke="x:y"), {f"{AT}.invoke": "is unknown here"}),
    "an unknown field of a parameter": (
        parameter(pattern="(a+)+"),
        {"parameters.properties.a.pattern": "is unknown here"},
    ),
    "a reference": (
        parameter(**{"$ref": "https://example.com"}),
        {'parameters.properties.a["$ref"]': "is unknown here"},
    ),
    "neither act": (guarded(condition="true"), {AT: "must have one of assert and transform"}),
    "both acts": (guarded(**STEP, transform="input"), {AT: "must have one of assert and transform"}),
    "both ages of a message": (
        guarded(**STEP, deny_message="a", error_message="b"),
        {AT: "has deny_message and its older name error_message; say one"},
    ),
    "both ages of a policy": (
        guarded(**STEP, on_error="ignore", on_fail="block"),
        {AT: "has on_error and its older name on_fail; say one"},
    ),
    "a transform with a message": (
        guarded(transform="input", deny_message="No."),
        {AT: "has a deny_message, which only an assert may"},
    ),
    "an unknown policy": (
        guarded(**STEP, on_error="explode"),
        {f"{AT}.on_error": "must be 'fail_call', 'lock_task' or 'ignore'"},
    ),
    "a step that is none": (
        {"guardrails": {"before": ["true"]}},
        {"guardrails.before[0]": "must be an object"},
    ),
    "17 steps": (
        {"guardrails": {"before": [STEP] * 17}},
        {"guardrails.before": "may have at most 16 entries"},
    ),
    "no expression": (
        guarded(**{"assert": "1 +"}),
        {f"{AT}.assert": "is no expression: 1:4: Syntax error: mismatched input '<EOF>' expecting "},
    ),
    "an expression out of bounds": (
        guarded(**{"assert": "!" * 500 + "true"}),
        {f"{AT}.assert": "has more than 400 names, signs and values"},
    ),
    "a chain that would end the process": (
        guarded(**{"assert": "1" + "+1" * 16_000}),
        {f"{AT}.assert": "is 32001 bytes; at most 2048 are taken"},
    ),
    "an output before there is one": (
        guarded(**{"assert": "output.x && o.y"}),
        {f"{AT}.assert": "names o, output; here there are c, context, i, input, now"},
    ),
    "an input afterwards": (
        guarded("after", transform="input"),
        {"guardrails.after[1].transform": "names input; here there are c, context, now, o, output"},
    ),
    "an unknown name": (
        guarded(**STEP, condition="secrets.key == ''"),
        {f"{AT}.condition": "names secrets; here there are c, context, i, input, now"},
    ),
    "an unknown function": (
        guarded(**{"assert": "crm.search({}) && input.a.send(1) && answer('x')"}),
        {f"{AT}.assert": "calls answer, search, send, which is no function here"},
    ),
    "a review that decides nothing": (
        guarded(transform="review('bob') ? input : input"),
        {f"{AT}.transform": "asks for a review, which only an assert may"},
    ),
    "a review in a condition": (
        guarded(**STEP, condition="review('bob')"),
        {f"{AT}.condition": "asks for a review, which only an assert may"},
    ),
    "a review in a message": (
        guarded(**STEP, deny_message="{review('bob')}"),
        {f"{AT}.deny_message": "asks for a review, which only an assert may"},
    ),
    "an open brace": (
        guarded(**STEP, error_message="a {b"),
        {f"{AT}.error_message": "opens a brace at character 3 that nothing closes"},
    ),
    "a message that names what is not there": (
        guarded(**STEP, deny_message="{input.a} {output.b}"),
        {f"{AT}.deny_message": "names output; here there are c, context, i, input, now"},
    ),
    "reserved names exposed": (
        {"exposes": {"message": "1", "error": "1", "type": None, "a": "1"}},
        {
            f"exposes.{name}": "is reserved for what the task itself says"
            for name in ("message", "error", "type")
        },
    ),
    "exposing what is none": (
        {"exposes": {"a": "now +"}},
        {"exposes.a": "is no expression: 1:6: Syntax error: mismatched input '<EOF>' expecting "},
    ),
    "exposing a review": (
        {"exposes": {"a": "review('bob')"}},
        {"exposes.a": "asks for a review, which only an assert may"},
    ),
    "17 exposed": (
        {"exposes": {f"a{n}": "1" for n in range(17)}},
        {"exposes": "may have at most 16 entries"},
    ),
    "reserved parameters": (
        {
            "parameters": {
                "type": "object",
                "properties": {"error": {}, "received_at": {}, "committed_at": {}},
            }
        },
        {
            f"parameters.properties.{name}": "is reserved for what the task itself says"
            for name in ("error", "received_at", "committed_at")
        },
    ),
    "a message of another type": (
        {"parameters": {"type": "object", "properties": {"message": {"type": "string"}}}},
        {"parameters.properties.message": "is what every input has; only its default may be declared"},
    ),
    "a bad message by default": (
        {"parameters": {"type": "object", "properties": {"message": {"default": [{"text": "hi"}]}}}},
        {"parameters.properties.message.default[0]": "must be an object with mimeType and text"},
    ),
    "a default that is none": (
        parameter(type="integer", minimum=1, default=0),
        {"parameters.properties.a.default": "must be at least 1"},
    ),
    "a default within": (
        parameter(type="array", items={"type": "object", "properties": {"b": {"enum": [1], "default": 2}}}),
        {
            "parameters.properties.a.items.properties.b.default": "must be one of those that the agent declares"
        },
    ),
    "a default file": (
        parameter(type="file", default="task://a"),
        {
            "parameters.properties.a.default": "is in a root that is not available here; no root for files is available"
        },
    ),
    "required names of nothing": (
        {
            "parameters": {
                "type": "object",
                "properties": {"a": {}},
                "required": ["a", "b"],
                "require_binding": ["c"],
            }
        },
        {"parameters.required[1]": "names no property", "parameters.require_binding[0]": "names no property"},
    ),
    "parameters of another type": (
        {"parameters": {"type": "array"}},
        {"parameters.type": "must be 'object'"},
    ),
    "an unknown type": (
        parameter(type="date"),
        {"parameters.properties.a.type": TYPES},
    ),
    "properties of a text": (
        parameter(type="string", properties={"b": {}}),
        {"parameters.properties.a.properties": "is for objects"},
    ),
    "items of a text": (
        parameter(type="string", items={}),
        {"parameters.properties.a.items": "is for arrays"},
    ),
    "a root that is none": ({"mount": {"task": True}}, {"mount": MOUNT}),
    "a bound that is none": (parameter(minimum="1"), {"parameters.properties.a.minimum": "must be a number"}),
    "a binding that is none": (
        parameter(require_binding="yes"),
        {"parameters.properties.a.require_binding": "must be true or false, or a list of names"},
    ),
    "no choice": (parameter(enum=[]), {"parameters.properties.a.enum": "must have at least 1 entry"}),
    "101 choices": (
        parameter(enum=list(range(101))),
        {"parameters.properties.a.enum": "may have at most 100 entries"},
    ),
    "a root twice": ({"mount": ["task", "task"]}, {"mount": "names a root twice"}),
    "an unknown root": (
        {"mount": ["task", "bucket"]},
        {"mount": MOUNT},
    ),
    "an unknown word for a root": (
        {"mount": "bucket"},
        {"mount": MOUNT},
    ),
}


@pytest.mark.clause("AG-1")
@pytest.mark.clause("IO-6")
@pytest.mark.parametrize("name", WRONG)
def test_a_manifest_that_is_wrong_is_refused_by_its_places(name: str) -> None:
    fields, places = WRONG[name]

    found = refused(**fields)

    assert found.keys() == places.keys()
    for at, problem in places.items():
        assert found[at] == problem or (problem.endswith(" ") and found[at].startswith(problem))


@pytest.mark.clause("AG-1")
def test_schemas_nest_8_deep_and_not_deeper() -> None:
    def nested(depth: int) -> dict[str, Any]:
        return {"type": "array", "items": nested(depth - 1)} if depth else {"type": "string"}

    manifest(sent({**BARE, **parameter(**nested(7))}), enforced=ALL)

    assert list(refused(**parameter(**nested(40))).values()) == ["is nested deeper than 8"]


def test_no_library_is_loaded_before_something_needs_it() -> None:
    """In a process of its own, as a cold start is."""
    program = "import sys, turnkeeper.edge.manifests, turnkeeper.guards.rules; print(*sys.modules)"

    loaded = subprocess.run(
        [sys.executable, "-c", program],
        env={"PYTHONPATH": str(ROOT / "layers" / "shared" / "python")},
        check=True,
        capture_output=True,
        text=True,
    ).stdout.split()

    assert "turnkeeper.guards.evaluator" in loaded
    assert not {"cel", "jsonschema", "yaml"} & set(loaded)


@pytest.mark.clause("AG-1")
def test_every_wrong_place_is_named_at_once() -> None:
    assert refused(
        parameters={"type": "object", "properties": {"error": {}}},
        guardrails={"before": [{"assert": "nothing"}], "after": [{"assert": "("}]},
        exposes={"type": "1"},
    ).keys() == {
        "parameters.properties.error",
        "guardrails.before[0].assert",
        "guardrails.after[0].assert",
        "exposes.type",
    }
