"""What a host uses: `Host` blocks, `AsyncHost` is awaited, and both can do the very same things.

The names are those of the hosts' API; `working` takes turns with them.
"""

import ssl
from types import TracebackType
from typing import Self

import httpx

from turnkeeper_client import hosts
from turnkeeper_client.connections import Asynchronous, Blocking, awaited, blocking
from turnkeeper_client.retrying import PATIENCE, Patience


class Host:
    """The agents of one principal and their tasks, at the deployment at *base_url*.

    *auth* signs: `signing.Signature(boto3.Session())`.
    """

    def __init__(
        self,
        base_url: str,
        auth: httpx.Auth,
        *,
        patience: Patience = PATIENCE,
        verify: ssl.SSLContext | bool = True,
        timeout_s: float = 35.0,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        self.connection = Blocking(
            base_url, auth=auth, patience=patience, verify=verify, timeout_s=timeout_s, transport=transport
        )

    register = blocking(hosts.register)
    agent = blocking(hosts.agent)
    task = blocking(hosts.task)
    messages = blocking(hosts.messages)
    agent_status = blocking(hosts.agent_status)
    start = blocking(hosts.start)
    heartbeat = blocking(hosts.heartbeat)
    emit = blocking(hosts.emit)
    finish = blocking(hosts.finish)
    fail = blocking(hosts.fail)
    wait = blocking(hosts.wait)
    resolve = blocking(hosts.resolve)
    delegate = blocking(hosts.delegate)
    child = blocking(hosts.child)
    report = blocking(hosts.report)
    grant = blocking(hosts.grant)
    interrupt = blocking(hosts.interrupt)
    complete = blocking(hosts.complete)
    error = blocking(hosts.error)
    restrict = blocking(hosts.restrict)
    reconcile = blocking(hosts.reconcile)
    upload = blocking(hosts.upload)
    download = blocking(hosts.download)

    def close(self) -> None:
        """Let go of the connections."""
        self.connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class AsyncHost:
    """The agents of one principal and their tasks, for asyncio; all else is as of `Host`."""

    def __init__(
        self,
        base_url: str,
        auth: httpx.Auth,
        *,
        patience: Patience = PATIENCE,
        verify: ssl.SSLContext | bool = True,
        timeout_s: float = 35.0,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        self.connection = Asynchronous(
            base_url, auth=auth, patience=patience, verify=verify, timeout_s=timeout_s, transport=transport
        )

    register = awaited(hosts.register)
    agent = awaited(hosts.agent)
    task = awaited(hosts.task)
    messages = awaited(hosts.messages)
    agent_status = awaited(hosts.agent_status)
    start = awaited(hosts.start)
    heartbeat = awaited(hosts.heartbeat)
    emit = awaited(hosts.emit)
    finish = awaited(hosts.finish)
    fail = awaited(hosts.fail)
    wait = awaited(hosts.wait)
    resolve = awaited(hosts.resolve)
    delegate = awaited(hosts.delegate)
    child = awaited(hosts.child)
    report = awaited(hosts.report)
    grant = awaited(hosts.grant)
    interrupt = awaited(hosts.interrupt)
    complete = awaited(hosts.complete)
    error = awaited(hosts.error)
    restrict = awaited(hosts.restrict)
    reconcile = awaited(hosts.reconcile)
    upload = awaited(hosts.upload)
    download = awaited(hosts.download)

    async def close(self) -> None:
        """Let go of the connections."""
        await self.connection.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()
