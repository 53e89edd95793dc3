"""Scale: what an operation asks for as the table and the conversation grow, and a sweep with very much to do.

Calls, bytes and units, which are the same on every machine and on AWS; no time of AWS's is in it.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from time import process_time
from typing import Any

from bench.figures import row
from bench.memory import Memory
from bench.tables import Line, Plot, Table
from tests.support import specimens
from tests.support.counting import Counting
from tests.support.engines import Engine
from tests.support.hosting import ACME, AGENT
from tests.support.laboratory import ALICE, Laboratory, said
from tests.support.metered import asked, manifest_of
from tests.support.metering import Metering, Used, bytes_of, together, use, used
from turnkeeper.service import catalogue, host_agents, host_turns
from turnkeeper.service.sweep import sweep
from turnkeeper.service.tasks import list_tasks
from turnkeeper.store.items import created_key, due_shard, task_to_item
from turnkeeper.store.standing import task_key
from turnkeeper.store.wire import item_to_wire

TITLE = "As tasks and conversations grow"
ABOUT = """\
The same few operations with 10 to 100,000 tasks in the table, and on a task with 1 to 10,000 messages. The product is
the real one; the table is one in memory (`bench/memory.py`), on which tests have every use case cost what it costs on
the engines: those copy or walk the whole table where AWS does not. What is shown is what is asked of DynamoDB, in calls
and bytes of items: it carries over. How long AWS takes for it does not follow from it. A page has 20 messages; a list,
20 tasks."""
ROUNDS = 1
COMMAND = "make bench PART=scale"
TASKS = (10, 100, 1_000, 10_000, 100_000)
MESSAGES = (1, 10, 100, 1_000, 10_000)
LOOKS_OF_A_RUN = 3_000
"""What one run of the sweep gets done before its 45 s are over, at the 15 ms for a look that docs/scale.md assumes."""
TEXT = "x" * (1_000 - len(said("")))

type Measured = dict[str, Any]
type Act = Callable[[], object]


class LookedTwice(Exception):
    """A sweep left a task out, or looked at it again."""


class Answers:
    """A queue that takes everything."""

    def send_message(self, **request: Any) -> Mapping[str, Any]:
        """It was taken."""
        return {"MessageId": request["MessageDeduplicationId"]}


def measure(
    rounds: int,
    *,
    tasks: Sequence[int] = TASKS,
    messages: Sequence[int] = MESSAGES,
    looks_of_a_run: int = LOOKS_OF_A_RUN,
) -> Mapping[str, Any]:
    """What operations cost at each of so many *tasks* and *messages*; the same in all *rounds*, so once is enough."""
    del rounds
    return {
        "tasks": [{"size": size, **_among(size)} for size in tasks],
        "messages": _in_a_conversation(messages),
        "due": _swept(max(tasks), looks_of_a_run),
    }


def tables(found: Mapping[str, Any]) -> Sequence[Table]:
    """Calls, bytes and units by size, and the sweep's runs."""
    due = found["due"]
    runs = due["runs"]
    return (
        _table("Among so many tasks", "tasks", found["tasks"]),
        _table("In a task of so many messages", "messages", found["messages"]),
        Table(
            f"A sweep with {due['tasks']:,} tasks due",
            (
                "runs",
                "looks of each",
                "looked at once",
                "twice",
                "never",
                "calls in all",
                "read units",
                "write units",
            ),
            [
                row(
                    len(runs),
                    f"{min(runs):,} to {max(runs):,}",
                    *(due[name] for name in ("once", "twice", "never", "calls")),
                    due["used"]["read_unit"],
                    due["used"]["write_unit"],
                )
            ],
            COMMAND,
            f"Each run stops after {due['looks_of_a_run']:,} looks, as it would for want of time, and the next goes on."
            f" A look took {due['cpu_ms']:.2g} ms of this machine's processor, the table in memory included.",
        ),
    )


def plots(found: Mapping[str, Any]) -> Sequence[Plot]:
    """Bytes and calls by the number of tasks, and by that of messages."""
    return tuple(
        _plot(f"scale-{name}-{what}", f"{title}: {what}", x, found[name], what)
        for name, title, x in (
            ("tasks", "Among so many tasks", "tasks in the table"),
            ("messages", "In a task of so many messages", "messages in the task"),
        )
        for what in ("bytes", "calls")
    )


def laboratory() -> tuple[Laboratory, Metering, Memory]:
    """The product on a table in memory, which meters, with the built-in agents and one of a host's."""
    memory = Memory()
    dynamodb = Metering(memory)
    lab = Laboratory(
        Engine("memory", None), dynamodb=dynamodb, sqs=Counting(Answers()), table="tasks", queue_url="queue"
    )
    queue = lab.runtime.queue
    if queue is None:
        raise LookupError("a laboratory has a queue")
    lab.runtime = replace(lab.runtime, queue=replace(queue, host_urls={ACME.principal: "hosts"}))
    for agent in ("echo", "mayfly"):
        catalogue.keep(lab.runtime, catalogue.look_up(lab.runtime, agent))
    host_agents.register(lab.runtime, principal=ACME.principal, name=AGENT, document=manifest_of(AGENT))
    return lab, dynamodb, memory


def fill(memory: Memory, count: int, *, due_in: timedelta) -> None:
    """Put *count* idle tasks of Alice's into the table, which end so long after the laboratory's clock began."""
    idle = replace(specimens.idle(), responsible_user=ALICE)
    ends = specimens.NOW + due_in
    template = item_to_wire(task_to_item(replace(idle, idle_expires_at=ends, due_at=ends)))
    for number in range(count):
        # By a multiplication that meets every shard alike and no number twice.
        task_id = f"{number * 0x9E3779B97F4A7C15F39CC0605CEDC835 % 2**128:032x}"
        made = idle.created_at + timedelta(microseconds=number)
        own = {
            **task_key(task_id),
            "created_key": created_key(made, task_id),
            "due_shard": due_shard(task_id, ended=False),
        }
        memory.put({**template, **item_to_wire(own)})


def each_once(looked: Counter[str], count: int) -> dict[str, int]:
    """How many of *count* tasks were looked at once, and not: all of them once, or `LookedTwice`."""
    once = sum(times == 1 for times in looked.values())
    due = {"once": once, "twice": looked.total() - len(looked), "never": count - len(looked)}
    if due != {"once": count, "twice": 0, "never": 0}:
        raise LookedTwice(due)
    return due


def _among(count: int) -> Measured:
    lab, dynamodb, memory = laboratory()
    fill(memory, count, due_in=timedelta(days=7))
    task_id = lab.create(TEXT).task.id
    lab.clock.forward(seconds=1)
    return {
        name: _asked(dynamodb, act)
        for name, act in {
            "accept": lambda: lab.send(task_id, TEXT),
            "poll": lambda: lab.poll(task_id),
            "page": lambda: lab.page(task_id, limit=20),
            "list": lambda: list_tasks(
                lab.runtime, caller=ALICE, phase=None, agent=None, limit=20, cursor=None
            ),
            "sweep, nothing due": lab.sweep,
        }.items()
    }


def _in_a_conversation(sizes: Sequence[int]) -> list[Measured]:
    lab, dynamodb, _ = laboratory()
    task_id = lab.create(TEXT, agent=AGENT).task.id
    held, turns, rows = 1, 0, []
    for size in sizes:
        while held < size:
            # An input and an output by turns, each 1 KB.
            if held % 2:
                turns += 1
                host_turns.start(lab.runtime, asked(task_id))
                host_turns.finish(lab.runtime, asked(task_id), fence=turns, content=said(TEXT))
            else:
                lab.send(task_id, TEXT)
            held += 1
            lab.clock.forward(seconds=1)
            dynamodb.calls.clear()
        rows.append({"size": size, **_reading(lab, dynamodb, task_id)})
    return rows


def _reading(lab: Laboratory, dynamodb: Metering, task_id: str) -> Measured:
    def whole() -> str:
        after, more = None, True
        while more:
            page = lab.page(task_id, after=after, limit=1_000)
            after, more = page.next, page.more
        return str(after)

    end = whole()
    dynamodb.calls.clear()
    return {
        name: _asked(dynamodb, act)
        for name, act in {
            "poll": lambda: lab.poll(task_id),
            "page": lambda: lab.page(task_id, limit=20),
            "page, nothing new": lambda: lab.page(task_id, after=end),
            "the whole": whole,
            "accept": lambda: lab.send(task_id, TEXT),
        }.items()
    }


def _swept(count: int, looks_of_a_run: int) -> Measured:
    lab, dynamodb, memory = laboratory()
    fill(memory, count, due_in=timedelta(0))
    lab.clock.forward(minutes=1)
    looked, counted, calls, runs, looks = Counter[str](), use(), 0, list[int](), 0
    dynamodb.calls.clear()

    def note() -> None:
        nonlocal counted, calls
        for call in dynamodb.calls:
            if call.operation == "transact_write_items":
                looked[call.request["TransactItems"][0]["Update"]["Key"]["pk"]["S"]] += 1
        counted, calls = counted + together(map(used, dynamodb.calls)), calls + len(dynamodb.calls)
        dynamodb.calls.clear()

    def may_go_on() -> bool:
        nonlocal looks
        note()
        looks += 1
        return looks <= looks_of_a_run

    began = process_time()
    while True:
        looks = 0
        done = sweep(lab.runtime, may_go_on=may_go_on)
        note()
        runs.append(done.changed)
        lab.clock.forward(minutes=1)
        if not done.cut_short:
            break
    seconds = process_time() - began
    due = each_once(looked, count)
    return {
        "tasks": count,
        "looks_of_a_run": looks_of_a_run,
        "runs": runs,
        **due,
        "calls": calls,
        "used": dict(counted),
        "cpu_ms": round(seconds * 1_000 / count, 3),
    }


def _asked(dynamodb: Metering, act: Act) -> Measured:
    dynamodb.calls.clear()
    act()
    sizes = [bytes_of(call) for call in dynamodb.calls]
    counted: Used = together(map(used, dynamodb.calls))
    return {
        "calls": len(dynamodb.calls),
        "bytes": sum(map(sum, sizes)),
        "read": counted["read_unit"],
        "write": counted["write_unit"],
    }


def _table(title: str, what: str, steps: Sequence[Mapping[str, Any]]) -> Table:
    operations = [name for name in steps[0] if name != "size"]
    rows = [
        row(
            step["size"],
            *(
                f"{of['calls']} calls, {of['bytes']:,} B, {of['read']:g} R {of['write']:g} W"
                for of in (step[name] for name in operations)
            ),
        )
        for step in steps
    ]
    return Table(title, (what, *operations), rows, COMMAND, "B: bytes of items; R, W: read and write units.")


def _plot(name: str, title: str, x: str, steps: Sequence[Mapping[str, Any]], what: str) -> Plot:
    lines = [
        Line(operation, [(step["size"], step[operation][what]) for step in steps])
        for operation in steps[0]
        # What reads and writes no item at all has no place where each step is ten times the last.
        if operation != "size" and all(step[operation][what] for step in steps)
    ]
    return Plot(name, title, x, what, lines, log_y=True)
