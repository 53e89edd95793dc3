"""How the part is shown: tables of plain rows, a plot, and what must be known to read them."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from bench.figures import cell, number, row
from bench.peers.verdicts import Fate
from bench.tables import Line, Plot, Table

TITLE = "Side by side with peers"
COMMAND = "make bench PART=peers"
ABOUT = """\
The same work on the same machine, with three servers that also keep conversations with agents: the server of
**a2a-sdk** with its SQL store on SQLite, **LangGraph**'s local server, and **Restate** with a virtual object. Each
runs the same small agent (`bench/peers/apps`), which takes as long over its answer as it is told, in the idiom of its
makers, in an environment of its own; what was chosen stands below the first table. All listen on loopback only and are
told to send nothing anywhere.

Polls are timed by one client with one kept connection, in bursts of a fifth of a second, each beside a burst at the
*floor*: a bare uvicorn and starlette that answer with a JSON object of the size of a status. “x floor” is the rate as
a share of that, pair by pair. The client is Python and costs about as much as the floor itself, so what is faster
than that looks less fast than it is. CPU is that of all processes that answer.

**Ours is there twice, and neither is what AWS does.** The offline engine stands in for API Gateway, Lambda, SQS and
DynamoDB; how much of a poll is the engine's own, the row of the empty function says. The handler alone is our code on
the server of the floor, with the answer of DynamoDB ready, so it lacks the read itself.

**What is killed.** A peer is killed with SIGKILL, with all of its processes, after it accepted inputs and before it
answered, and is then started again on the files that it kept. Of ours the worker that runs the turn is killed. The
store, the queue and who calls whom are AWS's there and the engine's here, and to kill the engine would try only the
engine. So the rows compare what each promises to survive on its own ground: one machine for them, a lost function for
us. They do not show that we would survive what AWS does not. Here a lease lasts 4 s, not 60, and time is swept as
soon as we ask, not each minute: on AWS the same takes up to two minutes.

**Where they win.** They answer beside their data: polls of short conversations take them less time and machinery than
a gateway, a function and a database over a network, and nobody needs an account for it. Restate's server tells by
itself whether a call has its output, at about the pace of the floor; a whole turn takes it the least of all, it loses
nothing in these kills, and it resumes within a handler, step by step, where we begin the turn again. With each of the
three a client can wait for an answer instead of polling. a2a-sdk and LangGraph stream what an agent says as it is
said, which we do not, and come with an ecosystem: a protocol that others speak; graphs, checkpoints to go back to, a
studio.

**What this does not show.** Other stores (a2a-sdk on PostgreSQL; LangGraph's licensed server on PostgreSQL and Redis,
which is what its makers say to run in production; a cluster of Restate), many clients at once, and several machines.
None of the three authenticates anybody here; ours verifies a token for each poll, except in the row of the handler
alone."""
AT = 50
"""The length of the conversation in the table of how fast polls are."""
WAITING = ("after ms", "shown while it waits")
FATES = tuple(fate.value for fate in Fate)


def tables(found: Mapping[str, Any]) -> Sequence[Table]:
    """What was compared, how fast polls are, how they grow, a life, and what is lost."""
    return (_compared(found), _fast(found), _growing(found), _lives(found), _killed(found))


def plots(found: Mapping[str, Any]) -> Sequence[Plot]:
    """How the bytes of a poll follow the length of the conversation, and its rate."""
    lines = [
        (f"{of['name']}: {what}", polls)
        for of in _measured(found)
        for what, polls in _by_poll(of).items()
        if not what.startswith("unchanged")
    ]
    x = "messages in the conversation"
    sizes = [Line(name, [(poll["messages"], poll["all_bytes"]) for poll in polls]) for name, polls in lines]
    rates = [
        Line(name, [(poll["messages"], poll["ratio"]["median"]) for poll in polls]) for name, polls in lines
    ]
    return (
        Plot("peers-bytes", "What a poll takes as the conversation grows", x, "bytes", sizes, log_y=True),
        Plot(
            "peers-rate",
            "How fast polls are as the conversation grows",
            x,
            "rate, floor = 1",
            rates,
            log_y=True,
        ),
    )


def _compared(found: Mapping[str, Any]) -> Table:
    rows = [
        row(of.get("name", name), of["failed"] if "failed" in of else _spelled(of["versions"]))
        for name, of in found["peers"].items()
    ]
    rows.append(row("floor", _spelled(found["floor"])))
    told = [f"- **{of['name']}**: {of['how']}.{_started(of)}" for of in _measured(found)]
    return Table("What was compared", ("who", "versions"), rows, COMMAND, note="\n".join(told))


def _started(of: Mapping[str, Any]) -> str:
    return f" Started with `{of['command']}`." if "command" in of else ""


def _spelled(versions: Mapping[str, str]) -> str:
    return ", ".join(f"{name} {version}" for name, version in versions.items())


def _fast(found: Mapping[str, Any]) -> Table:
    columns = ("poll", "a second", "p50 ms", "p95 ms", "CPU ms", "x floor")
    rows = []
    for of in _measured(found):
        ways = {
            what: min(polls, key=lambda poll: abs(poll["messages"] - AT))
            for what, polls in _by_poll(of).items()
        }
        if engine := of.get("engine"):
            ways["an empty function: the engine's own"] = engine["empty"]
        rows += [
            row(
                f"{of['name']}: {what}",
                poll["per_second"]["median"],
                poll["p50_ms"]["median"],
                poll["p95_ms"]["median"],
                poll["cpu_ms"]["median"],
                cell(poll["ratio"]),
            )
            for what, poll in ways.items()
        ]
    return Table(
        f"Polls of a conversation of {AT} messages", columns, rows, COMMAND, note=_of_the_engine(found)
    )


def _of_the_engine(found: Mapping[str, Any]) -> str:
    read = [of["engine"]["read_ms"] for of in _measured(found) if "engine" in of]
    return (
        f"One read of the engine's DynamoDB takes {number(read[0]['median'])} ms with boto3." if read else ""
    )


def _growing(found: Mapping[str, Any]) -> Table:
    measured = list(_measured(found))
    most = max((len(polls) for of in measured for polls in _by_poll(of).values()), default=0)
    columns = ("poll", "messages", "bytes", "of them body", "x floor", "ETag")
    rows = [
        row(
            f"{of['name']}: {what}",
            _each(poll["messages"] for poll in polls),
            _each(poll["all_bytes"] for poll in polls),
            _each(poll["body_bytes"] for poll in polls),
            _each(poll["ratio"]["median"] for poll in polls),
            "yes" if all(poll["etag"] for poll in polls) else "no",
        )
        for of in measured
        for what, polls in _by_poll(of).items()
        if len(polls) == most
    ]
    note = "A poll without an ETag costs the same whether or not there is news; “unchanged” is one that sends the ETag."
    return Table("Polls as the conversation grows", columns, rows, COMMAND, note=note)


def _each(values: Iterator[float]) -> str:
    return " / ".join(number(value) for value in values)


def _lives(found: Mapping[str, Any]) -> Table:
    """Lives, and what is sent meanwhile."""
    columns = ("who", "create to idle, ms", "input while busy: sent", "answer to it", *WAITING, *FATES)
    rows, ends = [], ""
    for of in _measured(found):
        if "lives" not in of:
            continue
        idle = cell(of["lives"]["create_to_idle_ms"])
        rows.append(_busy(of["name"], idle, of["busy"]))
        if last := of.get("busy_at_the_end"):
            rows.append(_busy(f"{of['name']}, while a turn runs that completes the task", "", last))
            ends = (
                f" Of the {last['tries']} tasks whose turn completed them, {last['ended_at_last']} were still so "
                "in the end; the others were reopened for the input."
            )
    note = (
        "The agent answers at once in the first column, and the conversation is polled every 10 ms; for the others it "
        f"takes 0.7 s (ours 2 s), and the other input comes 0.2 s after the first.{ends}"
    )
    return Table("From create to idle, and input while busy", columns, rows, COMMAND, note=note)


def _busy(name: str, idle: str, busy: Mapping[str, Any]) -> tuple[str, ...]:
    statuses = ", ".join(str(status) for status in busy["statuses"])
    after = cell(busy["answered_after_ms"])
    return row(name, idle, busy["tries"], statuses, after, busy["shown_while_it_waits"], *_fates(busy))


def _killed(found: Mapping[str, Any]) -> Table:
    columns = ("who", "kills", "inputs", *FATES, "earlier answers gone")
    rows, met = [], ""
    for of in _measured(found):
        if "workers_killed" in of.get("killed", ()):
            workers, turns = of["killed"]["workers_killed"], of["killed"]["turns_begun_then"]
            met = f" Of ours {workers} workers were killed, when {turns} turns had begun and not ended."
        for which, killed in (("", of.get("killed")), (", inputs over 10 s old", of.get("killed_later"))):
            if killed:
                rows.append(
                    row(
                        f"{of['name']}{which}",
                        killed["kills"],
                        killed["tries"],
                        *_fates(killed),
                        killed["answered_before_and_gone"],
                    )
                )
    note = (
        "Inputs were accepted up to 0.8 s before the kill (ours up to 1.1 s), in conversations that had an answer "
        "already; the agent takes 1.5 s (ours 2 s). “No answer” is after 6 s more than it takes "
        f"(ours 25 s).{met}"
    )
    return Table("Killed between accept and answer, and started again", columns, rows, COMMAND, note=note)


def _fates(told: Mapping[str, Any]) -> tuple[int, ...]:
    return tuple(told["fates"][fate] for fate in FATES)


def _measured(found: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    return (of for of in found["peers"].values() if "failed" not in of)


def _by_poll(of: Mapping[str, Any]) -> dict[str, list[Mapping[str, Any]]]:
    """The polls of one peer by what is asked, each from the shortest conversation to the longest."""
    found: dict[str, list[Mapping[str, Any]]] = {}
    for poll in of["polls"]:
        found.setdefault(poll["poll"], []).append(poll)
    return found
