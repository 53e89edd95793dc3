"""Settings: every one has a value in cdk.json, and a wrong one is refused in a sentence that names it."""

import json
import os
import subprocess
import sys
from typing import Any

import pytest

from infra import ROOT
from infra.notation import Arch
from infra.stage import SettingRefused, Stage

CERTIFICATE = "arn:aws:acm:eu-central-1:123456789012:certificate/0f9d-12"
SIGN_IN = {
    "client_id": "console",
    "authorization_endpoint": "https://id.example/authorize",
    "token_endpoint": "https://id.example/token",
}
OIDC = {"oidc_issuer": "https://id.example", "oidc_audience": "tasks", "human_claim": "email"}
HOST = {"principal": "123456789012/AROAEXAMPLE"}


def test_cdk_json_has_a_value_for_every_setting(settings: dict[str, Any]) -> None:
    ours = {name for name in settings if "/" not in name} - {"stages"}

    for name, own in settings["stages"].items():
        assert not ours & set(own), name
        assert ours | set(own) == set(Stage.model_fields), name


def test_no_setting_has_a_second_default_in_code() -> None:
    assert [name for name, field in Stage.model_fields.items() if not field.is_required()] == []


def test_a_setting_from_the_command_line_is_text_and_becomes_what_it_means(settings: dict[str, Any]) -> None:
    said = {
        "lease_seconds": "6",
        "heartbeat_seconds": "2",
        "sweep_enabled": "false",
        "arch": "x86_64",
        "cors_origins": "https://a.example, http://localhost:3000",
        "log_retention_days": "7",
        "external_hosts": json.dumps({"acme": HOST}),
        "host_functions": "arn:aws:lambda:eu-central-1:123456789012:function:answers",
        "severities": '{"5003": "critical"}',
    }

    stage = Stage.from_context(settings | said)

    assert (stage.lease_seconds, stage.heartbeat_seconds, stage.sweep_enabled) == (6, 2, False)
    assert stage.arch is Arch.X86_64
    assert stage.cors_origins == ("https://a.example", "http://localhost:3000")
    assert stage.log_retention_days == 7
    assert stage.external_hosts["acme"].principal == HOST["principal"]
    assert stage.host_functions == (said["host_functions"],)
    assert stage.severities == {5003: "critical"}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("leese_seconds", "6"),
        ("stage", "staging"),
        ("stages", "dev"),
        ("stages", {"dev": {"keep_date": True}}),
        ("stages", {"dev": "cheap"}),
        ("deletion_protection", "maybe"),
        ("point_in_time_recovery", "35"),
        ("access_logs", "s3://bucket"),
        ("operations", "all"),
        ("snap_start", "status"),
        ("encryption_key", "mine"),
        ("encryption_key", "arn:aws:kms:eu-central-1:123456789012:alias/mine"),
        ("alarm_target", "somebody"),
        ("alarm_target", "arn:aws:sqs:eu-central-1:123456789012:alarms"),
        ("domain_name", "https://tasks.example.com"),
        ("domain_name", "localhost"),
        ("certificate_arn", "tasks.example.com"),
        ("hosted_zone_id", "example.com"),
        ("lease-seconds", "6"),
        ("lease_seconds", "soon"),
        ("lease_seconds", "0"),
        ("lease_seconds", "1.5"),
        ("retention_seconds", "1000000000000"),
        ("idempotency_seconds", "9" * 400),
        ("arch", "sparc"),
        ("keep_data", "perhaps"),
        ("sweep_enabled", "2"),
        ("stage", "Prod!"),
        ("log_level", "LOUD"),
        ("log_retention_days", "8"),
        ("turns_concurrency", "1"),
        ("turn_timeout_seconds", "901"),
        ("throttle_rate", "0"),
        ("largest_file_bytes", "0"),
        ("largest_file_bytes", "5368709121"),
        ("file_url_seconds", "0"),
        ("file_url_seconds", "3601"),
        ("cors_origins", "example.com"),
        ("cors_origins", "https://a.example/path"),
        ("oidc_issuer", "not a url"),
        ("console", "maybe"),
        ("console_domain_name", "https://console.example.com"),
        ("console_certificate_arn", CERTIFICATE),
        ("console_sign_in", "https://id.example"),
        ("console_sign_in", SIGN_IN | {"client_secret": "s"}),
        ("console_sign_in", SIGN_IN | {"token_endpoint": "http://id.example/token"}),
        ("console_sign_in", SIGN_IN | {"token_endpoint": "https://id.example; script-src *"}),
        ("console_sign_in", SIGN_IN | {"scope": "email"}),
        ("reporters", "judge.example"),
        ("reporters", {"judge.example": "evaluation"}),
        ("reporters", {"judge example": ["evaluation"]}),
        ("reporters", {"judge.example": ["Every Scope"]}),
        ("severities", "critical"),
        ("severities", {"SUCCESS": "info"}),
        ("severities", {"999": "info"}),
        ("severities", {"9900": "info"}),
        ("severities", {"5003": "fatal"}),
        ("developer_claim", "=developers"),
        ("developer_claim", "groups="),
        ("developer_claim", "groups=one two"),
        ("auditors", "arn:aws:iam::123456789012:role/auditor"),
        ("external_hosts", "acme"),
        ("external_hosts", {"acme": "123456789012/AROAEXAMPLE"}),
        ("external_hosts", {"Acme": {"principal": "123456789012/AROAEXAMPLE"}}),
        ("external_hosts", {"a-1": {"principal": "123456789012/AROAEXAMPLE"}}),
        ("external_hosts", {"acme": {"principal": "123456789012/AROAEXAMPLE:session"}}),
        ("external_hosts", {"acme": {"principal": "arn:aws:iam::123456789012:role/acme"}}),
        ("external_hosts", {"acme": {"principal": "123456789012/AROAEXAMPLE", "arn": "*"}}),
        ("external_hosts", {"acme": {"principal": "123456789012/AROAEXAMPLE", "queue": "mine"}}),
        ("host_functions", "answers"),
        ("host_functions", "arn:aws:lambda:eu-central-1:123456789012:function:*"),
    ],
)
def test_an_unknown_or_badly_typed_setting_is_refused_by_name(
    settings: dict[str, Any], name: str, value: object
) -> None:
    with pytest.raises(SettingRefused, match=name):
        Stage.from_context(settings | {name: value})


@pytest.mark.parametrize("name", ["retention_seconds", "domain_name", "keep_data"])
def test_a_setting_that_only_one_stage_has_is_refused_since_it_would_do_nothing(
    settings: dict[str, Any], name: str
) -> None:
    stages = {**settings["stages"], "eu": {**settings["stages"]["prod"], name: settings.get(name, True)}}
    if name == "keep_data":
        del stages["eu"][name]

    with pytest.raises(SettingRefused, match=name):
        Stage.from_context(settings | {"stages": stages, "stage": "prod"})


def test_what_functions_are_told_is_refused_when_it_is_more_together_than_their_environment_holds(
    settings: dict[str, Any],
) -> None:
    """Each setting by itself has as many as it may."""
    most = {
        "external_hosts": {
            f"host{letter}": {"principal": f"123456789012/AROA{'X' * 16}{letter.upper()}"}
            for letter in "abcdefghij"
        },
        "reporters": {f"{letter}.example": ["evaluation", "tool_call"] for letter in "abcdefghij"},
        "auditors": [f"123456789012/AROA{'Y' * 16}{letter}" for letter in "ABCDEFGHIJ"],
        "host_functions": [
            f"arn:aws:lambda:eu-central-1:123456789012:function:{letter * 64}" for letter in "abcdefghij"
        ],
    }
    for name, value in most.items():
        Stage.from_context(settings | {name: value})

    with pytest.raises(SettingRefused, match="environment"):
        Stage.from_context(settings | most)
    with pytest.raises(SettingRefused, match="environment"):
        Stage.from_context(settings | {"developer_claim": "c" * 4000})


def test_a_setting_has_the_value_of_the_stage_unless_the_deployment_says_another(
    settings: dict[str, Any],
) -> None:
    said = settings | {"log_retention_days": "365"}

    assert Stage.from_context(settings | {"stage": "dev"}).log_retention_days == 7
    assert Stage.from_context(settings | {"stage": "prod"}).log_retention_days == 90
    assert Stage.from_context(said | {"stage": "prod"}).log_retention_days == 365


def test_a_setting_that_is_missing_is_refused_by_name(settings: dict[str, Any]) -> None:
    del settings["lease_seconds"]

    with pytest.raises(SettingRefused, match="lease_seconds is missing"):
        Stage.from_context(settings)


@pytest.mark.parametrize(
    ("overrides", "named"),
    [
        ({"heartbeat_seconds": 60}, "heartbeat_seconds"),
        ({"deletion_protection": True, "keep_data": False}, "deletion_protection needs keep_data"),
        ({"alarm_target": "you@example.com", "operations": False}, "alarm_target needs operations"),
        ({"domain_name": "tasks.example.com"}, "certificate_arn come together"),
        ({"certificate_arn": CERTIFICATE}, "domain_name and certificate_arn"),
        ({"hosted_zone_id": "Z123"}, "hosted_zone_id needs domain_name"),
        ({"heartbeat_seconds": 61}, "heartbeat_seconds .* lease_seconds"),
        ({"lease_seconds": 200, "turn_timeout_seconds": 199}, "lease_seconds .* turn_timeout_seconds"),
        ({"wake_grace_seconds": 901}, "wake_grace_seconds .* wake_grace_max_seconds"),
        ({"retention_seconds": 899}, "turn_timeout_seconds .* retention_seconds"),
        ({"retention_seconds": 900, "file_url_seconds": 901}, "file_url_seconds .* retention_seconds"),
        ({"retention_seconds": 86_399}, "idempotency_seconds .* retention_seconds"),
        ({"console_domain_name": "console.example.com"}, "console_certificate_arn come together"),
        (
            {
                "domain_name": "tasks.example.com",
                "certificate_arn": CERTIFICATE,
                "console_domain_name": "tasks.example.com",
                "console_certificate_arn": "arn:aws:acm:us-east-1:123456789012:certificate/0f9d-12",
            },
            "console_domain_name and domain_name must differ",
        ),
        ({"console": False, "console_sign_in": SIGN_IN}, "console_sign_in need console"),
        ({"console_sign_in": SIGN_IN}, "console_sign_in come together"),
        (OIDC, "console_sign_in come together"),
        ({"oidc_issuer": "https://id.example"}, "missing: oidc_audience, human_claim"),
        ({"human_claim": "email"}, "missing: oidc_issuer, oidc_audience"),
        ({"external_hosts": {"acme": HOST, "copy": HOST}}, "acme and copy are the same"),
        (
            {"external_hosts": {"acme": HOST | {"arn": "arn:aws:iam::210987654321:role/acme"}}},
            "a role of account 123456789012",
        ),
        (
            {"external_hosts": {"acme": HOST | {"arn": "arn:aws:iam::123456789012:user/acme"}}},
            "a role of account 123456789012",
        ),
    ],
)
def test_settings_at_odds_with_each_other_are_refused_by_name(
    settings: dict[str, Any], overrides: dict[str, Any], named: str
) -> None:
    with pytest.raises(SettingRefused, match=named):
        Stage.from_context(settings | overrides)


def test_the_context_of_the_cdk_itself_is_not_ours_to_refuse(settings: dict[str, Any]) -> None:
    theirs = {"aws:cdk:enable-path-metadata": True, "@aws-cdk/some:flag": True, "cli-telemetry": False}

    assert Stage.from_context(settings | theirs) == Stage.from_context(settings)


def test_a_refused_setting_stops_the_synth_with_its_sentence_and_no_traceback() -> None:
    context = {"CDK_CONTEXT_JSON": '{"stage": "dev", "stages": {"dev": {}}, "leese_seconds": 6}'}
    app = [sys.executable, "-m", "infra.app"]

    done = subprocess.run(
        app, cwd=ROOT, env=os.environ | context, capture_output=True, text=True, check=False
    )

    assert done.returncode == 1
    assert "The setting leese_seconds is unknown." in done.stderr
    assert "Traceback" not in done.stderr
