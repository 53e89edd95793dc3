"""Workers: they listen to a host's queue and take its tasks' turns, one after the other, alive by heartbeats.

def answer(turn: Turn) -> str:
    return turn.text[::-1]

Worker(host, Queue(boto3.client("sqs"), queue_url), answer).run()
"""

import asyncio
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any, Concatenate

from turnkeeper_client import turns
from turnkeeper_client.attending import PACE, Judge, Pace, Think, Thought, Word, attend, log
from turnkeeper_client.connections import Asynchronous, Blocking, like
from turnkeeper_client.errors import NotAllowed, NotSignedIn, TurnkeeperError
from turnkeeper_client.host_clients import AsyncHost, Host
from turnkeeper_client.host_results import Driven, Resolution
from turnkeeper_client.plans import Plan
from turnkeeper_client.queues import Queue, WakeUp
from turnkeeper_client.results import Entry, Said, Task
from turnkeeper_client.turns import Held, TurnOver


class _Turn:
    """What an agent knows of its turn."""

    def __init__(self, held: Held) -> None:
        self.held = held

    @property
    def task(self) -> Task:
        """The task as it was when the turn began."""
        return self.held.task

    @property
    def inputs(self) -> tuple[Entry, ...]:
        """What is to be answered."""
        return self.held.inputs

    @property
    def text(self) -> str:
        """All that the inputs say in texts."""
        return "\n".join(entry.text for entry in self.inputs)

    @property
    def memo(self) -> Any:
        """What the agent noted when it suspended this turn; None if it did not."""
        return self.held.turn.memo

    @property
    def resolutions(self) -> tuple[Resolution, ...]:
        """What became of what it waited for."""
        return self.held.turn.resolutions

    @property
    def attempt(self) -> int:
        """The first is 1."""
        return self.held.turn.attempt


def _held[**P, T](plan: Callable[Concatenate[Held, P], Plan[T]]) -> Callable[Concatenate["Turn", P], T]:
    def method(self: "Turn", /, *args: P.args, **kwargs: P.kwargs) -> T:
        return self.connection.run(plan(self.held, *args, **kwargs))

    return like(plan, method, without=1)


def _held_async[**P, T](
    plan: Callable[Concatenate[Held, P], Plan[T]],
) -> Callable[Concatenate["AsyncTurn", P], Awaitable[T]]:
    def method(self: "AsyncTurn", /, *args: P.args, **kwargs: P.kwargs) -> Awaitable[T]:
        return self.connection.run(plan(self.held, *args, **kwargs))

    return like(plan, method, without=1)


class Turn(_Turn):
    """A turn in an agent's hands. What it returns is said last; `TurnOver` means to stop at once."""

    def __init__(self, connection: Blocking, held: Held) -> None:
        super().__init__(held)
        self.connection = connection

    emit = _held(turns.emit)
    beat = _held(turns.beat)
    wait = _held(turns.wait)
    delegate = _held(turns.delegate)
    report = _held(turns.report)


class AsyncTurn(_Turn):
    """A turn in the hands of an agent that runs on asyncio's loop; all else is as of `Turn`."""

    def __init__(self, connection: Asynchronous, held: Held) -> None:
        super().__init__(held)
        self.connection = connection

    emit = _held_async(turns.emit)
    beat = _held_async(turns.beat)
    wait = _held_async(turns.wait)
    delegate = _held_async(turns.delegate)
    report = _held_async(turns.report)


class Worker:
    """Takes turns with *agent*: it gets a `Turn` and returns what is said last, or nothing.

    An exception of the agent's gives the attempt up. *judge* says what became of a turn that was lost, if it knows.
    """

    def __init__(
        self,
        host: Host,
        queue: Queue,
        agent: Callable[[Turn], Said | None],
        *,
        judge: Callable[[Driven], Word | None] = lambda _: None,
        pace: Pace = PACE,
    ) -> None:
        self._host, self._queue, self._agent, self._judge, self._pace = host, queue, agent, judge, pace
        self._stopped = threading.Event()

    def run(self) -> None:
        """Take turns until `stop`. What fails for a while is tried again; a refused signature is raised."""
        failures = 0
        while not self._stopped.is_set():
            try:
                self.take_one()
                failures = 0
            except (NotAllowed, NotSignedIn):
                raise
            except TurnkeeperError as failure:
                failures += 1
                log.warning("tried again: %s", failure)
                self._stopped.wait(min(self._pace.longest_pause_s, 2.0**failures / 2))

    def stop(self) -> None:
        """Let `run` end after the turn that it takes now."""
        self._stopped.set()

    def take_one(self) -> bool:
        """Attend to the next wake-up; whether one came."""
        wake_up = self._queue.receive(wait_s=self._pace.listen_s, hide_s=self._pace.hide_s)
        if wake_up is None:
            return False
        again = self._attended(wake_up.task, wake_up)
        if again is None:
            self._queue.forget(wake_up)
        else:
            self._queue.hide(wake_up, _seconds_until(again))
        return True

    def _attended(self, task: str | None, wake_up: WakeUp) -> datetime | None:
        if task is None:
            log.warning("what came is no wake-up, and is forgotten")
            return None
        return self._host.connection.run(
            attend(task),
            lambda step: (
                self._judge(step.driven) if isinstance(step, Judge) else self._thought(step, wake_up)
            ),
        )

    def _thought(self, step: Think, wake_up: WakeUp) -> Thought:
        with self._alive(step.held, wake_up):
            try:
                return Thought(self._agent(Turn(self._host.connection, step.held)))
            except TurnOver:
                return Thought()
            except Exception:  # noqa: BLE001 - whatever it is, the attempt failed
                log.exception("the attempt at task %s failed", step.held.id)
                return Thought(failed=True)

    @contextmanager
    def _alive(self, held: Held, wake_up: WakeUp) -> Iterator[None]:
        over = threading.Event()

        def beat() -> None:
            while not over.wait(self._pace.heartbeat_s):
                try:
                    self._host.connection.run(turns.beat(held))
                    self._queue.hide(wake_up, self._pace.hide_s)
                except TurnOver:
                    return
                except Exception as failure:  # noqa: BLE001 - whatever it is, the next one may do
                    _miss(failure)

        thread = threading.Thread(target=beat, name=f"heartbeat of {held.id}", daemon=True)
        thread.start()
        try:
            yield
        finally:
            over.set()
            thread.join()


class AsyncWorker:
    """Takes turns with an *agent* that is awaited, and cancelled when the turn is lost; all else is as of `Worker`."""

    def __init__(
        self,
        host: AsyncHost,
        queue: Queue,
        agent: Callable[[AsyncTurn], Awaitable[Said | None]],
        *,
        judge: Callable[[Driven], Word | None] = lambda _: None,
        pace: Pace = PACE,
    ) -> None:
        self._host, self._queue, self._agent, self._judge, self._pace = host, queue, agent, judge, pace

    async def run(self) -> None:
        """Take turns until cancelled. What fails for a while is tried again; a refused signature is raised."""
        failures = 0
        while True:
            try:
                await self.take_one()
                failures = 0
            except (NotAllowed, NotSignedIn):
                raise
            except TurnkeeperError as failure:
                failures += 1
                log.warning("tried again: %s", failure)
                await asyncio.sleep(min(self._pace.longest_pause_s, 2.0**failures / 2))

    async def take_one(self) -> bool:
        """Attend to the next wake-up; whether one came."""
        pace = self._pace
        wake_up = await asyncio.to_thread(self._queue.receive, wait_s=pace.listen_s, hide_s=pace.hide_s)
        if wake_up is None:
            return False
        again = await self._attended(wake_up.task, wake_up)
        if again is None:
            await asyncio.to_thread(self._queue.forget, wake_up)
        else:
            await asyncio.to_thread(self._queue.hide, wake_up, _seconds_until(again))
        return True

    async def _attended(self, task: str | None, wake_up: WakeUp) -> datetime | None:
        if task is None:
            log.warning("what came is no wake-up, and is forgotten")
            return None

        async def also(step: Think | Judge) -> object:
            return self._judge(step.driven) if isinstance(step, Judge) else await self._thought(step, wake_up)

        return await self._host.connection.run(attend(task), also)

    async def _thought(self, step: Think, wake_up: WakeUp) -> Thought:
        thinking = asyncio.ensure_future(self._agents(AsyncTurn(self._host.connection, step.held)))
        beating = asyncio.create_task(self._beat(step.held, wake_up))
        try:
            await asyncio.wait({thinking, beating}, return_when=asyncio.FIRST_COMPLETED)
            if not thinking.done():  # the turn is somebody else's
                return Thought()
            return Thought(await thinking)
        except TurnOver:
            return Thought()
        except Exception:  # noqa: BLE001 - whatever it is, the attempt failed
            log.exception("the attempt at task %s failed", step.held.id)
            return Thought(failed=True)
        finally:
            for one in (thinking, beating):
                one.cancel()
            await asyncio.gather(thinking, beating, return_exceptions=True)

    async def _agents(self, turn: AsyncTurn) -> Said | None:
        return await self._agent(turn)

    async def _beat(self, held: Held, wake_up: WakeUp) -> None:
        while True:
            await asyncio.sleep(self._pace.heartbeat_s)
            try:
                await self._host.connection.run(turns.beat(held))
                await asyncio.to_thread(self._queue.hide, wake_up, self._pace.hide_s)
            except TurnOver:
                return
            except Exception as failure:  # noqa: BLE001 - whatever it is, the next one may do
                _miss(failure)


def _miss(failure: Exception) -> None:
    """Go on without that heartbeat: a lease outlives some, and who may not write any more is told so."""
    log.warning(
        "a heartbeat failed: %s", failure if isinstance(failure, TurnkeeperError) else type(failure).__name__
    )


def _seconds_until(instant: datetime) -> float:
    return (instant - datetime.now(UTC)).total_seconds()
