"""External hosts: each has a queue of its own that it alone empties; `turns` invokes exactly the functions named."""

import json
import re
from typing import Any

import pytest
from aws_cdk.assertions import Template

from tests.infra.conftest import SETTINGS, Synthesise
from tests.infra.reading import function_of, of_type, wake_ups_of
from tests.infra.test_grants import GRANTS, LOG, TRACE, granted

ACME, MY_TEAM = "123456789012/AROAEXAMPLEACME", "123456789012/AIDAEXAMPLEMYTEAM"
ACME_ARN = "arn:aws:iam::123456789012:role/acme"
HOSTS = {"acme": {"principal": ACME, "arn": ACME_ARN}, "my-team": {"principal": MY_TEAM}}
FUNCTIONS = [
    "arn:aws:lambda:eu-central-1:123456789012:function:answers",
    "arn:aws:lambda:eu-central-1:123456789012:function:asks:live",
]
QUEUES = {"acme": "HostQueueAcme", "my-team": "HostQueueMyTeam"}


@pytest.fixture(scope="module")
def hosting(synthesise: Synthesise) -> Template:
    return synthesise(external_hosts=HOSTS, host_functions=FUNCTIONS)


def test_each_host_has_a_queue_like_ours_whose_messages_hide_for_a_lease(
    hosting: Template, synthesise: Synthesise
) -> None:
    queues = of_type(hosting, "SQS::Queue")
    ours = queues[wake_ups_of(hosting, "Queues")]

    assert len(queues) == len(of_type(synthesise(), "SQS::Queue")) + 2 * len(HOSTS)
    for construct in QUEUES.values():
        wake_ups = queues[wake_ups_of(hosting, construct)]
        dead = wake_ups["RedrivePolicy"]["deadLetterTargetArn"]["Fn::GetAtt"][0]
        assert dead.startswith(f"{construct}DeadLetters")
        assert wake_ups["RedrivePolicy"]["maxReceiveCount"] == ours["RedrivePolicy"]["maxReceiveCount"]
        different = {"VisibilityTimeout", "RedrivePolicy"}
        assert without(wake_ups, different) == without(ours, different)
        assert wake_ups["VisibilityTimeout"] == 60


def test_whoever_deploys_is_told_where_each_queue_is(hosting: Template) -> None:
    told = hosting.find_outputs("*")

    for construct in QUEUES.values():
        assert told[f"{construct}Url"]["Value"] == {"Ref": wake_ups_of(hosting, construct)}


def test_a_host_whose_arn_is_told_may_receive_from_its_own_queue_and_do_nothing_else(
    hosting: Template,
) -> None:
    allowed = [
        (statement["Principal"], set(statement["Action"]), statement["Resource"])
        for policy in of_type(hosting, "SQS::QueuePolicy").values()
        for statement in policy["PolicyDocument"]["Statement"]
        if statement["Effect"] == "Allow"
    ]

    assert allowed == [
        (
            {"AWS": ACME_ARN},
            {
                "sqs:ReceiveMessage",
                "sqs:DeleteMessage",
                "sqs:ChangeMessageVisibility",
                "sqs:GetQueueAttributes",
            },
            {"Fn::GetAtt": [wake_ups_of(hosting, "HostQueueAcme"), "Arn"]},
        )
    ]


@pytest.mark.parametrize("name", GRANTS)
def test_hosts_add_to_a_functions_grants_exactly_what_reaches_them(hosting: Template, name: str) -> None:
    send = {"sqs:SendMessage"}
    added = {
        "status": {},
        "tasks": dict.fromkeys(QUEUES.values(), send),
        "host": dict.fromkeys(QUEUES.values(), send),
        "turns": dict.fromkeys(QUEUES.values(), send) | {arn: {"lambda:InvokeFunction"} for arn in FUNCTIONS},
        "sweep": dict.fromkeys(QUEUES.values(), send),
        "publish": {},
    }

    assert granted(hosting, name) == GRANTS[name] | {"its log": LOG, "*": TRACE} | added[name]


def test_whoever_may_wake_an_agent_is_told_its_queue_and_the_functions_there_are(hosting: Template) -> None:
    for name in ("tasks", "host", "turns", "sweep"):
        told = function_of(hosting, name)[1]["Environment"]["Variables"]
        assert json.loads(told["TURNKEEPER_HOST_FUNCTIONS"]) == FUNCTIONS, name
        assert json.loads(resolved(told["TURNKEEPER_HOST_QUEUES"])) == {
            ACME: f"url of {wake_ups_of(hosting, 'HostQueueAcme')}",
            MY_TEAM: f"url of {wake_ups_of(hosting, 'HostQueueMyTeam')}",
        }, name


def test_the_most_hosts_there_may_be_fit_into_a_functions_environment(synthesise: Synthesise) -> None:
    hosts = {
        f"a{'x' * 22}{letter}": {"principal": f"123456789012/AROA{'X' * 16}{letter.upper()}"}
        for letter in "abcdefghij"
    }
    functions = [
        f"arn:aws:lambda:ap-southeast-2:123456789012:function:{letter * 64}" for letter in "abcdefghij"
    ]
    longest = "s" * 32
    template = synthesise(
        external_hosts=hosts,
        host_functions=functions,
        severities={str(code): "critical" for code in range(5000, 5008)},
        stage=longest,
        stages={longest: SETTINGS["stages"]["prod"]},
    )
    told = function_of(template, "tasks")[1]["Environment"]["Variables"]

    # The longest address that a queue can have.
    url = f"https://sqs.ap-southeast-2.amazonaws.com/123456789012/{'q' * 80}"
    size = sum(
        len(name) + len(re.sub("url of [A-Za-z0-9]+", url, resolved(value))) for name, value in told.items()
    )

    assert size <= 4096


def resolved(value: Any) -> str:
    """Return *value* with every reference replaced by words."""
    match value:
        case str(text):
            return text
        case {"Ref": name}:
            return f"url of {name}"
        case {"Fn::Join": ["", parts]}:
            return "".join(resolved(part) for part in parts)
    raise AssertionError(value)


def without(properties: dict[str, Any], names: set[str]) -> dict[str, Any]:
    """Return *properties* but for those of *names*."""
    return {name: value for name, value in properties.items() if name not in names}
