"""Which queue a wake-up goes to: the host's own, and the main one for what the deployment runs itself."""

from typing import Any

import pytest

from tests.support.hosting import AGENT, Host, bodies
from tests.support.laboratory import Laboratory
from turnkeeper.domain.transitions import Wake


def in_the_main_queue(host: Host) -> list[Any]:
    return bodies(host.lab, host.lab.queue_url)


def test_a_wake_up_goes_to_the_hosts_own_queue_and_names_nothing_but_the_task(host: Host) -> None:
    task_id = host.task("a secret")

    assert host.wake_ups() == [{"task": task_id, "agent": AGENT}]
    assert in_the_main_queue(host) == []


def test_a_task_of_the_deployments_own_agents_wakes_no_host(host: Host) -> None:
    task_id = host.task("hi", agent="echo")

    assert in_the_main_queue(host) == [{"task": task_id, "agent": "echo"}]
    assert host.wake_ups() == []


def test_what_recovers_a_task_goes_to_the_hosts_own_queue_too(host: Host) -> None:
    forgotten, (lost, _) = host.task("hi"), host.running()
    host.wake_ups()

    host.sweep_after(seconds=61)

    assert {wake["task"] for wake in host.wake_ups()} == {forgotten, lost}
    assert in_the_main_queue(host) == []
    assert host.start(forgotten)["attempt"] == 1
    assert host.start(lost)["attempt"] == 2


def test_a_stray_wake_up_in_the_main_queue_starts_no_turn_of_a_host(host: Host, live_lab: Laboratory) -> None:
    task_id = host.task("hi")
    live_lab.sqs.send_message(
        QueueUrl=live_lab.queue_url,
        MessageBody=f'{{"task":"{task_id}"}}',
        MessageGroupId=task_id,
        MessageDeduplicationId="stray",
    )
    before = live_lab.everything()

    assert live_lab.work() == 1
    assert live_lab.everything() == before


def test_a_host_that_is_declared_no_more_is_woken_no_more_and_its_tasks_stay(
    host: Host, live_lab: Laboratory, caplog: pytest.LogCaptureFixture
) -> None:
    queue = live_lab.runtime.queue
    assert queue
    task = live_lab.stored(host.task("hi"))
    undeclared = type(queue)(queue.client, queue.url, host_urls={})
    host.wake_ups()

    assert not undeclared.send(task, Wake.TASK)
    assert "no queue is declared for the host of agent helper" in caplog.text
    assert host.wake_ups() == []
    assert in_the_main_queue(host) == []
