"""A model of Strands' that says what it was given, and keeps what it was asked."""

import json
from collections.abc import AsyncIterator
from typing import Any

from strands.models import Model

type Said = str | dict[str, Any] | Exception


class Scripted(Model):
    """Says what it is given, one after the other, and keeps what it was asked."""

    def __init__(self, *script: Said) -> None:
        self.script = [*script]
        self.asked: list[Any] = []

    def update_config(self, **_: Any) -> None:
        """It has none."""

    def get_config(self) -> Any:
        return {}

    def structured_output(self, *_: Any, **__: Any) -> Any:
        raise NotImplementedError

    async def stream(self, messages: Any, *_: Any, **__: Any) -> AsyncIterator[Any]:
        self.asked.append(json.loads(json.dumps(messages)))
        said = self.script.pop(0)
        if isinstance(said, Exception):
            raise said
        yield {"messageStart": {"role": "assistant"}}
        if isinstance(said, str):
            yield {"contentBlockDelta": {"delta": {"text": said}}}
        else:
            yield {"contentBlockStart": {"start": {"toolUse": {"name": "book", "toolUseId": "t1"}}}}
            yield {"contentBlockDelta": {"delta": {"toolUse": {"input": json.dumps(said)}}}}
        yield {"contentBlockStop": {}}
        yield {"messageStop": {"stopReason": "end_turn" if isinstance(said, str) else "tool_use"}}
        usage = {"inputTokens": 11, "outputTokens": 7, "totalTokens": 18}
        yield {"metadata": {"usage": usage, "metrics": {"latencyMs": 1}}}
