"""The commands of a person: tasks, conversations, and what waits for a decision."""

import json
import mimetypes
from collections.abc import Iterable
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.live import Live

from turnkeeper_client.cli import exits, screens
from turnkeeper_client.cli.context import Json, read_stdin, say, settings, stop, told
from turnkeeper_client.cli.terminal import in_a_line
from turnkeeper_client.results import Agent, Call, Entry, JournalEntry, Review, Said, Sent, Task

app = typer.Typer()

TaskId = Annotated[str, typer.Argument(metavar="TASK", help="The id of a task.", show_default=False)]
ReviewId = Annotated[
    str, typer.Argument(metavar="REVIEW", help="Its id, from the inbox.", show_default=False)
]
Words = Annotated[
    str | None,
    typer.Argument(metavar="[TEXT]", help="What to say; - reads it from stdin.", show_default=False),
]
Parameters = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="NAME=VALUE", help="A parameter of the agent: JSON, or else a text."),
]
Key = Annotated[str | None, typer.Option("--key", help="An Idempotency-Key of your own.", show_default=False)]
Wait = Annotated[bool, typer.Option("--wait", help="Wait until the agent is done, and show what it says.")]
Comment = Annotated[
    str | None, typer.Option("--comment", "-c", help="Kept with the decision.", show_default=False)
]
Limit = Annotated[int, typer.Option("--limit", min=1, max=1000, help="How many at most.")]


@app.command()
@told
def new(
    context: typer.Context,
    agent: Annotated[str, typer.Argument(help="The agent's name.", show_default=False)],
    text: Words = None,
    parameters: Parameters = None,
    key: Key = None,
    wait: Wait = False,
    as_json: Json = False,
) -> None:
    """Create a task, with a first input if you say something."""
    with settings(context).person() as client:
        sent = client.create(agent, _said(text), parameters=_parameters(parameters), key=key)
        _follow_up(context, client, sent, wait=wait, as_json=as_json, after=None)


@app.command()
@told
def send(
    context: typer.Context,
    task: TaskId,
    text: Words = None,
    files: Annotated[
        list[Path] | None,
        typer.Option(
            "--file", "-f", exists=True, dir_okay=False, help="A file to send along.", show_default=False
        ),
    ] = None,
    parameters: Parameters = None,
    key: Key = None,
    wait: Wait = False,
    as_json: Json = False,
) -> None:
    """Say more to a task, at any time before it has ended."""
    words = _said(text)
    if words is None and not files:
        stop("What do you want to say? Give a TEXT, - for stdin, or a --file.", exits.WRONG_USE)
    with settings(context).person() as client:
        after = _end_of(client, task) if wait else None
        parts: list[Any] = [] if words is None else [words]
        for file in files or ():
            kind = mimetypes.guess_type(file.name)[0] or "application/octet-stream"
            parts.append(client.upload(task, file, mime_type=kind))
        sent = client.say(task, parts, parameters=_parameters(parameters), key=key)
        _follow_up(context, client, sent, wait=wait, as_json=as_json, after=after)


@app.command()
@told
def watch(
    context: typer.Context,
    task: TaskId,
    until_settled: Annotated[
        bool, typer.Option("--until-settled", help="Stop when it awaits somebody, too, not only at its end.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Look on while a task works: its phase, what it waits for, and the conversation. Ends as the task does."""
    console = settings(context).console
    with settings(context).person() as client:
        shown: dict[Any, Entry] = {}
        last: Task | None = None
        live = Live(console=console, auto_refresh=console.is_terminal, transient=False)
        with live if console.is_terminal and not as_json else nullcontext():
            for update in client.follow(task):
                if as_json:
                    said = {"task": update.task.raw, "messages": [entry.raw for entry in update.entries]}
                    typer.echo(in_a_line(said))
                elif console.is_terminal:
                    shown.update({entry.received_at or entry.committed_at: entry for entry in update.entries})
                    live.update(screens.view(update.task, shown.values()), refresh=True)
                else:
                    _print_change(context, last, update.task, update.entries)
                last = update.task
                if until_settled and update.task.is_settled:
                    break
        raise typer.Exit(exits.of_code(client.agent_status(task).code) if last and last.is_terminal else 0)


@app.command()
@told
def read(context: typer.Context, task: TaskId, as_json: Json = False) -> None:
    """Show the conversation of a task."""
    with settings(context).person() as client:
        after = None
        while True:
            page = client.messages(task, after=after)
            for entry in page.messages:
                say(context, entry.raw, screens.line(entry), as_json=as_json)
            after = page.next
            if not page.more:
                return


@app.command()
@told
def status(context: typer.Context, task: TaskId, as_json: Json = False) -> None:
    """Say where a task stands, by its agent status code; the exit code says it, too."""
    with settings(context).person() as client:
        found = client.agent_status(task)
        say(context, found.raw, screens.status(found), as_json=as_json)
        raise typer.Exit(exits.of_code(found.code, terminal=found.terminal))


@app.command()
@told
def journal(context: typer.Context, task: TaskId, as_json: Json = False) -> None:
    """Show what happened to a task of mine, step by step, without what was said; for developers."""
    with settings(context).person() as client:
        found: list[JournalEntry] = []
        after = None
        while True:
            page = client.journal(task, after=after, limit=1000)
            found += page.entries
            after = page.next
            if not page.more:
                break
        say(context, {"entries": [entry.raw for entry in found]}, screens.journal(found), as_json=as_json)


@app.command("list")
@told
def list_tasks(
    context: typer.Context,
    phase: Annotated[
        str | None, typer.Option(help="Only those: idle, processing, terminal.", show_default=False)
    ] = None,
    agent: Annotated[str | None, typer.Option(help="Only this agent's.", show_default=False)] = None,
    limit: Limit = 20,
    as_json: Json = False,
) -> None:
    """List my tasks, the newest first."""
    with settings(context).person() as client:
        found: list[Task] = []
        cursor = None
        while len(found) < limit:
            page = client.tasks(phase=phase, agent=agent, limit=min(100, limit), cursor=cursor)
            found += page.tasks
            cursor = page.next
            if cursor is None:
                break
        found = found[:limit]
        say(context, {"tasks": [task.raw for task in found]}, screens.tasks(found), as_json=as_json)


@app.command()
@told
def agents(
    context: typer.Context,
    name: Annotated[
        str | None, typer.Argument(help="One of them, with all it takes to start it.", show_default=False)
    ] = None,
    as_json: Json = False,
) -> None:
    """List the agents that I can start, or say what one of them takes."""
    with settings(context).person() as client:
        if name is not None:
            one = client.agent(name)
            say(context, one.raw, screens.agent(one), as_json=as_json)
            return
        found: list[Agent] = []
        more: str | None = ""
        while more is not None:
            page = client.agents(limit=100, cursor=more or None)
            found += page.agents
            more = page.next
        say(context, {"agents": [one.raw for one in found]}, screens.agents(found), as_json=as_json)


@app.command()
@told
def inbox(context: typer.Context, as_json: Json = False) -> None:
    """Show what waits for me: sign-ins and decisions."""
    with settings(context).person() as client:
        calls: list[Call] = []
        reviews: list[Review] = []
        more: str | None = ""
        while more is not None:
            waiting = client.notifications(limit=100, cursor=more or None)
            calls += waiting.notifications
            more = waiting.next
        more = ""
        while more is not None:
            page = client.reviews(limit=100, cursor=more or None)
            reviews += page.reviews
            more = page.next
        answer = {"notifications": [one.raw for one in calls], "reviews": [one.raw for one in reviews]}
        say(context, answer, screens.inbox(calls, reviews), as_json=as_json)


@app.command()
@told
def approve(context: typer.Context, review: ReviewId, comment: Comment = None, as_json: Json = False) -> None:
    """Approve what waits for my decision."""
    _decide(context, review, "approve", comment, as_json=as_json)


@app.command()
@told
def deny(context: typer.Context, review: ReviewId, comment: Comment = None, as_json: Json = False) -> None:
    """Deny what waits for my decision."""
    _decide(context, review, "deny", comment, as_json=as_json)


def _decide(
    context: typer.Context, review: str, decision: str, comment: str | None, *, as_json: bool
) -> None:
    with settings(context).person() as client:
        decided = client.decide(review, decision, comment=comment)
        say(context, decided.raw, screens.decided(decided), as_json=as_json)


def _follow_up(
    context: typer.Context, client: Any, sent: Sent, *, wait: bool, as_json: bool, after: str | None
) -> None:
    if not wait:
        say(context, sent.task.raw, screens.summary(sent.task), as_json=as_json)
        return
    with settings(context).console.status("The agent is busy") if not as_json else nullcontext():
        update = client.settled(sent.task.id, after=after)
    answer = {"task": update.task.raw, "messages": [entry.raw for entry in update.entries]}
    say(context, answer, screens.view(update.task, update.entries), as_json=as_json)


def _end_of(client: Any, task: str) -> str | None:
    """The cursor after all that was said so far."""
    after = None
    while True:
        page = client.messages(task, after=after, limit=1000)
        after = page.next
        if not page.more:
            return str(after)


def _print_change(context: typer.Context, last: Task | None, task: Task, entries: Iterable[Entry]) -> None:
    console = settings(context).console
    for entry in entries:
        if entry.committed_at is not None:
            console.print(screens.line(entry))
    if last is None or _standing(last) != _standing(task):
        console.print(screens.summary(task))


def _standing(task: Task) -> tuple[object, ...]:
    return task.status.phase, task.status.terminal_reason, task.status.notifications


def _said(text: str | None) -> Said | None:
    return read_stdin() if text == "-" else text


def _parameters(given: list[str] | None) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for one in given or ():
        name, is_set, value = one.partition("=")
        if not is_set or not name:
            stop(f"--set wants NAME=VALUE, not {one!r}", exits.WRONG_USE)
        try:
            found[name] = json.loads(value)
        except ValueError:
            found[name] = value
    return found
