"""What people get of agents: all that it takes to start one, and nothing of who runs it, where, or by which rules."""

import hashlib
import json
from collections.abc import Mapping
from datetime import timedelta
from http import HTTPStatus
from typing import Any

from turnkeeper.domain.manifest import Manifest
from turnkeeper.domain.task import Terms
from turnkeeper.edge import etags
from turnkeeper.edge.answers import REVALIDATED, Answer, answer
from turnkeeper.guards import parameters, rules
from turnkeeper.service.catalogue import Agents


def listed(page: Agents) -> Answer:
    """A page of agents, each with what it says of itself."""
    body = {"agents": [_named(manifest) for manifest in page.manifests], "next": page.next}
    return answer(HTTPStatus.OK, _to_json(body), {})


def shown(manifest: Manifest, event: Mapping[str, Any]) -> Answer:
    """One agent, or 304 when the sender of *event* has it already; its tag is of all that is shown."""
    text = _to_json(_agent(manifest))
    tag = hashlib.sha256(text.encode()).hexdigest()[:24]
    headers = {"ETag": etags.tag(tag), "Cache-Control": REVALIDATED}
    if etags.matches((event.get("headers") or {}).get("if-none-match"), tag):
        return answer(HTTPStatus.NOT_MODIFIED, "", headers)
    return answer(HTTPStatus.OK, text, headers)


def _named(manifest: Manifest) -> dict[str, str]:
    return {"name": manifest.name, "description": manifest.description}


def _agent(manifest: Manifest) -> dict[str, Any]:
    ruled = rules.of(manifest.document)
    return {
        **_named(manifest),
        "parameters": parameters.shown(ruled.parameters),
        "default_message": ruled.parameters.default_message,
        "files": sorted(ruled.mount),
        "exposes": sorted(ruled.exposes),
        "lifespan_seconds": _seconds(manifest.terms.lifespan),
        "limits": _limits(manifest.terms),
    }


def _limits(terms: Terms) -> dict[str, int | float]:
    """What a task may use at most, where there is a most."""
    named = {
        "max_age_seconds": _seconds(terms.max_age),
        "turns": terms.max_turns,
        "prompt_tokens": terms.usage.prompt_tokens,
        "completion_tokens": terms.usage.completion_tokens,
        "tool_calls": terms.usage.tool_calls,
    }
    return {name: most for name, most in named.items() if most is not None}


def _seconds(lasts: timedelta) -> int | float:
    """Whole ones as a whole number."""
    seconds = lasts.total_seconds()
    return int(seconds) if seconds.is_integer() else seconds


def _to_json(value: object) -> str:
    return json.dumps(value, separators=(",", ":"))
