"""A host's own agents: registered by name, versioned by hash, and its own for good."""

from turnkeeper.domain.errors import InvalidInput, Place, TaskNotFound
from turnkeeper.domain.manifest import NAME, Manifest, parse
from turnkeeper.domain.task import Runs
from turnkeeper.service import catalogue
from turnkeeper.service.runtime import Runtime
from turnkeeper.store import agents


def register(runtime: Runtime, *, principal: str, name: str, document: str) -> Manifest:
    """Make *document* (a checked manifest as JSON) the current version of *name*; repeating it changes nothing.

    Tasks keep the version they began with. A name that is another's, or the deployment's, is `TaskNotFound`.
    Raises `InvalidInput` when its turns cannot run as it says.
    """
    _check_name(name)
    if catalogue.shipped_as(runtime, name) is not None:
        raise TaskNotFound
    manifest = parse(document, owner=principal)
    if manifest.name != name:
        raise InvalidInput([Place("name", "must be the name in the path")])
    _check_runs(runtime, manifest)
    agents.keep(runtime.table, manifest)
    return manifest


def read(runtime: Runtime, *, principal: str, name: str) -> Manifest:
    """The current manifest of the host's own agent *name*."""
    _check_name(name)
    stored = runtime.table.get(agents.current_key(name))
    if stored is None or stored["owner"] != principal:
        raise TaskNotFound
    return parse(stored["document"], owner=principal)


def _check_name(name: str) -> None:
    """Refuse what can be no name before anything is read."""
    if not NAME.fullmatch(name):
        raise TaskNotFound


def _check_runs(runtime: Runtime, manifest: Manifest) -> None:
    terms = manifest.terms
    match terms.runs:
        case Runs.FUNCTION:
            at = "runs"
            problem = "turns in the deployment's own function are for its own agents; say lambda or external"
        case Runs.EXTERNAL if runtime.queue is None or terms.owner not in runtime.queue.host_urls:
            at = "runs"
            problem = "no queue is declared for your principal; whoever deploys adds it to external_hosts"
        case Runs.LAMBDA if terms.function not in runtime.host_functions:
            at = "function"
            problem = "must be one of those that the deployment declares in host_functions"
        case _:
            return
    raise InvalidInput([Place(f"turnkeeper.{at}", problem)])
