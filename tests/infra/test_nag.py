"""cdk-nag's AwsSolutions pack finds nothing but what is acknowledged, and everything that is."""

import json
import re
from collections.abc import Callable
from fnmatch import fnmatchcase
from pathlib import Path

import aws_cdk as cdk
import pytest

from infra import acknowledged
from infra.acknowledged import ACKNOWLEDGED
from infra.app import compose
from infra.stage import Stage
from tests.infra.conftest import CDK_JSON

EVERYTHING = {
    "external_hosts": {
        "acme": {"principal": "123456789012/AROAEXAMPLE", "arn": "arn:aws:iam::123456789012:role/acme"}
    },
    "host_functions": ["arn:aws:lambda:eu-central-1:123456789012:function:answers"],
    "snap_start": True,
    "encryption_key": "own",
    "domain_name": "tasks.example.com",
    "certificate_arn": "arn:aws:acm:eu-central-1:123456789012:certificate/0f9d-12",
    "hosted_zone_id": "Z0123ABC",
    "console": True,
    "console_domain_name": "console.example.com",
    "console_certificate_arn": "arn:aws:acm:us-east-1:123456789012:certificate/0f9d-12",
    "operations": True,
    "alarm_target": "you@example.com",
}
"""What a deployment may have beside what it always has."""

type Finding = tuple[str, str]
"""A rule, and the path of what breaks it below its stack."""


def findings(folder: Path, **settings: object) -> set[Finding]:
    """What the pack finds in the stacks with *settings*."""
    app = cdk.App(outdir=str(folder), context=CDK_JSON | settings | {"aws:cdk:bundling-stacks": []})
    compose(app, Stage.from_context(app.node.get_all_context()))
    try:
        app.synth()
    except RuntimeError as refused:
        if "ValidationFailed" not in str(refused):
            raise
    (report,) = json.loads((folder / "validation-report.json").read_text())["pluginReports"]
    return {
        (
            violation["ruleName"].removeprefix("AwsSolutions-"),
            place["constructPath"].removeprefix("Turnkeeper/"),
        )
        for violation in report["violations"]
        for place in violation["violatingConstructs"]
    }


@pytest.mark.parametrize("more", [{}, EVERYTHING], ids=["as it comes", "with everything"])
@pytest.mark.parametrize("stage", ["dev", "prod"])
def test_nothing_is_found_but_what_is_acknowledged(
    tmp_path: Path, stage: str, more: dict[str, object]
) -> None:
    assert findings(tmp_path, stage=stage, **more) == set()


@pytest.mark.parametrize("stage", ["dev", "prod"])
def test_everything_acknowledged_would_be_found_and_nothing_else(
    tmp_path: Path, stage: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("infra.stack.acknowledge", lambda *_, **__: None)
    own = CDK_JSON | CDK_JSON["stages"][stage]
    left = [one for one in ACKNOWLEDGED if not (one.unless and own[one.unless])]

    found = findings(tmp_path, stage=stage)

    assert {one for one in left if not any(is_of(one)(it) for it in found)} == set()
    assert {it for it in found if not any(is_of(one)(it) for one in left)} == set()


def is_of(one: acknowledged.Acknowledged) -> Callable[[Finding], bool]:
    """Whether a finding is the one that was acknowledged."""
    rule = re.escape(one.rule).replace(re.escape("{bucket}"), r"FilesBucket\w+")
    rule = rule.replace(re.escape("{table}"), r"StorageTable\w+").replace(
        re.escape("{console}"), r"ConsoleBucket\w+"
    )
    return lambda it: bool(re.fullmatch(rule, it[0])) and fnmatchcase(it[1], one.at)


def test_every_acknowledgement_has_its_reason() -> None:
    for one in ACKNOWLEDGED:
        assert len(one.why.split()) > 5, one
