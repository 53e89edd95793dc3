"""Tasks that are made before the first test and looked at by the last, so that nobody waits for time to pass."""

from dataclasses import dataclass

from tests.conformance.host import Host, auth, review
from tests.conformance.person import Person, Seen

AGE = "3s"


@dataclass(frozen=True)
class Early:
    """What was made, and what was seen of it then."""

    ended: dict[str, Seen]
    """Tasks that have ended, each by another way, with all that was seen of them at once."""
    expired: str
    """One that goes idle and that nobody looks at."""
    aged: dict[str, str]
    """Tasks whose age is limited, by what they are busy with; each gets older than that."""
    lost: str
    """One whose turn may not be repeated, and whose worker is never heard of again."""
    lost_fence: int
    lost_seen: Seen
    late: str
    """One that waits for its user, for a moment only."""
    again: str
    """One whose turn may be repeated, and whose worker is never heard of again."""


def make(owner: Person, host: Host) -> Early:
    """Make them all."""
    short, bounded = host.agent(lifespan="500ms"), host.agent(limits={"max_age": AGE})
    expired = owner.create(short)
    aged = {"queued": owner.create(bounded, "first"), "running": owner.create(bounded, "first")}
    host.start(aged["running"])
    lost, again = owner.create(host.agent(), "first"), owner.create(host.agent(repeatable=True), "first")
    fence, _ = host.start(lost), host.start(again)
    host.say(lost, fence, 1, "I will charge the card now")
    late = owner.create(host.agent(), "first")
    user = owner.task(late)["responsible_user"]
    waits = auth("sign-in", "github", within="2s"), review("user", user, within="2s")
    host.wait(late, host.start(late), *waits)
    ended = {}
    for end in ("complete", "error", "restrict"):
        task = owner.create(host.agent(), "first")
        host.take_turn(task, "done")
        host.do(task, end)
        ended[task] = owner.sees(task)
    passed = owner.create(short, "first")
    host.take_turn(passed, "done")
    owner.outlives(passed)
    return Early(
        ended=ended | {passed: owner.sees(passed)},
        expired=expired,
        aged=aged,
        lost=lost,
        lost_fence=fence,
        lost_seen=owner.sees(lost),
        late=late,
        again=again,
    )
