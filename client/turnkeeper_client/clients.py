"""What a person uses: `Client` blocks, `AsyncClient` is awaited, and both can do the very same things."""

import ssl
from types import TracebackType
from typing import Self

import httpx

from turnkeeper_client import files, following, people
from turnkeeper_client.connections import (
    Asynchronous,
    Bearer,
    Blocking,
    Token,
    awaited,
    awaited_one_by_one,
    blocking,
    showing,
)
from turnkeeper_client.retrying import PATIENCE, Patience


class Client:
    """A person's tasks at the deployment at *base_url*.

    *token*: an access token, or what gives a fresh one. Each method raises a `Refused` of its kind, `Unreachable` where
    nothing was sent, and `AnswerLost` where nobody knows.
    """

    def __init__(
        self,
        base_url: str,
        token: Token,
        *,
        patience: Patience = PATIENCE,
        verify: ssl.SSLContext | bool = True,
        timeout_s: float = 35.0,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        self.connection = Blocking(
            base_url,
            auth=Bearer(token),
            patience=patience,
            verify=verify,
            timeout_s=timeout_s,
            transport=transport,
        )

    create = blocking(people.create)
    say = blocking(people.say)
    task = blocking(people.task)
    poll = blocking(people.poll)
    messages = blocking(people.messages)
    follow = showing(following.follow)
    settled = blocking(following.settled)
    tasks = blocking(people.tasks)
    notifications = blocking(people.notifications)
    reviews = blocking(people.reviews)
    decide = blocking(people.decide)
    agents = blocking(people.agents)
    agent = blocking(people.agent)
    agent_status = blocking(people.agent_status)
    journal = blocking(people.journal)
    upload = blocking(files.upload)
    download = blocking(files.download)

    def close(self) -> None:
        """Let go of the connections."""
        self.connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class AsyncClient:
    """A person's tasks at the deployment at *base_url*, for asyncio; all else is as of `Client`."""

    def __init__(
        self,
        base_url: str,
        token: Token,
        *,
        patience: Patience = PATIENCE,
        verify: ssl.SSLContext | bool = True,
        timeout_s: float = 35.0,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        self.connection = Asynchronous(
            base_url,
            auth=Bearer(token),
            patience=patience,
            verify=verify,
            timeout_s=timeout_s,
            transport=transport,
        )

    create = awaited(people.create)
    say = awaited(people.say)
    task = awaited(people.task)
    poll = awaited(people.poll)
    messages = awaited(people.messages)
    follow = awaited_one_by_one(following.follow)
    settled = awaited(following.settled)
    tasks = awaited(people.tasks)
    notifications = awaited(people.notifications)
    reviews = awaited(people.reviews)
    decide = awaited(people.decide)
    agents = awaited(people.agents)
    agent = awaited(people.agent)
    agent_status = awaited(people.agent_status)
    journal = awaited(people.journal)
    upload = awaited(files.upload)
    download = awaited(files.download)

    async def close(self) -> None:
        """Let go of the connections."""
        await self.connection.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()
