"""The guide to a deployment names every setting, with its value at each stage as cdk.json has it."""

import json
import re
from typing import Any

from infra import ROOT
from infra.stage import Stage

GUIDE = (ROOT / "docs" / "guide" / "deploy.md").read_text()
ROW = re.compile(r"^\| `(\w+)` \| `(.*?)` \| `(.*?)` \| (.+) \|$", re.MULTILINE)


def test_the_guide_has_every_setting_and_its_value_at_each_stage(settings: dict[str, Any]) -> None:
    stages = settings["stages"]

    assert {name: (json.loads(dev), json.loads(prod)) for name, dev, prod, _ in ROW.findall(GUIDE)} == {
        name: ("dev", "prod")
        if name == "stage"
        else tuple(stages[stage].get(name, settings.get(name)) for stage in ("dev", "prod"))
        for name in Stage.model_fields
    }
