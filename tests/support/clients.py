"""The client, blocking and asynchronous, as tests use both: in one way, over whatever connection they are given.

The connection of most is the gateway in this process, so the client talks to the real handlers.
"""

import asyncio
import inspect
import sys
from collections.abc import AsyncIterator, Callable, Coroutine, Generator, Iterator
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass, field
from typing import Any, TextIO, cast
from urllib.parse import parse_qs, unquote, urlsplit

import httpx
from botocore.exceptions import ClientError

from tests.support.engines import moto_lock
from tests.support.gateway import Gateway, Signer
from tests.support.laboratory import ALICE, Laboratory
from turnkeeper_client import AsyncClient, Client, Patience
from turnkeeper_client.attending import Pace
from turnkeeper_client.host_clients import AsyncHost, Host
from turnkeeper_client.plans import Plan
from turnkeeper_client.queues import Queue
from turnkeeper_client.working import AsyncTurn, AsyncWorker, Worker

BASE_URL = "https://api.example"
NO_CHANCE = Patience(chance=lambda: 1.0)
EXPIRED = "expired"
"""A token that the gateway takes no longer."""
SIDES = ("blocking", "asynchronous")

AT_ONCE = Pace(listen_s=0)
"""A worker's pace that waits for no wake-up."""

type Handler = Callable[[httpx.Request], httpx.Response]


class Awaited:
    """An asynchronous client on a loop of its own, whose methods tests call like those of a blocking one."""

    def __init__(self, client: Any) -> None:
        self._client, self._loop = client, asyncio.new_event_loop()

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._client, name)

        def call(*args: Any, **kwargs: Any) -> Any:
            made = method(*args, **kwargs)
            if isinstance(made, AsyncIterator):
                return self._each(made)
            return self._loop.run_until_complete(made) if inspect.isawaitable(made) else made

        return call

    @property
    def client(self) -> Any:
        """The asynchronous one."""
        return self._client

    def wait_for(self, made: Coroutine[Any, Any, Any]) -> Any:
        """What *made* comes to, on the client's own loop."""
        return self._loop.run_until_complete(made)

    def run(self, plan: Plan[Any]) -> Any:
        """What *plan* comes to."""
        return self._loop.run_until_complete(self._client.connection.run(plan))

    def close(self) -> None:
        """Let go of the connections, and of the loop."""
        self._loop.run_until_complete(self._client.close())
        self._loop.run_until_complete(self._loop.shutdown_asyncgens())
        self._loop.close()

    def _each(self, made: AsyncIterator[Any]) -> Iterator[Any]:
        while True:
            try:
                yield self._loop.run_until_complete(anext(made))
            except StopAsyncIteration:
                return


def client(
    side: str, handler: Handler, *, token: Any = ALICE, pauses: list[float] | None = None, **more: Any
) -> Any:
    """A person's client of that *side*; it waits for nothing and writes its *pauses* down."""
    noted = [] if pauses is None else pauses
    given = {"patience": NO_CHANCE, "transport": httpx.MockTransport(handler), **more}
    if side == "blocking":
        return at_once(Client(BASE_URL, token, **given), noted)
    return Awaited(at_once(AsyncClient(BASE_URL, token, **given), noted))


class Stamp(httpx.Auth):
    """Stands in for a signature: who signs, by name."""

    def __init__(self, name: str) -> None:
        self._name = name

    def auth_flow(self, request: httpx.Request) -> Generator[httpx.Request, httpx.Response]:
        request.headers["Authorization"] = f"Signed {self._name}"
        yield request


def host_client(side: str, handler: Handler, name: str) -> Any:
    """A client of that *side* of the host *name*; it waits for nothing."""
    given: Any = {"patience": NO_CHANCE, "transport": httpx.MockTransport(handler)}
    if side == "blocking":
        return at_once(Host(BASE_URL, Stamp(name), **given), [])
    return Awaited(at_once(AsyncHost(BASE_URL, Stamp(name), **given), []))


def take_one(host: Any, queue: Queue, agent: Callable[[Any], Any], **more: Any) -> bool:
    """Whether a worker of that *host* found a wake-up, and attended to it with *agent*, which blocks on both sides."""
    pace = more.pop("pace", AT_ONCE)
    if not isinstance(host, Awaited):
        return Worker(host, queue, agent, pace=pace, **more).take_one()

    async def awaited(turn: AsyncTurn) -> Any:
        return await asyncio.to_thread(agent, FromThread(turn, asyncio.get_running_loop()))

    worker = AsyncWorker(host.client, queue, awaited, pace=pace, **more)
    return bool(host.wait_for(worker.take_one()))


class FromThread:
    """An asynchronous turn as a thread beside its loop uses it."""

    def __init__(self, turn: AsyncTurn, loop: asyncio.AbstractEventLoop) -> None:
        self._turn, self._loop = turn, loop

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._turn, name)
        if not callable(found):
            return found

        async def call(*args: Any, **kwargs: Any) -> Any:
            return await found(*args, **kwargs)

        return lambda *args, **kwargs: asyncio.run_coroutine_threadsafe(
            call(*args, **kwargs), self._loop
        ).result()


def run(made: Any, plan: Plan[Any]) -> Any:
    """What *plan* comes to on the connection of the client *made*."""
    return made.run(plan) if isinstance(made, Awaited) else made.connection.run(plan)


@contextmanager
def clients(side: str) -> Iterator[Callable[..., Any]]:
    """Makes clients of that *side*, which are closed afterwards."""
    made: list[Any] = []

    def make(handler: Handler, **more: Any) -> Any:
        made.append(client(side, handler, **more))
        return made[-1]

    try:
        yield make
    finally:
        for one in made:
            one.close()


def at_once[C](made: C, pauses: list[float]) -> C:
    """*made*, on a clock of its own: its pauses are noted, and over."""

    async def later(seconds: float) -> None:
        pauses.append(seconds)
        await asyncio.sleep(0)

    connection = cast("Any", made).connection
    connection.sleep = later if inspect.iscoroutinefunction(connection.run) else pauses.append
    return made


@dataclass(slots=True)
class Wire:
    """The way to the handlers and to the file store, where answers can be lost and requests fail to arrive."""

    gateway: Gateway
    lab: Laboratory
    signers: dict[str, Signer] = field(default_factory=dict)
    """Who signs, by the name that stands in for a signature."""
    faults: list[str] = field(default_factory=list)
    """What happens to the next requests, one each: `lost` after it was done, `refused` before, `passes`, or a status
    that the gateway answers by itself."""
    seen: list[str] = field(default_factory=list)
    """What was asked, each try."""
    answered: list[int] = field(default_factory=list)
    """The status of each answer."""
    meanwhile: Callable[[httpx.Request], None] | None = None
    """What happens just before a request arrives."""
    out: TextIO = field(default_factory=lambda: sys.stdout)
    """Where the functions write, wherever the command under test does."""

    def __call__(self, request: httpx.Request) -> httpx.Response:
        """The answer to *request*, unless a fault is due."""
        self.seen.append(f"{request.method} {request.url.path}")
        fault = self.faults.pop(0) if self.faults else "passes"
        if fault == "refused":
            raise httpx.ConnectError("nobody listens", request=request)
        if fault.isdigit():
            return httpx.Response(int(fault), json={"message": "Too Many Requests"})
        if self.meanwhile:
            self.meanwhile(request)
        with moto_lock, redirect_stdout(self.out):
            answer = self._answer(request)
        self.answered.append(answer.status_code)
        if fault == "lost":
            raise httpx.ReadError("the connection broke", request=request)
        return answer

    def _answer(self, request: httpx.Request) -> httpx.Response:
        if request.url.host != "api.example":
            return self._stored(request)
        authorization = request.headers.get("authorization", "")
        signer = self.signers.get(authorization.removeprefix("Signed "))
        person = authorization.removeprefix("Bearer ") if authorization.startswith("Bearer ") else None
        if person in {None, EXPIRED} and signer is None:
            return httpx.Response(401, json={"message": "Unauthorized"})
        path, _, query = request.url.raw_path.decode().partition("?")
        reply = self.gateway.send(
            self.gateway.event(
                request.method,
                path,
                person=person,
                signer=signer,
                body=request.content.decode() or None,
                query=query,
                headers=dict(request.headers),
            )
        )
        return httpx.Response(reply.status, headers=reply.headers, content=reply.body.encode())

    def _stored(self, request: httpx.Request) -> httpx.Response:
        """What S3 answers to a signed URL; moto's own signatures are none of this test's business."""
        assert "authorization" not in request.headers
        url = urlsplit(str(request.url))
        key, asked = unquote(url.path.lstrip("/")), parse_qs(url.query)
        if request.method == "GET":
            found = self.lab.s3.get_object(Bucket=self.lab.bucket, Key=key, VersionId=asked["versionId"][0])
            return httpx.Response(200, content=found["Body"].read())
        try:
            self.lab.s3.head_object(Bucket=self.lab.bucket, Key=key)
        except ClientError:
            self.lab.lay(key, request.content, request.headers["content-type"])
            return httpx.Response(200)
        return httpx.Response(412, content=b"<Error><Code>PreconditionFailed</Code></Error>")
