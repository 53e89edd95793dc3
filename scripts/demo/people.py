"""People in the loop: an agent that waits for a sign-in, then for an approval, then for another agent."""

from collections.abc import Callable
from typing import Any

from rich.console import Console

from scripts.demo.person import NotAsPromised, Person, require, said, show


def walk(alice: Person, bob: Person, steward: Person, console: Console) -> None:
    """Have Alice sign in and approve, so that the concierge can ask `echo` and answer; and once deny it."""
    console.rule("An agent that needs a person: it waits, and says for what")
    made = alice.ask(
        "POST", "tasks", expect=202, json={"agent": "concierge", "input": said("Move lunch to one.")}
    )
    task_id, user = made.json()["id"], made.json()["responsible_user"]
    call = until(alice, task_id, lambda status: status["notifications"])["notifications"][0]
    console.print(f"Waits for {call['kind']} of {call['provider']}, since {call['since']}.")
    everywhere = alice.ask("GET", "notifications", expect=200).json()["notifications"]
    require(everywhere == [{"task": task_id, "agent": "concierge", **call}], "the notifications differ")
    require(
        bob.ask("GET", "notifications", expect=200).json()["notifications"] == [], "Bob has a call of Alice's"
    )

    console.rule("She signs in; the host records it, and the turn goes on")
    granted = {"user": user, "provider": call["provider"]}
    steward.ask("POST", "host/grants", expect=200, json=granted)
    review = waiting_review(alice, task_id)
    console.print(f"Now it waits for a decision: {review['subject']!r}")

    console.rule("Nobody else can decide it")
    word = {"decision": "approve", "comment": "One is fine."}
    foreign = bob.ask("POST", f"reviews/{review['id']}", expect=404, json=word)
    unknown = bob.ask("POST", f"reviews/{'0' * len(review['id'])}", expect=404, json=word)
    require(foreign.content == unknown.content, "the two answers differ")
    console.print("To Bob it is a review that does not exist.")

    console.rule("She approves; the agent asks another agent, whose task is hers too, and answers")
    alice.ask("POST", f"reviews/{review['id']}", expect=200, json=word)
    alice.ask("POST", f"reviews/{review['id']}", expect=200, json=word)
    alice.ask("POST", f"reviews/{review['id']}", expect=409, json={"decision": "deny"})
    alice.until(task_id, "idle")
    answered = alice.messages(task_id)
    show(console, answered)
    require("Move lunch to one." in answered[-1]["message"][0]["text"], "the other agent was not heard")
    mine = alice.ask("GET", "tasks", expect=200).json()["tasks"]
    require(mine[0]["agent"] == "echo", "the child is not Alice's newest task")

    console.rule("A denial is an answer too")
    alice.ask("POST", f"tasks/{task_id}/inputs", expect=202, json=said("Cancel everything."))
    # The sign-in of before is older than this need.
    until(alice, task_id, lambda status: status["notifications"])
    steward.ask("POST", "host/grants", expect=200, json=granted)
    denied = {"decision": "deny", "comment": "Not today."}
    alice.ask("POST", f"reviews/{waiting_review(alice, task_id)['id']}", expect=200, json=denied)
    alice.until(task_id, "idle")
    last = alice.messages(task_id)[-1]["message"][0]["text"]
    require("Not today." in last, "the comment did not reach the agent")
    console.print(f"The agent: {last}")


def until(person: Person, task_id: str, holds: Callable[[dict[str, Any]], Any]) -> dict[str, Any]:
    """Return the first status of which it *holds*."""
    for status in person.follow(task_id):
        if holds(status):
            return status
    raise NotAsPromised("the task never came so far")


def waiting_review(person: Person, task_id: str) -> dict[str, Any]:
    """Return the one review that waits for *person*, once the task waits for it."""
    until(
        person,
        task_id,
        lambda status: [call["kind"] for call in status["notifications"]] == ["review_required"],
    )
    (review,) = person.ask("GET", "reviews", expect=200).json()["reviews"]
    found: dict[str, Any] = review
    return found
