"""Tasks that agents create: whoever is responsible for the first is responsible for all (TS-3, TN-2)."""

from dataclasses import dataclass

import pytest

from tests.conformance.client import answered, said
from tests.conformance.host import Host, auth, child
from tests.conformance.person import Person


@dataclass(frozen=True)
class Family:
    """A task of the owner's, the task that its turn created, and the one that this one's turn created."""

    parent: str
    child: str
    grandchild: str
    fences: tuple[int, int]
    """Of the turns of the first two."""


@pytest.fixture
def family(owner: Person, host: Host, agent: str) -> Family:
    delegate = host.agent(delegates_from=[agent])
    last = host.agent(delegates_from=[delegate])
    parent = owner.create(agent, "first")
    fence = host.start(parent)
    made = answered(host.delegate(parent, fence, "one", delegate, "go on"), 202)["id"]
    inner = host.start(made)
    grandchild = answered(host.delegate(made, inner, "two", last, "you do it"), 202)["id"]
    return Family(parent, made, grandchild, (fence, inner))


@pytest.mark.clause("TS-3")
def test_the_human_behind_the_first_task_is_responsible_at_every_depth(
    owner: Person, owner_id: str, family: Family
) -> None:
    responsible = [
        owner.task(task)["responsible_user"] for task in (family.parent, family.child, family.grandchild)
    ]

    assert responsible == [owner_id] * 3


@pytest.mark.clause("TS-3")
def test_that_human_finds_them_all_among_their_tasks(owner: Person, family: Family) -> None:
    for task in (family.parent, family.child, family.grandchild):
        assert owner.listed(task) == owner.task(task)


@pytest.mark.clause("TS-3")
def test_a_delegating_agent_does_not_choose_who_is_responsible(
    owner: Person, host: Host, agent: str, other_id: str
) -> None:
    delegate = host.agent(delegates_from=[agent])
    parent = owner.create(agent, "first")
    fence = host.start(parent)

    refused = host.post(
        parent, "children", fence=fence, call="one", agent=delegate, responsible_user=other_id
    )

    assert refused.status_code == 422, refused.text
    assert refused.json()["errors"][0]["at"] == "responsible_user"


@pytest.mark.clause("TS-3")
@pytest.mark.clause("IN-2a")
def test_to_anybody_else_a_child_is_an_unknown_task(other: Person, family: Family) -> None:
    unknown = other.poll("0" * 32)

    for task in (family.child, family.grandchild):
        assert (other.poll(task).status_code, other.poll(task).content) == (404, unknown.content)
        assert other.send(task, "mine?").content == unknown.content


@pytest.mark.clause("TS-3")
def test_what_a_grandchild_needs_is_asked_of_that_human(
    owner: Person, host: Host, owner_id: str, family: Family
) -> None:
    provider = f"provider-{family.grandchild[:12]}"
    host.wait(family.grandchild, host.start(family.grandchild), auth("sign-in", provider))
    asked = [call["provider"] for call in owner.notifications(family.grandchild)]
    others = [owner.notifications(task) for task in (family.parent, family.child)]

    host.grant(owner_id, provider)

    assert asked == [provider]
    assert others == [[], []]
    assert owner.notifications(family.grandchild) == []


@pytest.mark.clause("TS-2")
def test_a_child_is_the_agents_that_it_was_created_with(host: Host, owner: Person, agent: str) -> None:
    delegate = host.agent(delegates_from=[agent])
    parent = owner.create(agent, "first")

    made = host.delegate(parent, host.start(parent), "one", delegate)

    assert answered(made, 201)["agent"] == delegate
    assert owner.task(made.json()["id"]) == made.json()


@pytest.mark.clause("AG-1")
def test_an_agent_that_does_not_say_so_takes_no_task_from_another(
    owner: Person, host: Host, agent: str
) -> None:
    parent = owner.create(agent, "first")
    fence = host.start(parent)

    for delegate in (host.agent(), "conformance-no-such-agent"):
        refused = host.delegate(parent, fence, "one", delegate, "go on")
        assert refused.status_code == 422, refused.text
        assert refused.json()["errors"][0]["at"] == "agent"


@pytest.mark.clause("TS-1")
def test_the_same_call_of_the_same_turn_is_the_same_child(owner: Person, host: Host, agent: str) -> None:
    delegate = host.agent(delegates_from=[agent])
    parent = owner.create(agent, "first")
    fence = host.start(parent)
    first = answered(host.delegate(parent, fence, "one", delegate, "go on"), 202)["id"]

    again = host.delegate(parent, fence, "one", delegate, "go on")
    changed = host.delegate(parent, fence, "one", delegate, "something else")
    another = answered(host.delegate(parent, fence, "two", delegate, "go on"), 202)["id"]

    assert again.json()["id"] == first
    assert changed.status_code == 409, changed.text
    assert another != first
    assert owner.texts(first) == ["go on"]


@pytest.mark.clause("LC-1")
def test_a_parent_goes_on_when_its_child_has_something_to_say(
    owner: Person, host: Host, family: Family
) -> None:
    fence = family.fences[0]
    host.wait(family.parent, fence, child("child", family.child), memo={"asked": "child"})
    early = host.post(family.parent, "turns").status_code

    host.finish(family.child, family.fences[1], "here it is")
    resumed = host.start_when_woken(family.parent)
    heard = answered(host.ask("GET", f"host/tasks/{family.parent}/children/{family.child}/messages"), 200)

    assert early == 409
    assert [(one["id"], one["kind"], one["verdict"]) for one in resumed["resolutions"]] == [
        ("child", "child", "done")
    ]
    assert resumed["memo"] == {"asked": "child"}
    assert heard["messages"] == owner.messages(family.child)


@pytest.mark.clause("PO-2")
def test_the_parents_host_sees_the_childs_status_object_as_everybody_does(
    owner: Person, host: Host, family: Family
) -> None:
    seen = host.ask("GET", f"host/tasks/{family.parent}/children/{family.child}")

    assert answered(seen, 200) == owner.task(family.child)


@pytest.mark.clause("TS-5c")
def test_a_child_that_ends_late_changes_nothing_of_its_parent(
    owner: Person, host: Host, family: Family
) -> None:
    host.wait(family.parent, family.fences[0], child("child", family.child))
    host.do(family.parent, "complete")
    before = owner.sees(family.parent)

    host.post(family.child, "finish", fence=family.fences[1], **said("too late"))

    assert owner.sees(family.parent) == before
