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

SETTINGS: dict[str, Any] = json.loads((ROOT / "cdk.json").read_text())["context"]
type Synthesise = Callable[..., Template]


@cache
def template_of(overrides: str) -> Template:
    # No layer is built for these: test_layers.py builds its own.
    app = cdk.App(context=SETTINGS | json.loads(overrides) | {"aws:cdk:bundling-stacks": []})
    stage = Stage.from_context(app.node.get_all_context())
    return Template.from_stack(Turnkeeper(app, "Turnkeeper", stage=stage, stack_name="turnkeeper-test"))


@pytest.fixture
def settings() -> dict[str, Any]:
    return dict(SETTINGS)


@pytest.fixture(scope="session")
def synthesise() -> Synthesise:
    """Return the template of a stack whose settings differ from cdk.json's in the ones named."""

    def synthesise(**overrides: object) -> Template:
        return template_of(json.dumps(overrides, sort_keys=True))

    return synthesise


@pytest.fixture(scope="session")
def template(synthesise: Synthesise) -> Template:
    return synthesise()
