"""What a task's agent rules about its inputs and outputs, by the version of the manifest that the task began with.

A version is known by the hash of its document, so what a process has read of one never changes.
"""

import json

from turnkeeper.domain import content as contents
from turnkeeper.domain.errors import StoreIsUnavailable
from turnkeeper.domain.manifest import Manifest
from turnkeeper.domain.task import Task
from turnkeeper.guards import rules
from turnkeeper.guards.rules import Rules
from turnkeeper.service.runtime import Runtime
from turnkeeper.store import agents

UNRULED = rules.of("{}")
"""An agent that declares nothing: a message, and nothing beside it."""
_KEPT = 64
_documents: dict[str, str] = {}


def of_manifest(manifest: Manifest) -> Rules:
    """What *manifest* rules."""
    return rules.of(manifest.document) if manifest.terms.ruled else UNRULED


def of_task(runtime: Runtime, task: Task) -> Rules:
    """What the version that *task* pins rules; read once in a process, and not at all where it rules nothing."""
    return rules.of(document(runtime, task)) if task.terms.ruled else UNRULED


def document(runtime: Runtime, task: Task) -> str:
    """The manifest that *task* pins; read once in a process."""
    found = _documents.get(task.agent_version)
    if found is None:
        stored = runtime.table.get(agents.version_key(task.agent, task.agent_version))
        if stored is None:
            raise StoreIsUnavailable
        if len(_documents) >= _KEPT:
            del _documents[next(iter(_documents))]
        found = _documents[task.agent_version] = str(stored["document"])
    return found


def normalised(ruled: Rules, content: str, *, at: tuple[str, ...] = ()) -> str:
    """An input (JSON text) as the store keeps it: the very text, unless a default fills in what it lacks (IN-1a).

    `InvalidInput` names what is wrong with its parameters, below *at*.
    """
    sent = json.loads(content)
    made = ruled.normalised(sent, at=at, roots=ruled.mount)
    return content if made == sent else contents.kept(made)
