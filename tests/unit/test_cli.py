"""The command by itself: every part of it is in the manual, and its exit codes are those of Agent Status Codes."""

import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from infra import ROOT
from turnkeeper.asc.bindings.exits import exit_status
from turnkeeper.asc.registry import Code
from turnkeeper_client.cli import checkout, exits
from turnkeeper_client.cli.app import app

MANUAL = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")


def commands(group: Any, *above: str) -> list[tuple[str, Any]]:
    """Every command there is, with what one types for it."""
    found: list[tuple[str, Any]] = []
    for name, command in group.commands.items():
        deeper = hasattr(command, "commands")
        found += commands(command, *above, name) if deeper else [(" ".join((*above, name)), command)]
    return found


COMMANDS = commands(typer.main.get_command(app))


@pytest.mark.parametrize(("typed", "command"), COMMANDS, ids=[typed for typed, _ in COMMANDS])
def test_every_command_and_option_is_in_the_manual_and_says_what_it_does(typed: str, command: Any) -> None:
    options = {one for parameter in command.params for one in parameter.opts if one.startswith("--")}

    assert f"`turnkeeper {typed}" in MANUAL
    assert not {option for option in options if f"`{option}" not in MANUAL}
    assert command.help
    assert "--json" in options or typed == "up"


@pytest.mark.parametrize("code", Code)
@pytest.mark.parametrize("terminal", [True, False])
@pytest.mark.clause("BND-EXIT")
def test_exit_codes_are_those_of_agent_status_codes(*, code: Code, terminal: bool) -> None:
    status: Any = SimpleNamespace(code=code.value, name=code.name, terminal=terminal)

    assert exits.of_code(code.value, terminal=terminal) == exit_status(status)


@pytest.mark.parametrize("code", [0, 10, 30, 40, 50, 60, 61, 70, 2])
def test_every_exit_code_is_in_the_manual(code: int) -> None:
    assert f"| {code} |" in MANUAL


def test_outside_of_a_checkout_it_says_what_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(checkout, "HERE", tmp_path)

    for command in (["up"], ["token", "alice"], ["verify", "t", "--table", "x"], ["redrive", "--queue", "q"]):
        result = CliRunner().invoke(app, command)
        assert result.exit_code == exits.WRONG_USE
        assert "clone it" in result.stderr


def test_in_a_checkout_it_does_what_make_does(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "offline").mkdir()
    (tmp_path / "offline" / "__main__.py").touch()
    (tmp_path / "Makefile").write_text(
        "up:\n\t@echo up $(PORT) $(AUTH)\ntoken:\n\t@test $(NAME) = alice && echo secret-$(PORT)\n"
    )
    (tmp_path / "below").mkdir()
    monkeypatch.chdir(tmp_path / "below")

    assert CliRunner().invoke(app, ["up", "--port", "4800", "--auth"]).exit_code == 0
    assert CliRunner().invoke(app, ["token", "alice"]).stdout == "secret-4510\n"
    assert CliRunner().invoke(app, ["token", "alice", "--json"]).stdout == '{"token": "secret-4510"}\n'
    assert CliRunner().invoke(app, ["token", "bob"]).exit_code == exits.NOT_NOW


def test_what_the_scripts_of_a_checkout_say_is_told_and_ends_by_their_exit_code(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    python = tmp_path / ".venv" / "bin" / "python"
    for file in (tmp_path / "offline" / "__main__.py", tmp_path / "Makefile", python):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch()
    python.write_text('#!/bin/sh\necho "$*"\ncase "$*" in *bad*) exit 1 ;; esac\n')
    python.chmod(0o755)
    monkeypatch.chdir(tmp_path)

    well = CliRunner().invoke(app, ["verify", "t", "u", "--table", "x", "--endpoint-url", "http://e"])
    badly = CliRunner().invoke(app, ["verify", "bad", "--table", "x", "--json"])
    brought = CliRunner().invoke(app, ["redrive", "--queue", "q", "--json"])
    left = CliRunner().invoke(app, ["redrive", "--queue", "bad"])

    assert (well.exit_code, well.stdout) == (
        0,
        "-m scripts.verify --table x --endpoint-url http://e t u\n",
    )
    assert badly.exit_code == exits.UNVERIFIED
    assert badly.stdout == '{"verified": false, "said": ["-m scripts.verify --table x bad"]}\n'
    assert (brought.exit_code, brought.stdout) == (
        0,
        '{"brought_back": true, "said": ["-m scripts.redrive --queue q"]}\n',
    )
    assert left.exit_code == exits.NOT_NOW


def test_the_client_of_people_needs_httpx_and_no_more() -> None:
    needed = loaded_by("turnkeeper_client") - loaded_by("httpx") - sys.stdlib_module_names

    assert needed == {"turnkeeper_client"}


def loaded_by(module: str) -> set[str]:
    """The top-level modules that a fresh process has after importing *module*."""
    code = f"import sys, {module}; print(*{{name.split('.')[0] for name in sys.modules}})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(done.stdout.split())
