"""The hosts' API: whoever signed with IAM drives the tasks of its own agents, and no others are there for it."""

from collections.abc import Callable
from typing import Any

from aws_lambda_powertools import Logger
from aws_lambda_powertools.event_handler import APIGatewayHttpResolver, Response

from turnkeeper import settings
from turnkeeper.asc.registry import Code
from turnkeeper.domain.task import Task
from turnkeeper.edge import (
    answers,
    bodies,
    files,
    host_answers,
    host_requests,
    requests,
    status_answers,
    waits,
)
from turnkeeper.edge.caller import host, principal
from turnkeeper.edge.declarations import Declaration
from turnkeeper.edge.exchange import exchange
from turnkeeper.edge.problems import refuse_more_than_a_route, refuse_unknown_route
from turnkeeper.edge.responses import sent
from turnkeeper.service import agent_status, grants, host_agents, host_turns, reports
from turnkeeper.service.delegation import Call
from turnkeeper.service.files import download, upload
from turnkeeper.service.host_turns import Asked
from turnkeeper.service.messages import page_of
from turnkeeper.service.waiting import resolutions

# By this name, ours are its children.
Logger(service="turnkeeper", location=None)
app = APIGatewayHttpResolver(debug=False)
app.not_found(refuse_unknown_route)
app.use([refuse_more_than_a_route])
handle = exchange(app.resolve)
# Made now, while a starting function has a whole CPU, and kept for every request.
settings.runtime()
settings.mounts()


@app.put("/v1/host/agents/<name>")
def register_agent(name: str) -> Response[str]:
    """The agent's manifest, current from now on."""
    me, document = _me(), host_requests.manifest(_event())
    registered = host_agents.register(settings.runtime(), principal=me, name=name, document=document)
    return sent(host_answers.registered(200, registered))


@app.get("/v1/host/agents/<name>")
def read_agent(name: str) -> Response[str]:
    """The current manifest of my agent."""
    return sent(
        host_answers.registered(200, host_agents.read(settings.runtime(), principal=_me(), name=name))
    )


@app.get("/v1/host/tasks/<task_id>")
def read_task(task_id: str) -> Response[str]:
    """A task of my agents, with its turn."""
    runtime = settings.runtime()
    task = host_turns.read(runtime, principal=_me(), task_id=task_id)
    return _taken_up(200, task)


@app.get("/v1/host/tasks/<task_id>/messages")
def read_messages(task_id: str) -> Response[str]:
    """The conversation of a task of my agents."""
    runtime, me = settings.runtime(), _me()
    return _conversed(lambda: host_turns.read(runtime, principal=me, task_id=task_id))


@app.post("/v1/host/tasks/<task_id>/files")
def send_file(task_id: str) -> Response[str]:
    """Where to send a file that an output may name."""
    runtime, me = settings.runtime(), _me()
    asked = files.upload(_event(), caller=me)
    task = host_turns.read(runtime, principal=me, task_id=task_id)
    return sent(files.awaited(upload(runtime, task, asked)))


@app.get("/v1/host/tasks/<task_id>/files")
def get_file(task_id: str) -> Response[str]:
    """Where to get a file that the conversation of a task of my agents names."""
    return _found(host_turns.read(settings.runtime(), principal=_me(), task_id=task_id))


@app.get("/v1/host/tasks/<task_id>/agent-status")
def read_agent_status(task_id: str) -> Response[str]:
    """The envelope of a task of my agents; of any task, and to the last, if I am an auditor."""
    runtime, me, known = settings.runtime(), _me(), status_answers.known(_event())
    if principal(_event()) in settings.auditors():
        seen = agent_status.for_auditor(runtime, task_id=task_id, is_known=known)
    else:
        seen = agent_status.for_host(runtime, principal=me, task_id=task_id, is_known=known)
    return sent(status_answers.seen(seen, now=runtime.clock()))


@app.post("/v1/host/tasks/<task_id>/turns")
def start_turn(task_id: str) -> Response[str]:
    """Begin, repeat or resume the task's turn, under a fence of its own."""
    _, asked = _asked(task_id, host_requests.Nothing)
    return _taken_up(201, host_turns.start(settings.runtime(), asked))


@app.post("/v1/host/tasks/<task_id>/heartbeat")
def heartbeat(task_id: str) -> Response[str]:
    """Renew the turn's lease, and count what it used."""
    beat, asked = _asked(task_id, host_requests.Beat)
    return _driven(host_turns.heartbeat(settings.runtime(), asked, fence=beat.fence, usage=beat.used()))


@app.post("/v1/host/tasks/<task_id>/outputs")
def say(task_id: str) -> Response[str]:
    """One more output of the turn."""
    output, asked = _asked(task_id, host_requests.Output)
    return _driven(
        host_turns.output(
            settings.runtime(),
            asked,
            fence=output.fence,
            ordinal=output.number,
            content=host_requests.said(_event()) or "",
            usage=output.used(),
        )
    )


@app.post("/v1/host/tasks/<task_id>/finish")
def finish(task_id: str) -> Response[str]:
    """End the turn, with what is said last."""
    end, asked = _asked(task_id, host_requests.Finish)
    return _driven(
        host_turns.finish(
            settings.runtime(),
            asked,
            fence=end.fence,
            content=host_requests.said(_event()),
            usage=end.used(),
        )
    )


@app.post("/v1/host/tasks/<task_id>/wait")
def wait(task_id: str) -> Response[str]:
    """Suspend the turn until what it needs is there."""
    waiting, asked = _asked(task_id, waits.Waiting)
    return _driven(
        host_turns.wait(
            settings.runtime(),
            asked,
            fence=waiting.fence,
            needs=waiting.needs(),
            memo=waiting.noted(),
            usage=waiting.used(),
        )
    )


@app.post("/v1/host/tasks/<task_id>/resolve")
def resolve(task_id: str) -> Response[str]:
    """Say what became of something that only the host knows of."""
    word, asked = _asked(task_id, waits.HostsWord)
    return _driven(
        host_turns.resolve(
            settings.runtime(), asked, fence=word.fence, wait_id=word.wait, verdict=word.said()
        )
    )


@app.post("/v1/host/tasks/<task_id>/children")
def delegate(task_id: str) -> Response[str]:
    """Give another agent a task of its own."""
    runtime, me = settings.runtime(), _me()
    asked, content = waits.child(_event())
    call = Call(name=asked.call, fence=asked.fence, agent=asked.agent, content=content)
    child = host_turns.delegate(runtime, principal=me, task_id=task_id, call=call)
    return sent(host_answers.seen(201 if content is None else 202, child))


@app.get("/v1/host/tasks/<task_id>/children/<child_id>")
def read_child(task_id: str, child_id: str) -> Response[str]:
    """A child of my task, whosever agent works on it."""
    child = host_turns.child(settings.runtime(), principal=_me(), task_id=task_id, child_id=child_id)
    return sent(host_answers.seen(200, child))


@app.get("/v1/host/tasks/<task_id>/children/<child_id>/messages")
def read_child_messages(task_id: str, child_id: str) -> Response[str]:
    """The conversation of a child of my task."""
    runtime, me = settings.runtime(), _me()
    return _conversed(lambda: host_turns.child(runtime, principal=me, task_id=task_id, child_id=child_id))


@app.get("/v1/host/tasks/<task_id>/children/<child_id>/files")
def get_child_file(task_id: str, child_id: str) -> Response[str]:
    """Where to get a file that the conversation of a child of my task names."""
    return _found(host_turns.child(settings.runtime(), principal=_me(), task_id=task_id, child_id=child_id))


@app.post("/v1/host/grants")
def grant() -> Response[str]:
    """A person authorised a provider."""
    me, (given, _) = _me(), host_requests.read(waits.Grant, _event())
    granted_at, reached = grants.grant(
        settings.runtime(),
        principal=me,
        user=given.user,
        provider=given.provider,
        granted_at=given.granted_at,
    )
    return sent(host_answers.granted(given.user, given.provider, granted_at, reached))


@app.post("/v1/host/tasks/<task_id>/reports")
def report(task_id: str) -> Response[str]:
    """What somebody else, or a part of the work, came to."""
    told, asked = _asked(task_id, host_requests.Heard)
    return _driven(
        reports.attach(
            settings.runtime(),
            asked,
            fence=told.fence,
            document=told.report,
            unit=told.unit,
            requested=told.requested,
        )
    )


@app.post("/v1/host/tasks/<task_id>/fail")
def fail(task_id: str) -> Response[str]:
    """The attempt failed."""
    held, asked = _asked(task_id, host_requests.Held)
    return _driven(host_turns.fail(settings.runtime(), asked, fence=held.fence))


@app.post("/v1/host/tasks/<task_id>/interrupt")
def interrupt(task_id: str) -> Response[str]:
    """End the turn and its waits without output."""
    _, asked = _asked(task_id, host_requests.Nothing)
    return _driven(host_turns.interrupt(settings.runtime(), asked))


@app.post("/v1/host/tasks/<task_id>/complete")
def complete(task_id: str) -> Response[str]:
    """End the task well."""
    how, asked = _asked(task_id, host_requests.Completion)
    return _driven(
        host_turns.complete(
            settings.runtime(),
            asked,
            outcome=Code(how.outcome),
            discard_pending=how.discard_pending,
            declared=how.declared(),
        )
    )


@app.post("/v1/host/tasks/<task_id>/error")
def error(task_id: str) -> Response[str]:
    """End the task for an error."""
    why, asked = _asked(task_id, host_requests.Failure)
    return _driven(
        host_turns.error(settings.runtime(), asked, outcome=Code(why.outcome), declared=why.declared())
    )


@app.post("/v1/host/tasks/<task_id>/restrict")
def restrict(task_id: str) -> Response[str]:
    """Lock the task."""
    said, asked = _asked(task_id, Declaration)
    return _driven(host_turns.restrict(settings.runtime(), asked, declared=said.declared()))


@app.post("/v1/host/tasks/<task_id>/reconcile")
def reconcile(task_id: str) -> Response[str]:
    """Say what became of a lost turn."""
    found, asked = _asked(task_id, host_requests.Reconciliation)
    return _driven(
        host_turns.reconcile(
            settings.runtime(),
            asked,
            answer=found.answer,
            content=host_requests.said(_event()),
            outcome=Code(found.outcome),
        )
    )


def _event() -> dict[str, Any]:
    return app.current_event.raw_event


def _me() -> str:
    return host(_event(), deployment_hosts=settings.deployment_hosts())


def _asked[S: bodies.Sent](task_id: str, model: type[S]) -> tuple[S, Asked]:
    me = _me()
    read, body = host_requests.read(model, _event())
    return read, Asked(principal=me, task_id=task_id, body=body, key=bodies.idempotency_key(_event()))


def _driven(task: Task) -> Response[str]:
    return sent(host_answers.driven(200, task))


def _taken_up(status: int, task: Task) -> Response[str]:
    """*task* with all that whoever takes its turn up needs: memo, resolutions and their comments."""
    runtime = settings.runtime()
    return sent(
        host_answers.driven(
            status,
            task,
            memo=host_turns.memo(runtime, task),
            resolutions=resolutions(runtime, task),
        )
    )


def _found(task: Task) -> Response[str]:
    """Where to get what is asked for of *task*, which is looked for first: nobody learns how to ask of another's."""
    wanted = files.wanted(_event())
    return sent(files.found(download(settings.runtime(), task, file=wanted.ref, at=wanted.at)))


def _conversed(read: Callable[[], Task]) -> Response[str]:
    asked = bodies.query(requests.MessagesQuery, _event())
    # What a guardrail refused is no business of the model's, and so none of its host's (AG-3).
    found = page_of(settings.runtime(), read, after=asked.after, limit=asked.limit, for_model=True)
    return sent(answers.conversed(found.task, found.entries, following=found.next, more=found.more))
