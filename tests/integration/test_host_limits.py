"""What an agent's manifest allows its tasks: whoever passes a limit is errored with its code, and nothing is lost."""

from collections.abc import Callable

import pytest

from tests.support.hosting import Host, Hosts, begun_before, text
from tests.support.laboratory import Laboratory

LIMITS = {"max_prompt_tokens": 10, "max_completion_tokens": 10, "max_tool_calls": 10}

type Spend = Callable[[Host, str, int, dict[str, int]], object]

SPENDING: dict[str, Spend] = {
    "heartbeat": lambda host, task_id, fence, usage: host.ask(
        task_id, "heartbeat", {"fence": fence, "usage": usage}
    ),
    "output": lambda host, task_id, fence, usage: host.say(task_id, fence, 1, "said", usage=usage),
    "finish": lambda host, task_id, fence, usage: host.finish(task_id, fence, "said", usage=usage),
}


@pytest.mark.clause("LC-4")
@pytest.mark.parametrize("by", SPENDING)
@pytest.mark.parametrize("what", ["prompt_tokens", "completion_tokens", "tool_calls"])
def test_a_task_that_uses_more_than_it_may_is_errored_by_the_report_that_says_so(
    hosts: Hosts, by: str, what: str
) -> None:
    host = hosts.acme
    host.register(repeatable=True, limits=LIMITS)
    task_id, fence = host.running()
    host.tell(task_id, "waits")
    host.ask(task_id, "heartbeat", {"fence": fence, "usage": {what: 10}})
    assert host.ending(task_id) == (None, 1010)
    host.wake_ups()

    SPENDING[by](host, task_id, fence, {what: 1})

    assert host.ending(task_id) == ("errored", 5002)
    shown = host.read(task_id)
    assert shown["usage"][what] == 11
    assert (shown["turn"], shown["pending"]) == (None, 1)
    said = [entry["type"] for entry in host.messages(task_id)["messages"]]
    assert said == ["input", *(["output"] if by != "heartbeat" else []), "input"]
    assert host.wake_ups() == []


def test_a_limit_of_nothing_allows_nothing(hosts: Hosts) -> None:
    hosts.acme.register(limits={"max_tool_calls": 0})
    task_id, fence = hosts.acme.running()

    assert hosts.acme.finish(task_id, fence, usage={"prompt_tokens": 5}).status == 200
    hosts.acme.tell(task_id, "more")
    hosts.acme.finish(task_id, hosts.acme.start(task_id)["fence"], usage={"tool_calls": 1})

    assert hosts.acme.ending(task_id) == ("errored", 5002)


def test_usage_is_counted_over_all_turns_of_a_task(hosts: Hosts) -> None:
    hosts.acme.register(limits={"max_tool_calls": 2})
    task_id = hosts.acme.task()
    for _ in range(3):
        assert hosts.acme.ending(task_id)[0] is None
        hosts.acme.tell(task_id, "more")
        fence = hosts.acme.start(task_id)["fence"]
        hosts.acme.finish(task_id, fence, usage={"tool_calls": 1})

    assert hosts.acme.ending(task_id) == ("errored", 5002)


def test_an_output_said_twice_is_counted_once(host: Host) -> None:
    task_id, fence = host.running()
    for _ in range(2):
        host.say(task_id, fence, 1, "one", usage={"tool_calls": 1})

    assert host.read(task_id)["usage"]["tool_calls"] == 1


@pytest.mark.clause("LC-4")
def test_a_task_that_has_had_all_its_turns_is_errored_where_another_would_start(hosts: Hosts) -> None:
    hosts.acme.register(limits={"max_turns": 2})
    task_id = hosts.acme.task()
    for _ in range(2):
        hosts.acme.tell(task_id, "hi")
        hosts.acme.finish(task_id, hosts.acme.start(task_id)["fence"], "done")
    hosts.acme.tell(task_id, "one too many")

    first = hosts.acme.ask(task_id, "turns", key="k")
    again = hosts.acme.ask(task_id, "turns", key="k")

    assert (first.status, again.status) == (409, 409)
    assert hosts.acme.ending(task_id) == ("errored", 6004)
    assert hosts.acme.read(task_id)["pending"] == 1
    assert "committed_at" not in hosts.acme.messages(task_id)["messages"][-1]


@pytest.mark.clause("LC-4")
@pytest.mark.parametrize("state", ["queued", "running"])
def test_a_busy_task_that_is_too_old_is_errored(hosts: Hosts, state: str) -> None:
    hosts.acme.register(repeatable=True, attempts=10, limits={"max_age": "1h"}, turn_limit="2h")
    task_id = hosts.acme.task("hi")
    if state == "running":
        hosts.acme.start(task_id)

    hosts.acme.sweep_after(minutes=59)
    assert hosts.acme.ending(task_id)[0] is None
    hosts.acme.sweep_after(minutes=2)

    assert hosts.acme.ending(task_id) == ("errored", 5002)


@pytest.mark.parametrize(("repeatable", "code"), [(True, 5004), (False, 6005)])
def test_a_turn_that_takes_too_long_is_errored_however_much_alive_its_host_is(
    hosts: Hosts, live_lab: Laboratory, *, repeatable: bool, code: int
) -> None:
    hosts.acme.register(repeatable=repeatable, turn_limit="10m")
    task_id = hosts.acme.task("hi")
    begun_before(live_lab, task_id, minutes=0.5)
    for _ in range(3):
        assert hosts.acme.ask(task_id, "heartbeat", {"fence": 1}).status == 200
    hosts.acme.sweep_after(seconds=30)
    assert hosts.acme.ending(task_id)[0] is None

    hosts.acme.sweep_after(minutes=10)

    assert hosts.acme.ending(task_id) == ("errored", code)
    assert hosts.acme.finish(task_id, 1, "too late").status == 409


@pytest.mark.parametrize(
    "usage",
    [
        [],
        "1",
        {"tool_calls": -1},
        {"tool_calls": 1.5},
        {"tool_calls": True},
        {"tool_calls": "1"},
        {"tool_calls": 10**12 + 1},
        {"prompt_tokens": 1, "dollars": 5},
    ],
)
def test_usage_that_is_none_is_refused_and_not_counted(
    host: Host, live_lab: Laboratory, usage: object
) -> None:
    task_id, fence = host.running()
    before = live_lab.everything()

    replies = [
        host.ask(task_id, "heartbeat", {"fence": fence, "usage": usage}),
        host.ask(task_id, "finish", {"fence": fence, "usage": usage}),
        host.ask(task_id, "outputs", {"fence": fence, "number": 1, **text("said"), "usage": usage}),
    ]

    assert {reply.status for reply in replies} == {422}
    assert all(place["at"].startswith("usage") for reply in replies for place in reply.json["errors"])
    assert live_lab.everything() == before
