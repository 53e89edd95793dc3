"""The manual's example is a manifest that we take, and its tables name every field that there is."""

import re
from pathlib import Path

from turnkeeper.domain.content import text
from turnkeeper.edge import manifests
from turnkeeper.edge.manifests import AgentManifest, GuardrailStep, Limits, Schema
from turnkeeper.guards import rules
from turnkeeper.guards.expressions import FUNCTIONS

MANUAL = (Path(__file__).parents[2] / "docs" / "manifests.md").read_text(encoding="utf-8")


def test_the_example_of_the_manual_is_taken() -> None:
    (example,) = re.findall(r"```yaml\n(.*?)```", MANUAL, re.DOTALL)
    event = {"body": example, "headers": {"content-type": "application/yaml"}}

    found = rules.of(manifests.manifest(event, enforced=frozenset(manifests.ENFORCEABLE)))

    assert found.normalised({**text("hi"), "to": "Bern"}) == {**text("hi"), "to": "Bern", "price": 0}
    assert (len(found.before), len(found.after), len(found.exposes)) == (2, 1, 1)


def test_every_field_is_in_the_manual() -> None:
    fields = {
        field.alias or name
        for model in (AgentManifest, Limits, Schema, GuardrailStep)
        for name, field in model.model_fields.items()
    }

    assert not {name for name in fields if f"`{name}`" not in MANUAL}


def test_every_bound_of_the_manual_is_the_codes() -> None:
    """A number that changes in one place only is a lie in the other."""
    for said in (
        f"at most {manifests.MOST_STEPS} steps each",
        f"at most {manifests.MOST_EXPOSED} keys",
        f"at most {manifests.MOST_CHOICES} choices",
        f"at most {manifests.MOST_PROPERTIES} properties",
    ):
        assert said in MANUAL


def test_every_function_of_the_manual_is_one() -> None:
    listed = MANUAL.split("for texts\nand lists ")[1].split(". Parameters")[0]

    assert set(re.findall(r"`(\w+)`", listed)) <= FUNCTIONS
