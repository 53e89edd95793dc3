"""The command as a whole: its options, and its commands in rooms of their own."""

from pathlib import Path
from typing import Annotated

import typer

from turnkeeper_client.cli import checkout, host, people
from turnkeeper_client.cli.context import settings

app = typer.Typer(
    name="turnkeeper",
    help="The task API for AI agents, from a shell. Exit codes: 0 done, 10 goes on, 30 needs somebody, 40 refused, "
    "50 not now, 60 a fault, 61 nobody knows, 70 not verified, 2 not understood.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_show_locals=False,
)
for commands in (checkout.app, people.app):
    app.registered_commands += commands.registered_commands
app.add_typer(host.app, name="host")


@app.callback()
def begin(
    context: typer.Context,
    url: Annotated[
        str | None,
        typer.Option(
            envvar=["TURNKEEPER_URL", "BASE_URL"], help="Where the routes begin.", show_default=False
        ),
    ] = None,
    token: Annotated[
        str | None, typer.Option(envvar="TURNKEEPER_TOKEN", help="An access token.", show_default=False)
    ] = None,
    certificate: Annotated[
        Path | None,
        typer.Option(
            envvar=["TURNKEEPER_CERTIFICATE", "AWS_CA_BUNDLE"],
            exists=True,
            help="A certificate to trust.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Remember where the API is and who asks, for the command that follows."""
    found = settings(context)
    found.url, found.token, found.certificate = url, token, certificate
