"""The command behind `make up` and `make token`."""

import argparse
import signal
import sys
from pathlib import Path

from rich.console import Console

from offline.deployment import Deployment, DeploymentFailed, NothingDeployed, deploy
from offline.endpoint import HOST, Endpoint
from offline.engine import ROOT, Engine, EngineFailed, PortTaken
from offline.progress import Shown
from offline.users import make_user, token

PORT = 4510
PEOPLE = ("alice", "bob")
WELCOME = """\

[bold green]Turnkeeper runs[/] at [bold]{base_url}[/]  (routes begin with /v1)

[bold]A token[/] of alice, bob or any other name:  make -s token NAME=alice{port}

[bold]In another terminal[/], in this folder:

export BASE_URL={base_url}
export TOKEN=$(make -s token NAME=alice{port})

[dim]# Create a task with a first input, and remember its id.[/]
TASK=$(curl -s $BASE_URL/v1/tasks -H "Authorization: Bearer $TOKEN" -H 'Content-Type: application/json' \
-d '{{"agent":"echo","input":{{"message":[{{"mimeType":"text/plain","text":"hello"}}]}}}}' \
| tee /dev/stderr | sed 's/.*"id": *"\\([^"]*\\)".*/\\1/')

[dim]# Poll it.[/]
curl -si $BASE_URL/v1/tasks/$TASK -H "Authorization: Bearer $TOKEN"

[dim]# Read its messages.[/]
curl -s $BASE_URL/v1/tasks/$TASK/messages -H "Authorization: Bearer $TOKEN"

Ctrl-C stops it. Tasks and people are kept in {state_dir}; the engine's log is {log}.
"""


def up(port: int, state: Path) -> int:
    """Run Turnkeeper on *port* of loopback, with what it keeps in *state*, until somebody stops it."""
    console = Console(highlight=False)
    # Ctrl-C's own signal too: a shell that starts us in the background would have us ignore it.
    for asked in (signal.SIGINT, signal.SIGTERM):
        signal.signal(asked, signal.default_int_handler)
    engine = Engine(state, port=port, keep=True)
    try:
        with console.status("Starting") as status:
            progress = Shown(console, status)
            progress.step(f"Starting the engine on {HOST}:{port}")
            engine.start()
            deployment = deploy(engine, progress=progress)
            progress.step("Making users: " + ", ".join(PEOPLE))
            for name in PEOPLE:
                make_user(deployment, name)
            progress.step("Ready")
        console.print(welcome(deployment, engine), soft_wrap=True)
        engine.wait()
    except KeyboardInterrupt:
        console.print("Stopping.")
        return 0
    except (PortTaken, EngineFailed, DeploymentFailed) as failure:
        console.print(str(failure), markup=False, style="red")
        return 1
    finally:
        # Asked twice, it still stops only once, and whole.
        for asked in (signal.SIGINT, signal.SIGTERM):
            signal.signal(asked, signal.SIG_IGN)
        engine.stop()
    console.print(f"The engine stopped by itself; {engine.log} ends with why.", style="red")
    return 1


def welcome(deployment: Deployment, engine: Engine) -> str:
    """Return what somebody needs to know to begin."""
    here = Path.cwd()
    return WELCOME.format(
        base_url=deployment.base_url,
        port="" if engine.port == PORT else f" PORT={engine.port}",
        state_dir=shown(engine.state_dir, here),
        log=shown(engine.log, here),
    )


def shown(path: Path, here: Path) -> str:
    """Return *path* as somebody standing *here* would type it."""
    return str(path.relative_to(here)) if path.is_relative_to(here) else str(path)


def print_token(port: int, name: str) -> int:
    """Print an access token of *name*, and nothing else, on stdout."""
    try:
        print(token(Deployment.running_at(Endpoint(f"http://{HOST}:{port}")), name))
    except NothingDeployed as nothing:
        print(nothing, file=sys.stderr)
        return 1
    return 0


def main() -> int:
    """Do what the arguments ask for; return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m offline", description=__doc__)
    parser.add_argument("--port", type=int, default=PORT)
    parser.add_argument("--state", type=Path, help="the folder that holds what is kept; one for each port")
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("up", help="run Turnkeeper on this machine until Ctrl-C")
    commands.add_parser("token", help="print an access token").add_argument("name")
    arguments = parser.parse_args()
    if arguments.command == "up":
        # A port is part of the queues' addresses that the functions are told: each has a state of its own.
        return up(arguments.port, arguments.state or ROOT / ".turnkeeper" / str(arguments.port))
    return print_token(arguments.port, arguments.name)


if __name__ == "__main__":
    sys.exit(main())
