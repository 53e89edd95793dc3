"""The command against the real functions: what it does, what it shows, and what its exit code says."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any

import httpx
import pytest
from typer.testing import CliRunner

from tests.support.clients import EXPIRED, NO_CHANCE, Stamp, Wire
from tests.support.hosting import AGENT, Host, manifest
from tests.support.laboratory import Laboratory
from turnkeeper_client.cli.app import app
from turnkeeper_client.cli.context import Settings
from turnkeeper_client.cli.terminal import Terminal

BASE = {"TURNKEEPER_URL": "https://api.example", "TURNKEEPER_TOKEN": "alice-sub"}


@dataclass
class Shell:
    """A shell in which the command is run, with the gateway in this process."""

    wire: Wire
    pause: Callable[[float], Any] = lambda _: None
    width: int = 200

    def __call__(self, *arguments: str, says: str | None = None, **environment: str) -> Any:
        known = Settings(
            transport=httpx.MockTransport(self.wire),
            patience=NO_CHANCE,
            auth=Stamp("acme"),
            pause=self.pause,
            console=Terminal(width=self.width),
        )
        result: Any = CliRunner().invoke(app, arguments, obj=known, input=says, env={**BASE, **environment})
        assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
        return result

    def json(self, *arguments: str) -> Any:
        """What the command says as JSON, which must succeed."""
        result = self(*arguments, "--json")
        assert result.exit_code == 0, result.output
        return json.loads(result.stdout)


@pytest.fixture
def shell(wire: Wire) -> Shell:
    return Shell(wire)


def test_a_task_is_created_told_more_and_read(shell: Shell, live_lab: Laboratory) -> None:
    task_id = shell.json("new", "echo", "Hello!")["id"]
    live_lab.work()
    assert shell("send", task_id, "-", says="and more").exit_code == 0

    shown = shell("read", task_id)

    assert shown.stdout.splitlines() == ["   you  Hello!", " agent  Hello!", "   you  and more"]
    (listed,) = shell.json("list")["tasks"]
    assert (listed["id"], listed["status"]["phase"]) == (task_id, "processing")
    assert task_id in shell("list").stdout


def test_new_can_wait_for_the_answer(shell: Shell, live_lab: Laboratory) -> None:
    shell.pause = lambda _: live_lab.work()

    shown = shell("new", "echo", "Hello!", "--wait")
    task_id = shell.json("list")["tasks"][0]["id"]
    again = shell("send", task_id, "More!", "--wait")

    assert " agent  Hello!" in shown.stdout
    assert "idle" in shown.stdout
    assert " agent  More!" in again.stdout
    assert "Hello!" not in again.stdout


def test_a_file_is_sent_along(shell: Shell, tmp_path: Path) -> None:
    task_id = shell.json("new", "echo")["id"]
    (tmp_path / "a.csv").write_text("a,b")
    assert shell.wire.lab.s3

    assert shell("send", task_id, "See:", "--file", str(tmp_path / "a.csv")).exit_code == 0

    assert "[text/csv: task://" in shell("read", task_id).stdout


def test_agents_are_a_table_and_one_of_them_says_what_it_takes(shell: Shell, host: Host) -> None:
    desk = {
        **manifest("desk", lifespan="90m", limits={"max_turns": 5000, "max_age": "36h"}),
        "description": "Books [trains].",
        "parameters": {
            "type": "object",
            "properties": {
                "to": {"type": "string", "title": "Where to", "maxLength": 40},
                "class": {"enum": [1, 2], "default": 2},
                "note": {"type": "string", "default": ""},
                "message": {"default": [{"mimeType": "text/plain", "text": "Book it."}]},
            },
        },
        "exposes": {"town": "context.input[0].to"},
        "mount": [],
    }
    assert host.send("PUT", "agents/desk", desk).status == 200

    listed, one, unknown = shell("agents"), shell("agents", "desk"), shell("agents", "nobody")

    assert [" ".join(line.split()) for line in listed.stdout.splitlines()][:3] == [
        "agent what it does",
        "concierge Asks for a sign-in and an approval, passes the request on to echo, and answers.",
        "desk Books [trains].",
    ]
    assert [" ".join(line.split()) for line in one.stdout.splitlines()] == [
        "desk",
        "Books [trains].",
        "",
        "--set type what",
        "class 1 | 2 else 2",
        'note string else ""',
        "to string (length ≤ 40) required Where to",
        "",
        "says by itself Book it.",
        "answers with town",
        "ends 90 m after the last activity",
        "at most in all 36 h",
        "at most turns 5,000",
    ]
    assert (unknown.exit_code, unknown.stdout) == (40, "")
    assert shell.json("agents")["agents"][1] == {"name": "desk", "description": "Books [trains]."}
    assert shell.json("agents", "desk")["limits"] == {"max_age_seconds": 129600, "turns": 5000}


def test_watching_shows_each_change_and_ends_with_the_task(shell: Shell, host: Host) -> None:
    task_id = host.task("hi")
    steps: list[Callable[[], Any]] = [
        lambda: host.say(task_id, host.start(task_id)["fence"], 1, "One moment …"),
        lambda: host.finish(task_id, host.read(task_id)["turn"]["fence"], "Done."),
        lambda: host.ask(task_id, "complete", {}),
    ]
    shell.pause = lambda _: steps.pop(0)()

    watched = shell("watch", task_id)

    lines = watched.stdout.splitlines()
    assert [line for line in lines if line[:8] in {"   you  ", " agent  "}] == [
        "   you  hi",
        " agent  One moment …",
        " agent  Done.",
    ]
    assert [line.split("  ")[2] for line in lines if line.startswith(task_id)] == [
        "processing",
        "idle",
        "terminal (completed)",
    ]
    assert watched.exit_code == 0
    as_json = [json.loads(line) for line in shell("watch", task_id, "--json").stdout.splitlines()]
    assert [len(one["messages"]) for one in as_json] == [3]


def test_watching_a_terminal_redraws_one_view(shell: Shell, live_lab: Laboratory, wire: Wire) -> None:
    task_id = shell.json("new", "echo", "Hello!")["id"]
    shell.pause = lambda _: live_lab.work()
    screen = StringIO()
    known = Settings(
        transport=httpx.MockTransport(wire),
        patience=NO_CHANCE,
        pause=shell.pause,
        console=Terminal(file=screen, force_terminal=True, width=100, color_system=None),
    )

    result = CliRunner().invoke(app, ["watch", task_id, "--until-settled"], obj=known, env=BASE)

    assert result.exit_code == 0
    assert "Hello!" in screen.getvalue()
    assert "processing" in screen.getvalue()
    assert screen.getvalue().count("idle") >= 1


ORDERS = "\x1b]0;owned\x07\x1b[2J\x9b31m\r\x7f"
"""What names a window, wipes a screen and colours what follows."""


def test_what_others_wrote_gives_the_terminal_no_orders(shell: Shell, host: Host, wire: Wire) -> None:
    task_id, fence = host.running()
    host.say(task_id, fence, 1, f"Hello{ORDERS}!")
    wait = {"id": "r", "kind": "review", "reviewer": "alice-sub", "subject": f"Send{ORDERS} it?"}
    assert host.ask(task_id, "wait", {"fence": fence, "waits": [wait]}).status == 200
    painter = manifest("painter") | {"description": f"Paints{ORDERS}."}
    assert host.send("PUT", "agents/painter", painter).status == 200
    screen = StringIO()
    real = Terminal(file=screen, force_terminal=True, width=100, color_system=None)
    known = Settings(transport=httpx.MockTransport(wire), patience=NO_CHANCE, console=real)

    asked = (["read", task_id], ["inbox"], ["agents"], ["agents", "painter"], ["status", task_id])
    shown = {" ".join(words): shell(*words).stdout for words in asked}
    lines = {" ".join(words): shell(*words, "--json").stdout for words in asked}
    watched = CliRunner().invoke(app, ["watch", task_id, "--until-settled"], obj=known, env=BASE)

    assert watched.exit_code == 0
    assert "Hello]0;owned[2J31m!" in shown[f"read {task_id}"]
    assert "Hello]0;owned[2J31m!" in screen.getvalue()
    assert "Send]0;owned[2J31m it?" in shown["inbox"]
    assert all("Paints]0;owned[2J31m." in shown[words] for words in ("agents", "agents painter"))
    for said in (*shown.values(), *lines.values()):
        assert not {*"\x1b\x07\x9b\r\x7f"} & {*said}
    assert "\x1b]" not in screen.getvalue()
    (entry,) = [json.loads(one) for one in lines[f"read {task_id}"].splitlines() if "Hello" in one]
    # As JSON it is all there, for whoever reads it by a program.
    assert entry["message"][0]["text"] == f"Hello{ORDERS}!"


def test_a_narrow_terminal_shows_ids_whole(shell: Shell, host: Host) -> None:
    shell.width = 60
    task_id, fence = host.running()
    wait = {"id": "r", "kind": "review", "reviewer": "alice-sub", "subject": "May I send it to all of them?"}
    host.ask(task_id, "wait", {"fence": fence, "waits": [wait]})
    (review,) = shell.json("inbox")["reviews"]

    listed, waiting = shell("list").stdout, shell("inbox").stdout

    assert task_id in listed.split()
    assert {task_id, review["id"]} <= set(waiting.split())


@pytest.mark.parametrize("decision", ["approve", "deny"])
def test_a_review_is_in_the_inbox_until_it_is_decided(shell: Shell, host: Host, decision: str) -> None:
    assert shell("inbox").stdout == "Nothing waits for you.\n"
    task_id, fence = host.running()
    wait = {"id": "r", "kind": "review", "reviewer": "alice-sub", "subject": "Send [it]?"}
    host.ask(task_id, "wait", {"fence": fence, "waits": [wait]})

    (review,) = shell.json("inbox")["reviews"]
    shown = shell("inbox").stdout
    decided = shell(decision, review["id"], "--comment", "As you wish")

    assert review["id"] in shown
    assert "Send [it]?" in shown
    assert task_id in shown
    assert decided.stdout.splitlines()[-1].endswith(": As you wish")
    assert shell.json("inbox")["reviews"] == []
    again = shell("deny" if decision == "approve" else "approve", review["id"])
    assert (again.exit_code, again.stdout) == (40, "")
    assert "ASC-4001" in again.stderr


def test_the_exit_code_says_where_a_task_stands(shell: Shell, host: Host) -> None:
    busy, done, failed = host.task("hi"), host.task(), host.task()
    host.ask(done, "complete", {})
    host.ask(failed, "error", {"outcome": 5003})

    assert [shell("status", task).exit_code for task in (busy, done, failed)] == [10, 0, 50]
    assert shell("status", failed).stdout == "ASC-5003 DEPENDENCY_UNAVAILABLE  (the end)\n"
    assert shell("watch", failed).exit_code == 50


def test_a_refusal_is_words_on_stderr_or_its_problem_as_json(shell: Shell) -> None:
    words, problem = shell("new", "nobody"), shell("new", "nobody", "--json")

    assert (words.exit_code, words.stdout) == (40, "")
    assert words.stderr.splitlines() == ["agent: there is no agent of this name (ASC-4000)"]
    assert (problem.exit_code, problem.stderr) == (40, "")
    assert json.loads(problem.stdout)["errors"][0]["at"] == "agent"


@pytest.mark.parametrize(
    ("faults", "exit_code", "words"),
    [
        (["refused"] * 6, 50, "cannot be reached"),
        (["429"] * 6, 50, "Too Many Requests"),
        (["500"] * 6, 60, "HTTP 500"),
        (["lost"] * 6, 61, "may have been carried out"),
    ],
)
def test_a_server_that_is_away_is_told_in_words(
    shell: Shell, faults: list[str], exit_code: int, words: str
) -> None:
    shell.wire.faults = faults

    result = shell("new", "echo", "hi")

    assert result.exit_code == exit_code
    assert words in result.stderr
    assert "Traceback" not in result.output


def test_an_expired_token_and_none_say_what_to_do(shell: Shell) -> None:
    expired = shell("list", TURNKEEPER_TOKEN=EXPIRED)
    nobody, nowhere = shell("list", TURNKEEPER_TOKEN=""), shell("list", TURNKEEPER_URL="")

    assert (expired.exit_code, nobody.exit_code, nowhere.exit_code) == (40, 2, 2)
    assert "expired" in expired.stderr
    assert "TURNKEEPER_TOKEN" in nobody.stderr
    assert "TURNKEEPER_URL" in nowhere.stderr


def test_what_cannot_be_understood_is_2_and_nothing_is_sent(shell: Shell) -> None:
    assert shell("new", "echo", "hi", "--set", "nothing").exit_code == 2
    assert shell("send", "0" * 32).exit_code == 2
    assert shell("send", "0" * 32, "--file", "nowhere").exit_code == 2
    assert shell("dance").exit_code == 2

    assert shell.wire.seen == []


def test_a_host_registers_drives_and_ends(shell: Shell, hosts: Any, tmp_path: Path) -> None:
    described = tmp_path / "helper.json"
    described.write_text(json.dumps(manifest()))
    in_yaml = tmp_path / "once.yaml"
    in_yaml.write_text(
        "kind: commonagents.info/v1/agent\nname: once\ndescription: Once.\nturnkeeper: {runs: external}\n"
    )

    assert "helper is registered" in shell("host", "register", str(described)).stdout
    assert shell.json("host", "register", str(in_yaml))["name"] == "once"
    assert shell.json("host", "register", str(in_yaml), "--name", "once")["name"] == "once"
    in_yaml.write_text("kind: commonagents.info/v1/agent\n")
    assert "Say --name" in shell("host", "register", str(in_yaml)).stderr
    task_id = hosts.acme.task("hi", agent=AGENT)
    assert "1 inputs wait" in shell("host", "show", task_id).stdout
    hosts.acme.start(task_id)
    assert shell.json("host", "interrupt", task_id)["turn"] is None
    assert shell("host", "complete", task_id, "-m", "Good.").exit_code == 0
    assert shell("host", "error", hosts.acme.task()).exit_code == 0
    assert shell("host", "restrict", hosts.acme.task()).exit_code == 0
    assert shell("host", "grant", "alice-sub", "calendar").stdout == "recorded; 0 tasks waited for it\n"
    lost = hosts.acme.task("Pay.")
    hosts.acme.start(lost)
    hosts.acme.sweep_after(seconds=120)
    assert "reconcile" in shell("host", "show", lost).stdout
    assert shell("host", "reconcile", lost, "done", "--says", "Paid.").exit_code == 0
    assert " agent  Paid." in shell("read", lost).stdout


def test_a_text_of_several_lines_stands_below_itself(shell: Shell) -> None:
    task_id = shell.json("new", "echo", "one\ntwo")["id"]

    assert shell("read", task_id).stdout.splitlines() == ["   you  one", "        two"]


@pytest.mark.usefixtures("developers")
def test_a_developer_sees_what_happened_to_a_task(
    shell: Shell, live_lab: Laboratory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TURNKEEPER_DEVELOPER_CLAIM", "username=alice")
    task = shell.json("new", "echo", "Hello!")["id"]
    live_lab.work()

    told, shown = shell.json("journal", task)["entries"], shell("journal", task).stdout.splitlines()
    monkeypatch.setenv("TURNKEEPER_DEVELOPER_CLAIM", "username=bob")

    assert [one["transition"] for one in told] == ["create", "start_turn", "finish"]
    assert [line.split()[4] for line in shown[1:]] == ["create", "start_turn", "finish"]
    assert shown[-1].split()[5:] == ["1", "1", "ASC-3001", "HUMAN_INPUT_REQUIRED"]
    assert shell("journal", task).exit_code == 40
