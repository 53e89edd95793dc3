"""The API's document keeps the rules of `.spectral.yaml`, and each of ours sees what is wrong."""

import json
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from scripts.openapi.document import text
from scripts.openapi.lint import RULES, findings


def spoiled() -> Any:
    """The document with something wrong by each of our rules, and by some of spectral's own."""
    made = json.loads(text())
    paths = made["paths"]
    paths["/v1/agents/"] = paths.pop("/v1/agents")
    tasks = paths["/v1/tasks"]["get"]
    tasks["operationId"] = "listTasks"
    del tasks["responses"]["503"]
    del next(one for one in tasks["parameters"] if one["name"] == "limit")["schema"]["maximum"]
    paths["/v1/reviews"]["get"]["operationId"] = paths["/v1/notifications"]["get"]["operationId"]
    made["components"]["responses"]["NotFound"]["content"] = {"text/plain": {}}
    made["components"]["schemas"]["Nobodys"] = deepcopy(made["components"]["schemas"]["Task"])
    return made


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Any]]:
    """What is found in the document and in the spoiled one: spectral starts once for both."""
    folder = tmp_path_factory.mktemp("linted")
    (folder / "right.json").write_text(text(), encoding="utf-8")
    (folder / "wrong.json").write_text(json.dumps(spoiled()), encoding="utf-8")
    wrong = findings(folder / "right.json", folder / "wrong.json")
    return {
        name: [one for one in wrong if Path(one["source"]).name == name]
        for name in ("right.json", "wrong.json")
    }


def test_the_document_keeps_every_rule(found: dict[str, list[Any]]) -> None:
    assert found["right.json"] == []


def test_every_rule_of_ours_sees_what_is_wrong(found: dict[str, list[Any]]) -> None:
    ours = {line.strip()[:-1] for line in RULES.read_text().splitlines() if line.startswith("  turnkeeper-")}

    assert len(ours) == 5
    assert {one["code"] for one in found["wrong.json"]} >= ours | {
        "operation-operationId-unique",
        "oas3-unused-component",
    }


def test_what_cannot_be_looked_at_is_not_taken_for_right(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError):
        findings(tmp_path / "nowhere.json")
