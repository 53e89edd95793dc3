"""The whole template of production, as it was last looked at: what changes it shows in the diff of a commit.

The other tests say what must be true; this one says what changed beside it. After a change that is meant:
`UPDATE_SNAPSHOT=1 .venv/bin/pytest tests/infra/test_snapshot.py`, and read the diff. What the console adds is in a file
of its own.
"""

import json
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from aws_cdk.assertions import Template

from tests.infra.conftest import Synthesise

HERE = Path(__file__).parent
SNAPSHOT, CONSOLE = HERE / "snapshot.json", HERE / "snapshot_console.json"
HASH = re.compile(r"\b[0-9a-f]{64}\b")


def looked_at(found: Mapping[str, Any], snapshot: Path) -> None:
    now = HASH.sub("<hash of an asset>", json.dumps(found, indent=1, sort_keys=True)) + "\n"
    if os.environ.get("UPDATE_SNAPSHOT"):
        snapshot.write_text(now)

    assert now.splitlines() == snapshot.read_text().splitlines()


def test_the_template_is_the_one_that_was_looked_at(template: Template) -> None:
    looked_at(template.to_json(), SNAPSHOT)


def test_what_the_console_adds_to_it_is_what_was_looked_at(
    template: Template, synthesise: Synthesise
) -> None:
    whole, without = synthesise(console=True).to_json(), template.to_json()
    more = {
        section: {name: one for name, one in whole[section].items() if without[section].get(name) != one}
        for section in ("Resources", "Outputs")
    }

    assert without["Resources"].keys() <= whole["Resources"].keys()
    looked_at(more, CONSOLE)


def test_the_snapshots_have_no_hash_of_what_is_deployed_with_them() -> None:
    for snapshot in (SNAPSHOT, CONSOLE):
        assert HASH.search(snapshot.read_text()) is None
        assert "<hash of an asset>" in snapshot.read_text()
