"""One example of each answer. A test holds each to its schema, closed to what that does not name."""

from typing import Any

from turnkeeper.asc.registry import SPEC_VERSION, Code, class_of

TASK_ID, CHILD_ID = "5f0c1e9a7b3d4826a1c0de5f9b7e3d24", "c41d8cd98f00b204e9800998ecf8427e"
CREATED, RECEIVED, COMMITTED, ANSWERED = (
    f"2026-11-30T12:00:0{second}.000000Z" for second in ("0", "1", "2", "3")
)
LATER = "2026-12-07T12:00:03.000000Z"
SOON = "2026-11-30T12:15:00.000000Z"
CURSOR = "WyIyMDI2LTExLTMwVDEyOjAwOjAzLjAwMDAwMFoiLDAsMF0"
FILE = "task://oV8WbZ1kTq2mJr5sXyD3uA/week 48.csv"

IDLE: dict[str, Any] = {
    "id": TASK_ID,
    "agent": "echo",
    "responsible_user": "alice-sub",
    "created_at": CREATED,
    "status": {
        "phase": "idle",
        "terminal_reason": None,
        "revision": "b7e23ec29af22b0b",
        "notifications": [],
        "idle_expires_at": LATER,
    },
}
CALL = {"kind": "user_auth_required", "since": COMMITTED, "provider": "calendar"}
WAITING = IDLE | {
    "status": IDLE["status"] | {"phase": "processing", "notifications": [CALL], "idle_expires_at": None}
}
REVIEW = {
    "id": f"{TASK_ID}0123456789abcdef",
    "agent": "concierge",
    "subject": "Book the 8:15 to Lyon for 84 EUR?",
    "since": COMMITTED,
    "deadline": LATER,
}


def _part(text: str) -> dict[str, str]:
    return {"mimeType": "text/plain", "text": text}


def _code(code: Code) -> dict[str, Any]:
    return {"code": code.value, "name": code.name}


EXAMPLES: dict[str, Any] = {
    "Task": IDLE,
    "TaskPage": {"tasks": [IDLE], "next": None},
    "Conversation": {
        "messages": [
            {
                "type": "input",
                "message": [_part("Where is my parcel?")],
                "received_at": RECEIVED,
                "committed_at": COMMITTED,
            },
            {"type": "output", "message": [_part("It arrives today.")], "committed_at": ANSWERED},
        ],
        "next": CURSOR,
        "more": False,
    },
    "JournalPage": {
        "entries": [
            {
                "n": 2,
                "at": COMMITTED,
                "actor": "worker",
                "transition": "start_turn",
                "from": "processing",
                "to": "processing",
                **_code(Code.RUNNING),
                "turn": 1,
                "attempt": 1,
                "fence": 1,
            }
        ],
        "next": "WzJd",
        "more": False,
    },
    "AgentStatus": {
        "spec_version": SPEC_VERSION,
        "status": {
            **_code(Code.HUMAN_INPUT_REQUIRED),
            "class": class_of(Code.HUMAN_INPUT_REQUIRED),
            "kind": "status",
            "scope": "task",
            "terminal": False,
            "phase": "WAITING",
        },
        "occurred_at": ANSWERED,
        "remediation": [{"action": "send_input"}],
        "provenance": {"correlation_id": TASK_ID},
    },
    "Upload": {
        "file": FILE,
        "upload": {
            "method": "PUT",
            "url": "https://files.example/task/5f0c/week%2048.csv?X-Amz-Signature=3f1a",
            "headers": {"Content-Type": "text/csv", "If-None-Match": "*"},
        },
        "expires_at": SOON,
    },
    "Download": {
        "file": FILE,
        "mimeType": "text/csv",
        "sizeBytes": 23,
        "url": "https://files.example/task/5f0c/week%2048.csv?versionId=1&X-Amz-Signature=3f1a",
        "expires_at": SOON,
    },
    "Review": REVIEW | {"decision": "approve", "decided_at": ANSWERED, "comment": "Go ahead."},
    "ReviewPage": {"reviews": [REVIEW], "next": None},
    "CallPage": {"notifications": [{"task": TASK_ID, "agent": "concierge", **CALL}], "next": None},
    "AgentPage": {
        "agents": [
            {"name": "echo", "description": "Answers with an excerpt of what it was told."},
            {"name": "travel_desk", "description": "Books trains up to a limit."},
        ],
        "next": None,
    },
    "OfferedAgent": {
        "name": "travel_desk",
        "description": "Books trains up to a limit.",
        "parameters": {
            "type": "object",
            "properties": {
                "to": {"type": "string", "title": "Where to"},
                "price": {"type": "number", "default": 0, "maximum": 1000},
                "ticket": {"type": "string", "format": "file"},
            },
            "required": ["to"],
            "additionalProperties": False,
        },
        "default_message": None,
        "files": ["task"],
        "exposes": ["to"],
        "lifespan_seconds": 604800,
        "limits": {"max_age_seconds": 7776000, "turns": 50},
    },
    "HostTask": {
        "task": WAITING,
        "agent_status": _code(Code.AUTHENTICATION_REQUIRED),
        "pending": 0,
        "turns": 1,
        "usage": {"prompt_tokens": 812, "completion_tokens": 64, "tool_calls": 1},
        "waits": [
            {"id": "sign-in", "kind": "auth", "since": COMMITTED, "deadline": LATER, "provider": "calendar"}
        ],
        "turn": {
            "number": 1,
            "state": "suspended",
            "fence": 1,
            "attempt": 1,
            "started_at": COMMITTED,
            "lease_until": None,
            "retry_at": None,
            "outputs": 0,
            "first_output": 1,
            "inputs_after": CURSOR,
            "memo": None,
            "resolutions": [],
        },
    },
    "Agent": {
        "name": "helper",
        "version": "9b2f6c0d4e1a7783",
        "manifest": {"kind": "commonagents.info/v1/agent", "name": "helper", "description": "Helps."},
        "not_acted_on": [],
    },
    "Granted": {"user": "alice-sub", "provider": "calendar", "granted_at": ANSWERED, "tasks": 1},
    "GatewayRefusal": {"message": "Unauthorized"},
}
