"""Our poll behind the bare server: each request is handed to the function's handler as the gateway would hand it on.

Below botocore the item lies ready; what is written to the log goes nowhere. One after another, as in one Lambda.
"""

import json
import logging
import os
import sys
from pathlib import Path
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from bench.canned import CannedSession
from functions.status.handler import handle
from turnkeeper import settings

told = json.loads(Path(sys.argv[2]).read_text())
sessions = {task_id: CannedSession(item) for task_id, item in told["items"].items()}
client: Any = settings.runtime(wakes=False).table.client


class Context:
    """What Lambda tells beside the event."""

    aws_request_id = "c6af9ac6-7b61-11e6-9a41-93e8deadbeef"
    function_name = "status"
    memory_limit_in_mb = 128
    invoked_function_arn = "arn:aws:lambda:us-east-1:000000000000:function:status"


context: Any = Context()


async def poll(request: Request) -> Response:
    """What the handler answers."""
    task_id = request.path_params["task_id"]
    client._endpoint.http_session = sessions[task_id]  # noqa: SLF001 - as in `bench.canned`
    event = {
        **told["event"],
        "rawPath": request.url.path,
        "headers": dict(request.headers),
        "pathParameters": {"task_id": task_id},
    }
    answer = handle(event, context)
    return Response(answer.get("body") or "", answer["statusCode"], answer["headers"])


async def health(_request: Request) -> Response:
    """It runs."""
    return Response("ok")


if __name__ == "__main__":
    for handler in logging.getLogger("turnkeeper").handlers:
        if isinstance(handler, logging.StreamHandler):
            handler.setStream(Path(os.devnull).open("w"))  # noqa: SIM115 - for as long as this process lasts
    application = Starlette(routes=[Route("/v1/tasks/{task_id}", poll), Route("/health", health)])
    uvicorn.run(application, host="127.0.0.1", port=int(sys.argv[1]), log_level="warning", access_log=False)
