"""What a task asks of its responsible user, and of nobody else."""

from datetime import datetime, timedelta
from itertools import permutations

import pytest

from tests.support.specimens import NOW, OWNER, SECOND, suspended, terminal
from turnkeeper.domain.status import status_object
from turnkeeper.domain.waits import Notification, NotificationKind, Wait, WaitKind, notifications

SOMEBODY_ELSE = "somebody-else"


def wait(
    kind: WaitKind, *, since: datetime = NOW, provider: str | None = None, reviewer: str | None = None
) -> Wait:
    return Wait(
        id=f"{kind}-{since}-{provider}",
        kind=kind,
        since=since,
        deadline=since + timedelta(days=7),
        provider=provider,
        reviewer=reviewer,
    )


def sign_in(provider: str, since: datetime = NOW) -> Wait:
    return wait(WaitKind.AUTHORISATION, since=since, provider=provider)


def review(reviewer: str, since: datetime = NOW) -> Wait:
    return wait(WaitKind.REVIEW, since=since, reviewer=reviewer)


def call_to_sign_in(provider: str, since: datetime = NOW) -> Notification:
    return Notification(NotificationKind.USER_AUTH_REQUIRED, since, provider)


def call_to_review(since: datetime = NOW) -> Notification:
    return Notification(NotificationKind.REVIEW_REQUIRED, since)


@pytest.mark.clause("TN-1a")
def test_a_sign_in_names_its_provider() -> None:
    assert notifications([sign_in("github")], OWNER) == (call_to_sign_in("github"),)


@pytest.mark.clause("TN-1b")
@pytest.mark.parametrize("order", list(permutations(range(3))))
def test_operations_that_wait_for_one_provider_are_one_call_since_the_first(order: tuple[int, ...]) -> None:
    waits = [sign_in("github", NOW + place * SECOND) for place in order]

    assert notifications(waits, OWNER) == (call_to_sign_in("github", NOW),)


@pytest.mark.clause("TN-1b")
def test_each_provider_is_a_call_of_its_own() -> None:
    waits = [sign_in("slack"), sign_in("github"), sign_in("slack")]

    assert notifications(waits, OWNER) == (call_to_sign_in("github"), call_to_sign_in("slack"))


@pytest.mark.clause("TN-2a")
def test_a_review_by_the_responsible_user_is_a_call_and_names_no_provider() -> None:
    assert notifications([review(OWNER)], OWNER) == (call_to_review(),)


@pytest.mark.clause("TN-2b")
def test_a_review_by_anyone_else_is_none() -> None:
    assert notifications([review(SOMEBODY_ELSE)], OWNER) == ()


@pytest.mark.clause("TN-3", "TN-1c")
@pytest.mark.parametrize("kind", [WaitKind.CHILD, WaitKind.HOST, WaitKind.RECONCILE])
def test_nothing_else_is_a_notification(kind: WaitKind) -> None:
    assert notifications([wait(kind, provider="github", reviewer=OWNER)], OWNER) == ()


@pytest.mark.clause("TS-7")
@pytest.mark.parametrize("order", list(permutations(range(3))))
def test_calls_are_in_the_order_of_their_since(order: tuple[int, ...]) -> None:
    three = [sign_in("zoom", NOW), review(OWNER, NOW + SECOND), sign_in("asana", NOW + 2 * SECOND)]

    assert notifications([three[place] for place in order], OWNER) == (
        call_to_sign_in("zoom", NOW),
        call_to_review(NOW + SECOND),
        call_to_sign_in("asana", NOW + 2 * SECOND),
    )


@pytest.mark.clause("TS-9", "TN-5")
def test_the_status_object_has_exactly_the_shape_of_the_contract() -> None:
    task = suspended(sign_in("github"), review(OWNER, NOW + SECOND))

    assert status_object(task) == {
        "id": task.id,
        "agent": "echo",
        "responsible_user": OWNER,
        "created_at": "2026-11-30T12:00:00.000000Z",
        "status": {
            "phase": "processing",
            "terminal_reason": None,
            "revision": task.revision,
            "notifications": [
                {
                    "kind": "user_auth_required",
                    "since": "2026-11-30T12:00:00.000000Z",
                    "provider": "github",
                },
                {"kind": "review_required", "since": "2026-11-30T12:00:01.000000Z"},
            ],
            "idle_expires_at": None,
        },
    }


@pytest.mark.clause("TS-5b", "TS-7", "TS-8b")
def test_an_ended_task_says_why_and_asks_nothing() -> None:
    status = status_object(terminal())["status"]

    assert status == {
        "phase": "terminal",
        "terminal_reason": "errored",
        "revision": status["revision"],
        "notifications": [],
        "idle_expires_at": None,
    }
