"""Agents' names: the first owner's for good."""

import json

import pytest

from tests.support.laboratory import Laboratory
from turnkeeper.domain.errors import TaskNotFound
from turnkeeper.domain.manifest import Manifest, parse
from turnkeeper.store import agents


def manifest_of(owner: str, *, description: str) -> Manifest:
    fields = {"name": "helper", "description": description, "turnkeeper": {"runs": "external"}}
    return parse(json.dumps(fields), owner=owner)


def test_a_name_that_is_anothers_is_an_unknown_one_and_stays_as_it_is(lab: Laboratory) -> None:
    agents.keep(lab.runtime.table, manifest_of("acme", description="first"))
    before = lab.runtime.table.get(agents.current_key("helper"))

    for description in ("first", "second"):
        with pytest.raises(TaskNotFound):
            agents.keep(lab.runtime.table, manifest_of("globex", description=description))

    assert lab.runtime.table.get(agents.current_key("helper")) == before


def test_its_owner_may_change_it(lab: Laboratory) -> None:
    agents.keep(lab.runtime.table, manifest_of("acme", description="first"))

    changed = manifest_of("acme", description="second")
    agents.keep(lab.runtime.table, changed)

    stored = lab.runtime.table.get(agents.current_key("helper"))
    assert stored is not None
    assert stored["version"] == changed.version
