"""What each route takes and answers, beside what its handler's source says: one row for each, no more and no fewer.

Shapes are not repeated here: a body and a query are the models that read them, an answer is a schema by its name, and
an example is a sample event that the tests send.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from pydantic import BaseModel

from turnkeeper.asc.disclosure import MEDIA_TYPE
from turnkeeper.edge import files, host_requests, requests, waits
from turnkeeper.edge.declarations import Declaration
from turnkeeper.edge.manifests import AgentManifest

POLL = ("Agent-Status", "ETag", "Poll-After?")
TASK = ("Agent-Status", "ETag")


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What is answered when it goes well: the schema of the body, if it has one; a header with a ? may be absent."""

    schema: str | None
    headers: tuple[str, ...] = ()
    media_type: str = "application/json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """One route; *sample* names the event whose body is the example."""

    tag: str
    answers: Mapping[int, Answer]
    more: str = ""
    body: type[BaseModel] | None = None
    may_be_empty: bool = False
    query: type[BaseModel] | None = None
    sample: str | None = None
    refuses: tuple[int, ...] = ()
    """Beside what follows from what it takes."""
    keyed: bool = False
    """It takes an Idempotency-Key."""
    tagged: bool = False
    """It takes If-None-Match."""
    is_open: bool = False
    """Anybody may ask."""


def _task(*, status: int = 200) -> dict[int, Answer]:
    return {status: Answer(schema="HostTask", headers=TASK)}


def _turn(body: type[BaseModel], sample: str, more: str = "", *, empty: bool = False) -> Operation:
    """A step of a task's life that its host takes."""
    return Operation(
        tag="Turns",
        answers=_task(),
        more=more,
        body=body,
        may_be_empty=empty,
        sample=sample,
        refuses=(409,),
        keyed=True,
    )


_READ = {200: Answer(schema="Conversation", headers=TASK)}
_UPLOAD, _DOWNLOAD = {201: Answer(schema="Upload")}, {200: Answer(schema="Download")}
_ENVELOPE = {
    200: Answer(schema="AgentStatus", headers=POLL, media_type=MEDIA_TYPE),
    304: Answer(schema=None, headers=POLL),
}
_SENT = ("Agent-Status", "ETag", "Poll-After?", "Received-At")

OPERATIONS: dict[str, Operation] = {
    "GET /v1/tasks/{task_id}": Operation(
        tag="Tasks",
        answers={200: Answer(schema="Task", headers=POLL), 304: Answer(schema=None, headers=POLL)},
        more="Send the ETag back as If-None-Match: an unchanged poll is 304, without a body.",
        tagged=True,
    ),
    "POST /v1/tasks": Operation(
        tag="Tasks",
        answers={
            201: Answer(schema="Task", headers=("Agent-Status", "ETag", "Poll-After?", "Location")),
            202: Answer(schema="Task", headers=(*_SENT, "Location")),
        },
        more="202 with an input, 201 without.",
        body=requests.NewTask,
        sample="create_with_input",
        refuses=(409,),
        keyed=True,
    ),
    "GET /v1/tasks": Operation(
        tag="Tasks",
        answers={200: Answer(schema="TaskPage")},
        more="A page may be empty and have a `next`: go on until that is null.",
        query=requests.ListQuery,
    ),
    "GET /v1/tasks/{task_id}/messages": Operation(
        tag="Tasks",
        answers=_READ,
        more="An input without `committed_at` was not seen by the agent yet, and comes again when it is.",
        query=requests.MessagesQuery,
    ),
    "POST /v1/tasks/{task_id}/inputs": Operation(
        tag="Tasks",
        answers={202: Answer(schema="Task", headers=_SENT)},
        more="`Received-At` is how to find it in the conversation.",
        body=requests.Offer,
        sample="accept_input",
        refuses=(409,),
        keyed=True,
    ),
    "POST /v1/tasks/{task_id}/files": Operation(
        tag="Files",
        answers=_UPLOAD,
        body=files.NewFile,
        sample="send_file",
        refuses=(409,),
        keyed=True,
    ),
    "GET /v1/tasks/{task_id}/files": Operation(tag="Files", answers=_DOWNLOAD, query=files.Wanted),
    "GET /v1/tasks/{task_id}/agent-status": Operation(tag="Tasks", answers=_ENVELOPE, tagged=True),
    "GET /v1/tasks/{task_id}/journal": Operation(
        tag="Tasks",
        answers={200: Answer(schema="JournalPage")},
        more="For tokens with the claim that `developer_claim` names; to any other there is none (404).",
        query=requests.JournalQuery,
    ),
    "GET /v1/reviews": Operation(
        tag="People", answers={200: Answer(schema="ReviewPage")}, query=requests.PageQuery
    ),
    "POST /v1/reviews/{review_id}": Operation(
        tag="People",
        answers={200: Answer(schema="Review")},
        more="The same decision with the same comment again is 200.",
        body=waits.ReviewDecision,
        sample="decide_unknown_review",
        refuses=(409,),
    ),
    "GET /v1/notifications": Operation(
        tag="People", answers={200: Answer(schema="CallPage")}, query=requests.PageQuery
    ),
    "GET /v1/agents": Operation(
        tag="People", answers={200: Answer(schema="AgentPage")}, query=requests.PageQuery
    ),
    "GET /v1/agents/{name}": Operation(
        tag="People",
        answers={
            200: Answer(schema="OfferedAgent", headers=("ETag",)),
            304: Answer(schema=None, headers=("ETag",)),
        },
        more="`parameters` is JSON Schema of what may stand beside an input's `message`.",
        tagged=True,
    ),
    "GET /v1/openapi.json": Operation(
        tag="Reference",
        answers={
            200: Answer(schema="Document", headers=("ETag",)),
            304: Answer(schema=None, headers=("ETag",)),
        },
        tagged=True,
        is_open=True,
    ),
    "PUT /v1/host/agents/{name}": Operation(
        tag="Agents",
        answers={200: Answer(schema="Agent", headers=("ETag",))},
        more="As JSON or as YAML; a name is its first registrant's for good.",
        body=AgentManifest,
        sample="register_agent",
    ),
    "GET /v1/host/agents/{name}": Operation(
        tag="Agents", answers={200: Answer(schema="Agent", headers=("ETag",))}
    ),
    "GET /v1/host/tasks/{task_id}": Operation(tag="Turns", answers=_task()),
    "GET /v1/host/tasks/{task_id}/messages": Operation(
        tag="Turns",
        answers=_READ,
        more="What a guardrail refused is not there.",
        query=requests.MessagesQuery,
    ),
    "POST /v1/host/tasks/{task_id}/files": Operation(
        tag="Files",
        answers=_UPLOAD,
        body=files.NewFile,
        sample="send_file",
        refuses=(409,),
        keyed=True,
    ),
    "GET /v1/host/tasks/{task_id}/files": Operation(tag="Files", answers=_DOWNLOAD, query=files.Wanted),
    "GET /v1/host/tasks/{task_id}/agent-status": Operation(tag="Turns", answers=_ENVELOPE, tagged=True),
    "POST /v1/host/tasks/{task_id}/turns": Operation(
        tag="Turns",
        answers=_task(status=201),
        more="The turn's `fence` is the right to write. 409: there is nothing to start.",
        body=host_requests.Nothing,
        may_be_empty=True,
        refuses=(409,),
        keyed=True,
    ),
    "POST /v1/host/tasks/{task_id}/heartbeat": _turn(host_requests.Beat, "heartbeat"),
    "POST /v1/host/tasks/{task_id}/outputs": _turn(
        host_requests.Output, "output", "A number that was there before is not written again."
    ),
    "POST /v1/host/tasks/{task_id}/finish": _turn(host_requests.Finish, "finish"),
    "POST /v1/host/tasks/{task_id}/wait": _turn(waits.Waiting, "wait"),
    "POST /v1/host/tasks/{task_id}/resolve": _turn(waits.HostsWord, "resolve"),
    "POST /v1/host/tasks/{task_id}/children": Operation(
        tag="Turns",
        answers={status: Answer(schema="Task", headers=TASK) for status in (201, 202)},
        more="202 with an input, 201 without; `call` makes it safe to repeat.",
        body=waits.Child,
        sample="delegate",
        refuses=(409,),
    ),
    "GET /v1/host/tasks/{task_id}/children/{child_id}": Operation(
        tag="Turns", answers={200: Answer(schema="Task", headers=TASK)}
    ),
    "GET /v1/host/tasks/{task_id}/children/{child_id}/messages": Operation(
        tag="Turns", answers=_READ, query=requests.MessagesQuery
    ),
    "GET /v1/host/tasks/{task_id}/children/{child_id}/files": Operation(
        tag="Files", answers=_DOWNLOAD, query=files.Wanted
    ),
    "POST /v1/host/grants": Operation(
        tag="Agents", answers={200: Answer(schema="Granted")}, body=waits.Grant, sample="grant"
    ),
    "POST /v1/host/tasks/{task_id}/reports": _turn(host_requests.Heard, "report"),
    "POST /v1/host/tasks/{task_id}/fail": _turn(
        host_requests.Held, "fail", "Another begins at `turn.retry_at`, if the task's terms allow one."
    ),
    "POST /v1/host/tasks/{task_id}/interrupt": _turn(host_requests.Nothing, "interrupt", empty=True),
    "POST /v1/host/tasks/{task_id}/complete": _turn(
        host_requests.Completion,
        "complete",
        "Refused while inputs wait, unless they are discarded.",
        empty=True,
    ),
    "POST /v1/host/tasks/{task_id}/error": _turn(host_requests.Failure, "error", empty=True),
    "POST /v1/host/tasks/{task_id}/restrict": _turn(Declaration, "restrict", empty=True),
    "POST /v1/host/tasks/{task_id}/reconcile": _turn(host_requests.Reconciliation, "reconcile"),
}

TAGS = {
    "Tasks": "A person's tasks and their conversations.",
    "Files": "Files by reference: sent to S3 and got from it, never through the API.",
    "People": "What a person can start, and what waits for them.",
    "Agents": "A host's agents, and what people authorised them for.",
    "Turns": "A host drives the tasks of its agents.",
    "Reference": "The API itself.",
}
