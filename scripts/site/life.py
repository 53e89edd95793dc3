"""The life of a task as a drawing: its states, and every change that leads from one to another.

What is drawn is data that a test holds to the state machine (tests/unit/test_drawings.py).
"""

from collections.abc import Mapping
from dataclasses import dataclass

from scripts.site.drawing import Arrow, Box, picture
from turnkeeper.domain.rules import HELD, IN_A_TURN, State, Transition

PROCESSING = frozenset(State) - {State.IDLE, State.TERMINAL}
ENDINGS = frozenset({Transition.COMPLETE, Transition.ERROR, Transition.RESTRICT})

GROUPS = (
    Box(x=20, y=70, width=150, height=440, words=["idle"], kind="group"),
    Box(x=205, y=70, width=705, height=440, words=["processing"], kind="group"),
    Box(x=945, y=70, width=145, height=440, words=["terminal"], kind="group"),
    Box(x=430, y=100, width=465, height=395, words=["a turn"], kind="turn"),
    Box(x=445, y=130, width=195, height=350, words=["held by a worker"], kind="turn"),
)
BOXES: Mapping[State, Box] = {
    State.IDLE: Box(x=32, y=190, width=126, height=52, words=["idle", "awaits input"]),
    State.QUEUED: Box(x=265, y=190, width=140, height=52, words=["queued", "input waits"]),
    State.WAITING: Box(x=265, y=330, width=140, height=52, words=["waiting", "all is held"]),
    State.RUNNING: Box(x=460, y=190, width=165, height=52, words=["running", "under a lease"]),
    State.BETWEEN_ATTEMPTS: Box(
        x=460, y=400, width=165, height=52, words=["between attempts", "until its time"]
    ),
    State.RUNNABLE: Box(x=745, y=190, width=135, height=52, words=["runnable", "may go on"]),
    State.SUSPENDED: Box(x=745, y=400, width=135, height=52, words=["suspended", "nothing runs"]),
    State.TERMINAL: Box(
        x=957, y=290, width=121, height=52, words=["terminal", "nothing changes"], kind="end"
    ),
}


@dataclass(frozen=True, kw_only=True)
class Leads:
    """Each of *transitions* may lead from some of the states *of* to some of the states *to*; *arrows* show it."""

    of: frozenset[State]
    to: frozenset[State]
    transitions: frozenset[Transition]
    arrows: tuple[Arrow, ...]


def _leads(
    of: State | frozenset[State],
    to: State | frozenset[State],
    transitions: Transition | frozenset[Transition],
    *arrows: Arrow,
) -> Leads:
    return Leads(
        of=frozenset({of}) if isinstance(of, State) else of,
        to=frozenset({to}) if isinstance(to, State) else to,
        transitions=frozenset({transitions}) if isinstance(transitions, Transition) else transitions,
        arrows=arrows,
    )


BORN = _leads(
    frozenset(),
    frozenset({State.IDLE, State.QUEUED}),
    Transition.CREATE,
    Arrow(points=[(187, 124), (95, 124), (95, 188)], words=["created"], at=(140, 117)),
    Arrow(points=[(187, 124), (335, 124), (335, 188)], words=["created with an input"], at=(270, 117)),
)
LEADS = (
    _leads(
        State.IDLE,
        State.QUEUED,
        Transition.ACCEPT,
        Arrow(points=[(158, 205), (263, 205)], words=["input"], at=(212, 199)),
    ),
    _leads(
        State.QUEUED,
        State.IDLE,
        Transition.START_TURN,
        Arrow(points=[(265, 228), (160, 228)], words=["all is", "refused"], at=(188, 243)),
    ),
    _leads(
        State.QUEUED,
        State.RUNNING,
        Transition.START_TURN,
        Arrow(points=[(405, 216), (458, 216)], words=["starts"], at=(409, 231), anchor="start"),
    ),
    _leads(
        State.QUEUED,
        State.WAITING,
        Transition.START_TURN,
        Arrow(
            points=[(360, 242), (360, 328)],
            words=["all is held", "for a", "review"],
            at=(365, 272),
            anchor="start",
        ),
    ),
    _leads(
        State.WAITING,
        State.QUEUED,
        frozenset({Transition.DECIDE, Transition.ACCEPT, Transition.INTERRUPT}),
        Arrow(
            points=[(310, 330), (310, 244)],
            words=["decided,", "or more", "comes"],
            at=(305, 272),
            anchor="end",
        ),
    ),
    _leads(
        State.RUNNING,
        State.BETWEEN_ATTEMPTS,
        frozenset({Transition.FAIL_ATTEMPT, Transition.LOSE_TURN}),
        Arrow(points=[(480, 242), (480, 398)], words=["fails, or", "is lost"], at=(485, 312), anchor="start"),
    ),
    _leads(
        State.BETWEEN_ATTEMPTS,
        State.RUNNING,
        Transition.START_ATTEMPT,
        Arrow(points=[(560, 400), (560, 244)], words=["next", "attempt"], at=(565, 312), anchor="start"),
    ),
    _leads(
        HELD,
        State.SUSPENDED,
        frozenset({Transition.SUSPEND, Transition.HOLD_OUTPUT, Transition.LOSE_TURN}),
        Arrow(points=[(640, 412), (743, 412)], words=["has to wait"], at=(690, 406)),
    ),
    _leads(
        State.SUSPENDED,
        State.BETWEEN_ATTEMPTS,
        frozenset({Transition.RESOLVE, Transition.RECONCILE}),
        Arrow(points=[(745, 438), (627, 438)], words=["repeat it"], at=(692, 453)),
    ),
    _leads(
        State.SUSPENDED,
        State.RUNNABLE,
        Transition.RESOLVE,
        Arrow(points=[(835, 400), (835, 244)], words=["all is", "there"], at=(840, 316), anchor="start"),
    ),
    _leads(
        State.RUNNABLE,
        State.RUNNING,
        Transition.START_ATTEMPT,
        Arrow(points=[(745, 203), (627, 203)], words=["goes on"], at=(692, 197)),
    ),
    _leads(
        HELD,
        State.RUNNABLE,
        Transition.SUSPEND,
        Arrow(points=[(640, 230), (743, 230)], words=["was there", "before"], at=(690, 245)),
    ),
    _leads(
        State.RUNNABLE,
        State.BETWEEN_ATTEMPTS,
        Transition.RELEASE_OUTPUT,
        Arrow(
            points=[(775, 242), (627, 402)],
            words=["what was", "held is said,", "and it goes on"],
            at=(728, 312),
            anchor="start",
        ),
    ),
    _leads(
        IN_A_TURN,
        frozenset({State.IDLE, State.QUEUED, State.WAITING}),
        frozenset({Transition.FINISH, Transition.INTERRUPT, Transition.RELEASE_OUTPUT, Transition.RECONCILE}),
        Arrow(points=[(430, 450), (349, 450)], words=["the turn ends"], at=(391, 468)),
        Arrow(points=[(335, 438), (335, 384)], words=["the rest is held"], at=(340, 414), anchor="start"),
        Arrow(
            points=[(321, 450), (240, 450), (240, 216), (263, 216)],
            words=["more", "came"],
            at=(244, 402),
            anchor="start",
        ),
        Arrow(points=[(335, 462), (335, 490), (95, 490), (95, 244)], words=["nothing waits"], at=(265, 484)),
    ),
    _leads(
        State.IDLE,
        State.TERMINAL,
        ENDINGS | {Transition.EXPIRE},
        Arrow(
            points=[(75, 190), (75, 40), (1050, 40), (1050, 288)],
            words=["ends at the instant it announced, or is completed, errored, restricted"],
            at=(560, 33),
        ),
    ),
    _leads(
        PROCESSING,
        State.TERMINAL,
        ENDINGS | {Transition.FAIL_ATTEMPT, Transition.LOSE_TURN, Transition.RESOLVE, Transition.RECONCILE},
        Arrow(
            points=[(910, 316), (955, 316)],
            words=["completed,", "errored,", "restricted"],
            at=(1017, 366),
        ),
    ),
)

STAY = frozenset(Transition) - {one for lead in (BORN, *LEADS) for one in lead.transitions}
"""What never leads anywhere else."""


def drawn() -> str:
    """The drawing as SVG."""
    born = '<circle class="dot" cx="187" cy="124" r="6"/>'
    choice = '<path class="box" d="M335 438 349 450 335 462 321 450z"/>'
    return picture(
        1110,
        530,
        "The life of a task",
        "Three phases: idle, processing, terminal. "
        + " ".join(
            f"From {_named(lead.of)} to {_named(lead.to)}: {_named(lead.transitions)}."
            for lead in (BORN, *LEADS)
        ),
        [
            *(group.svg() for group in GROUPS),
            *(arrow.svg() for lead in (BORN, *LEADS) for arrow in lead.arrows),
            *(box.svg() for box in BOXES.values()),
            born,
            choice,
        ],
    )


def _named(some: frozenset[State] | frozenset[Transition]) -> str:
    return ", ".join(sorted(one.replace("_", " ") for one in some)) or "nothing"
