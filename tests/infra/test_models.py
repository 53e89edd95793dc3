"""Agents that are models of Bedrock's: nothing of them where none is named, and no more than the named ones else."""

import json
import re
from typing import Any

import pytest
from aws_cdk.assertions import Template

from infra import ROOT
from infra.stage import BUILT_IN, BedrockAgent, SettingRefused, Stage
from tests.infra.conftest import Synthesise
from tests.infra.reading import function_of, of_type
from tests.infra.test_grants import granted
from turnkeeper.agents import builtin

MODEL = "arn:aws:bedrock:eu-central-1::foundation-model/amazon.nova-lite-v1:0"
PROFILE = "arn:aws:bedrock:eu-central-1:123456789012:inference-profile/eu.amazon.nova-lite-v1:0"
AGENT = {
    "model": "eu.amazon.nova-lite-v1:0",
    "arns": [PROFILE, MODEL],
    "system": "Be brief.",
    "temperature": 0.5,
}
INVOKE = "bedrock:InvokeModelWithResponseStream"


def test_where_no_model_is_named_nobody_may_invoke_one(template: Template) -> None:
    assert "bedrock" not in json.dumps(of_type(template, "IAM::Policy"))


def test_turns_may_invoke_the_named_models_and_nobody_else_any(synthesise: Synthesise) -> None:
    template = synthesise(bedrock_agents={"assistant": AGENT, "other": {**AGENT, "arns": [MODEL]}})

    by = {
        name: {where for where, actions in granted(template, name).items() if INVOKE in actions}
        for name in ("status", "tasks", "host", "turns", "sweep", "publish")
    }

    assert by.pop("turns") == {PROFILE, MODEL}
    assert not any(by.values())


def test_functions_are_told_how_to_ask_and_not_what_is_allowed(synthesise: Synthesise) -> None:
    template = synthesise(bedrock_agents={"assistant": AGENT})

    for name in ("tasks", "host", "turns", "sweep"):
        told = function_of(template, name)[1]["Environment"]["Variables"]["TURNKEEPER_BEDROCK_AGENTS"]
        assert json.loads(told) == {
            "assistant": {name: AGENT[name] for name in ("model", "system", "temperature")}
        }


@pytest.mark.parametrize(
    "wrong",
    [
        {"No!": AGENT},
        {"echo": AGENT},
        {"a": {**AGENT, "arns": []}},
        {"a": {**AGENT, "arns": ["*"]}},
        {"a": {**AGENT, "arns": [MODEL.replace("amazon.nova-lite-v1:0", "*")]}},
        {"a": {**AGENT, "arns": ["arn:aws:lambda:eu-central-1:123456789012:function:f"]}},
        {"a": {**AGENT, "temperature": 2}},
        {"a": {**AGENT, "max_tokens": 0}},
        {"a": {**AGENT, "tools": []}},
        {"a": {"arns": [MODEL]}},
        {"a": {**AGENT, "system": "s" * 2049}},
        {letter: {**AGENT, "system": "s" * 2048} for letter in "ab"},
    ],
)
def test_what_is_no_agent_or_too_much_is_refused_by_the_settings_name(
    settings: dict[str, Any], wrong: object
) -> None:
    with pytest.raises(SettingRefused, match="bedrock_agents"):
        Stage.from_context(settings | {"bedrock_agents": wrong})


def test_a_model_takes_no_name_of_what_every_deployment_ships() -> None:
    assert builtin.AGENTS.keys() == BUILT_IN


def test_the_setting_of_the_how_to_is_one_that_is_taken(settings: dict[str, Any]) -> None:
    page = (ROOT / "docs" / "howto" / "bedrock.md").read_text(encoding="utf-8")
    (shown,) = re.findall(r"```json\n(.*?)```", page, re.DOTALL)

    stage = Stage.from_context(settings | {"bedrock_agents": shown})

    assert stage.bedrock_agents["assistant"].max_tokens == 1000
    assert not {name for name in BedrockAgent.model_fields if f"`{name}`" not in page}
