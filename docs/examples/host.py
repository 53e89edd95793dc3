"""An external host in one file: it registers an agent, waits for wake-ups, and takes its tasks' turns.

It runs anywhere that has Python, httpx and boto3 and the keys of its principal. From the environment: BASE_URL,
QUEUE_URL, AGENT (the agent's name), and what boto3 reads for itself. It stops when it has heard nothing for IDLE_S
seconds (0, the default, is never).
"""

import json
import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import boto3
import httpx
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest

BASE_URL = os.environ["BASE_URL"].rstrip("/")
QUEUE_URL = os.environ["QUEUE_URL"]
AGENT = os.environ.get("AGENT", "reverse")
IDLE_S = float(os.environ.get("IDLE_S", "0"))
HEARTBEAT_S = float(os.environ.get("HEARTBEAT_S", "15"))
LOST = frozenset({404, 409})
"""Answers that mean: this turn is not yours, or not any more. Stop, and write nothing more."""

session = boto3.Session()
http = httpx.Client(timeout=30, verify=os.environ.get("AWS_CA_BUNDLE") or True)


class Lost(Exception):
    """Somebody else has the turn, or there is none."""


def ask(method: str, path: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
    """What the hosts' API answers to a signed request."""
    content = b"" if body is None else json.dumps(body).encode()
    signed = AWSRequest(method, f"{BASE_URL}/v1/host/{path}", data=content)
    credentials = session.get_credentials()
    if credentials is None:
        raise SystemExit(
            "There are no AWS credentials; the hosts' API is signed with those of your principal."
        )
    SigV4Auth(credentials, "execute-api", session.region_name).add_auth(signed)
    answer = http.request(method, f"{BASE_URL}/v1/host/{path}", content=content, headers=dict(signed.headers))
    if answer.status_code in LOST:
        raise Lost(answer.text)
    answer.raise_for_status()
    found: dict[str, Any] = answer.json()
    return found


def register() -> None:
    """Have the agent be there; saying the same again changes nothing."""
    manifest = {
        "kind": "commonagents.info/v1/agent",
        "name": AGENT,
        "description": "Says backwards what it was told.",
        "turnkeeper": {"runs": "external", "repeatable": True},
    }
    ask("PUT", f"agents/{AGENT}", manifest)


@contextmanager
def alive(task_id: str, fence: int) -> Iterator[None]:
    """Renew the turn's lease while the agent thinks."""
    over = threading.Event()

    def beat() -> None:
        while not over.wait(HEARTBEAT_S):
            try:
                ask("POST", f"tasks/{task_id}/heartbeat", {"fence": fence})
            except Lost:
                return
            except httpx.HTTPError:
                continue

    thread = threading.Thread(target=beat, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def take_turn(task_id: str) -> None:
    """Take the task's turn, if it has one: begin, think, answer."""
    turn = ask("POST", f"tasks/{task_id}/turns")["turn"]
    fence, said = turn["fence"], turn["outputs"]
    with alive(task_id, fence):
        page = ask("GET", f"tasks/{task_id}/messages?after={turn['inputs_after']}")
        # A turn's inputs come first after its cursor; what is not committed belongs to a later one.
        heard = [part["text"] for entry in page["messages"] if is_input(entry) for part in entry["message"]]
        if said < turn["first_output"]:
            note = {"fence": fence, "number": turn["first_output"], "message": [text("Let me think …")]}
            ask("POST", f"tasks/{task_id}/outputs", note)
        time.sleep(float(os.environ.get("THINK_S", "0.1")))
        answer = {"fence": fence, "message": [text("\n".join(heard)[::-1])], "usage": {"tool_calls": 1}}
        ask("POST", f"tasks/{task_id}/finish", answer)


def is_input(entry: dict[str, Any]) -> bool:
    """The model may see it: it is an input, and committed."""
    return entry["type"] == "input" and "committed_at" in entry


def text(said: str) -> dict[str, str]:
    """One part of a message."""
    return {"mimeType": "text/plain", "text": said}


def main() -> None:
    """Attend to wake-ups, one after the other."""
    register()
    queue = session.client("sqs")
    heard_at = time.monotonic()
    print(f"{AGENT} is registered and waits for wake-ups", flush=True)
    while not IDLE_S or time.monotonic() - heard_at < IDLE_S:
        received = queue.receive_message(QueueUrl=QUEUE_URL, WaitTimeSeconds=2, VisibilityTimeout=60)
        for message in received.get("Messages", ()):
            heard_at = time.monotonic()
            try:
                take_turn(json.loads(message["Body"])["task"])
            except Lost as lost:
                print(f"not ours: {lost}", flush=True)
            queue.delete_message(QueueUrl=QUEUE_URL, ReceiptHandle=message["ReceiptHandle"])


if __name__ == "__main__":
    main()
