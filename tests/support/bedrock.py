"""Bedrock as botocore's Stubber plays it: what each call was asked, and the events that its stream brings."""

import threading
from collections.abc import Callable, Iterator
from typing import Any

from botocore.session import Session
from botocore.stub import Stubber

from turnkeeper import sdk
from turnkeeper.agents.models import Model
from turnkeeper.converse import Conversing, conversing

MODEL = "amazon.nova-lite-v1:0"


class Stream:
    """The events of one answer; an exception among them is raised in its place, and a function is called."""

    def __init__(self, *events: Any) -> None:
        self.events, self.is_closed = events, False

    def __iter__(self) -> Iterator[Any]:
        for event in self.events:
            if isinstance(event, Exception):
                raise event
            if callable(event):
                event()
            else:
                yield event

    def close(self) -> None:
        self.is_closed = True


def says(*texts: str, stops: str | None = "end_turn") -> Stream:
    """An answer in such pieces, and how it stops; None: it never says."""
    events: list[Any] = [{"messageStart": {"role": "assistant"}}]
    events += [{"contentBlockDelta": {"delta": {"text": text}, "contentBlockIndex": 0}} for text in texts]
    events += [{"contentBlockStop": {"contentBlockIndex": 0}}]
    if stops is not None:
        events += [{"messageStop": {"stopReason": stops}}]
    return Stream(*events)


class Bedrock:
    """A client of Bedrock that answers by what it was given, one after the other."""

    def __init__(self, monkeypatch: Any, **model: Any) -> None:
        monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-central-1")
        session: Session = sdk.session()
        session.set_credentials("key", "secret")
        self.agent: Conversing = conversing(
            Model(name="assistant", **{"model": MODEL, **model}), session=session
        )
        client: Any = self.agent.client
        self.stubber = Stubber(client)
        self.stubber.activate()
        self.asked: list[dict[str, Any]] = []
        self._streams: list[Stream] = []
        client.meta.events.register("after-call.bedrock-runtime.ConverseStream", self._stream)
        client.meta.events.register("provide-client-params.bedrock-runtime", self._hear)

    def answers(self, *streams: Stream | str) -> None:
        """Answer with these, in turn; a text is the code of an error."""
        for stream in streams:
            if isinstance(stream, str):
                self.stubber.add_client_error("converse_stream", service_error_code=stream)
            else:
                # The Stubber knows no streams: it is told of an empty one, in whose place this one comes.
                self.stubber.add_response("converse_stream", {"stream": {}})
                self._streams.append(stream)

    def _stream(self, parsed: dict[str, Any], **_: Any) -> None:
        if "stream" in parsed:
            parsed["stream"] = self._streams.pop(0)

    def _hear(self, params: dict[str, Any], **_: Any) -> None:
        self.asked.append(params)


def until(event: threading.Event) -> Callable[[], object]:
    """A stream that is silent until *event*."""
    return lambda: event.wait(timeout=30)
