"""Who runs plans: a blocking connection and an asynchronous one, both thin, and what makes a plan a method of each."""

import asyncio
import inspect
import ssl
import time
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Generator, Iterator
from typing import Any, Concatenate, Protocol

import httpx

from turnkeeper_client.errors import Unsendable
from turnkeeper_client.plans import Answer, Pause, Plan, Raw, Request, Show, Silence, Stream
from turnkeeper_client.retrying import Patience, patiently

NOT_SENT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout, httpx.UnsupportedProtocol)
"""Failures before a byte of the request has left."""
UNAUTHORIZED = 401
NO_NAMES = frozenset({"", ".", ".."})
"""What no name in a path may be: it changes the way instead of naming anything."""

type Token = str | Callable[[], str]
"""A token, or what gives one; that is asked again when the gateway takes the last one no longer."""


class MayTakeLong(httpx.Auth):
    """Steps that may ask somebody for a token or for keys: asyncio's loop goes on meanwhile."""

    async def async_auth_flow(self, request: httpx.Request) -> AsyncGenerator[httpx.Request, httpx.Response]:
        """Yield what `auth_flow` does, whose steps run on a thread."""
        if self.requires_request_body:
            await request.aread()
        steps = self.auth_flow(request)
        try:
            asked = await asyncio.to_thread(next, steps, None)
            while asked is not None:
                answer = yield asked
                asked = await asyncio.to_thread(_after, steps, answer)
        finally:
            steps.close()


class Bearer(MayTakeLong):
    """Sends a person's access token."""

    def __init__(self, token: Token) -> None:
        self._token = token
        self._held: str | None = None

    def auth_flow(self, request: httpx.Request) -> Generator[httpx.Request, httpx.Response]:
        """Yield the request with the token, and once more with a fresh one where there is one.

        The gateway refused it before anything ran, so asking again is safe.
        """
        used = self._held if self._held is not None else self._fresh()
        request.headers["Authorization"] = f"Bearer {used}"
        answer = yield request
        if answer.status_code == UNAUTHORIZED and not isinstance(self._token, str):
            request.headers["Authorization"] = f"Bearer {self._fresh()}"
            yield request

    def _fresh(self) -> str:
        fresh = self._token if isinstance(self._token, str) else self._token()
        _check_header("the token", fresh)
        self._held = fresh
        return fresh


class Blocking:
    """Runs plans on the thread of whoever calls."""

    def __init__(
        self,
        base_url: str,
        *,
        auth: httpx.Auth | None = None,
        transport: httpx.BaseTransport | None = None,
        verify: ssl.SSLContext | bool = True,
        timeout_s: float = 35.0,
        patience: Patience,
        sleep: Callable[[float], Any] = time.sleep,
    ) -> None:
        self._patience, self.sleep = patience, sleep
        self._auth = auth
        self._http = httpx.Client(
            base_url=f"{base_url.rstrip('/')}/", transport=transport, verify=verify, timeout=timeout_s
        )

    def run[T, S](self, plan: Raw[T, S], also: Callable[[Any], Any] | None = None) -> T:
        """What *plan* comes to; *also* does those of its steps that no connection can."""
        steps = patiently(plan, self._patience)
        try:
            step = next(steps)
            while True:
                if isinstance(step, Request | Pause):
                    step = steps.send(self._take(step))
                else:
                    step = steps.send(also(step) if also else None)
        except StopIteration as end:
            result: T = end.value
            return result
        finally:
            steps.close()

    def show[I](self, plan: Stream[I]) -> Iterator[I]:
        """What *plan* shows, one after the other."""
        steps = patiently(plan, self._patience)
        got = None
        try:
            while True:
                step: Request | Pause | Show[I] = steps.send(got)
                if isinstance(step, Show):
                    got = None
                    yield step.item
                else:
                    got = self._take(step)
        except StopIteration:
            return
        finally:
            steps.close()

    def close(self) -> None:
        """Let go of the connections."""
        self._http.close()

    def _take(self, step: Request | Pause) -> Answer | Silence | None:
        if isinstance(step, Pause):
            self.sleep(step.seconds)
            return None
        try:
            return _answer(self._http.request(**_sent(step, self._auth)))
        except httpx.RequestError as failure:
            return _silence(failure)


class Asynchronous:
    """Runs plans on asyncio's loop."""

    def __init__(
        self,
        base_url: str,
        *,
        auth: httpx.Auth | None = None,
        transport: httpx.AsyncBaseTransport | None = None,
        verify: ssl.SSLContext | bool = True,
        timeout_s: float = 35.0,
        patience: Patience,
        sleep: Callable[[float], Any] = asyncio.sleep,
    ) -> None:
        self._patience, self.sleep = patience, sleep
        self._auth = auth
        self._http = httpx.AsyncClient(
            base_url=f"{base_url.rstrip('/')}/", transport=transport, verify=verify, timeout=timeout_s
        )

    async def run[T, S](self, plan: Raw[T, S], also: Callable[[Any], Awaitable[Any]] | None = None) -> T:
        """What *plan* comes to; *also* does those of its steps that no connection can."""
        steps = patiently(plan, self._patience)
        try:
            step = next(steps)
            while True:
                if isinstance(step, Request | Pause):
                    step = steps.send(await self._take(step))
                else:
                    step = steps.send(await also(step) if also else None)
        except StopIteration as end:
            result: T = end.value
            return result
        finally:
            steps.close()

    async def show[I](self, plan: Stream[I]) -> AsyncIterator[I]:
        """What *plan* shows, one after the other."""
        steps = patiently(plan, self._patience)
        got = None
        try:
            while True:
                step: Request | Pause | Show[I] = steps.send(got)
                if isinstance(step, Show):
                    got = None
                    yield step.item
                else:
                    got = await self._take(step)
        except StopIteration:
            return
        finally:
            steps.close()

    async def close(self) -> None:
        """Let go of the connections."""
        await self._http.aclose()

    async def _take(self, step: Request | Pause) -> Answer | Silence | None:
        if isinstance(step, Pause):
            await self.sleep(step.seconds)
            return None
        try:
            return _answer(await self._http.request(**_sent(step, self._auth)))
        except httpx.RequestError as failure:
            return _silence(failure)


class HasBlocking(Protocol):
    """Whoever has a blocking connection."""

    connection: Blocking


class HasAsynchronous(Protocol):
    """Whoever has an asynchronous one."""

    connection: Asynchronous


def blocking[**P, T](plan: Callable[P, Plan[T]]) -> Callable[Concatenate[HasBlocking, P], T]:
    """*plan* as a method that returns when it is done."""

    def method(self: HasBlocking, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return self.connection.run(plan(*args, **kwargs))

    return like(plan, method)


def showing[**P, I](plan: Callable[P, Stream[I]]) -> Callable[Concatenate[HasBlocking, P], Iterator[I]]:
    """*plan* as a method whose answer is iterated over."""

    def method(self: HasBlocking, /, *args: P.args, **kwargs: P.kwargs) -> Iterator[I]:
        return self.connection.show(plan(*args, **kwargs))

    return like(plan, method)


def awaited[**P, T](plan: Callable[P, Plan[T]]) -> Callable[Concatenate[HasAsynchronous, P], Awaitable[T]]:
    """*plan* as a method to be awaited."""

    def method(self: HasAsynchronous, /, *args: P.args, **kwargs: P.kwargs) -> Awaitable[T]:
        return self.connection.run(plan(*args, **kwargs))

    return like(plan, method)


def awaited_one_by_one[**P, I](
    plan: Callable[P, Stream[I]],
) -> Callable[Concatenate[HasAsynchronous, P], AsyncIterator[I]]:
    """*plan* as a method whose answer is iterated over by `async for`."""

    def method(self: HasAsynchronous, /, *args: P.args, **kwargs: P.kwargs) -> AsyncIterator[I]:
        return self.connection.show(plan(*args, **kwargs))

    return like(plan, method)


def like[M: Callable[..., Any]](plan: Callable[..., Any], method: M, *, without: int = 0) -> M:
    """*method* with the name, the words and the arguments of *plan*, as `help` shows them; not its first ones."""
    parameters = list(inspect.signature(plan).parameters.values())[without:]
    me = inspect.Parameter("self", inspect.Parameter.POSITIONAL_ONLY)
    shown = inspect.Signature([me, *parameters])
    more = {
        "__name__": plan.__name__,
        "__qualname__": plan.__name__,
        "__doc__": plan.__doc__,
        "__signature__": shown,
    }
    for name, value in more.items():
        setattr(method, name, value)
    return method


def _after(steps: Generator[httpx.Request, httpx.Response], answer: httpx.Response) -> httpx.Request | None:
    try:
        return steps.send(answer)
    except StopIteration:
        return None


def _check_header(what: str, said: str) -> None:
    """Refuse what no header may hold, without its words: httpx quotes them, and they may be a secret."""
    if not (said.isascii() and said.isprintable() and said == said.strip()):
        raise Unsendable(what, "has a line break, a space at an end, or a character that no header may have")


def _sent(request: Request, auth: httpx.Auth | None) -> dict[str, Any]:
    for name, said in request.headers.items():
        _check_header(f"the header {name}", said)
    if request.is_signed and not NO_NAMES.isdisjoint(request.path.partition("?")[0].split("/")):
        raise Unsendable("a name", "is empty or made of dots, and would lead elsewhere")
    return {
        "method": request.method,
        "url": request.path,
        "headers": dict(request.headers),
        "content": request.content or None,
        "auth": auth if request.is_signed else None,
    }


def _answer(response: httpx.Response) -> Answer:
    return Answer(response.status_code, dict(response.headers), response.content)


def _silence(failure: httpx.RequestError) -> Silence:
    # What httpx says of a request that it cannot write quotes it, a token too.
    is_quoting = isinstance(failure, httpx.LocalProtocolError)
    words = type(failure).__name__ if is_quoting else str(failure) or type(failure).__name__
    return Silence(words, was_sent=not isinstance(failure, NOT_SENT))
