"""The echo agent as a virtual object of Restate: a conversation is a key, and its inputs are taken up one by one.

A text says how long its answer takes: "0.7 hello". The pause is one of Restate's, so it goes on where it was after a
crash. Whether it is busy is kept under a key of its own, and state is read lazily, so that a poll reads no message.
"""

import asyncio
import sys
from datetime import timedelta
from typing import Any

import restate
from hypercorn.asyncio import serve
from hypercorn.config import Config
from restate import ObjectContext, ObjectSharedContext, VirtualObject

conversation = VirtualObject("Conversation", enable_lazy_state=True)


@conversation.handler()
async def say(ctx: ObjectContext, text: str) -> str:
    """Keep what was said, work as long as it says, and answer."""
    messages = await ctx.get("messages") or []
    ctx.set("phase", "processing")
    ctx.set("messages", [*messages, {"role": "user", "text": text}])
    pause = float(text.split(" ", 1)[0])
    if pause:
        await ctx.sleep(timedelta(seconds=pause))
    answer = f"echo {text}"
    ctx.set("messages", [*messages, {"role": "user", "text": text}, {"role": "agent", "text": answer}])
    ctx.set("phase", "idle")
    return answer


@conversation.handler()
async def fill(ctx: ObjectContext, messages: list[dict[str, str]]) -> None:
    """Have a conversation of so many messages at once."""
    ctx.set("messages", messages)
    ctx.set("phase", "idle")


@conversation.handler(kind="shared")
async def status(ctx: ObjectSharedContext) -> dict[str, Any]:
    """Whether it is busy."""
    return {"phase": await ctx.get("phase") or "idle"}


@conversation.handler(kind="shared")
async def read(ctx: ObjectSharedContext) -> list[dict[str, str]]:
    """The conversation."""
    return await ctx.get("messages") or []


if __name__ == "__main__":
    config = Config()
    config.bind = [f"127.0.0.1:{int(sys.argv[1])}"]
    config.accesslog = None
    asyncio.run(serve(restate.app([conversation]), config))
