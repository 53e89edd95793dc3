"""The echo agent as an A2A server with its SQL store: one task is one conversation, which asks for input between turns.

A text says how long its answer takes: "0.7 hello"; one that begins with "last " ends the task, as most A2A agents do.
"""

import asyncio
import sys

import uvicorn
from a2a.helpers import get_message_text, new_task_from_user_message, new_text_part
from a2a.server.agent_execution import AgentExecutor, RequestContext
from a2a.server.events import EventQueue
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.routes import create_agent_card_routes, create_rest_routes
from a2a.server.tasks import DatabaseTaskStore, TaskUpdater
from a2a.types import AgentCapabilities, AgentCard, AgentInterface, AgentSkill
from sqlalchemy.ext.asyncio import create_async_engine
from starlette.applications import Starlette


class Echo(AgentExecutor):
    """Answers with what it was told."""

    async def execute(self, context: RequestContext, event_queue: EventQueue) -> None:
        """Work as long as the text says, and answer."""
        message, task = context.message, context.current_task
        if task is None:
            task = new_task_from_user_message(message)
            await event_queue.enqueue_event(task)
        updater = TaskUpdater(event_queue, task.id, task.context_id)
        await updater.start_work()
        text = get_message_text(message)
        await asyncio.sleep(float(text.removeprefix("last ").split(" ", 1)[0]))
        said = updater.new_agent_message([new_text_part(f"echo {text}")])
        await (updater.complete(said) if text.startswith("last ") else updater.requires_input(said))

    async def cancel(self, context: RequestContext, event_queue: EventQueue) -> None:
        """Nobody cancels here."""
        raise NotImplementedError


def application(port: int, database: str) -> Starlette:
    """The server as the SDK's samples build it, over HTTP+JSON."""
    card = AgentCard(
        name="echo",
        description="Answers with what it was told.",
        version="1",
        capabilities=AgentCapabilities(streaming=True),
        default_input_modes=["text/plain"],
        default_output_modes=["text/plain"],
        skills=[
            AgentSkill(id="echo", name="echo", description="Answers with what it was told.", tags=["echo"])
        ],
        supported_interfaces=[
            AgentInterface(
                url=f"http://127.0.0.1:{port}", protocol_binding="HTTP+JSON", protocol_version="1.0"
            )
        ],
    )
    store = DatabaseTaskStore(create_async_engine(f"sqlite+aiosqlite:///{database}"))
    handler = DefaultRequestHandler(agent_executor=Echo(), task_store=store, agent_card=card)
    return Starlette(routes=[*create_agent_card_routes(card), *create_rest_routes(handler)])


if __name__ == "__main__":
    chosen = int(sys.argv[1])
    uvicorn.run(
        application(chosen, sys.argv[2]), host="127.0.0.1", port=chosen, log_level="warning", access_log=False
    )
