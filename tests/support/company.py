"""People, a host and its tasks, with a small model of what must be seen of each: it is compared after every act.

The model knows what people said and heard, and what waits for whom. Where a turn stands it asks the product, whose
state machine has tests of its own.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

from tests.support.engines import Engine, make_queue
from tests.support.hosting import ACME
from tests.support.laboratory import ALICE, BOB, Laboratory, said
from turnkeeper.asc.registry import Code
from turnkeeper.domain.errors import TaskError, TaskIsTerminal
from turnkeeper.domain.needs import Need
from turnkeeper.domain.reviews import name_of
from turnkeeper.domain.rules import State, state_of
from turnkeeper.domain.status import status_object
from turnkeeper.domain.task import Phase, Task
from turnkeeper.domain.waits import Verdict, WaitKind
from turnkeeper.service import host_agents, host_turns
from turnkeeper.service.delegation import Call
from turnkeeper.service.grants import grant
from turnkeeper.service.host_turns import Asked
from turnkeeper.service.notifications import list_calls
from turnkeeper.service.reviews import decide, list_reviews

MOST_LOOKS = 200
PEOPLE = (ALICE, BOB)


@dataclass(slots=True)
class Seen:
    """What the model knows of one task."""

    owner: str
    conversation: list[tuple[str, str]] = field(default_factory=list)
    pending: list[str] = field(default_factory=list)
    has_turn: bool = False
    leg_began: datetime | None = None
    calls: list[tuple[Need, datetime]] = field(default_factory=list)
    """What of its turn's waits is for people to end, and since when."""
    ended: dict[str, Any] | None = None
    """Its item, byte for byte, from its end on."""
    state: State = State.IDLE
    shown: tuple[Any, ...] = ()
    revision: str = ""


class Company:
    """Two people and a host on a table of their own."""

    def __init__(self, engine: Engine) -> None:
        self.lab = Laboratory(engine)
        queue = self.lab.runtime.queue
        assert queue
        urls = {ACME.principal: make_queue(self.lab.sqs)}
        self.lab.runtime = replace(self.lab.runtime, queue=replace(queue, host_urls=urls))
        terms = {"runs": "external", "repeatable": True, "attempts": 9, "lifespan": "20m", "backoff": ["1s"]}
        document = {
            "name": "helper",
            "description": "",
            "limits": {"max_age": "3h"},
            "turnkeeper": {**terms, "delegates_from": ["helper"]},
        }
        host_agents.register(
            self.lab.runtime, principal=ACME.principal, name="helper", document=json.dumps(document)
        )
        self.tasks: dict[str, Seen] = {}
        self.grants: dict[tuple[str, str], datetime] = {}
        self.reviews: dict[str, str] = {}
        """Every review there ever was, and its reviewer."""
        self.said = 0
        self.done: Counter[str] = Counter()
        """How often each act was done, and not refused."""

    def close(self) -> None:
        self.lab.dynamodb.delete_table(TableName=self.lab.table)

    # What people do

    def create(self, person: str, *, with_input: bool) -> None:
        text = self._words()
        task = self.lab.create(text if with_input else None, agent="helper", caller=person).task
        self._add(task, person, [text] if with_input else [])

    def send(self, task_id: str) -> None:
        text, seen = self._words(), self.tasks[task_id]
        if self._try("send", task_id, lambda: self.lab.send(task_id, text, caller=seen.owner)):
            seen.pending.append(text)

    def decide(self, review_id: str, person: str, verdict: Verdict) -> None:
        task_id = review_id[:32]
        seen = self.tasks[task_id]
        outstanding = {
            task_id + name_of(self._stored(task_id).fence, need.id): need for need, _ in seen.calls
        }

        def say() -> object:
            return decide(self.lab.runtime, caller=person, review_id=review_id, verdict=verdict, comment=None)

        was_asked = review_id in outstanding and self.reviews[review_id] == person
        if self._try("decide", task_id, say) and was_asked:
            seen.calls = [call for call in seen.calls if call[0] is not outstanding[review_id]]

    def sign_in(self, person: str, provider: str, ago: timedelta) -> None:
        at = self.lab.clock() - ago
        grant(self.lab.runtime, principal=ACME.principal, user=person, provider=provider, granted_at=at)
        newest = max(at, self.grants.get((person, provider), at))
        self.grants[person, provider] = newest
        for seen in self.tasks.values():
            if seen.owner == person:
                seen.calls = [call for call in seen.calls if not self._is_granted(seen, call[0])]

    # What the host does

    def start(self, task_id: str) -> None:
        seen, before = self.tasks[task_id], self._stored(task_id)
        if not self._try("start", task_id, lambda: host_turns.start(self.lab.runtime, _asked(task_id))):
            return
        if not seen.has_turn:
            seen.conversation += [("input", text) for text in seen.pending]
            seen.pending, seen.has_turn = [], True
        if state_of(before) in {State.QUEUED, State.RUNNABLE}:
            seen.leg_began = self.lab.clock()

    def say(self, task_id: str) -> None:
        text, seen, task = self._words(), self.tasks[task_id], self._stored(task_id)
        ordinal = task.turn.outputs + 1 if task.turn else 1

        def output() -> object:
            return host_turns.output(
                self.lab.runtime,
                _asked(task_id),
                fence=task.fence,
                ordinal=ordinal,
                content=said(text),
            )

        if self._try("say", task_id, output):
            seen.conversation.append(("output", text))

    def finish(self, task_id: str) -> None:
        text, seen, fence = self._words(), self.tasks[task_id], self._stored(task_id).fence

        def end() -> object:
            return host_turns.finish(self.lab.runtime, _asked(task_id), fence=fence, content=said(text))

        if self._try("finish", task_id, end):
            seen.conversation.append(("output", text))
            seen.has_turn = False

    def fail(self, task_id: str) -> None:
        fence = self._stored(task_id).fence
        self._try("fail", task_id, lambda: host_turns.fail(self.lab.runtime, _asked(task_id), fence=fence))

    def wait(self, task_id: str, needs: Iterable[Need]) -> None:
        seen, fence, asked = self.tasks[task_id], self._stored(task_id).fence, [*needs]

        def suspend() -> object:
            return host_turns.wait(self.lab.runtime, _asked(task_id), fence=fence, needs=asked, memo='"memo"')

        now = self.lab.clock()
        if not self._try("wait", task_id, suspend):
            return
        people = [need for need in asked if need.kind in {WaitKind.AUTHORISATION, WaitKind.REVIEW}]
        seen.calls = [(need, now) for need in people if not self._is_granted(seen, need)]
        self.reviews |= {
            task_id + name_of(fence, need.id): str(need.reviewer) for need in people if need.reviewer
        }

    def answer(self, task_id: str, wait_id: str, verdict: Verdict) -> None:
        fence = self._stored(task_id).fence

        def word() -> object:
            asked = _asked(task_id)
            return host_turns.resolve(self.lab.runtime, asked, fence=fence, wait_id=wait_id, verdict=verdict)

        self._try("answer", task_id, word)

    def delegate(self, task_id: str, name: str) -> str | None:
        text, seen = self._words(), self.tasks[task_id]
        call = Call(name=name, fence=self._stored(task_id).fence, agent="helper", content=said(text))
        made: list[Task] = []

        def ask() -> object:
            made.append(
                host_turns.delegate(self.lab.runtime, principal=ACME.principal, task_id=task_id, call=call)
            )
            return made

        if not self._try("delegate", task_id, ask):
            return None
        assert made[0].id not in self.tasks
        self._add(made[0], seen.owner, [text])
        return made[0].id

    def interrupt(self, task_id: str) -> None:
        if self._try("interrupt", task_id, lambda: host_turns.interrupt(self.lab.runtime, _asked(task_id))):
            self._ends_its_turn(task_id)

    def complete(self, task_id: str, *, discard: bool = False) -> None:
        def end() -> object:
            return host_turns.complete(
                self.lab.runtime, _asked(task_id), outcome=Code.SUCCESS, discard_pending=discard
            )

        if self._try("complete", task_id, end):
            self._ends_its_turn(task_id)

    def abandon(self, task_id: str) -> None:
        """Complete it whatever was sent; what no turn took stays listed."""
        self.complete(task_id, discard=True)

    def restrict(self, task_id: str) -> None:
        if self._try("restrict", task_id, lambda: host_turns.restrict(self.lab.runtime, _asked(task_id))):
            self._ends_its_turn(task_id)

    # What happens by itself

    def time_passes(self, by: timedelta) -> None:
        """Time goes by, and the deployment's own functions do what they find."""
        self.lab.clock.now += by
        self.lab.sweep()
        self.lab.work()
        now = self.lab.clock()
        for task_id, seen in self.tasks.items():
            seen.calls = [(need, since) for need, since in seen.calls if now < since + need.within]
            if self._stored(task_id).is_terminal:
                self._ends_its_turn(task_id)

    # What must be seen

    def in_states(self, *states: State) -> list[str]:
        """The tasks that stood so when they were last looked at, the newest first."""
        return [task_id for task_id in reversed(self.tasks) if self.tasks[task_id].state in states]

    def check(self) -> None:
        for task_id, seen in self.tasks.items():
            self._check_task(task_id, seen)
        for person in PEOPLE:
            self._check_person(person)

    def _check_task(self, task_id: str, seen: Seen) -> None:
        if seen.ended is not None:
            assert self.lab.raw(task_id) == seen.ended
        task = self.lab.poll(task_id, caller=seen.owner)
        seen.state = state_of(task)
        if task.is_terminal and seen.ended is None:
            seen.ended = self.lab.raw(task_id)
            self._ends_its_turn(task_id)
        status = status_object(task)["status"]
        revision = status.pop("revision")
        assert status["notifications"] == self._owed(seen)
        entries = [
            (entry["type"], entry["message"][0]["text"], entry.get("committed_at"))
            for entry in (json.loads(text) for text in self._entries(task_id, seen))
        ]
        assert [(kind, text) for kind, text, at in entries if at] == seen.conversation
        assert [(kind, text) for kind, text, at in entries if not at] == [("input", t) for t in seen.pending]
        instants = [at for _, _, at in entries if at]
        assert instants == sorted({*instants})
        shown = (json.dumps(status), tuple(entries))
        assert (revision != seen.revision) is (shown != seen.shown)
        seen.shown, seen.revision = shown, revision

    def _check_person(self, person: str) -> None:
        owed = [task_id for task_id, seen in self.tasks.items() if seen.owner == person and self._owed(seen)]
        called = list_calls(self.lab.runtime, caller=person, limit=100, cursor=None).tasks
        assert sorted(task.id for task in called) == sorted(owed)
        asked = [
            need.subject for seen in self.tasks.values() for need, _ in seen.calls if need.reviewer == person
        ]
        found = list_reviews(self.lab.runtime, caller=person, limit=100, cursor=None).reviews
        assert sorted(review.subject for review in found) == sorted(filter(None, asked))

    def check_nothing_is_parked(self) -> None:
        """With no people, no host and no queue any more, everything ends."""
        for _ in range(MOST_LOOKS):
            alive = [task for task in map(self._stored, self.tasks) if not task.is_terminal]
            if not alive:
                return
            self.lab.clock.now = max(self.lab.clock.now, min(task.due_at for task in alive))
            self.lab.sweep()
        raise AssertionError(f"parked: {alive}")

    def _owed(self, seen: Seen) -> list[dict[str, Any]]:
        """The notifications that the model owes: one per provider, the longest first."""
        calls: dict[tuple[str, str], datetime] = {}
        for need, since in seen.calls:
            if need.kind is WaitKind.AUTHORISATION:
                key = ("user_auth_required", str(need.provider))
            elif need.reviewer == seen.owner:
                key = ("review_required", need.id)
            else:
                continue
            calls[key] = min(since, calls.get(key, since))
        owed = [
            {"kind": kind, "since": _text(since), **({"provider": name} if kind[0] == "u" else {})}
            for (kind, name), since in calls.items()
        ]
        return sorted(owed, key=lambda call: (call["since"], call["kind"], call.get("provider", "")))

    def _entries(self, task_id: str, seen: Seen) -> Iterable[str]:
        return self.lab.page(task_id, limit=1000, caller=seen.owner).entries

    def _is_granted(self, seen: Seen, need: Need) -> bool:
        granted_at = self.grants.get((seen.owner, need.provider or ""))
        return granted_at is not None and seen.leg_began is not None and granted_at >= seen.leg_began

    def _ends_its_turn(self, task_id: str) -> None:
        seen = self.tasks[task_id]
        seen.has_turn, seen.calls = False, []

    def _add(self, task: Task, owner: str, pending: list[str]) -> None:
        assert task.responsible_user == owner
        self.tasks[task.id] = Seen(owner, pending=pending)

    def _try(self, name: str, task_id: str, act: Callable[[], object]) -> bool:
        """Whether *act* was done; a refusal is one only where the product may say so, and stores nothing."""
        before = self._items()
        was_over = self.tasks[task_id].ended is not None
        try:
            act()
        except TaskIsTerminal:
            assert self._stored(task_id).is_terminal
        except TaskError:
            assert self._stored(task_id).phase is Phase.TERMINAL or self._items() == before
        else:
            self.done[name] += not was_over
            return not was_over
        if self._stored(task_id).is_terminal:
            self._ends_its_turn(task_id)
        return False

    def _items(self) -> list[dict[str, Any]]:
        return [self.lab.raw(task_id) for task_id in self.tasks]

    def _stored(self, task_id: str) -> Task:
        return self.lab.stored(task_id)

    def _words(self) -> str:
        self.said += 1
        return f"words {self.said}"


def _asked(task_id: str) -> Asked:
    return Asked(principal=ACME.principal, task_id=task_id, body="{}", key=None)


def _text(instant: datetime) -> str:
    return instant.isoformat(timespec="microseconds").replace("+00:00", "Z")
