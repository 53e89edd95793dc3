"""What a person sees: tasks, conversations and what waits, as tables and lines; times are the reader's own."""

import json
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from rich.console import Group, RenderableType
from rich.markup import escape
from rich.spinner import Spinner
from rich.table import Column, Table
from rich.text import Text

from turnkeeper_client.errors import Refused, TurnkeeperError
from turnkeeper_client.host_results import Driven
from turnkeeper_client.results import (
    Agent,
    AgentStatus,
    Call,
    Entry,
    JournalEntry,
    Notification,
    OfferedAgent,
    Review,
    Task,
)

COLOURS = {"idle": "green", "processing": "yellow", "terminal": "dim"}
EXPIRED = (
    "The token has expired, or is none: set TURNKEEPER_TOKEN to a fresh one (offline: turnkeeper token NAME)."
)
SPEAKERS = {"input": "you", "output": "agent"}
_LIMITS = {"max_age_seconds": "in all", "prompt_tokens": "tokens in", "completion_tokens": "tokens out"}
_BOUNDS = {"minimum": "≥", "maximum": "≤", "minLength": "length ≥", "maxLength": "length ≤"}
TASK_ID = 32
"""Characters of a task's id: a narrow terminal shortens anything but what is to be copied."""


def clock(instant: datetime | None) -> str:
    """*instant* as a clock on this wall shows it."""
    return "" if instant is None else instant.astimezone().strftime("%Y-%m-%d %H:%M:%S")


def phase(task: Task) -> str:
    """Where a task stands, in words."""
    status = task.status
    words = f"{status.phase} ({status.terminal_reason})" if status.terminal_reason else status.phase
    return f"[{COLOURS.get(status.phase, 'default')}]{escape(words)}[/]"


def needs(notification: Notification | Call) -> str:
    """What is needed of a person."""
    match notification.kind:
        case "user_auth_required":
            return f"sign in to {notification.provider or 'its provider'}"
        case "review_required":
            return "a decision: turnkeeper inbox"
        case other:
            return other


def summary(task: Task) -> str:
    """A task in a line."""
    waiting = "".join(f"  [bold]waits for {escape(needs(one))}[/]" for one in task.status.notifications)
    ends = task.status.idle_expires_at
    return f"{task.id}  {escape(task.agent)}  {phase(task)}{f'  ends {clock(ends)}' if ends else ''}{waiting}"


def task_ids() -> Column:
    """A column of tasks' ids, which are never cut."""
    return Column("task", no_wrap=True, min_width=TASK_ID)


def tasks(found: Iterable[Task]) -> Table:
    """Tasks as a table."""
    table = Table(task_ids(), "agent", "phase", "created", "waits for", box=None)
    for task in found:
        waits = ", ".join(needs(one) for one in task.status.notifications)
        table.add_row(task.id, escape(task.agent), phase(task), clock(task.created_at), escape(waits))
    return table


def line(entry: Entry) -> Text:
    """An entry of a conversation; what the agent has not seen yet is dim."""
    is_new = entry.committed_at is None
    text = Text(f"{SPEAKERS.get(entry.type, entry.type):>6}  ", style="dim" if is_new else "bold")
    shown = "\n".join(
        part.text if part.text is not None else f"[{part.mime_type}: {part.file}]" for part in entry.message
    ).replace("\n", "\n        ")
    text.append(shown, style="dim" if is_new else "not bold")
    if entry.error:
        text.append(f"  ({entry.error})", style="red")
    return text


def view(task: Task, entries: Iterable[Entry]) -> RenderableType:
    """A task as it is watched: its conversation, what it waits for, and a spinner while it is busy."""
    rows: list[RenderableType] = [line(entry) for entry in entries]
    rows += [
        Text.from_markup(f"\n[bold]Waits for {escape(needs(one))}[/], since {clock(one.since)}")
        for one in task.status.notifications
    ]
    standing = Text.from_markup(summary(task))
    is_busy = task.status.phase == "processing" and not task.status.notifications
    rows += [Text(), Spinner("dots", text=standing) if is_busy else standing]
    return Group(*rows)


def agents(found: Iterable[Agent]) -> RenderableType:
    """Agents as a table."""
    table = Table(Column("agent", no_wrap=True), "what it does", box=None)
    for one in found:
        table.add_row(f"[bold]{escape(one.name)}[/]", escape(one.description))
    return table


def agent(one: OfferedAgent) -> RenderableType:
    """An agent with all that it takes to start it: what may be `--set`, and how long and how far its tasks go."""
    rows: list[RenderableType] = [Text(one.name, style="bold"), Text(one.description)]
    properties: Mapping[str, Any] = one.parameters.get("properties") or {}
    if properties:
        table = Table("--set", "type", "", "what", box=None)
        for name, schema in properties.items():
            is_required = name in one.parameters.get("required", ())
            default = json.dumps(schema["default"], ensure_ascii=False) if "default" in schema else None
            needed = "required" if is_required and default is None else f"else {default}" if default else ""
            table.add_row(escape(name), escape(_kind(schema)), escape(needed), escape(_words(schema)))
        rows += [Text(), table]
    facts = {
        "says by itself": "\n".join(part.text or "" for part in one.default_message or ()),
        "files in": ", ".join(f"{root}://" for root in one.files),
        "answers with": ", ".join(one.exposes),
        "ends": f"{_span(one.lifespan_seconds)} after the last activity",
        **{f"at most {_LIMITS.get(name, name)}": _most(name, most) for name, most in one.limits.items()},
    }
    table = Table(box=None, show_header=False)
    for name, fact in facts.items():
        if fact:
            table.add_row(escape(name), escape(fact))
    return Group(*rows, Text(), table)


def _kind(schema: Mapping[str, Any]) -> str:
    """What a value may be: one of its choices, or its type and bounds."""
    if choices := schema.get("enum"):
        return " | ".join(json.dumps(choice, ensure_ascii=False) for choice in choices)
    kind = str(schema.get("format") or schema.get("type") or "anything")
    bounds = [f"{sign} {schema[bound]}" for bound, sign in _BOUNDS.items() if bound in schema]
    return f"{kind} ({', '.join(bounds)})" if bounds else kind


def _words(schema: Mapping[str, Any]) -> str:
    return ": ".join(str(schema[name]) for name in ("title", "description") if schema.get(name))


def _span(seconds: float) -> str:
    """*seconds* in the largest unit that divides them."""
    for unit, length in (("d", 86_400), ("h", 3_600), ("m", 60)):
        if seconds >= length and seconds % length == 0:
            return f"{seconds / length:g} {unit}"
    return f"{seconds:g} s"


def _most(name: str, most: float) -> str:
    return _span(most) if name.endswith("_seconds") else f"{most:,.12g}"


def inbox(calls: Iterable[Call], reviews: Iterable[Review]) -> RenderableType:
    """What waits for somebody."""
    rows: list[RenderableType] = []
    told, asked = list(calls), list(reviews)
    if told:
        table = Table(
            task_ids(),
            "agent",
            "waits for",
            "since",
            box=None,
            title="Your tasks wait for you",
            title_justify="left",
        )
        for one in told:
            table.add_row(one.task, escape(one.agent), escape(needs(one)), clock(one.since))
        rows.append(table)
    if asked:
        rows.append(Text("You are to decide", style="italic"))
        rows += [
            Text.from_markup(
                f" [bold]{review.id}[/]  {escape(review.agent)}  until {clock(review.deadline)}\n"
                f"   {escape(review.subject)}"
            )
            for review in asked
        ]
    return Group(*rows) if rows else Text("Nothing waits for you.")


def status(found: AgentStatus) -> str:
    """Where a task stands, as a code."""
    return f"ASC-{found.code} {escape(found.name)}" + ("  (the end)" if found.terminal else "")


def journal(entries: Iterable[JournalEntry]) -> Table:
    """What happened to a task as a table."""
    numbers: Any = {"justify": "right"}
    table = Table(
        Column("n", **numbers),
        "at",
        "by",
        "what",
        Column("turn", **numbers),
        Column("attempt", **numbers),
        "stood then",
        box=None,
    )
    for one in entries:
        counted = ["" if count is None else str(count) for count in (one.turn, one.attempt)]
        stood = f"ASC-{one.code} {escape(one.name)}"
        table.add_row(str(one.n), clock(one.at), escape(one.actor), escape(one.transition), *counted, stood)
    return table


def decided(review: Review) -> str:
    """A review with its decision."""
    comment = f": {escape(review.comment)}" if review.comment else ""
    return f"{escape(review.subject)}\n[bold]{escape(str(review.decision))}[/]{comment}"


def driven(found: Driven) -> str:
    """A task as its host has it."""
    turn = found.turn
    rows = [f"{summary(found.task)}  ASC-{found.agent_status.code} {escape(found.agent_status.name)}"]
    if turn is not None:
        rows.append(f"  turn {turn.number}, {escape(turn.state)}, fence {turn.fence}, attempt {turn.attempt}")
    rows += [
        f"  waits: {escape(one.kind)} {escape(one.id)}, until {clock(one.deadline)}" for one in found.waits
    ]
    if found.pending:
        rows.append(f"  {found.pending} inputs wait")
    return "\n".join(rows)


def failure(error: TurnkeeperError) -> str:
    """Why nothing came of it, and what to do."""
    advice = ""
    match error:
        case Refused(status=401):
            return EXPIRED
        case Refused(problem=problem) if problem.status == 500 and problem.correlation_id:  # noqa: PLR2004 - HTTP's
            advice = f"\nIn the deployment's log it is {escape(problem.correlation_id)}."
        case _:
            pass
    return escape(str(error)) + advice
