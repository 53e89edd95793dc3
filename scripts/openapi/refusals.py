"""Refusals by status code, from the one table of problems; each with an example that the table's own function makes."""

import json
from collections.abc import Collection
from functools import cache
from http import HTTPStatus
from typing import Any

from scripts.openapi.answers import ref
from turnkeeper.asc.bindings.http import PROBLEM_TYPE
from turnkeeper.domain import errors
from turnkeeper.domain.errors import Place
from turnkeeper.domain.task import Reason
from turnkeeper.domain.waits import Verdict
from turnkeeper.edge.problems import A_BUG, PROBLEMS, problem

SAMPLES: tuple[Exception, ...] = (
    errors.MalformedRequest("limit", "must be a whole number from 1 to 100"),
    errors.InvalidInput([Place("message[0].text", "is missing; a part has a text or a file")]),
    errors.InputTooLarge(300_000, 262_144),
    errors.TaskNotFound(),
    errors.NotAHuman(),
    errors.NotAHost(),
    errors.TaskIsTerminal(Reason.COMPLETED),
    errors.InputsArePending(2),
    errors.UnitsNotReached(1),
    errors.KeyReused(),
    errors.StaleFence(3),
    errors.TurnNotRunnable(),
    errors.NothingLeftToRun(),
    errors.WaitNotFound(),
    errors.WaitIsOver(Verdict.DENIED),
    errors.ReviewIsOver(decided=True),
    errors.CallReused(),
    errors.StoreIsBusy(),
    errors.StoreIsUnavailable(),
    errors.GuardrailsUnavailable(),
    errors.CommitUnknown(),
    Exception("a bug"),
)
"""One of each class that the table tells."""

OURS = frozenset({HTTPStatus.INTERNAL_SERVER_ERROR, HTTPStatus.SERVICE_UNAVAILABLE})
"""What may meet any request that we answer."""
GATEWAYS = {
    401: "No token, or one that does not hold.",
    403: "No signature, or one that does not hold, or no right to call the API.",
    413: "More than 10 MB.",
    429: "Too many requests; wait and send it again.",
    503: "No function could be asked.",
}
"""What the gateway itself refuses: 401 to people, 403 to hosts, the rest to anybody."""


@cache
def examples() -> dict[int, dict[str, Any]]:
    """The problems there are, by status and by class."""
    found: dict[int, dict[str, Any]] = {}
    for error in SAMPLES:
        told = problem(error, repeatable=True)
        name = "Bug" if type(error) is Exception else type(error).__name__
        found.setdefault(told["statusCode"], {})[name] = {
            "summary": _says(error),
            "value": json.loads(told["body"]),
        }
    return found


def named(status: int, *, hosts: bool) -> dict[str, Any]:
    """The response with *status*, by reference."""
    return {"$ref": f"#/components/responses/{_name(status, hosts=hosts)}"}


def responses() -> dict[str, Any]:
    """Every refusal there is, by name; only who may not ask is told differently to people and to hosts."""
    found = {_name(status, hosts=False): _response(status) for status in sorted({*examples(), *GATEWAYS})}
    people, hosts = (_name(HTTPStatus.FORBIDDEN, hosts=of_hosts) for of_hosts in (False, True))
    found[people] = _response(HTTPStatus.FORBIDDEN, without={errors.NotAHost}, gateways=False)
    found[hosts] = _response(HTTPStatus.FORBIDDEN, without={errors.NotAHuman})
    return found


def _name(status: int, *, hosts: bool) -> str:
    name = HTTPStatus(status).phrase.title().replace(" ", "")
    return f"{name}ForHosts" if hosts and status == HTTPStatus.FORBIDDEN else name


def _response(
    status: int, *, without: Collection[type[Exception]] = (), gateways: bool = True
) -> dict[str, Any]:
    """What *status* comes with: ours but for *without*, and the gateway's own shape where it may send it."""
    left_out = {kind.__name__ for kind in without}
    shown = {name: one for name, one in examples().get(status, {}).items() if name not in left_out}
    words, content = [one["summary"] for one in shown.values()], {}
    if shown:
        content[PROBLEM_TYPE] = {"schema": ref("Problem"), "examples": shown}
    if gateways and status in GATEWAYS:
        content["application/json"] = {"schema": ref("GatewayRefusal")}
        words.append(f"From the gateway itself: {GATEWAYS[status]}")
    # What the gateway says by itself has none of our headers.
    usual = ["Cache-Control", "X-Correlation-Id"] if shown else []
    headers = {name: {"$ref": f"#/components/headers/{name}"} for name in usual}
    if _may_wait(status):
        headers["Retry-After"] = {"$ref": "#/components/headers/Retry-After"}
    return {"description": "\n".join(words), "content": content, "headers": headers}


def _may_wait(status: int) -> bool:
    return any(row.status == status and row.after_ms is not None for row in PROBLEMS.values())


def _says(error: Exception) -> str:
    if type(error) is Exception:
        return A_BUG.detail or ""
    return (type(error).__doc__ or "").split("\n", 1)[0].split(" (")[0].rstrip(".") + "."
