"""The drawings of the pages: what they show is what the code does, and what lies in docs/ is what is drawn."""

import re

import pytest

from scripts.site import DOCS, life
from scripts.site.__main__ import PICTURES
from tests.support.specimens import CONTENT, TERMS
from tests.unit.life import Life
from tests.unit.test_machine import long_lives
from turnkeeper.domain.rules import ALLOWED_FROM, State, Transition

LED = {one for lived in long_lives() for one in lived.led if one[0] is not one[2]}
"""Every change of a long life that led from one state to another."""


@pytest.mark.parametrize("name", PICTURES)
def test_a_picture_in_docs_is_what_is_drawn(name: str) -> None:
    assert (DOCS / "pictures" / name).read_text(encoding="utf-8") == PICTURES[name](), "make docs"


def test_every_state_has_its_box() -> None:
    assert life.BOXES.keys() == set(State)


def test_every_change_in_a_long_life_is_in_the_drawing() -> None:
    drawn = {
        (before, transition, after)
        for lead in life.LEADS
        for before in lead.of
        for transition in lead.transitions
        for after in lead.to
    }

    assert not LED - drawn


@pytest.mark.parametrize("lead", life.LEADS, ids=lambda lead: " ".join(lead.arrows[0].words) or "ends")
def test_every_arrow_of_the_drawing_is_gone_in_a_long_life(lead: life.Leads) -> None:
    gone = {
        (before, transition, after)
        for before, transition, after in LED
        if before in lead.of and transition in lead.transitions and after in lead.to
    }

    assert {before for before, _, _ in gone} == lead.of
    assert {transition for _, transition, _ in gone} == lead.transitions
    assert {after for _, _, after in gone} == lead.to
    assert all(before in ALLOWED_FROM[transition] for before, transition, _ in gone)


def test_what_a_task_is_born_as_is_in_the_drawing() -> None:
    born = {Life(TERMS, content).state for content in (None, CONTENT)}

    assert life.BORN.to == born


def test_whatever_leads_nowhere_is_no_arrow() -> None:
    leading = {transition for _, transition, _ in LED} | {Transition.CREATE}

    assert set(Transition) - leading == life.STAY


def test_every_state_and_every_transition_is_explained_beside_the_drawing() -> None:
    page = (DOCS / "concepts" / "life.md").read_text(encoding="utf-8")
    explained = {
        name
        for row in re.findall(r"^\| (`.*?) \|", page, re.MULTILINE)
        for name in re.findall(r"`(\w+)`", row)
    }

    assert explained == {*State, *Transition}
