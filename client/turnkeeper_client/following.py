"""Following a task: it is looked at when the server says so, and read only when something has changed.

The messages are read after the status, by the cursor of the page before. So what a turn writes in between is in this
page or in the next, and never in neither.
"""

from turnkeeper_client.errors import NotUnderstood
from turnkeeper_client.people import messages, poll
from turnkeeper_client.plans import Pause, Plan, Show, Stream
from turnkeeper_client.results import Entry, Phase, Polled, Task, Update

GOES_ON = frozenset({Phase.IDLE, Phase.PROCESSING})
"""A task in one of these has not ended, whether somebody says when to look again or not."""
UNTOLD_S = 5.0
"""How long until the next look where nobody said: a proxy may have lost the word."""
SHORTEST_S = 0.25
"""How long at least."""


def follow(task_id: str, *, after: str | None = None) -> Stream[Update]:
    """Each change of a task, from now or from the cursor of an earlier `Update`, until it has ended.

    The first is the task as it is. An input that was shown uncommitted comes again, once, when the agent has seen it.
    """
    etag: str | None = None
    shown: Task | None = None
    cursor = after
    while True:
        look = yield from poll(task_id, etag)
        etag = look.etag
        if look.task is not None:
            entries, cursor = yield from _new_entries(task_id, cursor)
            if entries or not _looks_like(shown, look.task):
                yield Show(Update(task=look.task, entries=entries, cursor=cursor))
            shown = look.task
        if look.poll_after_s is None and not (shown and shown.status.phase in GOES_ON):
            return
        yield Pause(_until_next(look))


def settled(task_id: str, *, after: str | None = None) -> Plan[Update]:
    """The task once it does nothing by itself: it awaits input, has ended, or waits for its user.

    Its entries are all that came meanwhile, each as it was last.
    """
    etag: str | None = None
    while True:
        look = yield from poll(task_id, etag)
        if look.task is not None and look.task.is_settled:
            entries, cursor = yield from _new_entries(task_id, after)
            return Update(task=look.task, entries=entries, cursor=cursor)
        etag = look.etag
        yield Pause(_until_next(look))


def _until_next(look: Polled) -> float:
    """As the server says, but never at once: whatever lost or changed its word on the way makes no storm."""
    return UNTOLD_S if look.poll_after_s is None else max(look.poll_after_s, SHORTEST_S)


def _new_entries(task_id: str, after: str | None) -> Plan[tuple[tuple[Entry, ...], str | None]]:
    found: list[Entry] = []
    while True:
        page = yield from messages(task_id, after=after)
        found += page.messages
        if page.more and page.next == after:
            raise NotUnderstood("Messages.next", "leads nowhere, and there is more")
        after = page.next
        if not page.more:
            return tuple(found), after


def _looks_like(shown: Task | None, task: Task) -> bool:
    """Nothing but the revision is new, which stands for messages that were shown before."""
    if shown is None:
        return False
    return _without_revision(shown) == _without_revision(task)


def _without_revision(task: Task) -> tuple[object, ...]:
    status = {name: value for name, value in task.status.raw.items() if name != "revision"}
    return (*((name, value) for name, value in task.raw.items() if name != "status"), status)
