"""What whoever runs a turn says it must wait for, and whether that can be waited for."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from turnkeeper.domain.errors import InvalidInput, Place
from turnkeeper.domain.instants import later
from turnkeeper.domain.reviews import SUBJECT_BYTES
from turnkeeper.domain.waits import MOST_WAITS, NAMES_BYTES, Wait, WaitKind

WITHIN = timedelta(days=7)
LONGEST_WAIT = timedelta(days=3_650)

# What a need of each kind must name; every other kind's names it must not have.
NAMED = {
    WaitKind.AUTHORISATION: ("provider",),
    WaitKind.REVIEW: ("reviewer", "subject"),
    WaitKind.CHILD: ("child",),
    WaitKind.HOST: (),
}
_NAMES = ("provider", "reviewer", "subject", "child")


@dataclass(frozen=True, slots=True, kw_only=True)
class Need:
    """Something the turn waits for, at most *within* from now; *id* names it in the resolutions."""

    id: str
    kind: WaitKind
    provider: str | None = None
    """Whose authorisation by the responsible user is missing, for `auth`."""
    needed_at: datetime | None = None
    """As of when it was found missing; the beginning of this leg of the turn where nothing is said."""
    reviewer: str | None = None
    """The person who is to decide, for `review`."""
    subject: str | None = None
    """What that person is to decide, in at most 2,048 bytes; all they get to see of the task."""
    child: str | None = None
    """The child task that is to come to rest, for `child`."""
    within: timedelta = WITHIN


def check(needs: Sequence[Need]) -> None:
    """Pass if a turn may wait for *needs*, else `InvalidInput` with every wrong place."""
    if wrong := [*_problems(needs)]:
        raise InvalidInput(wrong)


def wait_of(need: Need, *, now: datetime) -> Wait:
    """The wait that *need* is from *now* on."""
    return Wait(
        id=need.id,
        kind=need.kind,
        since=now,
        deadline=later(now, need.within),
        provider=need.provider,
        needed_at=need.needed_at,
        reviewer=need.reviewer,
        child=need.child,
    )


def _problems(needs: Sequence[Need]) -> Iterator[Place]:
    if not 0 < len(needs) <= MOST_WAITS:
        yield Place("waits", f"must be 1 to {MOST_WAITS}")
    for position, need in enumerate(needs):
        for name, problem in _wrong(need):
            yield Place(f"waits[{position}].{name}", problem)
        if need.id in {other.id for other in needs[:position]}:
            yield Place(f"waits[{position}].id", "came before; each wait has an id of its own")
    if sum(size(name) for need in needs for name in _kept(need)) > NAMES_BYTES:
        yield Place("waits", f"may name things in at most {NAMES_BYTES} bytes in all, subjects aside")


def _wrong(need: Need) -> Iterator[tuple[str, str]]:
    if not need.id:
        yield "id", "is empty"
    if need.kind not in NAMED:
        yield "kind", "must be auth, review, child or host"
        return
    for name in _NAMES:
        value, is_named = getattr(need, name), name in NAMED[need.kind]
        if is_named and not value:
            yield name, f"must be named by a wait of kind {need.kind}"
        elif value is not None and not is_named:
            yield name, f"has no meaning for a wait of kind {need.kind}"
    if need.subject is not None and size(need.subject) > SUBJECT_BYTES:
        yield "subject", f"is {size(need.subject)} bytes of UTF-8; at most {SUBJECT_BYTES} are taken"
    if need.needed_at is not None and need.kind is not WaitKind.AUTHORISATION:
        yield "needed_at", f"has no meaning for a wait of kind {need.kind}"
    if not timedelta(0) < need.within <= LONGEST_WAIT:
        yield "within", f"must be longer than nothing, and at most {LONGEST_WAIT.days} days"


def _kept(need: Need) -> Iterator[str]:
    """What of a need lies in the task's item, which a poll reads."""
    yield from filter(None, (need.id, need.provider, need.reviewer, need.child))


def size(text: str) -> int:
    """*text* in bytes of UTF-8; half a surrogate pair counts too, and is refused elsewhere."""
    return len(text.encode("utf-8", "surrogatepass"))
