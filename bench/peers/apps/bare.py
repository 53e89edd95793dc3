"""The floor: uvicorn and starlette answer with a small JSON object, and do nothing else."""

import sys

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

ANSWER = {
    "id": "0193f1b2c3d47e8f9a0b1c2d3e4f5a6b",
    "agent": "echo",
    "responsible_user": "alice-sub",
    "created_at": "2026-11-30T12:00:00.000000Z",
    "status": {
        "phase": "idle",
        "terminal_reason": None,
        "revision": "Zx3kP0aVb2mQ9sLt",
        "notifications": [],
        "idle_expires_at": "2026-12-07T12:00:01.250000Z",
    },
}


async def answer(_request: Request) -> Response:
    """A status object that never changes."""
    return JSONResponse(ANSWER)


if __name__ == "__main__":
    application = Starlette(routes=[Route("/", answer)])
    uvicorn.run(application, host="127.0.0.1", port=int(sys.argv[1]), log_level="warning", access_log=False)
