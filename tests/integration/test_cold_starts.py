"""What each function loads when it starts, and no more: whoever adds to it is named with who asked for it."""

import sys

import pytest

from tests.support.fresh import FUNCTIONS, KNOWS, PLACES, imported_by

SDK = {"botocore", "dateutil", "jmespath", "six", "urllib3", "certifi"}
LOGGER = SDK | {"aws_lambda_powertools", "typing_extensions"}
MODELS = LOGGER | {"pydantic", "pydantic_core", "annotated_types", "typing_inspection"}
STRANGERS = {
    "status": SDK,
    "publish": SDK,
    "sweep": LOGGER,
    "turns": LOGGER,
    "tasks": MODELS,
    "host": MODELS,
}
"""The libraries that each function may load at its start. What judges parameters and expressions (jsonschema, cel) and
reads YAML comes with the first task that needs it; boto3 never."""
PARTS = {
    "status": {"asc", "domain", "edge", "faults", "sdk", "service", "settings", "store"},
    "publish": {"asc", "bus", "domain", "edge", "faults", "sdk", "service", "settings", "store", "traces"},
    "sweep": {"asc", "domain", "faults", "metrics", "mounts", "sdk", "service", "settings", "store"}
    | {"traces", "tracing"},
    "turns": {
        "agents",
        "asc",
        "converse",
        "domain",
        "faults",
        "guards",
        "invocation",
        "metrics",
        "mounts",
        "queue",
        "sdk",
    }
    | {"service", "settings", "store", "traces", "tracing"},
}
"""The parts of our package that a function without routes may load: no HTTP where none is served, agents for turns."""
LEAN = {
    *("asc", "asc.registry"),
    *("domain", "domain.errors", "domain.instants", "domain.pace", "domain.primary"),
    *("domain.standing", "domain.status", "domain.waits"),
    *("edge", "edge.answers", "edge.etags", "edge.lines"),
    *("faults", "sdk", "settings"),
    *("service", "service.runtime"),
    *("store", "store.patience", "store.standing", "store.table", "store.waits", "store.wire"),
}
MODULES = {
    "status": LEAN | {"domain.rules", "edge.caller", "edge.exchange", "service.owned", "service.poll"},
    "publish": LEAN | {"bus", "service.publishing", "store.stream", "traces"},
}
"""All of ours that the two load that are started most and do least: one more is a decision."""
MOST = {"status": 375, "publish": 375, "sweep": 455, "turns": 565, "tasks": 700, "host": 700}
"""How many modules there may be in all, Python's own too: what a library comes to need in its next version shows."""

type Loaded = dict[str, str]


@pytest.fixture(scope="module")
def loaded() -> dict[str, Loaded]:
    """What each function loads in a process of its own, and who asked for it."""
    return {name: imported_by(f"import functions.{name}.handler", name) for name in FUNCTIONS}


def beyond(found: Loaded, allowed: set[str], depth: slice) -> list[str]:
    """The modules of *found* whose part of the name, by *depth*, is not *allowed*; each with who asked for it."""
    return sorted(
        f"{name}, by {by}" for name, by in found.items() if ".".join(name.split(".")[depth]) not in allowed
    )


@pytest.mark.parametrize("function", FUNCTIONS)
def test_a_function_loads_no_library_that_its_start_does_not_need(
    loaded: dict[str, Loaded], function: str
) -> None:
    strangers = {name: by for name, by in loaded[function].items() if not is_pythons(name)}
    ours = {"functions", "turnkeeper"}

    assert beyond(strangers, STRANGERS[function] | ours, slice(0, 1)) == []
    assert {name.split(".")[0] for name in strangers} >= {"botocore", *ours}


@pytest.mark.parametrize("function", PARTS)
def test_a_function_loads_no_part_of_ours_that_its_work_does_not_need(
    loaded: dict[str, Loaded], function: str
) -> None:
    assert beyond(ours_of(loaded[function]), PARTS[function], slice(1, 2)) == []


@pytest.mark.parametrize("function", MODULES)
def test_the_two_leanest_load_exactly_what_they_are_known_to(
    loaded: dict[str, Loaded], function: str
) -> None:
    found = ours_of(loaded[function])

    assert beyond(found, MODULES[function], slice(1, None)) == []
    assert {name.removeprefix("turnkeeper.") for name in found} == MODULES[function]


@pytest.mark.parametrize("function", FUNCTIONS)
def test_what_a_function_loads_in_all_does_not_grow_unnoticed(
    loaded: dict[str, Loaded], function: str
) -> None:
    assert 0.8 * MOST[function] < len(loaded[function]) <= MOST[function], sorted(loaded[function])


def test_who_asked_for_a_module_is_named() -> None:
    found = imported_by("import functions.status.handler", "status")

    assert found["turnkeeper.store.standing"].startswith("turnkeeper.service.poll, line ")


def test_each_function_has_its_places() -> None:
    assert set(KNOWS) == set(STRANGERS) == set(MOST) == set(FUNCTIONS)
    assert {f"TURNKEEPER_{place}" for places in KNOWS.values() for place in places} == set(PLACES)


def is_pythons(name: str) -> bool:
    """The module is Python's own; how it was built is told in one whose name differs by machine."""
    return name.split(".", maxsplit=1)[0] in sys.stdlib_module_names or name.startswith("_sysconfigdata")


def ours_of(found: Loaded) -> Loaded:
    """The modules of our package among those *found*."""
    return {name: by for name, by in found.items() if name.startswith("turnkeeper.")}
