"""The page about the package is true: what it shows runs, and what it names is there."""

import importlib
import re
from pathlib import Path
from typing import Any

import pytest

PAGE = (Path(__file__).parents[3] / "docs" / "asc.md").read_text(encoding="utf-8")
ROOT = Path(__file__).parents[3]
PACKAGE = Path(__file__).parents[3] / "layers" / "shared" / "python" / "turnkeeper" / "asc"


@pytest.mark.clause("CMP-7")
@pytest.mark.parametrize("page", ["README.md", "docs/api.md", "docs/asc.md", "docs/conformance.md"])
def test_whoever_reads_of_the_version_is_told_that_it_is_experimental(page: str) -> None:
    words = " ".join((ROOT / page).read_text(encoding="utf-8").split())

    assert re.search(r"(Agent Status Codes|ASC) 0\.1,?( which)? (is|are) experimental", words)


def test_what_the_page_shows_runs() -> None:
    shown = re.findall(r"^```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    known: dict[str, Any] = {}

    for example in shown:
        exec(example, known)  # noqa: S102 - it is ours

    assert len(shown) == 4
    assert known["parent"].status.name == "PARTIAL_SUCCESS"


def test_each_module_that_a_user_needs_is_on_the_page() -> None:
    named = set(re.findall(r"`((?:bindings\.)?[a-z0-9_]+)`", PAGE))
    modules = {
        path.relative_to(PACKAGE).with_suffix("").as_posix().replace("/", ".")
        for path in PACKAGE.rglob("*.py")
    }
    inner = {"__init__", "bindings.__init__", "envelope_json", "refusals", "said"}

    assert modules - inner <= named
    for module in modules - inner:
        assert importlib.import_module(f"turnkeeper.asc.{module}").__doc__
