"""How often a follower should look: a day of tasks is played against ways to pace it, each told by what it costs.

The tasks are the same for every way, drawn once from `scripts/day.toml`. A follower looks when the way says so, and at
once after it acted itself; what it learns late is counted as how late it was.
"""

import math
import random
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path
from statistics import mean, quantiles
from typing import Any

from turnkeeper.service.poll import LONGEST_S, SHARE, SHORTEST_S, Rhythm, pace_s

DAY: Mapping[str, Any] = tomllib.loads((Path(__file__).parent / "day.toml").read_text(encoding="utf-8"))
Z95 = 1.6449
"""The standard normal distribution's 95th percentile."""


@dataclass(frozen=True)
class Way:
    """How long to wait in each state: a *share* of how long nothing has happened, between two bounds."""

    name: str
    shortest: Mapping[Rhythm, int]
    longest: Mapping[Rhythm, int]
    share: float = SHARE

    def pause_s(self, rhythm: Rhythm, quiet_s: float) -> int:
        """In how many seconds to look again."""
        return pace_s(quiet_s, shortest=self.shortest[rhythm], longest=self.longest[rhythm], share=self.share)


def fixed(busy: int, waiting: int, idle: int) -> Way:
    """The same pause whatever the age."""
    each = {Rhythm.BUSY: busy, Rhythm.WAITING: waiting, Rhythm.IDLE: idle}
    return Way(f"always {busy} / {waiting} / {idle} s", each, each)


def growing(share: float, longest: tuple[int, int, int]) -> Way:
    """A pause that grows with the age."""
    names = f"{SHORTEST_S[Rhythm.BUSY]} to {longest[0]} / {SHORTEST_S[Rhythm.WAITING]} to {longest[1]} / "
    names += f"{SHORTEST_S[Rhythm.IDLE]} to {longest[2]} s"
    bounds = dict(zip(Rhythm, longest, strict=True))
    return Way(f"{share:.0%} of the quiet, {names}", SHORTEST_S, bounds, share)


OURS = Way("ours", SHORTEST_S, LONGEST_S)
"""What the product's `Poll-After` says."""
TRIED = (
    fixed(1, 5, 30),
    fixed(2, 5, 30),
    fixed(5, 5, 60),
    growing(0.05, (5, 15, 60)),
    growing(0.05, (10, 30, 60)),
    growing(0.05, (30, 60, 120)),
    growing(0.1, (10, 30, 60)),
    growing(0.1, (30, 60, 120)),
    growing(0.2, (30, 60, 120)),
    growing(0.5, (60, 60, 300)),
)


@dataclass(frozen=True)
class Stretch:
    """From one thing that a follower learns to the next: the rhythm between, and whether the follower made it begin."""

    at: float
    rhythm: Rhythm
    own: bool
    """It came of what the follower itself did, so it knows it already."""
    answers: bool = False
    """It began with something that was said or asked: what people wait for."""


@dataclass(frozen=True)
class Life:
    """What happens in a task, and until when somebody follows it."""

    stretches: tuple[Stretch, ...]
    until: float


@dataclass(frozen=True)
class Outcome:
    """What a way comes to over the day."""

    way: Way
    polls_of_a_task: float
    late_s: float
    """How late an answer or a question was seen, on average."""
    late_p95_s: float
    late_share: float
    """The same on average as a share of what it took, where it took a second at least."""
    elsewhere_s: float
    """How late it was seen that somebody acted elsewhere, on average."""


def lognormal(random_: random.Random, shape: Mapping[str, float]) -> float:
    """A duration of that shape."""
    sigma = math.log(shape["p95"] / shape["median"]) / Z95
    return random_.lognormvariate(math.log(shape["median"]), sigma)


def lives() -> list[Life]:
    """The tasks of the day."""
    random_ = random.Random(DAY["seed"])  # noqa: S311 - a day that is the same each time
    return [_life(random_) for _ in range(DAY["tasks"])]


def _life(random_: random.Random) -> Life:
    day, person = DAY["day"], DAY["person"]
    is_program = random_.randrange(100) < DAY["program"]["share"]
    at, stretches, own, until = 0.0, [], True, float(day)
    while True:
        for stretch in _turn(random_, at, own=own):
            stretches.append(stretch)
            at = stretch.at
        if random_.random() < 1 / DAY["turn"]["turns"]:
            break
        thinks = lognormal(random_, person["thinks"])
        own = random_.randrange(100) >= person["elsewhere"]
        if not is_program and thinks > person["lingers"]:
            own = True  # the page was closed: who comes back opens a new one
        at += thinks
        if at > day:
            break
    if not is_program:
        until = min(until, at + person["lingers"])
    return Life(tuple(stretches), min(until, day))


def _turn(random_: random.Random, began: float, *, own: bool) -> Iterator[Stretch]:
    """From an input to the answer, which leaves the task idle."""
    shapes, waiting, person = DAY["turn"]["shapes"], DAY["waiting"], DAY["person"]
    shape = random_.choices(shapes, [one["share"] for one in shapes])[0]
    yield Stretch(began, Rhythm.BUSY, own=own)
    at, ends = began, began + lognormal(random_, shape)
    if random_.randrange(100) < waiting["share"]:
        at += (ends - began) / 2
        yield Stretch(at, Rhythm.WAITING, own=False, answers=True)
        lasts = lognormal(random_, waiting["lasts"])
        at, ends = at + lasts, ends + lasts
        yield Stretch(at, Rhythm.BUSY, own=random_.randrange(100) >= person["elsewhere"])
    while (at := at + random_.expovariate(1 / DAY["turn"]["said_every"])) < ends:
        yield Stretch(at, Rhythm.BUSY, own=False, answers=True)
    yield Stretch(ends, Rhythm.IDLE, own=False, answers=True)


def played(way: Way, tasks: list[Life]) -> Outcome:
    """What the *tasks* of the day come to when they are followed in this *way*."""
    polls, late, shares, others = 0, [0.0], [0.0], [0.0]
    for life in tasks:
        spans = pairwise((*life.stretches, Stretch(life.until, Rhythm.IDLE, own=True)))
        look = before = life.stretches[0].at
        unseen: list[tuple[float, float]] = []
        elsewhere: list[float] = []
        for now, after in spans:
            if now.at >= life.until:
                break
            if now.own:
                look = now.at + way.pause_s(now.rhythm, 0)
            elif now.answers:
                unseen.append((now.at, now.at - before))
            else:
                elsewhere.append(now.at)
            before = now.at
            while look < min(after.at, life.until):
                polls += 1
                late += [look - at for at, _ in unseen]
                shares += [(look - at) / took for at, took in unseen if took >= 1]
                others += [look - at for at in elsewhere]
                unseen, elsewhere = [], []
                look += way.pause_s(now.rhythm, look - now.at)
    return Outcome(way, polls / len(tasks), mean(late), quantiles(late, n=20)[-1], mean(shares), mean(others))


@cache
def outcomes() -> tuple[Outcome, ...]:
    """Every way that was tried, over the same day; the first is what the others are measured by."""
    tasks = lives()
    return tuple(played(way, tasks) for way in TRIED)


def chosen(tried: Sequence[Outcome]) -> Outcome:
    """The fewest polls, of all that tell people as soon as the first does: within a tenth, whoever acted."""
    first = tried[0]

    def is_prompt(one: Outcome) -> bool:
        return (
            one.late_s <= 1.1 * first.late_s
            and one.late_share <= first.late_share
            and one.elsewhere_s <= first.elsewhere_s
        )

    return min(filter(is_prompt, tried), key=lambda one: one.polls_of_a_task)


def rows(dollars_of_a_poll: float) -> str:
    """The table of the page: one way a row, the chosen one marked."""
    ours = chosen(outcomes()).way
    return "\n".join(
        f"| {f'**{one.way.name}**' if one.way is ours else one.way.name} | {one.polls_of_a_task:,.0f} "
        f"| {one.late_s:.2f} | {one.late_p95_s:.1f} | {one.late_share:.1%} | {one.elsewhere_s:.1f} "
        f"| {one.polls_of_a_task * dollars_of_a_poll * 1_000:,.2f} |"
        for one in outcomes()
    )
