"""The commands that need Turnkeeper's own folder: to run it on this machine, and to look after a deployment."""

import json
import subprocess
from pathlib import Path
from typing import Annotated

import typer

from turnkeeper_client.cli import exits
from turnkeeper_client.cli.context import Json, stop

app = typer.Typer()

LOWEST_PORT, HIGHEST_PORT = 1024, 65_534
HERE = Path(__file__).resolve().parents[3]
Port = Annotated[int, typer.Option(min=LOWEST_PORT, max=HIGHEST_PORT, envvar="PORT", help="Where it runs.")]
Auth = Annotated[bool, typer.Option("--auth", help="With signatures and roles enforced, over TLS.")]


def checkout() -> Path:
    """Turnkeeper's folder: the one that this stands in, or else the one that this command came from."""
    folders = (Path.cwd(), *Path.cwd().parents, HERE)
    found = [
        one for one in folders if (one / "offline" / "__main__.py").is_file() and (one / "Makefile").is_file()
    ]
    if not found:
        stop("This needs Turnkeeper's own folder: clone it, and say it again from there.", exits.WRONG_USE)
    return found[0]


@app.command()
def up(port: Port = 4510, auth: Auth = False) -> None:
    """Run the whole stack on this machine, until Ctrl-C (make up)."""
    raise typer.Exit(_make("up", port=port, auth=auth).returncode)


@app.command()
def token(
    name: Annotated[str, typer.Argument(help="Whose.", show_default=False)],
    port: Port = 4510,
    auth: Auth = False,
    as_json: Json = False,
) -> None:
    """Print an access token of a user of `turnkeeper up` (make token)."""
    made = _make("token", f"NAME={name}", port=port, auth=auth, capture=True)
    if made.returncode == 0:
        found = made.stdout.strip()
        typer.echo(json.dumps({"token": found}) if as_json else found)
    raise typer.Exit(exits.NOT_NOW if made.returncode else exits.SUCCESS)


@app.command()
def verify(
    tasks: Annotated[list[str], typer.Argument(metavar="TASK…", help="Ids of tasks.", show_default=False)],
    table: Annotated[str, typer.Option(help="The stack's output TableName.", show_default=False)],
    endpoint_url: Annotated[
        str | None, typer.Option(help="Where DynamoDB is, if not at AWS.", show_default=False)
    ] = None,
    as_json: Json = False,
) -> None:
    """Say whether tasks are still what their journals say, with the AWS keys of this shell."""
    done = _script("verify", "--table", table, *_at(endpoint_url), *tasks)
    _tell(done, "verified", as_json=as_json)
    raise typer.Exit(_ended(done, exits.UNVERIFIED))


@app.command()
def redrive(
    queue: Annotated[
        str, typer.Option(help="The stack's output QueueUrl, or a host's HostQueue…Url.", show_default=False)
    ],
    endpoint_url: Annotated[
        str | None, typer.Option(help="Where SQS is, if not at AWS.", show_default=False)
    ] = None,
    as_json: Json = False,
) -> None:
    """Bring dead letters back to the queue they came from, with the AWS keys of this shell."""
    done = _script("redrive", "--queue", queue, *_at(endpoint_url))
    _tell(done, "brought_back", as_json=as_json)
    raise typer.Exit(_ended(done, exits.NOT_NOW))


def _ended(done: subprocess.CompletedProcess[str], badly: int) -> int:
    """How a script ended: well, *badly*, or without knowing where or who (2, the scripts' own code for that)."""
    return {0: exits.SUCCESS, exits.WRONG_USE: exits.WRONG_USE}.get(done.returncode, badly)


def _at(endpoint_url: str | None) -> list[str]:
    return [] if endpoint_url is None else ["--endpoint-url", endpoint_url]


def _script(name: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    root = checkout()
    python = str(root / ".venv" / "bin" / "python")
    return subprocess.run(
        [python, "-m", f"scripts.{name}", *arguments],
        cwd=root,
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )


def _tell(done: subprocess.CompletedProcess[str], what: str, *, as_json: bool) -> None:
    if as_json:
        typer.echo(json.dumps({what: done.returncode == 0, "said": done.stdout.splitlines()}))
    else:
        typer.echo(done.stdout, nl=False)


def _make(
    target: str, *settings: str, port: int, auth: bool, capture: bool = False
) -> subprocess.CompletedProcess[str]:
    command = ["make", "-s", "--no-print-directory", "-C", str(checkout()), target, f"PORT={port}", *settings]
    if auth:
        command.append("AUTH=1")
    try:
        return subprocess.run(command, stdout=subprocess.PIPE if capture else None, text=True, check=False)
    except KeyboardInterrupt:
        return subprocess.CompletedProcess(command, 130, "")
