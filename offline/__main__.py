"""The command behind `make up`, `make token` and `make host-keys`."""

import argparse
import json
import shlex
import signal
import sys
from contextlib import ExitStack
from pathlib import Path

from rich.console import Console

from infra.stage import COGNITO_HUMAN_CLAIM
from offline import hosts
from offline.console import console, origin_at, origins_besides
from offline.deployment import Deployment, DeploymentFailed, NothingDeployed, declared, deploy
from offline.endpoint import HOST, REGION
from offline.engine import ROOT, Engine, EngineFailed, PortTaken, is_taken
from offline.hosts import HostNameRefused
from offline.issuer import HUMAN_CLAIM, Issuer, issuer
from offline.progress import Progress, Shown
from offline.users import make_user, token

PORT = 4510
LOWEST_PORT, HIGHEST_PORT = 1024, 65_534
"""The console takes the next one."""

PEOPLE = ("alice", "bob")
DEVELOPER = "alice"
"""Who is told what developers may know, unless cdk.json says who is."""

DEMO_HOST = "demo"
WELCOME = """\

[bold green]Turnkeeper runs[/] at [bold]{base_url}[/]  (routes begin with /v1)
[bold green]Look at it[/] at [bold]{console}[/]  (sign in with any name)

[bold]A token[/] of alice, bob or any other name:  make -s token NAME=alice{same}
[bold]An agent of your own[/], anywhere on this machine (docs/hosts.md):  eval "$(make -s host-keys NAME=demo{same})"

[bold]In another terminal[/], in this folder:

export BASE_URL={base_url}
export TOKEN=$(make -s token NAME=alice{same}){trust}

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


def up(engine: Engine) -> int:
    """Run Turnkeeper on *engine* until somebody stops it."""
    shown_on = Console(highlight=False)
    # Ctrl-C's own signal too: a shell that starts us in the background would have us ignore it.
    for asked in (signal.SIGINT, signal.SIGTERM):
        signal.signal(asked, signal.default_int_handler)
    with ExitStack() as beside:
        try:
            with shown_on.status("Starting") as status:
                deployment = begin(engine, beside, Shown(shown_on, status))
            shown_on.print(welcome(deployment, engine), soft_wrap=True)
            engine.wait()
        except KeyboardInterrupt:
            shown_on.print("Stopping.")
            return 0
        except (PortTaken, EngineFailed, DeploymentFailed) as failure:
            shown_on.print(str(failure), markup=False, style="red")
            return 1
        finally:
            # Asked twice, it still stops only once, and whole.
            for asked in (signal.SIGINT, signal.SIGTERM):
                signal.signal(asked, signal.SIG_IGN)
            engine.stop()
    shown_on.print(f"The engine stopped by itself; {engine.log} ends with why.", style="red")
    return 1


def begin(engine: Engine, beside: ExitStack, progress: Progress) -> Deployment:
    """Start *engine*, and what must run *beside* it; deploy, and have people and hosts."""
    port = engine.port + 1
    for wanted in (engine.port, port):
        if is_taken(wanted):
            raise PortTaken(wanted)
    progress.step(f"Starting the engine on {HOST}:{engine.port}")
    engine.start()
    trusted = beside.enter_context(issuer(engine.state_dir)) if engine.strict else None
    claim = HUMAN_CLAIM if trusted else COGNITO_HUMAN_CLAIM
    context = {
        "developer_claim": declared("developer_claim") or f"{claim}={DEVELOPER}",
        **origins_besides(origin_at(port)),
        **(trusted.settings if trusted else {}),
    }
    for name in (DEMO_HOST, hosts.STEWARD):
        hosts.make_host(engine.endpoint, name)
    known = hosts.hosts_of(engine.endpoint)
    deployment = deploy(engine, context={**context, **hosts.settings(known)}, progress=progress)
    progress.step("Making users: " + ", ".join((*PEOPLE, *(host.name for host in known))))
    for host in known:
        hosts.let_in(deployment, host)
    if not engine.strict:
        for name in PEOPLE:
            make_user(deployment, name)
    beside.enter_context(console(engine, deployment, port=port, issuer=trusted))
    progress.step("Ready")
    return deployment


def welcome(deployment: Deployment, engine: Engine) -> str:
    """Return what somebody needs to know to begin."""
    here = Path.cwd()
    certificate = deployment.endpoint.certificate
    return WELCOME.format(
        base_url=deployment.base_url,
        console=origin_at(engine.port + 1),
        same="".join((f" PORT={engine.port}" * (engine.port != PORT), " AUTH=1" * engine.strict)),
        trust=f"\nexport CURL_CA_BUNDLE={certificate} AWS_CA_BUNDLE={certificate}" if certificate else "",
        state_dir=shown(engine.state_dir, here),
        log=shown(engine.log, here),
    )


def shown(path: Path, here: Path) -> str:
    """Return *path* as somebody standing *here* would type it."""
    return str(path.relative_to(here)) if path.is_relative_to(here) else str(path)


def print_token(engine: Engine, name: str) -> int:
    """Print an access token of *name*, and nothing else, on stdout."""
    try:
        deployment = Deployment.running_at(engine.endpoint)
    except NothingDeployed as nothing:
        print(nothing, file=sys.stderr)
        return 1
    print(Issuer.kept_in(engine.state_dir).person(name) if engine.strict else token(deployment, name))
    return 0


def print_host_keys(engine: Engine, name: str) -> int:
    """Print what a shell evaluates to be the host *name*, who is made when there is none, and only that on stdout."""
    try:
        deployment = Deployment.running_at(engine.endpoint)
        host = hosts.make_host(engine.endpoint, name)
    except (NothingDeployed, HostNameRefused) as refused:
        print(refused, file=sys.stderr)
        return 1
    hosts.let_in(deployment, host)
    keys, queue = hosts.keys_of(engine.endpoint, host), hosts.queue_of(deployment, host)
    if queue is None and name != hosts.STEWARD:
        print(f"{name} has no queue yet: stop `make up` and start it again.", file=sys.stderr)
    certificate = engine.endpoint.certificate
    setting = "deployment_hosts" if name == hosts.STEWARD else "external_hosts"
    declared: object = [host.principal] if name == hosts.STEWARD else hosts.declaration([host])
    print(f'# In cdk.json: "{setting}": {json.dumps(declared)}')
    print("unset AWS_PROFILE AWS_SESSION_TOKEN")
    for variable, value in {
        "BASE_URL": deployment.base_url,
        "QUEUE_URL": queue,
        "AWS_ENDPOINT_URL": engine.endpoint_url,
        "AWS_REGION": REGION,
        "AWS_DEFAULT_REGION": REGION,
        "AWS_ACCESS_KEY_ID": keys.access_key_id,
        "AWS_SECRET_ACCESS_KEY": keys.secret_access_key,
        "AWS_CA_BUNDLE": certificate,
    }.items():
        if value is not None:
            print(f"export {variable}={shlex.quote(str(value))}")
    return 0


def port_number(text: str) -> int:
    """Return *text* as a port, or refuse it with what a port is."""
    if not text.isascii() or not text.isdigit() or not LOWEST_PORT <= int(text) <= HIGHEST_PORT:
        raise argparse.ArgumentTypeError(
            f"a port is a number from {LOWEST_PORT} to {HIGHEST_PORT}, not {text!r}"
        )
    return int(text)


def main() -> int:
    """Do what the arguments ask for; return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m offline", description=__doc__)
    parser.add_argument("--port", type=port_number, default=PORT)
    parser.add_argument("--state", type=Path, help="the folder that holds what is kept; one for each port")
    parser.add_argument(
        "--auth", action="store_true", help="over TLS, and whatever AWS would refuse is refused"
    )
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("up", help="run Turnkeeper on this machine until Ctrl-C")
    commands.add_parser("token", help="print an access token").add_argument("name")
    commands.add_parser("host-keys", help="print what makes a shell a host's").add_argument("name")
    arguments = parser.parse_args()
    # A port is part of the queues' addresses that the functions are told, as is TLS: each has a state of its own.
    kept = ROOT / ".turnkeeper" / (f"{arguments.port}-auth" if arguments.auth else str(arguments.port))
    engine = Engine(arguments.state or kept, port=arguments.port, keep=True, strict=arguments.auth)
    match arguments.command:
        case "up":
            return up(engine)
        case "token":
            return print_token(engine, arguments.name)
        case _:
            return print_host_keys(engine, arguments.name)


if __name__ == "__main__":
    sys.exit(main())
