"""A task's life: created, polled, answered, queued for while busy, and ended at the instant it announced."""

import time

from rich.console import Console

from scripts.demo.person import POLLS, NotAsPromised, Person, require, said, show


def walk(alice: Person, bob: Person, console: Console) -> None:
    """Live through a task's life and show it."""
    console.rule("A task: create, poll to idle, read the conversation")
    made = alice.ask("POST", "tasks", expect=202, json={"agent": "echo", "input": said("Hello!")})
    task_id = made.json()["id"]
    console.print(f"Created {task_id}: {made.json()['status']['phase']}")
    idle = alice.until(task_id, "idle")
    console.print(f"It is idle, and will be completed at {idle['idle_expires_at']} if nothing happens.")
    show(console, alice.messages(task_id))

    console.rule("An unchanged poll costs nothing to read")
    current = alice.ask("GET", f"tasks/{task_id}", expect=200)
    again = alice.ask("GET", f"tasks/{task_id}", expect=304, **{"If-None-Match": current.headers["etag"]})
    console.print(f"304, {len(again.content)} bytes; look again in {again.headers['poll-after']} s.")

    console.rule("Another's task is an unknown task")
    foreign = bob.ask("GET", f"tasks/{task_id}", expect=404)
    unknown = bob.ask("GET", f"tasks/{'0' * 32}", expect=404)
    require(foreign.content == unknown.content, "the two answers differ")
    console.print("To Bob it answers the very bytes of a task that does not exist.")

    console.rule("Input while the agent is busy is queued, and answered in a later turn")
    slow = alice.ask("POST", "tasks", expect=202, json={"agent": "slow_echo", "input": said("One")}).json()[
        "id"
    ]
    wait_for_commit(alice, slow)
    for text in ("Two", "Three"):
        alice.ask("POST", f"tasks/{slow}/inputs", expect=202, json=said(text), **{"Idempotency-Key": text})
    alice.ask("POST", f"tasks/{slow}/inputs", expect=202, json=said("Three"), **{"Idempotency-Key": "Three"})
    waiting = alice.messages(slow)
    require([entry.get("committed_at") for entry in waiting[-2:]] == [None, None], "the inputs do not wait")
    show(console, waiting)
    alice.until(slow, "idle")
    show(console, alice.messages(slow))

    console.rule("A task ends at the instant it announced")
    mayfly = alice.ask("POST", "tasks", expect=202, json={"agent": "mayfly", "input": said("Brief.")}).json()[
        "id"
    ]
    announced = alice.until(mayfly, "idle")["idle_expires_at"]
    ended = alice.until(mayfly, "terminal")
    console.print(f"Announced for {announced}; it is {ended['phase']} / {ended['terminal_reason']}.")
    refused = alice.ask("POST", f"tasks/{mayfly}/inputs", expect=409, json=said("Too late"))
    console.print(f"Input now: {refused.status_code} {refused.json()['detail']}")


def wait_for_commit(person: Person, task_id: str) -> None:
    """Return when a turn has taken the task's first input."""
    for _ in range(POLLS):
        if "committed_at" in person.messages(task_id)[0]:
            return
        time.sleep(0.1)
    raise NotAsPromised("no turn took the first input")
