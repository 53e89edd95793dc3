"""The pages are whole: what somebody can type, call or set is in them, and nothing else that looks like it.

What each command and setting is held to further, its own tests say: test_cli.py, infra/test_guide.py.
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

from infra import ROOT
from scripts.site.hooks import DOCUMENT
from tests.conformance.target import VARIABLES
from tests.support.pages import DOCS
from turnkeeper_client.cli.app import app

PAGES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    *(page for page in sorted(DOCS.rglob("*.md")) if page.parent.name != "decisions"),
]
"""All but the decisions, which speak of their day."""

CODE = re.compile(r"^ *```[^\n]*\n(.*?)^ *```$|`([^`\n]+)`", re.MULTILINE | re.DOTALL)
CALL = re.compile(r"\b(GET|POST|PUT|PATCH|DELETE) ((?:/v1|…)/[^\s`?\"'\[]+)")
TYPED = re.compile(r"(?:^|[\s\"(/=])turnkeeper ((?:host )?[a-z]+)")
MADE = re.compile(r"(?:^|[\s\"(])make (?:-s )?(?:[A-Z_]+=\S+ )*([a-z][a-z-]*)")
FIELD = re.compile(r"\{[^}]*\}|<[^>]*>")
READS = re.compile(r"environ(?:\.get\(|\[)\s*\"([A-Z][A-Z0-9_]+)\"")
OF_THE_MACHINE = {"NO_PROXY", "JSII_NODE", "REQUEST_URI", "MAKE_GOAL", "PATH"}
"""What nobody sets for us: the machine's own, and what one part of ours tells another."""


def said() -> Iterator[tuple[str, str]]:
    """Every piece of code in the pages, with its page."""
    for page in PAGES:
        for found in CODE.finditer(page.read_text(encoding="utf-8")):
            yield str(page.relative_to(ROOT)), found[1] or found[2]


SAID = list(said())


def uttered(pattern: "re.Pattern[str]") -> dict[str, str]:
    """What *pattern* finds first in the pages' code, with a page that says it."""
    return {
        " ".join(found.groups()): page
        for page, code in SAID
        for line in code.splitlines()
        for found in pattern.finditer(line)
    }


def routes() -> set[str]:
    paths = json.loads(DOCUMENT.read_text(encoding="utf-8"))["paths"]
    return {f"{method.upper()} {FIELD.sub('{}', path)}" for path, item in paths.items() for method in item}


def commands(group: Any, *above: str) -> Iterator[str]:
    for name, command in group.commands.items():
        deeper = hasattr(command, "commands")
        yield from commands(command, *above, name) if deeper else [" ".join((*above, name))]


def targets() -> set[str]:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    return set(re.findall(r"^([a-z-]+):.*##", makefile, re.MULTILINE))


def test_every_route_is_in_the_pages_and_no_other() -> None:
    called = {}
    for call, page in uttered(CALL).items():
        method, path = call.split()
        whole = re.sub(r"^…", "/v1/host/tasks/{}", FIELD.sub("{}", path.rstrip(".,;:)")))
        called[f"{method} {whole}"] = page

    assert not routes() - called.keys()
    assert not {call: page for call, page in called.items() if call not in routes()}


def test_every_command_is_in_the_pages_and_no_other() -> None:
    known = set(commands(typer.main.get_command(app)))
    typed = uttered(TYPED)

    assert not known - typed.keys()
    assert not {command: page for command, page in typed.items() if command not in known}


def test_every_target_of_make_is_in_the_pages_and_no_other() -> None:
    made = uttered(MADE)

    # It lists the others to whoever types no target.
    assert not targets() - {"help"} - made.keys()
    assert not {target: page for target, page in made.items() if target not in targets()}


def read_from_the_environment() -> set[str]:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    of_make = set(re.findall(r"\$\(([A-Z][A-Z0-9_]+)\)|\$\$([A-Z][A-Z0-9_]+)", makefile))
    folders = (
        "scripts",
        "offline",
        "infra",
        "bench",
        "docs/examples",
        "tests/console",
        "tests/faults",
        "tests/integration",
        "tests/infra",
    )
    programs = [path for folder in folders for path in (ROOT / folder).rglob("*.py")]
    target = (ROOT / "tests" / "conformance" / "target.py").read_text(encoding="utf-8")
    return {
        *(one or other for one, other in of_make),
        *(name for program in programs for name in READS.findall(program.read_text(encoding="utf-8"))),
        *(name for parameter in typer.main.get_command(app).params for name in of_option(parameter)),
        *VARIABLES,
        *re.findall(r"environment\.get\(\"([A-Z_]+)\"\)", target),
    }


def of_option(parameter: Any) -> list[str]:
    names = parameter.envvar or []
    return [names] if isinstance(names, str) else list(names)


def test_every_variable_that_somebody_sets_is_in_its_page_and_no_other() -> None:
    page = (DOCS / "environment.md").read_text(encoding="utf-8")
    rows = [line for line in page.splitlines() if line.startswith("| `")]
    listed = {name for row in rows for name in re.findall(r"`([A-Z][A-Z0-9_]+)`", row.split("|")[1])}
    read = {name for name in read_from_the_environment() if not name.startswith("MAKE")} - OF_THE_MACHINE

    assert not read - listed
    assert not {name for name in listed - read if not name.startswith("AWS_")} - {
        "PYTHON_3_13",
        "UPDATE_SNAPSHOT",
    }


@pytest.mark.parametrize(
    ("line", "pattern", "found"),
    [
        ("curl -X POST /v1/tasks/{id}/inputs", CALL, ["POST /v1/tasks/{id}/inputs"]),
        ("turnkeeper host grant x y", TYPED, ["host grant"]),
        ("export T=$(turnkeeper token alice)", TYPED, ["token"]),
        (".venv/bin/turnkeeper verify", TYPED, ["verify"]),
        ('eval "$(make -s host-keys NAME=x)"', MADE, ["host-keys"]),
        ("make PORT=4800 up", MADE, ["up"]),
    ],
)
def test_what_looks_like_one_is_seen(line: str, pattern: "re.Pattern[str]", found: list[str]) -> None:
    assert [" ".join(one.groups()) for one in pattern.finditer(line)] == found


def test_the_pages_are_all_there() -> None:
    assert len(PAGES) > 20
    assert Path(DOCS / "tutorial.md") in PAGES
