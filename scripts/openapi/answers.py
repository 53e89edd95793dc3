"""The shapes of what is answered. Each answer of the tests is held to them, to the last field (tests/support/contract).

Words come from the code that sends them. What a schema does not close, a newer version may add to; clients skip it.
"""

from typing import Any

from turnkeeper.asc.disclosure import SHOWN_FROM
from turnkeeper.asc.registry import Code
from turnkeeper.asc.retry import SideEffects
from turnkeeper.asc.status import Profile
from turnkeeper.asc.vocabulary import Kind
from turnkeeper.asc.vocabulary import Phase as LifecyclePhase
from turnkeeper.domain.content import MOST_PARTS
from turnkeeper.domain.rules import Transition
from turnkeeper.domain.task import Phase, Reason, TurnState
from turnkeeper.domain.uris import Root
from turnkeeper.domain.waits import NotificationKind, Verdict, WaitKind
from turnkeeper.edge.problems import MOST_PLACES, SCOPE, Strategy
from turnkeeper.guards.guardrails import ERRORS

type Schema = dict[str, Any]

TEXT: Schema = {"type": "string"}
NUMBER: Schema = {"type": "integer", "minimum": 0}
FLAG: Schema = {"type": "boolean"}
INSTANT: Schema = {
    "type": "string",
    "format": "date-time",
    "pattern": r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$",
    "description": "UTC with six digits.",
    "examples": ["2026-11-30T12:00:00.000000Z"],
}


def ref(name: str) -> Schema:
    """The schema called *name*."""
    return {"$ref": f"#/components/schemas/{name}"}


def listed(items: Schema, **more: Any) -> Schema:
    """A list of *items*."""
    return {"type": "array", "items": items, **more}


def one_of(words: Any, description: str) -> Schema:
    """One of *words*; a later version may know more of them."""
    return {"type": "string", "enum": [str(word) for word in words], "description": description}


def nullable(schema: Schema) -> Schema:
    """*schema*, or null."""
    return {"anyOf": [schema, {"type": "null"}]}


def shape(description: str, properties: Schema, *, optional: Schema | None = None, **more: Any) -> Schema:
    """An object that always has *properties*, and sometimes the *optional* ones."""
    return {
        "type": "object",
        "description": description,
        "required": [*properties],
        "properties": {**properties, **(optional or {})},
        **more,
    }


def page(description: str, name: str, items: Schema) -> Schema:
    """A page of a list, and where the next one begins."""
    following = nullable({"type": "string", "description": "Send it as `cursor`; null at the end."})
    return shape(description, {name: listed(items), "next": following})


def envelope() -> Schema:
    """What an agent status may show, from the table that decides who sees what."""
    root: Schema = {}
    for path, profile in SHOWN_FROM.items():
        *above, name = path.split(".")
        here = root
        for step in above:
            here = here.setdefault(step, {"type": "object", "properties": {}})["properties"]
        here[name] = {"description": f"Shown to {_READERS[profile]}."}
    root["status"] |= {"required": ["code", "name", "class", "kind", "scope", "terminal"]}
    status = root["status"]["properties"]
    status["code"] |= {"type": "integer"}
    status["terminal"] |= FLAG
    status["kind"] |= {"enum": [*Kind]}
    status["phase"] |= {"enum": [*LifecyclePhase]}
    # More than one way out may be told, each with the words of its own.
    root["remediation"] = listed(root["remediation"])
    said = "Where the task stands, in Agent Status Codes; how much of it depends on who asks (docs/asc.md)."
    return {"type": "object", "description": said, "required": ["spec_version", "status"], "properties": root}


_READERS = {
    Profile.PUBLIC: "everybody",
    Profile.DEVELOPER: "developers, operators and auditors",
    Profile.OPERATOR: "operators (the task's host) and auditors",
    Profile.AUDIT: "auditors",
}

TASK = shape(
    "A task's status object, and nothing else of it (Task Status contract).",
    {
        "id": TEXT,
        "agent": TEXT,
        "responsible_user": {"type": "string", "description": "The `sub` of the human who answers for it."},
        "created_at": INSTANT,
        "status": shape(
            "Where it stands.",
            {
                "phase": one_of(Phase, "Awaits input, is busy, or has ended."),
                "terminal_reason": nullable(one_of(Reason, "Why it ended.")),
                "revision": {
                    "type": "string",
                    "description": "Changes with the object or the messages; the ETag.",
                },
                "notifications": listed(ref("Notification")),
                "idle_expires_at": nullable(INSTANT),
            },
        ),
    },
)

_CALL = {"kind": one_of(NotificationKind, "What the responsible user has to do."), "since": INSTANT}
_PROVIDER = {"provider": {"type": "string", "description": "Where to sign in, for `user_auth_required`."}}
_WAIT = {"id": TEXT, "kind": one_of(WaitKind, "What it waits for."), "since": INSTANT, "deadline": INSTANT}

SCHEMAS: dict[str, Schema] = {
    "Task": TASK,
    "Notification": shape("Something that only the responsible user can do.", _CALL, optional=_PROVIDER),
    "TaskPage": page("Tasks, newest first.", "tasks", ref("Task")),
    "Part": shape(
        "A piece of a message: a text, or the name of a file.",
        {"mimeType": TEXT},
        optional={"text": TEXT, "file": TEXT, "sizeBytes": NUMBER, "metadata": {"type": "object"}},
    ),
    "Entry": shape(
        "An entry of the conversation. Beside these names stand the parameters of an input and what the agent exposes "
        "in an output.",
        {
            "type": {"enum": ["input", "output"]},
            "message": listed(ref("Part"), minItems=1, maxItems=MOST_PARTS),
        },
        optional={
            "received_at": {**INSTANT, "description": "When an input came; its name within the task."},
            "committed_at": {**INSTANT, "description": "Absent while the agent has not seen the input."},
            "error": one_of(ERRORS.values(), "Where a guardrail stepped in."),
        },
        additionalProperties=True,
    ),
    "Conversation": shape(
        "A page of the conversation, as of the revision in ETag.",
        {
            "messages": listed(ref("Entry")),
            "next": {"type": "string", "description": "Send it as `after`; also on the last page."},
            "more": {"type": "boolean", "description": "There is more right now."},
        },
    ),
    "JournalPage": shape(
        "A page of a task's journal.",
        {
            "entries": listed(ref("JournalEntry")),
            "next": {"type": "string", "description": "Send it as `after`; also on the last page."},
            "more": {"type": "boolean", "description": "There is more right now."},
        },
    ),
    "JournalEntry": shape(
        "One transition of a task.",
        {
            "n": {**NUMBER, "description": "From 1, without a gap."},
            "at": INSTANT,
            "actor": {
                "type": "string",
                "description": "What part of the service, or whose request, brought it about.",
            },
            "transition": one_of(Transition, "What it was."),
            "from": nullable(one_of(Phase, "The phase before; null at the creation.")),
            "to": one_of(Phase, "The phase after."),
            "code": {
                "type": "integer",
                "description": "Where the task stood afterwards, in Agent Status Codes.",
            },
            "name": one_of([code.name for code in Code], "The name of the code."),
            "turn": nullable(NUMBER),
            "attempt": nullable(NUMBER),
            "fence": nullable(NUMBER),
        },
    ),
    "AgentStatus": envelope(),
    "Upload": shape(
        "Where to send a file, and what its URI is.",
        {
            "file": {"type": "string", "description": "Name it by this in a message."},
            "upload": shape(
                "Send exactly this.",
                {
                    "method": {"const": "PUT"},
                    "url": {"type": "string", "format": "uri"},
                    "headers": {"type": "object", "additionalProperties": TEXT},
                },
            ),
            "expires_at": INSTANT,
        },
    ),
    "Download": shape(
        "Where to get a file, as it was when it was named.",
        {
            "file": TEXT,
            "mimeType": TEXT,
            "sizeBytes": NUMBER,
            "url": {"type": "string", "format": "uri"},
            "expires_at": INSTANT,
        },
    ),
    "Review": shape(
        "Something to decide, and what was decided.",
        {"id": TEXT, "agent": TEXT, "subject": TEXT, "since": INSTANT, "deadline": INSTANT},
        optional={"decision": {"enum": ["approve", "deny"]}, "decided_at": INSTANT, "comment": TEXT},
    ),
    "ReviewPage": page("What waits for the caller's decision, the longest first.", "reviews", ref("Review")),
    "Call": shape("A notification and its task.", {"task": TEXT, "agent": TEXT, **_CALL}, optional=_PROVIDER),
    "CallPage": page("What waits for the caller, the longest first.", "notifications", ref("Call")),
    "AgentPage": page(
        "Agents that a person can start, by name.",
        "agents",
        shape("An agent.", {"name": TEXT, "description": TEXT}),
    ),
    "OfferedAgent": shape(
        "An agent as whoever starts it may know it.",
        {
            "name": TEXT,
            "description": TEXT,
            "parameters": {
                "type": "object",
                "description": "JSON Schema (2020-12) of what may stand beside an input's `message`. A string of the "
                "format `file` is the URI of a file.",
            },
            "default_message": nullable(
                listed(ref("Part"), description="Said by an input without a `message`; null: each needs one.")
            ),
            "files": listed(one_of(Root, "A root."), description="Where files may lie that messages name."),
            "exposes": listed(TEXT, description="What its outputs carry beside their message."),
            "lifespan_seconds": {
                "type": "number",
                "exclusiveMinimum": 0,
                "description": "After so long without anything new, a task of it ends.",
            },
            "limits": shape(
                "What a task of it may use at most; what is absent has no limit.",
                {"max_age_seconds": {"type": "number", "exclusiveMinimum": 0}},
                optional={
                    "turns": NUMBER,
                    "prompt_tokens": NUMBER,
                    "completion_tokens": NUMBER,
                    "tool_calls": NUMBER,
                },
            ),
        },
    ),
    "HostTask": shape(
        "A task as whoever drives it may see it.",
        {
            "task": ref("Task"),
            "agent_status": shape("Its code.", {"code": {"type": "integer"}, "name": TEXT}),
            "pending": NUMBER,
            "turns": NUMBER,
            "usage": shape(
                "What it used.", {"prompt_tokens": NUMBER, "completion_tokens": NUMBER, "tool_calls": NUMBER}
            ),
            "waits": listed(ref("Wait")),
            "turn": nullable(ref("Turn")),
        },
    ),
    "Wait": shape(
        "What a turn waits for.", _WAIT, optional={"provider": TEXT, "reviewer": TEXT, "child": TEXT}
    ),
    "Turn": shape(
        "A turn; its `fence` is the right to write.",
        {
            "number": NUMBER,
            "state": one_of(TurnState, "Who may do what with it."),
            "fence": NUMBER,
            "attempt": NUMBER,
            "started_at": INSTANT,
            "lease_until": nullable(INSTANT),
            "retry_at": nullable(INSTANT),
            "outputs": NUMBER,
            "first_output": NUMBER,
            "inputs_after": TEXT,
            "memo": {"description": "What was noted when it was suspended; any JSON."},
            "resolutions": listed(ref("Resolution")),
        },
    ),
    "Resolution": shape(
        "How a wait ended.",
        {"id": TEXT, "kind": _WAIT["kind"], "verdict": one_of(Verdict, "How."), "at": INSTANT},
        optional={"child": TEXT, "comment": TEXT},
    ),
    "Agent": shape(
        "A manifest as it was registered.",
        {
            "name": TEXT,
            "version": {"type": "string", "description": "The hash of the manifest; the ETag."},
            "manifest": {"type": "object"},
            "not_acted_on": listed(TEXT, description="What of it is known and changes nothing here."),
        },
    ),
    "Granted": shape(
        "Since when a person has authorised a provider.",
        {"user": TEXT, "provider": TEXT, "granted_at": INSTANT, "tasks": NUMBER},
    ),
    "Problem": shape(
        "A refusal (RFC 9457), with an agent status and a retry contract.",
        {
            "type": TEXT,
            "title": TEXT,
            "status": {"type": "integer"},
            "detail": TEXT,
            "agent_status": shape(
                "It speaks of the request, not of the task.",
                {
                    "code": {"type": "integer"},
                    "name": one_of([code.name for code in Code], "The name of the code."),
                    "scope": {"const": SCOPE},
                    "terminal": {"const": True},
                },
            ),
            "retry": shape(
                "Whether sending it again can help, and does no harm.",
                {
                    "retryable": FLAG,
                    "safe": FLAG,
                    "strategy": one_of(Strategy, "What has to happen first."),
                    "side_effect_state": one_of([*SideEffects], "What may have been stored."),
                },
                optional={"after_ms": NUMBER, "reconciliation_action": TEXT},
            ),
        },
        optional={
            "errors": listed(
                shape("A place that is wrong, and how to mend it.", {"at": TEXT, "problem": TEXT}),
                maxItems=MOST_PLACES,
            )
        },
    ),
    "GatewayRefusal": shape(
        "What API Gateway itself refuses, before any of ours is asked.", {"message": TEXT}
    ),
    "Document": {"type": "object", "description": "This document.", "required": ["openapi", "info", "paths"]},
}
