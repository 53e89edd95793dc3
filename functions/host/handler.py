"""The hosts' API: whoever signed with IAM drives the tasks of its own agents, and no others are there for it."""

from typing import Any

from aws_lambda_powertools.event_handler import APIGatewayHttpResolver, Response

from turnkeeper import settings
from turnkeeper.asc.registry import Code
from turnkeeper.domain.task import Task
from turnkeeper.edge import answers, bodies, host_answers, host_requests, requests
from turnkeeper.edge.caller import principal
from turnkeeper.edge.exchange import exchange
from turnkeeper.edge.problems import refuse_unknown_route
from turnkeeper.edge.responses import sent
from turnkeeper.service import host_agents, host_turns
from turnkeeper.service.host_turns import Asked
from turnkeeper.service.messages import page_of

app = APIGatewayHttpResolver(debug=False)
app.not_found(refuse_unknown_route)
handle = exchange(app.resolve)
# Made now, while a starting function has a whole CPU, and kept for every request.
settings.runtime()


@app.put("/v1/host/agents/<name>")
def register_agent(name: str) -> Response[str]:
    """The agent's manifest, current from now on."""
    document = host_requests.manifest(_event())
    return sent(
        host_answers.registered(
            200, host_agents.register(settings.runtime(), principal=_me(), name=name, document=document)
        )
    )


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
    return sent(host_answers.driven(200, task, memo=host_turns.memo(runtime, task)))


@app.get("/v1/host/tasks/<task_id>/messages")
def read_messages(task_id: str) -> Response[str]:
    """The conversation of a task of my agents."""
    runtime, me = settings.runtime(), _me()
    asked = bodies.query(requests.MessagesQuery, _event())
    found = page_of(
        runtime,
        lambda: host_turns.read(runtime, principal=me, task_id=task_id),
        after=asked.after,
        limit=asked.limit,
    )
    return sent(answers.conversed(found.task, found.entries, following=found.next, more=found.more))


@app.post("/v1/host/tasks/<task_id>/turns")
def start_turn(task_id: str) -> Response[str]:
    """Begin, repeat or resume the task's turn, under a fence of its own."""
    runtime = settings.runtime()
    _, asked = _asked(task_id, host_requests.Nothing)
    task = host_turns.start(runtime, asked)
    return sent(host_answers.driven(201, task, memo=host_turns.memo(runtime, task)))


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
            settings.runtime(), asked, outcome=Code(how.outcome), discard_pending=how.discard_pending
        )
    )


@app.post("/v1/host/tasks/<task_id>/error")
def error(task_id: str) -> Response[str]:
    """End the task for an error."""
    why, asked = _asked(task_id, host_requests.Failure)
    return _driven(host_turns.error(settings.runtime(), asked, outcome=Code(why.outcome)))


@app.post("/v1/host/tasks/<task_id>/restrict")
def restrict(task_id: str) -> Response[str]:
    """Lock the task."""
    _, asked = _asked(task_id, host_requests.Nothing)
    return _driven(host_turns.restrict(settings.runtime(), asked))


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
    return principal(_event())


def _asked[S: bodies.Sent](task_id: str, model: type[S]) -> tuple[S, Asked]:
    me = _me()
    read, body = host_requests.read(model, _event())
    return read, Asked(principal=me, task_id=task_id, body=body, key=bodies.idempotency_key(_event()))


def _driven(task: Task) -> Response[str]:
    return sent(host_answers.driven(200, task))
