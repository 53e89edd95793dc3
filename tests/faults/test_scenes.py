"""No kind of write and no use case is left out: what has no scene is not cut, so a new one fails here first."""

import ast
import importlib
import inspect
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.faults.reading_scenes import READING_SCENES
from tests.faults.recording import Recording, recording
from tests.faults.scene import Scene
from tests.faults.scenes import SCENES
from tests.faults.test_crashes import on_a_table_of_its_own
from tests.faults.victims import Victim
from tests.support.faults import Stopwatch
from tests.support.laboratory import Laboratory
from turnkeeper.domain.rules import Transition

ALL = (*SCENES, *READING_SCENES)
HANDLERS = sorted((Path(__file__).parents[2] / "functions").glob("*/handler.py"))
SERVICE = "turnkeeper.service"
# What the product's calls go through; a use case is what is given one of them.
GIVEN = frozenset({"runtime", "bus", "table", "queue"})
ELSEWHERE = frozenset(
    {
        # It writes nothing of ours: a batch that is cut comes again, and `tests/integration/test_push.py` says so.
        (f"{SERVICE}.publishing", "publish"),
    }
)

type UseCase = tuple[str, str]


@pytest.fixture
def recorded(emulated_lab: Laboratory, stopwatch: Stopwatch) -> Recording:
    """What all scenes together commit and call, when nothing goes wrong."""
    whole = Recording()
    for scene in ALL:
        with on_a_table_of_its_own(emulated_lab, stopwatch) as (lab, victim):
            known = scene.arrange(lab)
            with recording() as seen:
                scene.run(victim.lab, lab, known)
            whole.committed |= seen.committed
            whole.called |= seen.called
    return whole


def use_cases_of(handler: str) -> Iterator[UseCase]:
    """The use cases that a function calls: what stands in their package and is given what calls go through."""
    tree = ast.parse(handler)
    modules, functions = dict[str, str](), dict[str, UseCase]()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module == SERVICE:
            modules |= {name.name: f"{SERVICE}.{name.name}" for name in node.names}
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith(f"{SERVICE}."):
            functions |= {name.name: (str(node.module), name.name) for name in node.names}
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Name(id=name)) if name in functions:
                found = functions[name]
            case ast.Call(func=ast.Attribute(value=ast.Name(id=module), attr=name)) if module in modules:
                found = modules[module], name
            case _:
                continue
        if is_use_case(*found):
            yield found


def is_use_case(module: str, name: str) -> bool:
    function = getattr(importlib.import_module(module), name)
    return inspect.isfunction(function) and not GIVEN.isdisjoint(inspect.signature(function).parameters)


def test_every_transition_and_every_use_case_of_every_function_is_in_some_scene(recorded: Recording) -> None:
    named = {found for path in HANDLERS for found in use_cases_of(path.read_text(encoding="utf-8"))}

    assert len(HANDLERS) >= 5
    assert len(named) > 30
    assert set(Transition) - recorded.committed == set()
    assert named - recorded.called == ELSEWHERE


def test_a_use_case_without_a_scene_is_found() -> None:
    handler = (
        "from turnkeeper.service import host_turns\n"
        "from turnkeeper.service.sweep import sweep\n"
        "from turnkeeper.service.poll import poll_after\n"
        "host_turns.start(runtime, asked)\nsweep(runtime)\npoll_after(task, now)\n"
    )

    assert set(use_cases_of(handler)) == {(f"{SERVICE}.host_turns", "start"), (f"{SERVICE}.sweep", "sweep")}


@pytest.mark.parametrize("scene", SCENES, ids=str)
def test_a_scene_makes_the_write_that_it_is_about(scene: Scene, moto_lab: Laboratory, victim: Victim) -> None:
    known = scene.arrange(moto_lab)
    victim.faults.clear()

    scene.run(victim.lab, moto_lab, known)

    assert victim.faults.attempts.count(scene.operation) >= scene.nth


def test_scenes_have_names_of_their_own() -> None:
    assert len({scene.name for scene in ALL}) == len(ALL)
