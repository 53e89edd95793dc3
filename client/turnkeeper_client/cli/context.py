"""What every command has: where the API is, who asks, and how answers and failures are told."""

import functools
import ssl
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, NoReturn

import httpx
import typer

from turnkeeper_client.cli import exits, screens
from turnkeeper_client.cli.terminal import Terminal, in_a_line
from turnkeeper_client.clients import Client
from turnkeeper_client.errors import Refused, TurnkeeperError
from turnkeeper_client.host_clients import Host
from turnkeeper_client.retrying import PATIENCE, Patience

Json = Annotated[bool, typer.Option("--json", help="Say it as JSON, one line for each answer.")]


@dataclass
class Settings:
    """Where the API is and who asks; tests bring a transport and a patience of their own."""

    url: str | None = None
    token: str | None = None
    certificate: Path | None = None
    transport: Any = None
    patience: Patience = PATIENCE
    auth: httpx.Auth | None = None
    console: Terminal = field(default_factory=Terminal)
    pause: Callable[[float], Any] | None = None

    def person(self) -> Client:
        """A client for whoever the token names."""
        if not self.token:
            stop(
                "Who are you? Set TURNKEEPER_TOKEN, or say --token (turnkeeper token NAME, offline).",
                exits.WRONG_USE,
            )
        made = Client(
            self._url(), self.token, verify=self._trust(), transport=self.transport, patience=self.patience
        )
        return self._paced(made)

    def host(self) -> Host:
        """A client that signs with the keys of this shell."""
        import boto3  # noqa: PLC0415 - the same

        from turnkeeper_client.signing import Signature  # noqa: PLC0415 - people need no botocore

        auth = self.auth or Signature(boto3.Session())
        made = Host(self._url(), auth, verify=self._trust(), transport=self.transport, patience=self.patience)
        return self._paced(made)

    def _paced[C: (Client, Host)](self, made: C) -> C:
        if self.pause is not None:
            made.connection.sleep = self.pause
        return made

    def _url(self) -> str:
        if not self.url or not self.url.startswith(("http://", "https://")):
            stop(
                "Where is Turnkeeper? Set TURNKEEPER_URL, or say --url: where the routes begin, without /v1, "
                "as `make up` and the stack's output BaseUrl say it.",
                exits.WRONG_USE,
            )
        return self.url

    def _trust(self) -> ssl.SSLContext | bool:
        return ssl.create_default_context(cafile=self.certificate) if self.certificate else True


def settings(context: typer.Context) -> Settings:
    """What this command was started with."""
    found: Settings = context.ensure_object(Settings)
    return found


def stop(words: str, code: int) -> NoReturn:
    """End the command with *words* on stderr."""
    typer.echo(words, err=True)
    raise typer.Exit(code)


def say(context: typer.Context, answer: Mapping[str, Any], shown: Any, *, as_json: bool) -> None:
    """Tell an *answer*: as it came, in one line, or as it is *shown* to people."""
    if as_json:
        typer.echo(in_a_line(answer))
    else:
        settings(context).console.print(shown)


def told[**P](command: Callable[P, None]) -> Callable[P, None]:
    """*command*, whose failures are words on stderr (with --json the problem, on stdout) and an exit code."""

    @functools.wraps(command)
    def method(*args: P.args, **kwargs: P.kwargs) -> None:
        try:
            command(*args, **kwargs)
        except TurnkeeperError as error:
            if kwargs.get("as_json"):
                typer.echo(in_a_line(problem(error)))
            else:
                Terminal(stderr=True).print(screens.failure(error))
            raise typer.Exit(exits.of_error(error)) from None
        except KeyboardInterrupt:
            raise typer.Exit(130) from None

    return method


def problem(error: TurnkeeperError) -> dict[str, Any]:
    """*error* as JSON: the server's own words where there are any."""
    if isinstance(error, Refused) and error.problem.raw:
        return {"status": error.status, **error.problem.raw}
    return {"title": type(error).__name__, "detail": str(error)}


def read_stdin() -> str:
    """All that is piped in."""
    return sys.stdin.read()
