"""The echo agent as a graph of LangGraph: a conversation is a thread, whose state is the list of messages.

A text says how long its answer takes: "0.7 hello".
"""

import asyncio
from typing import Any

from langchain_core.messages import AIMessage
from langgraph.graph import END, START, MessagesState, StateGraph


async def echo(state: MessagesState) -> dict[str, Any]:
    """Work as long as the text says, and answer."""
    text = str(state["messages"][-1].content)
    await asyncio.sleep(float(text.split(" ", 1)[0]))
    return {"messages": [AIMessage(f"echo {text}")]}


builder = StateGraph(MessagesState)
builder.add_node("echo", echo)
builder.add_edge(START, "echo")
builder.add_edge("echo", END)
graph = builder.compile()
