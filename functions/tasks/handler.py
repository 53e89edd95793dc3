"""The people's API but for the poll: a route names a use case and nothing else.

Refusals are raised where they are found and become problems in `exchange`. Requests are read by `requests`,
not by the resolver (docs/decisions/0020).
"""

from aws_lambda_powertools import Logger
from aws_lambda_powertools.event_handler import APIGatewayHttpResolver, Response

from turnkeeper import settings
from turnkeeper.edge import (
    agent_answers,
    answers,
    bodies,
    files,
    people_answers,
    reference,
    requests,
    status_answers,
    waits,
)
from turnkeeper.edge.caller import has_claim, human
from turnkeeper.edge.exchange import Event, exchange
from turnkeeper.edge.problems import refuse_more_than_a_route, refuse_unknown_route
from turnkeeper.edge.responses import sent
from turnkeeper.service import agent_status, catalogue, journal
from turnkeeper.service.accepted import Accepted
from turnkeeper.service.create import create
from turnkeeper.service.files import download, upload
from turnkeeper.service.inputs import accept
from turnkeeper.service.messages import page
from turnkeeper.service.notifications import list_calls
from turnkeeper.service.poll import poll_after
from turnkeeper.service.reviews import decide, list_reviews
from turnkeeper.service.tasks import list_tasks
from turnkeeper.service.whole import whole

# By this name, ours are its children.
Logger(service="turnkeeper", location=None)
app = APIGatewayHttpResolver(debug=False)
app.not_found(refuse_unknown_route)
app.use([refuse_more_than_a_route])
handle = exchange(app.resolve)
# Made now, while a starting function has a whole CPU, and kept for every request.
settings.runtime()
settings.mounts()


@app.post("/v1/tasks")
def create_task() -> Response[str]:
    """A new task, and its first input if one came with it."""
    event, caller = _asked()
    new, key = requests.creation(event), bodies.idempotency_key(event)
    made = create(settings.runtime(), caller=caller, agent=new.agent, content=new.content, key=key)
    return _accepted(201 if new.content is None else 202, made, location=f"tasks/{made.task.id}")


@app.get("/v1/tasks")
def my_tasks() -> Response[str]:
    """The caller's tasks, newest first."""
    event, caller = _asked()
    asked = bodies.query(requests.ListQuery, event)
    found = list_tasks(settings.runtime(), caller=caller, **dict(asked))
    return sent(answers.listed(found.tasks, found.next))


@app.get("/v1/tasks/<task_id>/messages")
def messages(task_id: str) -> Response[str]:
    """A page of the conversation as of one revision."""
    event, caller = _asked()
    asked = bodies.query(requests.MessagesQuery, event)
    found = page(settings.runtime(), caller=caller, task_id=task_id, after=asked.after, limit=asked.limit)
    return sent(answers.conversed(found.task, found.entries, following=found.next, more=found.more))


@app.get("/v1/tasks/<task_id>/agent-status")
def read_agent_status(task_id: str) -> Response[str]:
    """The envelope of the caller's task, as much of it as the caller may see."""
    event, caller = _asked()
    runtime = settings.runtime()
    seen = agent_status.for_person(
        runtime,
        caller=caller,
        task_id=task_id,
        develops=has_claim(event, settings.developer_claim()),
        is_known=status_answers.known(event),
    )
    return sent(status_answers.seen(seen, now=runtime.clock()))


@app.get("/v1/tasks/<task_id>/journal")
def read_journal(task_id: str) -> Response[str]:
    """A page of what happened to the caller's task, without a word of what was said, for developers."""
    event, caller = _asked()
    asked = bodies.query(requests.JournalQuery, event)
    found = journal.page(
        settings.runtime(),
        caller=caller,
        task_id=task_id,
        develops=has_claim(event, settings.developer_claim()),
        after=asked.after,
        limit=asked.limit,
    )
    return sent(answers.journalled(found.entries, following=found.next, more=found.more))


@app.post("/v1/tasks/<task_id>/inputs")
def accept_input(task_id: str) -> Response[str]:
    """One more input, whatever the task is doing."""
    event, caller = _asked()
    content, key = requests.input_content(event), bodies.idempotency_key(event)
    made = accept(settings.runtime(), caller=caller, task_id=task_id, content=content, key=key)
    return _accepted(202, made)


@app.post("/v1/tasks/<task_id>/files")
def send_file(task_id: str) -> Response[str]:
    """Where to send a file that an input may name."""
    event, caller = _asked()
    asked = files.upload(event, caller=caller)
    task = whole(settings.runtime(), caller=caller, task_id=task_id)
    return sent(files.awaited(upload(settings.runtime(), task, asked)))


@app.get("/v1/tasks/<task_id>/files")
def get_file(task_id: str) -> Response[str]:
    """Where to get a file that the conversation names."""
    event, caller = _asked()
    task = whole(settings.runtime(), caller=caller, task_id=task_id)
    wanted = files.wanted(event)
    return sent(files.found(download(settings.runtime(), task, file=wanted.ref, at=wanted.at)))


@app.get("/v1/reviews")
def my_reviews() -> Response[str]:
    """What waits for the caller's decision."""
    event, caller = _asked()
    asked = bodies.query(requests.PageQuery, event)
    return sent(people_answers.reviews(list_reviews(settings.runtime(), caller=caller, **dict(asked))))


@app.post("/v1/reviews/<review_id>")
def decide_review(review_id: str) -> Response[str]:
    """The caller's decision, once."""
    event, caller = _asked()
    word = waits.decision(event)
    decided = decide(
        settings.runtime(), caller=caller, review_id=review_id, verdict=word.said(), comment=word.comment
    )
    return sent(people_answers.reviewed(decided))


@app.get("/v1/notifications")
def my_notifications() -> Response[str]:
    """What waits for the caller, over all tasks."""
    event, caller = _asked()
    asked = bodies.query(requests.PageQuery, event)
    return sent(people_answers.called(list_calls(settings.runtime(), caller=caller, **dict(asked))))


@app.get("/v1/agents")
def list_agents() -> Response[str]:
    """The agents that the caller can start, by name."""
    event, _ = _asked()
    asked = bodies.query(requests.PageQuery, event)
    return sent(agent_answers.listed(catalogue.list_agents(settings.runtime(), **dict(asked))))


@app.get("/v1/agents/<name>")
def read_agent(name: str) -> Response[str]:
    """One agent, with what its inputs may carry."""
    event, _ = _asked()
    return sent(agent_answers.shown(catalogue.read(settings.runtime(), name), event))


@app.get("/v1/openapi.json")
def read_reference() -> Response[str]:
    """What the API takes and answers, to anybody."""
    return sent(reference.described(app.current_event.raw_event))


def _asked() -> tuple[Event, str]:
    event = app.current_event.raw_event
    return event, human(event, claim=settings.human_claim())


def _accepted(status: int, made: Accepted, location: str | None = None) -> Response[str]:
    task, look_after = made.task, poll_after(made.task, settings.runtime().clock())
    return sent(
        answers.accepted(status, task, look_after=look_after, received_at=made.received_at, location=location)
    )
