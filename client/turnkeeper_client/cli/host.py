"""The commands of a host: its agents, and word on their tasks. They sign with the AWS keys of the shell."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from turnkeeper_client.cli import exits, screens
from turnkeeper_client.cli.context import Json, say, settings, stop, told
from turnkeeper_client.cli.people import TaskId
from turnkeeper_client.host_clients import Host
from turnkeeper_client.host_results import Driven

app = typer.Typer(
    help="What hosts of agents do, signed with the AWS keys of this shell.", no_args_is_help=True
)

Outcome = Annotated[int, typer.Option("--outcome", help="An agent status code.")]
Message = Annotated[
    str | None, typer.Option("--message", "-m", help="What the task's user is told.", show_default=False)
]

NAME_IN_YAML = re.compile(r"""^name:[ \t]+["']?([a-z0-9_-]+)["']?[ \t]*(?:#.*)?$""", re.MULTILINE)
"""A name is a plain word, so no YAML need be read for it; the server refuses one that is not the manifest's."""


@app.command()
@told
def register(
    context: typer.Context,
    manifest: Annotated[
        Path,
        typer.Argument(
            exists=True,
            dir_okay=False,
            help="A manifest, as JSON or YAML (*.yaml, *.yml).",
            show_default=False,
        ),
    ],
    name: Annotated[
        str | None,
        typer.Option(help="The agent's name, where the manifest does not say it.", show_default=False),
    ] = None,
    as_json: Json = False,
) -> None:
    """Register an agent, or a new version of it."""
    text = manifest.read_text(encoding="utf-8")
    is_yaml = manifest.suffix in {".yaml", ".yml"}
    document: Any = text
    if is_yaml:
        said = NAME_IN_YAML.search(text)
        name = name or (said and said[1])
    else:
        try:
            document = json.loads(text)
        except ValueError as wrong:
            stop(f"{manifest} is no JSON: {wrong}", exits.WRONG_USE)
        name = name or (document.get("name") if isinstance(document, dict) else None)
    if not name:
        stop("Whose manifest is it? Say --name.", exits.WRONG_USE)
    with settings(context).host() as host:
        agent = host.register(str(name), document)
        ignored = f"\nnot acted on: {', '.join(agent.not_acted_on)}" if agent.not_acted_on else ""
        say(
            context,
            agent.raw,
            f"{agent.name} is registered, version {agent.version}{ignored}",
            as_json=as_json,
        )


@app.command()
@told
def show(context: typer.Context, task: TaskId, as_json: Json = False) -> None:
    """Show a task of my agents, with its turn and what it waits for."""
    _driven(context, lambda host: host.task(task), as_json=as_json)


@app.command()
@told
def complete(
    context: typer.Context,
    task: TaskId,
    outcome: Outcome = 2000,
    message: Message = None,
    discard: Annotated[bool, typer.Option("--discard-pending", help="Though inputs wait.")] = False,
    as_json: Json = False,
) -> None:
    """End a task well."""
    said = _message(message)
    _driven(
        context, lambda host: host.complete(task, outcome, discard_pending=discard, **said), as_json=as_json
    )


@app.command()
@told
def error(
    context: typer.Context,
    task: TaskId,
    outcome: Outcome = 6000,
    message: Message = None,
    as_json: Json = False,
) -> None:
    """End a task for an error."""
    _driven(context, lambda host: host.error(task, outcome, **_message(message)), as_json=as_json)


@app.command()
@told
def restrict(context: typer.Context, task: TaskId, message: Message = None, as_json: Json = False) -> None:
    """Lock a task."""
    _driven(context, lambda host: host.restrict(task, **_message(message)), as_json=as_json)


@app.command()
@told
def interrupt(context: typer.Context, task: TaskId, as_json: Json = False) -> None:
    """End a task's turn, and all that it waits for, without output."""
    _driven(context, lambda host: host.interrupt(task), as_json=as_json)


@app.command()
@told
def reconcile(
    context: typer.Context,
    task: TaskId,
    answer: Annotated[str, typer.Argument(help="repeat, done or failed.", show_default=False)],
    says: Annotated[
        str | None, typer.Option("--says", help="What there is to tell, if it is done.", show_default=False)
    ] = None,
    outcome: Annotated[
        int | None, typer.Option(help="The agent status code, if it failed.", show_default=False)
    ] = None,
    as_json: Json = False,
) -> None:
    """Say what became of a turn that was lost."""
    _driven(context, lambda host: host.reconcile(task, answer, says=says, outcome=outcome), as_json=as_json)


@app.command()
@told
def grant(
    context: typer.Context,
    user: Annotated[str, typer.Argument(help="A task's responsible_user.", show_default=False)],
    provider: Annotated[str, typer.Argument(help="What was authorised.", show_default=False)],
    as_json: Json = False,
) -> None:
    """Record that a person has authorised a provider."""
    with settings(context).host() as host:
        granted = host.grant(user, provider)
        tasks = "1 task" if granted.tasks == 1 else f"{granted.tasks} tasks"
        say(context, granted.raw, f"recorded; {tasks} waited for it", as_json=as_json)


def _driven(context: typer.Context, ask: Callable[[Host], Driven], *, as_json: bool) -> None:
    with settings(context).host() as host:
        found = ask(host)
        say(context, found.raw, screens.driven(found), as_json=as_json)


def _message(words: str | None) -> dict[str, Any]:
    return {} if words is None else {"message": {"user": words}}
