"""Arbitrary tasks for hypothesis: every field anything its type allows, and more from versions to come."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from hypothesis import strategies as st

from turnkeeper.asc.registry import Code
from turnkeeper.domain.task import Phase, Reason, Runs, Task, Terms, Turn, TurnState, Usage
from turnkeeper.domain.waits import Resolution, Verdict, Wait, WaitKind

instants = st.datetimes(
    min_value=datetime(2000, 1, 1),  # noqa: DTZ001 - hypothesis adds the zone
    max_value=datetime(2999, 1, 1),  # noqa: DTZ001
    timezones=st.just(UTC),
)
durations = st.timedeltas(timedelta(0), timedelta(days=3_650))
counts = st.integers(0, 10**9)
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)
names = texts.map("x_{}".format)
"""Names that no version of ours gives to an attribute."""

numbers = st.integers(-(10**38) + 1, 10**38 - 1) | st.floats(
    min_value=-1e15, max_value=1e15, allow_subnormal=False
).filter(lambda number: number == 0 or abs(number) > 1e-130)
values = st.recursive(
    st.none() | st.booleans() | numbers | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=8,
)
unknown: st.SearchStrategy[dict[str, Any]] = st.dictionaries(names, values, max_size=3)
ranges = st.lists(st.tuples(counts, counts), max_size=4).map(tuple)

amounts = st.none() | counts
usages = st.builds(Usage, prompt_tokens=amounts, completion_tokens=amounts, tool_calls=amounts)
terms = st.builds(
    Terms,
    lifespan=durations,
    max_age=durations,
    repeatable=st.booleans(),
    attempts=counts,
    backoff=st.lists(durations, max_size=4).map(tuple),
    owner=texts,
    runs=st.sampled_from(Runs),
    function=st.none() | texts,
    turn_limit=durations,
    max_turns=amounts,
    usage=usages,
    unknown=unknown,
)
waits = st.builds(
    Wait,
    id=texts,
    kind=st.sampled_from(WaitKind),
    since=instants,
    deadline=instants,
    provider=st.none() | texts,
    reviewer=st.none() | texts,
    unknown=unknown,
)
resolutions = st.builds(
    Resolution,
    wait_id=texts,
    kind=st.sampled_from(WaitKind),
    verdict=st.sampled_from(Verdict),
    at=instants,
    unknown=unknown,
)
turns = st.builds(
    Turn,
    number=counts,
    state=st.sampled_from(TurnState),
    fence=counts,
    attempt=counts,
    started_at=instants,
    inputs=ranges,
    committed_at=instants,
    lease_until=st.none() | instants,
    retry_at=st.none() | instants,
    changed_at=st.none() | instants,
    seen_at=st.none() | instants,
    outputs=counts,
    kept=counts,
    memo_fence=st.none() | counts,
    resolutions=st.lists(resolutions, max_size=3).map(tuple),
    unknown=unknown,
)


def consistent(task: Task) -> Task:
    """*task* with a turn, if it has one, that is its last under its last fence, as every turn is."""
    turn = task.turn
    return replace(task, turn=replace(turn, number=task.turns, fence=task.fence) if turn else None)


tasks = st.builds(
    Task,
    id=st.text("0123456789abcdef", min_size=32, max_size=32),
    agent=texts,
    agent_version=texts,
    terms=terms,
    responsible_user=texts,
    created_at=instants,
    phase=st.sampled_from(Phase),
    due_at=instants,
    terminal_reason=st.none() | st.sampled_from(Reason),
    outcome=st.none() | st.sampled_from(Code),
    idle_expires_at=st.none() | instants,
    turn=st.none() | turns,
    waits=st.lists(waits, max_size=3).map(tuple),
    turns=counts,
    fence=counts,
    received=counts,
    committed=counts,
    outputs=counts,
    usage=usages,
    looks=counts,
    last_received_at=st.none() | instants,
    last_committed_at=st.none() | instants,
    revision=texts,
    write_revision=texts,
    expiry_revision=st.none() | texts,
    log_number=counts,
    log_head=texts,
).map(consistent)
