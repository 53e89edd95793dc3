"""The layout of a task's own item, and the keys of everything that lies beside it.

Nested maps carry what a newer version put there (`unknown`), and the task itself is written attribute by attribute, so
a rolling deploy drops nothing.
"""

import hashlib
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from turnkeeper.asc.registry import Code
from turnkeeper.domain.instants import from_text, to_text
from turnkeeper.domain.judging import Held, HeldOutput
from turnkeeper.domain.messages import Pin
from turnkeeper.domain.task import Phase, Reason, Runs, Task, Terms, Turn, TurnState, Usage
from turnkeeper.domain.waits import Resolution, Verdict, Wait, WaitKind

SCHEMA = 1
SHARDS = "0123456789abcdef"
TASK = "TASK"

type Attributes = dict[str, Any]


def task_key(task_id: str) -> Attributes:
    """The task item, which a poll reads and nothing else."""
    return {"pk": f"TASK#{task_id}", "sk": TASK}


def input_key(task_id: str, number: int) -> Attributes:
    """The *number*-th input, written once."""
    return {"pk": f"TASK#{task_id}", "sk": f"IN#{number:010d}"}


def entry_key(task_id: str, at: datetime) -> Attributes:
    """A transcript entry, by its first `committed_at`."""
    return {"pk": f"TASK#{task_id}", "sk": f"MSG#{to_text(at)}"}


def log_key(task_id: str, number: int) -> Attributes:
    """The *number*-th journal entry."""
    return {"pk": f"TASK#{task_id}", "sk": f"LOG#{number:010d}"}


def made_key(task_id: str, token: str, number: int) -> Attributes:
    """What a guardrail made of the *number*-th input; it counts where a commit names *token*."""
    return {"pk": f"TASK#{task_id}", "sk": f"TX#{token}#{number:010d}"}


def held_output_key(task_id: str, fence: int, ordinal: int) -> Attributes:
    """What the turn under *fence* is about to say as its *ordinal*-th output, once it is approved."""
    return {"pk": f"TASK#{task_id}", "sk": f"OUT#{fence:010d}#{ordinal:010d}"}


def memo_key(task_id: str, fence: int) -> Attributes:
    """What the agent noted for itself when it suspended its turn under *fence*."""
    return {"pk": f"TASK#{task_id}", "sk": f"MEMO#{fence:010d}"}


def outcome_key(task_id: str) -> Attributes:
    """What was declared with the task's end."""
    return {"pk": f"TASK#{task_id}", "sk": "OUTCOME"}


def report_key(task_id: str, number: int) -> Attributes:
    """The *number*-th report of somebody else."""
    return {"pk": f"TASK#{task_id}", "sk": f"REPORT#{number:010d}"}


def review_key(task_id: str, name: str) -> Attributes:
    """What a reviewer is asked, and what was answered."""
    return {"pk": f"TASK#{task_id}", "sk": f"REVIEW#{name}"}


def file_key(task_id: str, uri: str, named: str = "") -> Attributes:
    """The file *uri* as the entry *named* it; a URI is longer than a key may be."""
    hashed = hashlib.sha256(uri.encode()).hexdigest()[:32]
    return {"pk": f"TASK#{task_id}", "sk": f"FILE#{hashed}#{named}"}


def pin_to_map(pin: Pin) -> Attributes:
    """What a reference named."""
    return {"uri": pin.uri, "version": pin.version, "size": pin.size, "kind": pin.kind}


def pin_from_map(stored: Mapping[str, Any]) -> Pin:
    """What `pin_to_map` wrote."""
    return Pin(uri=stored["uri"], version=stored["version"], size=stored["size"], kind=stored["kind"])


def child_key(task_id: str, turn: int, call: str) -> Attributes:
    """The child that a call of the task's *turn*-th turn made; a call may have any name."""
    named = hashlib.sha256(call.encode()).hexdigest()[:32]
    return {"pk": f"TASK#{task_id}", "sk": f"CHILD#{turn:010d}#{named}"}


def person_key(person: str, sk: str) -> Attributes:
    """Something that concerns a person, whosever task it is about."""
    return {"pk": f"PERSON#{person}", "sk": sk}


def due_shard(task_id: str, *, ended: bool) -> str:
    """Where the due index keeps a task; ended ones have shards of their own, and only their retention is due."""
    return f"{'ended' if ended else 'due'}#{task_id[0]}"


def created_key(created_at: datetime, task_id: str) -> str:
    """A task's place in its user's list."""
    return f"{to_text(created_at)}#{task_id}"


def task_to_item(task: Task) -> Attributes:
    """Every attribute of the task item; None means absent."""
    return {
        **task_key(task.id),
        "schema": SCHEMA,
        "agent": task.agent,
        "agent_version": task.agent_version,
        "terms": _terms_to_map(task.terms),
        "responsible_user": task.responsible_user,
        "created_key": created_key(task.created_at, task.id),
        "parent": task.parent,
        "depth": task.depth or None,
        "phase": task.phase.value,
        "terminal_reason": task.terminal_reason.value if task.terminal_reason else None,
        "outcome": task.outcome.value if task.outcome else None,
        "idle_expires_at": _text(task.idle_expires_at),
        "since": _text(task.since),
        "turn": _turn_to_map(task.turn) if task.turn else None,
        "waits": [_wait_to_map(wait) for wait in task.waits] or None,
        "held": [_held_to_map(one) for one in task.held] or None,
        "turns": task.turns,
        "fence": task.fence,
        "received": task.received,
        "committed": task.committed,
        "outputs": task.outputs,
        **_usage_to_attributes("used", task.usage),
        "trace": task.trace,
        "reports": task.reports or None,
        "unreached": task.unreached or None,
        "looks": task.looks,
        "last_received_at": _text(task.last_received_at),
        "last_committed_at": _text(task.last_committed_at),
        "revision": task.revision,
        "write_revision": task.write_revision,
        "expiry_revision": task.expiry_revision,
        "log_number": task.log_number,
        "log_head": task.log_head,
        "due_at": to_text(task.due_at),
        "due_shard": due_shard(task.id, ended=task.is_terminal),
    }


def task_from_item(item: Attributes) -> Task:
    """The task that *item* holds."""
    reason, outcome, turn = item.get("terminal_reason"), item.get("outcome"), item.get("turn")
    return Task(
        id=item["pk"].removeprefix("TASK#"),
        agent=item["agent"],
        agent_version=item["agent_version"],
        terms=_terms_from_map(item["terms"]),
        responsible_user=item["responsible_user"],
        created_at=from_text(item["created_key"].partition("#")[0]),
        parent=item.get("parent"),
        depth=item.get("depth") or 0,
        phase=Phase(item["phase"]),
        terminal_reason=Reason(reason) if reason else None,
        outcome=Code(outcome) if outcome else None,
        idle_expires_at=_instant(item.get("idle_expires_at")),
        since=_instant(item.get("since")),
        turn=_turn_from_map(turn, number=item["turns"], fence=item["fence"]) if turn else None,
        waits=tuple(_wait_from_map(wait) for wait in item.get("waits", ())),
        held=tuple(_held_from_map(one) for one in item.get("held") or ()),
        turns=item["turns"],
        fence=item["fence"],
        received=item["received"],
        committed=item["committed"],
        outputs=item["outputs"],
        usage=_usage_from_attributes("used", item),
        trace=item.get("trace"),
        reports=item.get("reports") or 0,
        unreached=item.get("unreached") or 0,
        looks=item["looks"],
        last_received_at=_instant(item.get("last_received_at")),
        last_committed_at=_instant(item.get("last_committed_at")),
        revision=item["revision"],
        write_revision=item["write_revision"],
        expiry_revision=item.get("expiry_revision"),
        log_number=item["log_number"],
        log_head=item["log_head"],
        due_at=from_text(item["due_at"]),
    )


def _text(instant: datetime | None) -> str | None:
    return to_text(instant) if instant else None


def _instant(text: str | None) -> datetime | None:
    return from_text(text) if text else None


def _unknown(stored: Attributes, known: frozenset[str]) -> Attributes:
    return {name: value for name, value in stored.items() if name not in known}


def _present(attributes: Attributes, unknown: Mapping[str, Any]) -> Attributes:
    return {**unknown, **{name: value for name, value in attributes.items() if value is not None}}


_USED = ("prompt_tokens", "completion_tokens", "tool_calls")
_TERMS = frozenset(
    {"lifespan", "max_age", "turn_limit", "repeatable", "attempts", "backoff", "owner", "runs", "function"}
    | {"max_turns", "ruled", *(f"max_{name}" for name in _USED)}
)
_TURN = frozenset(
    {"state", "attempt", "started_at", "inputs", "committed_at", "judged", "lease_until", "retry_at"}
    | {"outputs", "kept", "memo_fence", "resolutions", "output", "early", "children", "changed_at"}
)
_WAIT = frozenset({"id", "kind", "since", "deadline", "provider", "needed_at", "reviewer", "child"})
_RESOLUTION = frozenset({"id", "kind", "verdict", "at", "child", "review"})


def _terms_to_map(terms: Terms) -> Attributes:
    """Durations in seconds."""
    known = {
        "lifespan": terms.lifespan.total_seconds(),
        "max_age": terms.max_age.total_seconds(),
        "turn_limit": terms.turn_limit.total_seconds(),
        "repeatable": terms.repeatable or None,
        "attempts": terms.attempts,
        "backoff": [pause.total_seconds() for pause in terms.backoff],
        "owner": terms.owner,
        "runs": terms.runs.value,
        "function": terms.function,
        "max_turns": terms.max_turns,
        **_usage_to_attributes("max", terms.usage),
        "ruled": terms.ruled or None,
    }
    return _present(known, terms.unknown)


def _terms_from_map(stored: Attributes) -> Terms:
    return Terms(
        lifespan=timedelta(seconds=stored["lifespan"]),
        max_age=timedelta(seconds=stored["max_age"]),
        turn_limit=timedelta(seconds=stored["turn_limit"]),
        repeatable=stored.get("repeatable", False),
        attempts=stored["attempts"],
        backoff=tuple(timedelta(seconds=pause) for pause in stored["backoff"]),
        owner=stored["owner"],
        runs=Runs(stored["runs"]),
        function=stored.get("function"),
        max_turns=stored.get("max_turns"),
        usage=_usage_from_attributes("max", stored),
        ruled=stored.get("ruled", False),
        unknown=_unknown(stored, _TERMS),
    )


def _usage_to_attributes(prefix: str, usage: Usage) -> Attributes:
    return {f"{prefix}_{name}": getattr(usage, name) for name in _USED}


def _usage_from_attributes(prefix: str, stored: Attributes) -> Usage:
    return Usage(**{name: stored.get(f"{prefix}_{name}") for name in _USED})


def _turn_to_map(turn: Turn) -> Attributes:
    """Its number and its fence are the task's last ones; what is as it is in a first attempt is left out."""
    known = {
        "state": turn.state.value,
        "attempt": turn.attempt if turn.attempt != 1 else None,
        "started_at": to_text(turn.started_at) if turn.started_at != turn.committed_at else None,
        "inputs": [list(numbers) for numbers in turn.inputs],
        "committed_at": to_text(turn.committed_at),
        "judged": turn.judged or None,
        "lease_until": _text(turn.lease_until),
        "retry_at": _text(turn.retry_at),
        "changed_at": _text(turn.changed_at),
        "outputs": turn.outputs or None,
        "kept": turn.kept or None,
        "memo_fence": turn.memo_fence,
        "resolutions": [_resolution_to_map(one) for one in turn.resolutions] or None,
        "output": _held_output_to_map(turn.output) if turn.output else None,
        "early": {wait_id: verdict.value for wait_id, verdict in turn.early} or None,
        "children": turn.children or None,
    }
    return _present(known, turn.unknown)


def _turn_from_map(stored: Attributes, *, number: int, fence: int) -> Turn:
    return Turn(
        number=number,
        state=TurnState(stored["state"]),
        fence=fence,
        attempt=stored.get("attempt", 1),
        started_at=from_text(stored.get("started_at") or stored["committed_at"]),
        inputs=tuple((first, last) for first, last in stored["inputs"]),
        committed_at=from_text(stored["committed_at"]),
        judged=stored.get("judged", False),
        lease_until=_instant(stored.get("lease_until")),
        retry_at=_instant(stored.get("retry_at")),
        changed_at=_instant(stored.get("changed_at")),
        outputs=stored.get("outputs", 0),
        kept=stored.get("kept", 0),
        memo_fence=stored.get("memo_fence"),
        resolutions=tuple(_resolution_from_map(one) for one in stored.get("resolutions", ())),
        output=_held_output_from_map(stored["output"]) if "output" in stored else None,
        early=tuple((wait_id, Verdict(verdict)) for wait_id, verdict in stored.get("early", {}).items()),
        children=stored.get("children", 0),
        unknown=_unknown(stored, _TURN),
    )


def _wait_to_map(wait: Wait) -> Attributes:
    known = {
        "id": wait.id,
        "kind": wait.kind.value,
        "since": to_text(wait.since),
        "deadline": to_text(wait.deadline),
        "provider": wait.provider,
        "needed_at": _text(wait.needed_at),
        "reviewer": wait.reviewer,
        "child": wait.child,
    }
    return _present(known, wait.unknown)


def _wait_from_map(stored: Attributes) -> Wait:
    return Wait(
        id=stored["id"],
        kind=WaitKind(stored["kind"]),
        since=from_text(stored["since"]),
        deadline=from_text(stored["deadline"]),
        provider=stored.get("provider"),
        needed_at=_instant(stored.get("needed_at")),
        reviewer=stored.get("reviewer"),
        child=stored.get("child"),
        unknown=_unknown(stored, _WAIT),
    )


def _held_to_map(held: Held) -> Attributes:
    known = {
        "number": held.number,
        "began": to_text(held.began),
        "turn": held.turn,
        "inputs": held.inputs,
        "outputs": held.outputs,
        "is_refused": held.is_refused or None,
        "step": held.step,
        "wait": _wait_to_map(held.wait) if held.wait else None,
        "decided": [list(one) for one in held.decided] or None,
    }
    return _present(known, {})


def _held_output_to_map(held: HeldOutput) -> Attributes:
    return {
        "ordinal": held.ordinal,
        "is_last": held.is_last,
        "fence": held.fence,
        "began": to_text(held.began),
        "step": held.step,
        "reviewer": held.reviewer,
        "decided": [list(one) for one in held.decided],
    }


def _held_output_from_map(stored: Attributes) -> HeldOutput:
    return HeldOutput(
        ordinal=stored["ordinal"],
        is_last=stored["is_last"],
        fence=stored["fence"],
        began=from_text(stored["began"]),
        step=stored["step"],
        reviewer=stored["reviewer"],
        decided=tuple((step, reviewer, approved) for step, reviewer, approved in stored["decided"]),
    )


def _held_from_map(stored: Attributes) -> Held:
    wait = stored.get("wait")
    return Held(
        number=stored["number"],
        began=from_text(stored["began"]),
        turn=stored["turn"],
        inputs=stored["inputs"],
        outputs=stored["outputs"],
        is_refused=stored.get("is_refused", False),
        step=stored["step"],
        wait=_wait_from_map(wait) if wait else None,
        decided=tuple((step, reviewer, approved) for step, reviewer, approved in stored.get("decided", ())),
    )


def _resolution_to_map(resolution: Resolution) -> Attributes:
    known = {
        "id": resolution.wait_id,
        "kind": resolution.kind.value,
        "verdict": resolution.verdict.value,
        "at": to_text(resolution.at),
        "child": resolution.child,
        "review": resolution.review,
    }
    return _present(known, resolution.unknown)


def _resolution_from_map(stored: Attributes) -> Resolution:
    return Resolution(
        wait_id=stored["id"],
        kind=WaitKind(stored["kind"]),
        verdict=Verdict(stored["verdict"]),
        at=from_text(stored["at"]),
        child=stored.get("child"),
        review=stored.get("review"),
        unknown=_unknown(stored, _RESOLUTION),
    )
