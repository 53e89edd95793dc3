"""The work that each does, and what is written down of it: polls, lives until idle, input while busy, kills."""

import time
import uuid
from collections.abc import Callable, Sequence
from dataclasses import replace
from http import HTTPStatus
from typing import Any

from bench.figures import ratio, spread
from bench.peers.conversation import NoSuchConversation, Peer, PeerFailed, Poll
from bench.peers.timing import burst, size
from bench.peers.verdicts import Fate, Seen, counted, is_settled, judge

SIZES = (2, 50, 500)
"""Messages of the conversations that are polled: one question and its answer, and up to five hundred."""
MOMENT_S = 0.2
"""How long one burst of polls lasts."""
PAUSE, LONG_PAUSE = "0.7", "1.5"
"""How long an answer takes when an input is to come meanwhile, and when a kill is."""
EVERY_S = 0.01


def polls(peer: Peer, floor: Poll, *, rounds: int, sizes: Sequence[int] = SIZES) -> list[dict[str, Any]]:
    """Each way to poll a conversation of each of *sizes*, a burst of it beside one of the *floor*, *rounds* times."""
    found = []
    for messages in sizes:
        conversation = peer.filled(messages)
        if not at_rest(peer, conversation):
            raise PeerFailed(f"a conversation of {messages} messages did not come to rest")
        there = len(peer.lines(conversation))
        for poll in with_unchanged(peer.polls(conversation)):
            measured = beside(poll, floor, rounds=rounds, processes=peer.processes)
            found.append({"messages": there, **measured})
    return found


def with_unchanged(ways: Sequence[Poll]) -> list[Poll]:
    """*ways*, and of each whose answer carries an ETag the same without news."""
    found = []
    for way in ways:
        found.append(way)
        if etag := size(way).etag:
            found.append(
                replace(
                    way,
                    what=f"unchanged: {way.what}",
                    headers={**way.headers, "if-none-match": etag},
                    works=frozenset({HTTPStatus.NOT_MODIFIED.value}),
                )
            )
    return found


def beside(poll: Poll, floor: Poll, *, rounds: int, processes: Callable[[], Sequence[int]]) -> dict[str, Any]:
    """What *poll* takes, and how many times the *floor* it is, pair by pair."""
    told = size(poll)
    mine, bare = [], []
    for turn in range(rounds):
        # In turns, so that neither always comes after the other.
        for way in (poll, floor) if turn % 2 else (floor, poll):
            if way is floor:
                bare.append(burst(floor, MOMENT_S))
            else:
                mine.append(burst(poll, MOMENT_S, processes()))
    return {
        "poll": poll.what,
        "body_bytes": told.body,
        "all_bytes": told.all,
        "etag": told.etag is not None,
        **{
            name: spread([run[name] for run in mine]) for name in ("per_second", "p50_ms", "p95_ms", "cpu_ms")
        },
        "floor_per_second": spread([run["per_second"] for run in bare]),
        "ratio": ratio([run["per_second"] for run in mine], [run["per_second"] for run in bare]),
    }


def lives(peer: Peer, *, times: int) -> dict[str, Any]:
    """Milliseconds from create to idle, for an agent that answers at once, polled every 10 ms."""
    took = []
    for _ in range(times):
        began = time.perf_counter()
        conversation = peer.create("0 hello")
        while peer.is_busy(conversation):
            time.sleep(EVERY_S)
        took.append(round((time.perf_counter() - began) * 1_000, 1))
    return {"create_to_idle_ms": spread(took)}


def sent_while_busy(
    peer: Peer, *, times: int, pause: str = PAUSE, ended: Callable[[str], bool] = lambda _: False
) -> dict[str, Any]:
    """What becomes of an input that is sent while another is being answered; and how many have *ended* then."""
    statuses, took, shown, fates, met, over = [], [], 0, [], 0, 0
    for _ in range(times):
        first, second = words(pause), words("0")
        conversation = peer.create(first)
        time.sleep(0.2)
        met += peer.is_busy(conversation)
        began = time.perf_counter()
        statuses.append(peer.send(conversation, second))
        took.append(round((time.perf_counter() - began) * 1_000, 1))
        shown += any(line.text == second for line in look(peer, conversation).lines or ())
        fates.append(settled(peer, conversation, second))
        over += ended(conversation)
    return {
        "tries": times,
        "ended_at_last": over,
        "was_busy": met,
        "statuses": sorted(set(statuses)),
        "answered_after_ms": spread(took),
        "shown_while_it_waits": shown,
        "fates": counted(fates),
    }


def killed(peer: Peer, *, kills: int, ages: Sequence[float], pause: str = LONG_PAUSE) -> dict[str, Any]:
    """What becomes of inputs that were accepted about *ages* seconds before a kill, in conversations with an answer.

    They are sent the oldest first; the peer is then started again, and waited for. One that had its answer already,
    since the machine was slow to send the others, tells nothing and is left out.
    """
    brief = "0.01"  # an agent may be chosen by the first input, and must be the slow one
    fates: list[Fate] = []
    earlier: list[Fate] = []
    too_old = 0
    for _ in range(kills):
        before = {peer.create(text): text for text in (words(brief) for _ in ages)}
        for conversation, text in before.items():
            if settled(peer, conversation, text) is not Fate.ANSWERED:
                raise PeerFailed("it did not answer the first input of a conversation")
        sent = send_at(peer, list(before), ages, pause)
        peer.crash()
        crashed = time.monotonic()
        peer.start_again()
        deadline = time.monotonic() + peer.patience_s + float(pause)
        for conversation, (text, at) in sent.items():
            fate = settled(peer, conversation, text, deadline=deadline)
            earlier.append(judge(before[conversation], look(peer, conversation)))
            if crashed - at < float(pause):
                fates.append(fate)
            else:
                too_old += 1
    return {
        "kills": kills,
        "tries": len(fates),
        "left_out": too_old,
        "ages_s": list(ages),
        "pause_s": float(pause),
        "fates": counted(fates),
        "answered_before_and_gone": sum(fate is not Fate.ANSWERED for fate in earlier),
    }


def send_at(
    peer: Peer, conversations: Sequence[str], ages: Sequence[float], pause: str
) -> dict[str, tuple[str, float]]:
    """Send one input to each, as old as *ages* say when this returns; what was sent and when, by conversation."""
    sent = {}
    began, oldest = time.monotonic(), max(ages)
    for conversation, age in zip(conversations, sorted(ages, reverse=True), strict=True):
        time.sleep(max(began + oldest - age - time.monotonic(), 0))
        text, at = words(pause), time.monotonic()
        if (status := peer.send(conversation, text)) >= HTTPStatus.MULTIPLE_CHOICES:
            raise PeerFailed(f"it refused an input with {status}")
        sent[conversation] = text, at
    time.sleep(max(began + oldest - time.monotonic(), 0))
    return sent


def settled(peer: Peer, conversation: str, text: str, *, deadline: float | None = None) -> Fate:
    """The fate of *text*, as soon as it is answered and the conversation is at rest, or when patience is over."""
    until = deadline or time.monotonic() + peer.patience_s
    while True:
        seen = look(peer, conversation)
        fate = judge(text, seen)
        if is_settled(fate, busy=seen.busy) or time.monotonic() > until:
            return fate
        peer.pass_time()
        time.sleep(0.1)


def look(peer: Peer, conversation: str) -> Seen:
    """What the conversation shows now."""
    try:
        return Seen(peer.lines(conversation), peer.is_busy(conversation))
    except NoSuchConversation:
        return Seen(None, busy=False)


def at_rest(peer: Peer, conversation: str) -> bool:
    """Whether it comes to rest in time."""
    deadline = time.monotonic() + peer.patience_s
    while peer.is_busy(conversation):
        if time.monotonic() > deadline:
            return False
        time.sleep(EVERY_S)
    return True


def words(pause: str) -> str:
    """A text like no other, whose answer takes *pause* seconds."""
    return f"{pause} {uuid.uuid4().hex[:12]}"
