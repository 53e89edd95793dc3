"""The template that a deployment would send to AWS, with the settings of cdk.json or others."""

import json
from collections.abc import Callable
from functools import cache
from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk.assertions import Template

from infra import ROOT
from infra.stack import Turnkeeper
from infra.stage import Stage

CDK_JSON: dict[str, Any] = json.loads((ROOT / "cdk.json").read_text())["context"]
PRODUCTION = CDK_JSON | {"stage": "prod"}
SETTINGS = PRODUCTION | {"console": False}
"""Those of cdk.json for production: what people must be able to rely on. The console has tests of its own."""
type Synthesise = Callable[..., Template]


def stack_of(**overrides: object) -> Turnkeeper:
    """Return the stack whose settings differ from production's in the ones named."""
    # No layer is built for these: test_layers.py builds its own.
    app = cdk.App(context=SETTINGS | overrides | {"aws:cdk:bundling-stacks": []})
    stage = Stage.from_context(app.node.get_all_context())
    return Turnkeeper(app, "Turnkeeper", stage=stage, stack_name="turnkeeper-test")


@cache
def template_of(overrides: str) -> Template:
    return Template.from_stack(stack_of(**json.loads(overrides)))


@pytest.fixture
def settings() -> dict[str, Any]:
    return dict(PRODUCTION)


@pytest.fixture(scope="session")
def synthesise() -> Synthesise:
    """Return the template of a stack whose settings differ from cdk.json's in the ones named."""

    def synthesise(**overrides: object) -> Template:
        return template_of(json.dumps(overrides, sort_keys=True))

    return synthesise


@pytest.fixture(scope="session")
def template(synthesise: Synthesise) -> Template:
    return synthesise()
