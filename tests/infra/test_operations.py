"""The alarms and the dashboard: they name what the product counts, and whoever is woken finds what to do."""

import json
import re
from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk.assertions import Template

from infra import ROOT
from infra.alarms import CONFLICTS_PERCENT
from infra.app import compose
from infra.stage import Stage
from tests.infra.conftest import SETTINGS
from tests.infra.reading import of_type, only
from turnkeeper.metrics import DIMENSIONS, Metric

RUNBOOK = (ROOT / "docs" / "runbook.md").read_text()
TOPIC = "arn:aws:sns:eu-central-1:123456789012:on-call"
ACME = {"principal": "123456789012/AROAEXAMPLE"}

type Named = tuple[str, str | None]
"""A metric, and the value of its dimension."""


def synthesised(**settings: object) -> list[Template]:
    """The templates of production with other *settings*: the product's, and what watches it."""
    app = cdk.App(context=SETTINGS | settings | {"aws:cdk:bundling-stacks": []})
    return [
        Template.from_stack(stack) for stack in compose(app, Stage.from_context(app.node.get_all_context()))
    ]


@pytest.fixture(scope="module")
def operations() -> Template:
    return synthesised(external_hosts={"acme": ACME})[1]


def alarms(template: Template) -> dict[str, dict[str, Any]]:
    """The alarms by their names in the code."""
    return {
        re.sub(r"^Alarms(.*)[0-9A-F]{8}$", r"\1", name): alarm
        for name, alarm in of_type(template, "CloudWatch::Alarm").items()
    }


def board(template: Template) -> dict[str, Any]:
    """The dashboard, with every reference to something else in place of its value."""
    parts = only(template, "CloudWatch::Dashboard")["DashboardBody"]["Fn::Join"][1]
    body: dict[str, Any] = json.loads(
        "".join(part if isinstance(part, str) else "reference" for part in parts)
    )
    return body


def on_the_board(template: Template) -> list[list[Any]]:
    """Every metric of the dashboard, as CloudWatch writes it."""
    return [
        metric for widget in board(template)["widgets"] for metric in widget["properties"].get("metrics", [])
    ]


def of_alarms(template: Template) -> set[Named]:
    """What the product counts and an alarm watches."""
    found: set[Named] = set()
    for alarm in alarms(template).values():
        single = {"MetricName": alarm.get("MetricName"), "Namespace": alarm.get("Namespace")}
        several = [one["MetricStat"]["Metric"] for one in alarm.get("Metrics", []) if "MetricStat" in one]
        for metric in several or [single | {"Dimensions": alarm.get("Dimensions", [])}]:
            if metric["Namespace"] == "Turnkeeper/prod":
                assert not metric.get("Dimensions")
                found.add((metric["MetricName"], None))
    return found


def test_every_metric_that_is_watched_is_one_that_the_product_counts(operations: Template) -> None:
    ours = [metric for metric in on_the_board(operations) if metric[0] == "Turnkeeper/prod"]
    shown = {(metric[1], metric[3] if isinstance(metric[2], str) else None) for metric in ours}
    dimensions = {metric[2] for metric in ours if isinstance(metric[2], str)}
    counted = {
        (metric, of)
        for metric in Metric
        for of in (DIMENSIONS[metric][1] if metric in DIMENSIONS else {None})
    }

    assert dimensions == {name for name, _ in DIMENSIONS.values()}
    assert shown | of_alarms(operations) == counted


def test_the_dashboard_answers_how_tasks_move_what_is_late_how_fast_it_is_and_what_it_costs(
    operations: Template,
) -> None:
    titles = " ".join(widget["properties"]["title"] for widget in board(operations)["widgets"])

    for asked in (
        "phase",
        "Turns per minute",
        "oldest",
        "Latency of the poll",
        "Conflicts",
        "Capacity",
        "Runs",
    ):
        assert asked in titles
    latencies = [
        metric[-1]["stat"] for metric in on_the_board(operations) if metric[1] in {"Duration", "Latency"}
    ]
    assert [latencies.count(percentile) for percentile in ("p50", "p95", "p99")] == [2, 2, 2]


def test_every_alarm_has_its_section_in_the_runbook_and_every_section_its_alarm(operations: Template) -> None:
    sections = set(re.findall(r"^## (\w+)$", RUNBOOK, re.MULTILINE))
    kinds = {"DeadLettersOf" if name.startswith("DeadLettersOf") else name for name in alarms(operations)}

    assert sections == kinds
    for name, alarm in alarms(operations).items():
        kind = "DeadLettersOf" if name.startswith("DeadLettersOf") else name
        assert alarm["AlarmDescription"].endswith(f"docs/runbook.md, {kind}."), name


def test_each_section_says_what_it_means_and_what_to_do() -> None:
    for section in RUNBOOK.split("\n## ")[1:]:
        for part in ("**It means**", "**Look**", "**Do**"):
            assert part in section, section.partition("\n")[0]


def test_any_letter_rings_and_goes_on_ringing_when_the_queue_falls_silent(operations: Template) -> None:
    for name in ("DeadLetters", "DeadLettersOfacme"):
        alarm = alarms(operations)[name]

        assert (alarm["MetricName"], alarm["Statistic"]) == ("ApproximateNumberOfMessagesVisible", "Maximum")
        assert (alarm["Threshold"], alarm["TreatMissingData"]) == (1, "ignore")


def test_a_sweep_that_does_not_run_rings_by_its_silence(operations: Template) -> None:
    alarm = alarms(operations)["SweepSilent"]

    assert (alarm["Statistic"], alarm["TreatMissingData"]) == ("SampleCount", "breaching")
    assert alarm["ComparisonOperator"] == "LessThanThreshold"


def test_nothing_else_rings_by_its_silence(operations: Template) -> None:
    silent = {name: alarm["TreatMissingData"] for name, alarm in alarms(operations).items()}

    assert {name for name, missing in silent.items() if missing == "breaching"} == {"SweepSilent"}


def test_a_sweep_that_is_switched_off_is_not_waited_for() -> None:
    assert "SweepSilent" not in alarms(synthesised(sweep_enabled=False)[1])


def test_conflicts_ring_as_a_share_of_many_writes_and_not_of_few(operations: Template) -> None:
    (expression,) = [one for one in alarms(operations)["ConflictRate"]["Metrics"] if "Expression" in one]

    assert expression["Expression"] == CONFLICTS_PERCENT
    assert rate(writes=400, conflicts=100) == 20
    assert rate(writes=9, conflicts=9) == 0


def rate(*, writes: float, conflicts: float) -> float:
    """What CloudWatch makes of the expression."""
    python = CONFLICTS_PERCENT.replace("IF(", "choose(").replace("FILL(", "fill(")
    meaning = {
        "choose": lambda condition, then, other: then if condition else other,
        "fill": lambda it, _: it,
    }
    result: float = eval(python, meaning, {"writes": writes, "conflicts": conflicts})  # noqa: S307 - our own
    return result


def test_a_topic_that_is_named_is_told_of_each_alarm_and_of_its_end() -> None:
    _, template = synthesised(alarm_target=TOPIC)

    for name, alarm in alarms(template).items():
        assert (alarm["AlarmActions"], alarm["OKActions"]) == ([TOPIC], [TOPIC]), name
    assert of_type(template, "SNS::Topic") == {}


def test_a_mailbox_is_told_by_a_topic_that_lets_cloudwatch_in_and_nobody_without_tls() -> None:
    _, template = synthesised(alarm_target="you@example.com")
    (topic,) = of_type(template, "SNS::Topic")
    refused, let_in = only(template, "SNS::TopicPolicy")["PolicyDocument"]["Statement"]

    assert only(template, "SNS::Subscription")["Endpoint"] == "you@example.com"
    assert {str(alarm["AlarmActions"]) for alarm in alarms(template).values()} == {str([{"Ref": topic}])}
    assert (refused["Effect"], refused["Condition"]) == ("Deny", {"Bool": {"aws:SecureTransport": "false"}})
    assert (let_in["Effect"], let_in["Principal"]) == ("Allow", {"Service": "cloudwatch.amazonaws.com"})
    assert let_in["Condition"] == {"StringEquals": {"aws:SourceAccount": {"Ref": "AWS::AccountId"}}}


def test_a_topic_under_a_key_of_ones_own_can_be_told_by_cloudwatch() -> None:
    product, template = synthesised(alarm_target="you@example.com", encryption_key="own")
    let_in = [
        statement["Action"]
        for statement in only(product, "KMS::Key")["KeyPolicy"]["Statement"]
        if statement["Principal"] == {"Service": "cloudwatch.amazonaws.com"}
    ]

    assert let_in == [["kms:Decrypt", "kms:GenerateDataKey"]]
    assert "KmsMasterKeyId" in only(template, "SNS::Topic")


def test_without_a_target_alarms_are_seen_and_wake_nobody(operations: Template) -> None:
    assert [name for name, alarm in alarms(operations).items() if "AlarmActions" in alarm] == []


def test_development_watches_nothing_and_pays_for_nothing() -> None:
    (product,) = synthesised(stage="dev")

    assert of_type(product, "CloudWatch::Alarm") == of_type(product, "CloudWatch::Dashboard") == {}
