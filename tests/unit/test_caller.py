"""Who asks: one human or one host, known by what the gateway verified and nothing else."""

from typing import Any

import pytest

from turnkeeper.domain.errors import NotAHost, NotAHuman
from turnkeeper.edge.caller import has_claim, human, principal

ALICE = {"sub": "a-1", "username": "alice", "client_id": "app", "token_use": "access"}


def event(claims: object, **more: object) -> dict[str, Any]:
    return {"requestContext": {"authorizer": {"jwt": {"claims": claims}}}, **more}


@pytest.mark.clause("TS-3")
def test_the_caller_is_the_subject_of_the_verified_token() -> None:
    assert human(event(ALICE), claim="username") == "a-1"


def test_a_deployment_says_which_claim_only_humans_have() -> None:
    claims = {"sub": "a-1", "email": "alice@example.com"}

    assert human(event(claims), claim="email") == "a-1"
    with pytest.raises(NotAHuman):
        human(event(claims), claim="username")


@pytest.mark.clause("SEC-1")
@pytest.mark.parametrize(
    ("wanted", "claims", "has"),
    [
        ("develops", {"develops": "true"}, True),
        ("develops", {"develops": "false"}, False),
        ("develops", {"develops": "1"}, False),
        ("develops", {}, False),
        ("groups=dev", {"groups": "[ops dev]"}, True),
        ("groups=dev", {"groups": "ops,dev"}, True),
        ("groups=dev", {"groups": "[ops devs]"}, False),
        ("groups=dev", {"other": "dev"}, False),
        ("", {"": "true"}, False),
        (None, {"": "true"}, False),
    ],
)
def test_a_claim_is_there_when_it_is_true_or_has_the_word(
    wanted: str | None, claims: dict[str, str], *, has: bool
) -> None:
    assert has_claim(event({**ALICE, **claims}), wanted) is has


@pytest.mark.parametrize(
    "changes",
    [
        {"sub": ""},
        {"sub": None},
        {"sub": ["a-1"]},
        {"username": ""},
        {"username": " "},
        {"username": None},
        {"client_id": "a-1"},
        {"token_use": "id"},
    ],
)
def test_a_token_that_names_no_human_is_refused(changes: dict[str, object]) -> None:
    with pytest.raises(NotAHuman):
        human(event({**ALICE, **changes}), claim="username")


@pytest.mark.parametrize(
    "sent",
    [
        {},
        {"requestContext": None},
        {"requestContext": {}},
        {"requestContext": {"authorizer": None}},
        {"requestContext": {"authorizer": {"iam": {"userId": "a-1", "username": "alice"}}}},
        {"requestContext": {"authorizer": {"jwt": None}}},
        event(None),
        event([]),
        event({}),
    ],
)
def test_a_request_without_a_verified_token_is_nobodys(sent: dict[str, Any]) -> None:
    with pytest.raises(NotAHuman):
        human(sent, claim="username")


@pytest.mark.clause("SEC-2")
def test_nothing_else_in_a_request_says_who_asks() -> None:
    forged = {
        "headers": {"sub": "b-2", "x-user": "b-2", "authorization": "Bearer b-2"},
        "queryStringParameters": {"sub": "b-2", "responsible_user": "b-2"},
        "body": '{"sub":"b-2","responsible_user":"b-2"}',
    }

    assert human(event(ALICE, **forged), claim="username") == "a-1"


def signed(iam: object, **more: object) -> dict[str, Any]:
    return {"requestContext": {"authorizer": {"iam": iam}}, **more}


@pytest.mark.parametrize(
    ("user_id", "principal_id"),
    [
        ("AROAEXAMPLE:worker-1", "1/AROAEXAMPLE"),
        ("AROAEXAMPLE:worker:2", "1/AROAEXAMPLE"),
        ("AIDAEXAMPLE", "1/AIDAEXAMPLE"),
        ("123456789012", "1/123456789012"),
    ],
)
def test_a_host_is_the_role_or_user_that_signed_and_no_session(user_id: str, principal_id: str) -> None:
    assert principal(signed({"accountId": "1", "userId": user_id})) == principal_id


@pytest.mark.parametrize(
    "sent",
    [
        {},
        {"requestContext": None},
        {"requestContext": {"authorizer": {"iam": None}}},
        event(ALICE),
        signed([]),
        signed({}),
        signed({"accountId": "1"}),
        signed({"accountId": "", "userId": "AROAEXAMPLE:s"}),
        signed({"accountId": 1, "userId": "AROAEXAMPLE:s"}),
        signed({"accountId": "1", "userId": ""}),
        signed({"accountId": "1", "userId": ":s"}),
        signed({"accountId": "1", "userId": ["AROAEXAMPLE"]}),
        signed({"callerId": "AROAEXAMPLE:s", "userArn": "arn:aws:sts::1:assumed-role/acme/s"}),
        {"requestContext": {"accountId": "1", "userId": "AROAEXAMPLE"}, "headers": {"x-iam": "AROAEXAMPLE"}},
    ],
)
def test_a_request_without_a_verified_signature_is_no_hosts(sent: dict[str, Any]) -> None:
    with pytest.raises(NotAHost):
        principal(sent)


@pytest.mark.clause("SEC-2")
def test_nothing_else_in_a_signed_request_says_which_host_asks() -> None:
    forged = {
        "headers": {"x-amz-user": "AROARIVAL", "authorization": "AWS4-HMAC-SHA256 Credential=AROARIVAL"},
        "queryStringParameters": {"owner": "1/AROARIVAL"},
        "body": '{"owner":"1/AROARIVAL"}',
    }

    assert principal(signed({"accountId": "1", "userId": "AROAACME:s"}, **forged)) == "1/AROAACME"
