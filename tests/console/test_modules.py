"""The console's modules that need no browser, on the Node.js of the set-up; and that its words are all there."""

import json
import re
import subprocess
from pathlib import Path

import pytest

from infra import NODE, ROOT
from turnkeeper.asc.registry import CLASSES, Code
from turnkeeper.domain.rules import Transition

HERE = Path(__file__).parent
APP = ROOT / "console" / "app"
TEXTS: dict[str, str | dict[str, str]] = json.loads((ROOT / "console" / "texts" / "en.json").read_text())
SCRIPTS = sorted(APP.rglob("*.js"))
MADE_OF_PARTS = re.compile(r"\bt\(\s*`([a-z-]+(?:\.[a-z-]+)*)\.\$\{")
WORDED = re.compile(r'\bworded\("([a-z]+)"')


@pytest.mark.parametrize("script", sorted(HERE.glob("*.test.js")), ids=lambda path: path.name)
def test_its_modules_do_what_their_tests_say(script: Path) -> None:
    run = subprocess.run(
        [str(NODE), "--no-warnings", "--test", str(script)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    assert run.returncode == 0, run.stdout


def test_every_text_that_it_asks_for_is_there_and_none_is_there_for_nothing() -> None:
    code = "\n".join(script.read_text() for script in SCRIPTS)
    asked = set(re.findall(r'"([a-z-]+(?:\.[a-z0-9-]+)*)"', code)) & set(TEXTS)
    families = {
        *MADE_OF_PARTS.findall(code),
        *WORDED.findall(code),
        "asc",
        "asc.class",
        "error",
        "error.http",
    }
    missing = set(re.findall(r'\bt\(\s*"([^"]+)"', code)) - set(TEXTS)
    unused = {
        key
        for key in TEXTS
        if key not in asked and not any(key.startswith(f"{family}.") for family in families)
    }

    assert missing == set()
    assert unused == set()
    assert all(any(key.startswith(f"{family}.") for key in TEXTS) for family in families)


def test_every_code_class_and_transition_has_words() -> None:
    wanted = {
        *(f"asc.{code.value}" for code in Code),
        *(f"asc.class.{first}" for first in CLASSES),
        *(f"transition.{one.value}" for one in Transition),
    }

    assert wanted - set(TEXTS) == set()


def test_plural_forms_are_whole() -> None:
    for key, forms in TEXTS.items():
        if isinstance(forms, dict):
            assert set(forms) == {"one", "other"}, key


def test_what_others_wrote_is_never_read_as_markup_or_code() -> None:
    ways_in = re.compile(
        r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|DOMParser|createContextualFragment"
        r"|\beval\(|new Function|localStorage|\.cookie\b"
    )

    assert [script.name for script in SCRIPTS if ways_in.search(script.read_text())] == []


def test_its_types_hold() -> None:
    compiler = ROOT / "node_modules" / "typescript" / "bin" / "tsc"
    run = subprocess.run(
        [str(NODE), str(compiler), "-p", str(HERE)], capture_output=True, text=True, timeout=100, check=False
    )

    assert run.returncode == 0, run.stdout
