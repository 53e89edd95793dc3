"""A host: it registers agents of its own and drives their turns, knowing of them from whoever created their tasks."""

import secrets
import time
from dataclasses import dataclass
from typing import Any

import httpx

from tests.conformance.client import PAUSE_SECONDS, TRIES, Client, Json, answered, said

KIND = "commonagents.info/v1/agent"


@dataclass(frozen=True)
class Host(Client):
    """Whoever signs as the principal of the run."""

    def agent(self, *, limits: Json | None = None, **ours: Any) -> str:
        """The name of a new agent with *limits*, and with *ours* under `turnkeeper`."""
        return self.declare(limits=limits or {}, turnkeeper={"runs": "external", **ours})

    def declare(self, **fields: Json) -> str:
        """The name of a new agent that declares *fields* of a manifest."""
        name = new_name()
        answered(self.register(name, {**manifest(name), **fields}), 200)
        return name

    def register(self, name: str, sent: object) -> httpx.Response:
        """The answer to the manifest *sent* for the agent *name*."""
        return self.ask("PUT", f"host/agents/{name}", sent)

    def post(self, task_id: str, what: str, **body: Any) -> httpx.Response:
        """The answer to `POST …/{what}`."""
        return self.ask("POST", f"host/tasks/{task_id}/{what}", body)

    def until_it_may(self, task_id: str, what: str, **body: Any) -> httpx.Response:
        """The answer to `POST …/{what}`, asked again while there is too much at once."""
        for _ in range(TRIES):
            answer = self.post(task_id, what, **body)
            if answer.status_code != httpx.codes.SERVICE_UNAVAILABLE:
                break
            time.sleep(PAUSE_SECONDS)
        return answer

    def do(self, task_id: str, what: str, **body: Any) -> Json:
        """The task after `POST …/{what}`, which must succeed."""
        return answered(self.post(task_id, what, **body), 200)

    def read(self, task_id: str) -> Json:
        """The task with what only its host may know."""
        return answered(self.ask("GET", f"host/tasks/{task_id}"), 200)

    def ask_status(self, task_id: str, etag: str | None = None) -> httpx.Response:
        """Where the task stands, by somebody who knows *etag* when there is one."""
        known = {"if-none-match": etag} if etag else None
        return self.ask("GET", f"host/tasks/{task_id}/agent-status", headers=known)

    def report(self, task_id: str, fence: int, said: object, **more: Any) -> httpx.Response:
        """The answer to the envelope *said*, passed on under the turn's *fence*."""
        return self.post(task_id, "reports", fence=fence, report=said, **more)

    def hears(self, task_id: str, fence: int, said: object, **more: Any) -> None:
        """Pass the envelope *said* on, which must be taken."""
        answered(self.report(task_id, fence, said, **more), 200)

    def start(self, task_id: str) -> int:
        """The fence of the task's turn, begun, tried again or resumed."""
        fence: int = answered(self.post(task_id, "turns"), 201)["turn"]["fence"]
        return fence

    def say(self, task_id: str, fence: int, number: int, text: str) -> Json:
        """The task after one more output of its turn."""
        return self.do(task_id, "outputs", fence=fence, number=number, **said(text))

    def start_when_woken(self, task_id: str) -> Json:
        """The turn of a task that somebody else's doing makes runnable, some time soon."""
        for _ in range(TRIES):
            answer = self.post(task_id, "turns")
            if answer.status_code != httpx.codes.CONFLICT:
                break
            time.sleep(PAUSE_SECONDS)
        turn: Json = answered(answer, 201)["turn"]
        return turn

    def finish(self, task_id: str, fence: int, text: str | None = None) -> Json:
        """The task after its turn, with *text* as what is said last."""
        return self.do(task_id, "finish", fence=fence, **(said(text) if text is not None else {}))

    def take_turn(self, task_id: str, text: str | None = None) -> None:
        """Begin the next turn and end it, with *text* as what is said last."""
        self.finish(task_id, self.start(task_id), text)

    def wait(self, task_id: str, fence: int, *waits: Json, **more: Any) -> Json:
        """The task whose turn is suspended for *waits*."""
        return self.do(task_id, "wait", fence=fence, waits=list(waits), **more)

    def resolve(self, task_id: str, fence: int, wait: str, verdict: str = "done") -> Json:
        """The task after its host said how its own *wait* ended."""
        return self.do(task_id, "resolve", fence=fence, wait=wait, verdict=verdict)

    def grant(self, user: str, provider: str) -> Json:
        """What was granted: *user* authorised *provider*."""
        return answered(self.ask("POST", "host/grants", {"user": user, "provider": provider}), 200)

    def delegate(
        self, parent: str, fence: int, call: str, agent: str, text: str | None = None
    ) -> httpx.Response:
        """The answer to the *call* by which the turn of *parent* creates a task of *agent*."""
        first = {} if text is None else {"input": said(text)}
        return self.post(parent, "children", fence=fence, call=call, agent=agent, **first)


def new_name() -> str:
    """A name that no agent has yet."""
    return f"conformance-{secrets.token_hex(8)}"


def manifest(name: str, *, limits: Json | None = None, **ours: Any) -> Json:
    """A manifest of *name*, which this host drives, with *limits* and *ours* under `turnkeeper`."""
    bounded = {} if limits is None else {"limits": limits}
    settings = {"runs": "external", **ours}
    return {
        "kind": KIND,
        "name": name,
        "description": "Of a run of the suite.",
        **bounded,
        "turnkeeper": settings,
    }


def auth(name: str, provider: str, **more: Any) -> Json:
    """A wait until the responsible user authorises *provider*."""
    return {"id": name, "kind": "auth", "provider": provider, **more}


def review(name: str, reviewer: str, subject: str = "May it?", **more: Any) -> Json:
    """A wait for the decision of *reviewer*."""
    return {"id": name, "kind": "review", "reviewer": reviewer, "subject": subject, **more}


def child(name: str, task_id: str, **more: Any) -> Json:
    """A wait until the child *task_id* has something to say."""
    return {"id": name, "kind": "child", "child": task_id, **more}


def host_wait(name: str, **more: Any) -> Json:
    """A wait that is only the host's business."""
    return {"id": name, "kind": "host", **more}
