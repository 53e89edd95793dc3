"""The index of decisions: every page is in it, in order, and nothing else."""

import re
from pathlib import Path

DECISIONS = Path(__file__).parents[2] / "docs" / "decisions"


def test_every_decision_is_in_the_index_in_order() -> None:
    pages = sorted(page.name for page in DECISIONS.glob("[0-9]*.md"))
    index = (DECISIONS / "README.md").read_text(encoding="utf-8")

    assert re.findall(r"^- \[\d{4}\]\((\d{4}[^)]*\.md)\)", index, re.MULTILINE) == pages


def test_no_two_decisions_have_one_number() -> None:
    numbers = [page.name[:4] for page in DECISIONS.glob("[0-9]*.md")]

    assert len(numbers) == len(set(numbers))
