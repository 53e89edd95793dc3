"""The whole template of production, as it was last looked at: what changes it shows in the diff of a commit.

The other tests say what must be true; this one says what changed beside it. After a change that is meant:
`UPDATE_SNAPSHOT=1 .venv/bin/pytest tests/infra/test_snapshot.py`, and read the diff.
"""

import json
import os
import re
from pathlib import Path

from aws_cdk.assertions import Template

SNAPSHOT = Path(__file__).parent / "snapshot.json"
HASH = re.compile(r"\b[0-9a-f]{64}\b")


def test_the_template_is_the_one_that_was_looked_at(template: Template) -> None:
    now = HASH.sub("<hash of an asset>", json.dumps(template.to_json(), indent=1, sort_keys=True)) + "\n"
    if os.environ.get("UPDATE_SNAPSHOT"):
        SNAPSHOT.write_text(now)

    assert now.splitlines() == SNAPSHOT.read_text().splitlines()


def test_the_snapshot_has_no_hash_of_what_is_deployed_with_it() -> None:
    assert HASH.search(SNAPSHOT.read_text()) is None
    assert "<hash of an asset>" in SNAPSHOT.read_text()
