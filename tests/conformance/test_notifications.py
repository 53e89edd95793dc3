"""Notifications: what only the responsible user can do, for as long as it is outstanding (TS-7, TN-1 to TN-5)."""

from datetime import datetime, timedelta

import pytest

from tests.conformance.host import Host, auth, child, host_wait, review
from tests.conformance.instants import instant
from tests.conformance.person import Person

SIGN_IN, REVIEW = "user_auth_required", "review_required"
A_WHILE = timedelta(minutes=1)


def unique(task: str) -> str:
    """A provider that no other task waits for."""
    return f"provider-{task[:12]}"


def text_of(moment: datetime) -> str:
    """*moment* as a request says it."""
    return moment.isoformat()


@pytest.mark.clause("TN-1a")
def test_a_turn_that_needs_an_authorisation_is_a_notification_that_names_the_provider(
    owner: Person, host: Host, queued: str
) -> None:
    assert owner.notifications(queued) == []

    host.wait(queued, host.start(queued), auth("sign-in", "github"))

    (call,) = owner.notifications(queued)
    assert (call["kind"], call["provider"]) == (SIGN_IN, "github")
    assert owner.phase(queued) == ("processing", None)


@pytest.mark.clause("TN-1a")
def test_the_task_goes_on_when_it_is_granted_and_not_before(host: Host, queued: str, owner_id: str) -> None:
    provider = unique(queued)
    fence = host.start(queued)
    host.wait(queued, fence, auth("sign-in", provider), memo={"at": "step 2"})
    early = host.post(queued, "turns").status_code

    host.grant(owner_id, provider)
    resumed = host.post(queued, "turns").json()["turn"]

    assert early == 409
    assert resumed["fence"] > fence
    assert resumed["memo"] == {"at": "step 2"}
    assert [(one["id"], one["verdict"]) for one in resumed["resolutions"]] == [("sign-in", "done")]


@pytest.mark.clause("TN-1a")
def test_a_grant_that_came_between_the_need_and_the_wait_for_it_is_enough(
    owner: Person, host: Host, queued: str, owner_id: str
) -> None:
    provider = unique(queued)
    fence = host.start(queued)
    granted = instant(host.grant(owner_id, provider)["granted_at"])

    host.wait(queued, fence, auth("sign-in", provider, needed_at=text_of(granted - A_WHILE)))

    assert owner.notifications(queued) == []
    assert host.start_when_woken(queued)["resolutions"][0]["verdict"] == "done"


@pytest.mark.clause("TN-1a")
def test_a_grant_that_was_found_wanting_is_not(owner: Person, host: Host, queued: str, owner_id: str) -> None:
    provider = unique(queued)
    fence = host.start(queued)
    granted = instant(host.grant(owner_id, provider)["granted_at"])

    host.wait(queued, fence, auth("sign-in", provider, needed_at=text_of(granted + A_WHILE)))

    assert [call["provider"] for call in owner.notifications(queued)] == [provider]
    assert host.post(queued, "turns").status_code == 409


@pytest.mark.clause("TN-1b")
def test_several_operations_that_wait_for_a_provider_are_one_notification_since_the_first(
    owner: Person, host: Host, queued: str
) -> None:
    waits = [auth(f"operation-{number}", "github") for number in range(3)]

    driven = host.wait(queued, host.start(queued), *waits)

    (call,) = owner.notifications(queued)
    raised = [instant(wait["since"]) for wait in driven["waits"]]
    assert len(raised) == len(waits)
    assert instant(call["since"]) == min(raised)


@pytest.mark.clause("TN-1b")
def test_two_providers_are_two_notifications(owner: Person, host: Host, queued: str) -> None:
    host.wait(queued, host.start(queued), auth("a", "github"), auth("b", "gitlab"), auth("c", "github"))

    assert sorted(call["provider"] for call in owner.notifications(queued)) == ["github", "gitlab"]


@pytest.mark.clause("TN-1b")
def test_one_grant_resolves_all_that_wait_for_it_in_every_task_of_the_user(
    owner: Person, host: Host, agent: str, owner_id: str
) -> None:
    one, another = owner.create(agent, "first"), owner.create(agent, "first")
    provider = unique(one)
    for task in (one, another):
        host.wait(task, host.start(task), auth("read", provider), auth("write", provider))

    granted = host.grant(owner_id, provider)

    assert (granted["user"], granted["provider"]) == (owner_id, provider)
    assert instant(granted["granted_at"]) >= instant(owner.task(one)["created_at"])
    for task in (one, another):
        assert owner.notifications(task) == []
        resolutions = host.post(task, "turns").json()["turn"]["resolutions"]
        assert {(each["id"], each["verdict"]) for each in resolutions} == {
            ("read", "done"),
            ("write", "done"),
        }


@pytest.mark.clause("TN-1b")
def test_a_grant_leaves_other_providers_and_other_people_waiting(
    owner: Person, other: Person, host: Host, agent: str, owner_id: str
) -> None:
    mine, theirs = owner.create(agent, "first"), other.create(agent, "first")
    provider = unique(mine)
    host.wait(mine, host.start(mine), auth("a", provider), auth("b", f"{provider}-2"))
    host.wait(theirs, host.start(theirs), auth("a", provider))
    before = other.sees(theirs)

    host.grant(owner_id, provider)

    assert [call["provider"] for call in owner.notifications(mine)] == [f"{provider}-2"]
    assert other.sees(theirs) == before


@pytest.mark.clause("TN-1c")
def test_what_the_host_lacks_is_only_processing(owner: Person, host: Host, queued: str) -> None:
    host.wait(queued, host.start(queued), host_wait("credential-of-the-host"))

    assert owner.phase(queued) == ("processing", None)
    assert owner.notifications(queued) == []


@pytest.mark.clause("TN-2a")
def test_a_review_by_the_responsible_user_is_a_notification(
    owner: Person, host: Host, queued: str, owner_id: str
) -> None:
    host.wait(queued, host.start(queued), review("user", owner_id, f"May {queued}?"))

    assert [call["kind"] for call in owner.notifications(queued)] == [REVIEW]


@pytest.mark.clause("TN-2a")
@pytest.mark.parametrize("decided", [("approve", "done"), ("deny", "denied")], ids=["yes", "no"])
def test_it_is_gone_when_they_decide_and_the_turn_learns_how(
    owner: Person, host: Host, queued: str, owner_id: str, decided: tuple[str, str]
) -> None:
    (decision, verdict), subject = decided, f"May {queued}?"
    host.wait(queued, host.start(queued), review("user", owner_id, subject))

    answer = owner.decide(owner.review_of(subject), decision)

    assert answer.status_code == 200, answer.text
    assert owner.notifications(queued) == []
    (resolution,) = host.post(queued, "turns").json()["turn"]["resolutions"]
    assert (resolution["id"], resolution["kind"], resolution["verdict"]) == ("user", "review", verdict)


@pytest.mark.clause("TN-2a")
def test_what_was_decided_stays_decided(owner: Person, host: Host, queued: str, owner_id: str) -> None:
    subject = f"May {queued}?"
    host.wait(queued, host.start(queued), review("user", owner_id, subject), host_wait("job"))
    waiting = owner.review_of(subject)
    first = owner.decide(waiting, "approve")
    before = owner.sees(queued)

    again, otherwise = owner.decide(waiting, "approve"), owner.decide(waiting, "deny")

    assert (first.status_code, again.status_code, otherwise.status_code) == (200, 200, 409)
    assert again.json() == first.json()
    assert owner.sees(queued) == before


@pytest.mark.clause("TN-2b")
def test_a_review_by_somebody_else_is_only_processing(
    owner: Person, other: Person, host: Host, queued: str, other_id: str
) -> None:
    host.wait(queued, host.start(queued), review("boss", other_id, f"May {queued}?"))

    assert owner.phase(queued) == ("processing", None)
    assert owner.notifications(queued) == []
    assert other.poll(queued).status_code == 404


@pytest.mark.clause("TN-2b")
def test_it_reaches_its_reviewer_and_nobody_else(
    owner: Person, other: Person, host: Host, queued: str, other_id: str
) -> None:
    subject = f"May {queued}?"
    host.wait(queued, host.start(queued), review("boss", other_id, subject))
    (asked,) = [one for one in other.reviews() if one["subject"] == subject]
    waiting = asked["id"]

    refused, unknown = owner.decide(waiting, "approve"), owner.decide("0" * 32, "approve")
    decided = other.decide(waiting, "approve")

    assert subject not in {one["subject"] for one in owner.reviews()}
    assert set(asked) == {"id", "agent", "subject", "since", "deadline"}
    assert (refused.status_code, refused.content) == (404, unknown.content)
    assert decided.status_code == 200, decided.text
    assert subject not in {one["subject"] for one in other.reviews()}
    (resolution,) = host.post(queued, "turns").json()["turn"]["resolutions"]
    assert (resolution["id"], resolution["verdict"]) == ("boss", "done")


@pytest.mark.clause("TN-3")
def test_waiting_for_a_child_or_for_the_host_is_no_notification(
    owner: Person, host: Host, agent: str
) -> None:
    parent = owner.create(agent, "first")
    fence = host.start(parent)
    made = host.delegate(parent, fence, "one", host.agent(delegates_from=[agent]), "go").json()["id"]

    host.wait(parent, fence, child("child", made), host_wait("job"))

    assert owner.notifications(parent) == []
    assert owner.phase(parent) == ("processing", None)


@pytest.mark.clause("TN-3")
def test_waiting_for_a_turn_for_another_attempt_or_for_capacity_is_no_notification(
    owner: Person, host: Host
) -> None:
    agent = host.agent(repeatable=True, attempts=2, backoff=["1h"])
    task = owner.create(agent, "first")
    outstanding = [owner.notifications(task)]
    fence = host.start(task)
    outstanding.append(owner.notifications(task))
    host.do(task, "fail", fence=fence)
    outstanding.append(owner.notifications(task))

    assert outstanding == [[], [], []]
    assert owner.phase(task) == ("processing", None)


@pytest.mark.clause("TN-4")
def test_output_and_outcomes_are_no_notifications(owner: Person, host: Host, queued: str) -> None:
    fence = host.start(queued)
    host.say(queued, fence, 1, "working")
    outstanding = [owner.notifications(queued)]
    host.finish(queued, fence, "done")
    outstanding.append(owner.notifications(queued))
    host.do(queued, "error")
    outstanding.append(owner.notifications(queued))

    assert outstanding == [[], [], []]


@pytest.mark.clause("TN-5")
def test_a_notification_is_carried_on_every_poll_until_it_is_resolved(
    owner: Person, host: Host, queued: str, owner_id: str
) -> None:
    provider = unique(queued)
    host.wait(queued, host.start(queued), auth("sign-in", provider))
    polled = [owner.notifications(queued) for _ in range(3)]
    owner.tell(queued, "are you there?")
    polled.append(owner.notifications(queued))
    host.grant(owner_id, provider)

    assert polled[0]
    assert polled == [polled[0]] * 4
    assert owner.notifications(queued) == []


@pytest.mark.clause("TN-5")
def test_since_is_an_instant_and_provider_stands_on_authorisations_alone(
    owner: Person, host: Host, queued: str, owner_id: str
) -> None:
    host.wait(queued, host.start(queued), auth("sign-in", "github"), review("user", owner_id))

    calls = owner.notifications(queued)

    assert {call["kind"]: "provider" in call for call in calls} == {SIGN_IN: True, REVIEW: False}
    assert all(instant(call["since"]) >= instant(owner.task(queued)["created_at"]) for call in calls)


@pytest.mark.clause("TN-5")
def test_an_interruption_takes_its_notifications_with_it(owner: Person, host: Host, queued: str) -> None:
    host.wait(queued, host.start(queued), auth("sign-in", "github"))

    host.do(queued, "interrupt")

    assert owner.notifications(queued) == []
    assert owner.phase(queued) == ("idle", None)


@pytest.mark.clause("TS-7")
def test_they_stand_oldest_first(owner: Person, host: Host, queued: str, owner_id: str) -> None:
    needs = [auth(provider, provider) for provider in ("gitlab", "github", "jira")]

    host.wait(queued, host.start(queued), needs[0], review("user", owner_id), *needs[1:])

    since = [instant(call["since"]) for call in owner.notifications(queued)]
    assert len(since) == 4
    assert since == sorted(since)


@pytest.mark.clause("TS-7")
@pytest.mark.parametrize("end", ["complete", "error", "restrict"])
def test_there_are_none_at_the_end(owner: Person, host: Host, queued: str, owner_id: str, end: str) -> None:
    host.wait(queued, host.start(queued), auth("sign-in", "github"), review("user", owner_id))
    assert len(owner.notifications(queued)) == 2

    host.do(queued, end)

    assert owner.notifications(queued) == []


@pytest.mark.clause("TS-7")
def test_the_list_of_what_is_outstanding_says_the_same_as_each_task(
    owner: Person, host: Host, queued: str
) -> None:
    provider = unique(queued)
    host.wait(queued, host.start(queued), auth("sign-in", provider))

    (call,) = owner.notifications(queued)
    (listed,) = [one for one in owner.outstanding() if one.get("provider") == provider]

    assert listed["task"] == queued
    assert {name: listed[name] for name in call} == call
