"""A change of the API that breaks a caller is named in CHANGELOG; what callers were told to expect breaks nobody."""

import json
import re
import tomllib
from collections.abc import Callable
from copy import deepcopy
from typing import Any

import pytest

from infra import ROOT
from scripts.openapi import released
from scripts.openapi.breaking import breaks, unnamed
from scripts.openapi.document import text
from scripts.openapi.fits import Break

MADE = json.loads(text())
CHANGELOG = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
TASKS = "/v1/tasks"

type Act = Callable[[Any], object]


def changed(act: Act) -> Any:
    made = deepcopy(MADE)
    act(made)
    return made


def found(act: Act) -> set[str]:
    return {str(one) for one in breaks(MADE, changed(act))}


def schema(made: Any, name: str, *properties: str) -> Any:
    here = made["components"]["schemas"][name]
    for one in properties:
        here = here["properties"][one]
    return here


def drop(here: Any, name: str) -> None:
    del here["properties"][name]
    here["required"] = [one for one in here.get("required", ()) if one != name]


def loosen(here: Any, name: str) -> None:
    here["required"].remove(name)


def rename(here: Any, old: str, new: str) -> None:
    here["properties"][new] = here["properties"][old]
    here["required"] += [new]
    drop(here, old)


def held(word: str, value: object) -> Act:
    return lambda made: schema(made, "NewTask").update({word: value})


BREAKING: dict[str, tuple[Act, set[str]]] = {
    "a route is gone": (lambda made: made["paths"].pop("/v1/agents"), {"`GET /v1/agents` is gone"}),
    "a method is gone": (lambda made: made["paths"][TASKS].pop("post"), {"`POST /v1/tasks` is gone"}),
    "a status is gone": (
        lambda made: made["paths"]["/v1/tasks/{task_id}"]["get"]["responses"].pop("304"),
        {"`GET /v1/tasks/{task_id} 304` is answered no more"},
    ),
    "a field of an answer is gone": (
        lambda made: drop(schema(made, "Review"), "deadline"),
        {"`Review.deadline` is gone"},
    ),
    "a field of an answer has another name": (
        lambda made: rename(schema(made, "Task"), "created_at", "createdAt"),
        {"`Task.created_at` is gone"},
    ),
    "a field that is sometimes there never is": (
        lambda made: drop(schema(made, "Review"), "comment"),
        {"`Review.comment` is gone"},
    ),
    "a field deep inside is gone": (
        lambda made: drop(schema(made, "Task", "status"), "revision"),
        {"`Task.status.revision` is gone"},
    ),
    "a field of an answer may be absent": (
        lambda made: loosen(schema(made, "HostTask"), "pending"),
        {"`HostTask.pending` may be absent now"},
    ),
    "a field of an answer may be null": (
        lambda made: schema(made, "Task")["properties"].update(
            created_at={"anyOf": [schema(made, "Task", "created_at"), {"type": "null"}]}
        ),
        {"`Task.created_at` may be null"},
    ),
    "a field of an answer has another type": (
        lambda made: schema(made, "Part", "sizeBytes").update(type="string"),
        {"`Part.sizeBytes` may be string"},
    ),
    "what was always one word is another": (
        lambda made: schema(made, "Upload", "upload", "method").update(const="POST"),
        {"`Upload.upload.method` may be 'POST'"},
    ),
    "instants are spelt otherwise": (
        lambda made: schema(made, "Download", "expires_at").update(pattern="^.*$"),
        {"`Download.expires_at` is held to another pattern"},
    ),
    "a header is gone": (
        lambda made: made["paths"]["/v1/agents/{name}"]["get"]["responses"]["200"]["headers"].pop("ETag"),
        {"`GET /v1/agents/{name} 200 ETag` is gone"},
    ),
    "a header may be absent": (
        lambda made: made["components"]["headers"]["Received-At"].update(required=False),
        {
            "`POST /v1/tasks 202 Received-At` may be absent now",
            "`POST /v1/tasks/{task_id}/inputs 202 Received-At` may be absent now",
        },
    ),
    "an answer comes in another form": (
        lambda made: made["paths"]["/v1/reviews"]["get"]["responses"]["200"].update(content={"text/csv": {}}),
        {"`GET /v1/reviews 200 application/json` is answered no more"},
    ),
    "a field of a request is required": (
        lambda made: schema(made, "NewTask")["required"].append("input"),
        {"`NewTask.input` is required now"},
    ),
    "a new field of a request is required": (
        lambda made: (
            schema(made, "NewTask")["properties"].update(mood={"type": "string"}),
            schema(made, "NewTask")["required"].append("mood"),
        ),
        {"`NewTask.mood` is required now"},
    ),
    "a field of a request is taken no more": (
        lambda made: drop(schema(made, "Heard"), "unit"),
        {"`Heard.unit` is taken no more"},
    ),
    "a word of a request is taken no more": (
        lambda made: schema(made, "ReviewDecision", "decision").update(enum=["approve"]),
        {"`ReviewDecision.decision` may no longer be 'deny'"},
    ),
    "a text of a request must be shorter": (
        lambda made: schema(made, "ContentPart", "mimeType").update(maxLength=3),
        {"`ContentPart.mimeType` is held to another maxLength"},
    ),
    "a type of a request is taken no more": (
        lambda made: schema(made, "NewFile", "sizeBytes").update(type="string"),
        {"`NewFile.sizeBytes` may no longer be integer"},
    ),
    "a body is required": (
        lambda made: made["paths"]["/v1/host/tasks/{task_id}/turns"]["post"]["requestBody"].update(
            required=True
        ),
        {"`POST /v1/host/tasks/{task_id}/turns body` is required now"},
    ),
    "YAML is taken no more": (
        lambda made: made["paths"]["/v1/host/agents/{name}"]["put"]["requestBody"]["content"].pop(
            "application/yaml"
        ),
        {"`PUT /v1/host/agents/{name} application/yaml` is taken no more"},
    ),
    "a parameter is taken no more": (
        lambda made: made["paths"]["/v1/reviews"]["get"]["parameters"].pop(),
        {"`GET /v1/reviews cursor` is taken no more"},
    ),
    "a parameter is required": (
        lambda made: made["paths"]["/v1/reviews"]["get"]["parameters"][0].update(required=True),
        {"`GET /v1/reviews limit` is required now"},
    ),
    "a parameter takes less": (
        lambda made: made["paths"]["/v1/reviews"]["get"]["parameters"][0]["schema"].update(maximum=50),
        {"`GET /v1/reviews limit` is held to another maximum"},
    ),
    "an open route asks who is there": (
        lambda made: made["paths"]["/v1/openapi.json"]["get"].update(security=[{"person": []}]),
        {"`GET /v1/openapi.json` asks who is there"},
    ),
    "people are asked for what only hosts have": (
        lambda made: made["paths"][TASKS]["get"].update(security=[{"host": []}]),
        {"`GET /v1/tasks` asks who is there in another way"},
    ),
    "people are asked for more than they had": (
        lambda made: made["paths"][TASKS]["get"].update(security=[{"person": [], "host": []}]),
        {"`GET /v1/tasks` asks who is there in another way"},
    ),
    "a token is sent otherwise": (
        lambda made: made["components"]["securitySchemes"]["person"].update(scheme="basic"),
        {"`person` says in another way who is there"},
    ),
    "a header has another type": (
        lambda made: made["components"]["headers"]["Poll-After"]["schema"].update(type="string"),
        {"`Poll-After` may be string"},
    ),
    "all methods of a path require a parameter": (
        lambda made: made["paths"]["/v1/reviews"].update(
            parameters=[{"in": "query", "name": "mine", "required": True, "schema": {"type": "string"}}]
        ),
        {"`GET /v1/reviews mine` is required now"},
    ),
    "a parameter is spelt otherwise": (
        lambda made: made["paths"]["/v1/reviews"]["get"]["parameters"][0].update(style="deepObject"),
        {"`GET /v1/reviews limit` is held to another style"},
    ),
    "another number comes by default": (
        lambda made: made["paths"]["/v1/reviews"]["get"]["parameters"][0]["schema"].update(default=1),
        {"`GET /v1/reviews limit` means something else where it is left out"},
    ),
    "names are held to a spelling": (
        lambda made: schema(made, "NewTask").update(propertyNames={"pattern": "^x"}),
        {"`NewTask.*` is held to another pattern"},
    ),
    "what is held to something stands beside a reference": (
        lambda made: schema(made, "NewTask")["properties"].update(
            agent={**schema(made, "NewTask", "agent"), "maxLength": 3}
        ),
        {"`AgentName` is held to another maxLength"},
    ),
    "words became a text that is too short for them": (
        lambda made: schema(made, "ReviewDecision")["properties"].update(
            decision={"type": "string", "maxLength": 4}
        ),
        {"`ReviewDecision.decision` may no longer be 'approve'"},
    ),
    **{
        f"a request is held to what nobody compares by itself ({word})": (
            held(word, value),
            {f"`NewTask` is held to another {word}"},
        )
        for word, value in {
            "allOf": [{"required": ["input"]}],
            "not": {"required": ["input"]},
            "dependentRequired": {"agent": ["input"]},
            "patternProperties": {"^x": False},
            "if": {"required": ["input"]},
        }.items()
    },
}


@pytest.mark.parametrize("name", BREAKING)
def test_what_breaks_a_caller_is_found_and_named(name: str) -> None:
    act, told = BREAKING[name]

    assert found(act) == told


HARMLESS: dict[str, Act] = {
    "a new route": lambda made: made["paths"].update({"/v1/news": deepcopy(made["paths"][TASKS])}),
    "a new field of an answer": lambda made: schema(made, "Task")["properties"].update(
        mood={"type": "string"}
    ),
    "a field of an answer that is always there now": lambda made: schema(made, "Review")["required"].append(
        "comment"
    ),
    "a new word in an answer": lambda made: schema(made, "Task", "status", "phase")["enum"].append("asleep"),
    "a new field of a request": lambda made: schema(made, "NewTask")["properties"].update(
        mood={"type": "string"}
    ),
    "a new word in a request": lambda made: schema(made, "ReviewDecision", "decision")["enum"].append(
        "later"
    ),
    "a longer text in a request": lambda made: schema(made, "ContentPart", "mimeType").update(
        maxLength=10**6
    ),
    "a new parameter": lambda made: made["paths"]["/v1/reviews"]["get"]["parameters"].append(
        {"name": "agent", "in": "query", "required": False, "schema": {"type": "string"}}
    ),
    "a field of a request that may be left out": lambda made: loosen(schema(made, "NewFile"), "name"),
    "a new refusal": lambda made: made["paths"][TASKS]["get"]["responses"].update(
        {"418": {"description": "Tea."}}
    ),
    "other words": lambda made: made["info"].update(description="Otherwise."),
    "a shape under another name": lambda made: (
        made["components"]["schemas"].update(Decision=schema(made, "Review")),
        made["paths"]["/v1/reviews/{review_id}"]["post"]["responses"]["200"]["content"][
            "application/json"
        ].update(schema={"$ref": "#/components/schemas/Decision"}),
    ),
}


@pytest.mark.parametrize("name", HARMLESS)
def test_what_callers_were_told_to_expect_breaks_nobody(name: str) -> None:
    assert changed(HARMLESS[name]) != MADE
    assert found(HARMLESS[name]) == set()


def test_what_only_tells_is_not_kept_and_what_promises_is() -> None:
    kept = released.promised(MADE)

    assert breaks(MADE, kept) == breaks(kept, MADE) == []
    assert schema(kept, "OfferedAgent", "description") == {"type": "string"}
    assert "description" not in schema(kept, "OfferedAgent")
    assert len(json.dumps(kept)) < len(json.dumps(MADE)) * 2 / 3


def test_only_the_newest_section_of_the_changelog_names_a_break() -> None:
    broken = [Break("GET /v1/agents", "is gone"), Break("Task.id", "may be null")]
    log = "# Changelog\n\n## Unreleased\n\n- `GET /v1/agents` is gone.\n\n## 0.1.0\n\n- `Task.id` may be null.\n"

    assert unnamed(broken, log) == broken[1:]


def test_every_change_that_breaks_what_was_released_last_is_named_in_the_changelog() -> None:
    """Name it by what stands in backticks here, under `## Unreleased`, with what callers are to do."""
    assert [*map(str, unnamed(breaks(released.read(), MADE), CHANGELOG))] == []


def test_it_is_compared_with_what_was_released_last() -> None:
    """Until there is a release it is compared with what the first one will promise: `make openapi RELEASE=1`."""
    versions = re.findall(r"^## (\d+\.\d+\.\d+)", CHANGELOG, re.MULTILINE)
    ours = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]

    assert released.read()["info"]["version"] == (versions[0] if versions else ours)
