"""A Strands agent behind a `Worker`: it keeps nothing, since the conversation and what it waits for are the task's.

def make(messages):
    return strands.Agent(model=..., messages=messages, tools=[...], callback_handler=None)

Worker(host, queue, StrandsHost(host, make)).run()

Each turn makes an agent anew, with the task's conversation as its messages. Where a tool or a hook interrupts it for a
person, the turn is suspended on a review, and the agent's own snapshot is the memo; when the person has decided, an
agent is made of both, on whatever machine listens then, and gets the decision as the interrupt's response.
"""

import json
from collections.abc import Callable, Iterable
from typing import Any

from strands import Agent, Snapshot
from strands.agent.agent_result import AgentResult
from strands.interrupt import Interrupt
from strands.types.content import ContentBlock, Message

from turnkeeper_client.host_clients import Host
from turnkeeper_client.host_results import Resolution
from turnkeeper_client.results import Entry, Part
from turnkeeper_client.working import Turn

SUBJECT_BYTES = 512
"""All that a turn's waits name has at most 1,024 bytes together; of more than one, each has its part."""
NO_TEXT = "(no text)"

type Make = Callable[[list[Message]], Agent]
"""Makes the agent of one leg, with these messages."""
type Subject = Callable[[Turn, Interrupt], str]
type Reviewer = Callable[[Turn, Interrupt], str]


class NotAReview(Exception):
    """What the agent waits for is nothing that this host knows how to ask."""


def asks(_turn: Turn, interrupt: Interrupt) -> str:
    """What is to be decided: the interrupt's reason, or its name where it has none."""
    reason = interrupt.reason
    if reason is None:
        return interrupt.name
    return (
        f"{interrupt.name}: {reason if isinstance(reason, str) else json.dumps(reason, ensure_ascii=False)}"
    )


def the_user(turn: Turn, _interrupt: Interrupt) -> str:
    """Whoever answers for the task."""
    return turn.task.responsible_user


class StrandsHost:
    """What a `Worker` calls: takes a turn with an agent that *make* makes.

    *reviewer* says who decides about an interrupt, and *subject* what they are shown. The agent gets back
    `{"approved": bool, "verdict": "done" | "denied" | "timed_out", "comment": str | None}`.
    """

    def __init__(
        self, host: Host, make: Make, *, reviewer: Reviewer = the_user, subject: Subject = asks
    ) -> None:
        self._host, self._make, self._reviewer, self._subject = host, make, reviewer, subject

    def __call__(self, turn: Turn) -> str | None:
        """The answer of the agent; None while it waits for somebody. What the agent raises ends the attempt."""
        history = messages(self._before(turn))
        known = {id(message) for message in history}
        agent: Agent
        if turn.memo is None:
            asked = [part for entry in turn.inputs for part in _blocks(entry.message)] or [{"text": NO_TEXT}]
            if history and history[-1]["role"] == "user":
                # A turn before it ended without an answer.
                asked = [*history.pop()["content"], *asked]
            agent = self._make(history)
            result = agent(asked)
        else:
            agent = self._make([*history, *turn.memo["messages"]])
            agent.load_snapshot(Snapshot.from_dict(turn.memo["snapshot"]))
            result = agent(_responses(turn.memo["interrupts"], turn.resolutions))
        self._count(turn, result)
        if result.stop_reason == "interrupt":
            self._suspend(turn, agent, result, known)
            return None
        return str(result).strip() or None

    def _before(self, turn: Turn) -> Iterable[Entry]:
        """The conversation before the turn's inputs."""
        first = min((entry.committed_at for entry in turn.inputs if entry.committed_at), default=None)
        after: str | None = None
        while True:
            page = self._host.messages(turn.task.id, after=after)
            for entry in page.messages:
                if entry.committed_at is None or (first is not None and entry.committed_at >= first):
                    return
                yield entry
            after = page.next
            if not page.more:
                return

    def _suspend(self, turn: Turn, agent: Agent, result: AgentResult, known: set[int]) -> None:
        """The turn waits for a review of each interrupt; the memo is the agent, without what the task has anyway."""
        interrupts = {
            f"interrupt-{number}": one for number, one in enumerate(result.interrupts or (), start=1)
        }
        if not interrupts:
            raise NotAReview("the agent was interrupted and says not by what")
        memo = {
            "snapshot": agent.take_snapshot(preset="session", exclude=["messages"]).to_dict(),
            "messages": [message for message in agent.messages if id(message) not in known],
            "interrupts": {wait: one.id for wait, one in interrupts.items()},
        }
        room = SUBJECT_BYTES // len(interrupts)
        turn.wait(
            [
                {
                    "id": wait,
                    "kind": "review",
                    "reviewer": self._reviewer(turn, one),
                    "subject": self._subject(turn, one).encode()[:room].decode(errors="ignore"),
                }
                for wait, one in interrupts.items()
            ],
            memo=memo,
        )

    def _count(self, turn: Turn, result: AgentResult) -> None:
        """What the leg used counts against the task's limits."""
        used = result.metrics.accumulated_usage
        calls = sum(one.call_count for one in result.metrics.tool_metrics.values())
        turn.beat(
            usage={
                "prompt_tokens": used["inputTokens"],
                "completion_tokens": used["outputTokens"],
                "tool_calls": calls,
            }
        )


def messages(entries: Iterable[Entry]) -> list[Message]:
    """*entries* as an agent's messages: users and assistants by turns, a user first."""
    found: list[Message] = []
    for entry in entries:
        role: Any = "user" if entry.type == "input" else "assistant"
        blocks = _blocks(entry.message)
        if found and found[-1]["role"] == role:
            found[-1]["content"].extend(blocks)
        elif found or role == "user":
            found.append({"role": role, "content": blocks or [{"text": NO_TEXT}]})
    return found


def _blocks(parts: Iterable[Part]) -> list[ContentBlock]:
    """What is said in *parts*; a file is named."""
    texts = (
        part.text if part.text is not None else f"[file {part.file}, {part.mime_type}]" for part in parts
    )
    return [{"text": text} for text in texts if text.strip()]


def _responses(interrupts: dict[str, str], resolutions: Iterable[Resolution]) -> Any:
    """What became of each interrupt, as the agent takes it."""
    return [
        {
            "interruptResponse": {
                "interruptId": interrupts[one.id],
                "response": {
                    "approved": one.verdict == "done",
                    "verdict": one.verdict,
                    "comment": one.comment,
                },
            }
        }
        for one in resolutions
        if one.id in interrupts
    ]
