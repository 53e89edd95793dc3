"""Which way imports run: from the functions inwards, and never back."""

import ast
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "layers" / "shared" / "python" / "turnkeeper"

# What each part may import of ours. Everything else is refused.
MAY_IMPORT: dict[str, frozenset[str]] = {
    "asc": frozenset({"asc"}),
    "domain": frozenset({"domain", "asc"}),
    "faults": frozenset(),
    "metrics": frozenset(),
    "sdk": frozenset(),
    "traces": frozenset(),
    "tracing": frozenset(),
    "store": frozenset({"store", "domain", "asc", "faults"}),
    "invocation": frozenset({"agents", "domain", "faults"}),
    "converse": frozenset({"agents", "domain", "faults"}),
    "queue": frozenset({"domain", "faults", "tracing"}),
    "bus": frozenset({"faults"}),
    "mounts": frozenset({"domain", "faults"}),
    "agents": frozenset({"agents", "domain"}),
    "guards": frozenset({"guards", "domain"}),
    "service": frozenset(
        {
            "service",
            "store",
            "queue",
            "mounts",
            "bus",
            "agents",
            "guards",
            "domain",
            "asc",
            "metrics",
            "traces",
            "tracing",
        }
    ),
    "settings": frozenset(
        {"agents", "sdk", "service", "store", "queue", "mounts", "bus", "domain", "metrics"}
    ),
    "edge": frozenset({"edge", "service", "guards", "domain", "asc", "settings", "traces"}),
    "functions": frozenset(
        {"settings", "service", "edge", "agents", "queue", "invocation", "converse", "domain", "asc"}
    ),
}
STANDARD_LIBRARY_ONLY = ("asc", "domain", "agents")
READS_STRANGERS = "envelope"
"""The one module of `asc` that has pydantic."""


def imports(path: Path) -> set[str]:
    """The dotted names that a file imports, wherever in it."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative imports hide where they go"
            names |= {f"{node.module}.{alias.name}" for alias in node.names} | {str(node.module)}
    return names


def parts(names: set[str]) -> set[str]:
    """The parts of our package among *names*."""
    return {name.split(".")[1] for name in names if name.startswith("turnkeeper.")}


def files() -> list[tuple[str, Path]]:
    """Every file of ours with the part it belongs to."""
    ours = [
        (path.relative_to(PACKAGE).with_suffix("").parts[0], path)
        for path in PACKAGE.rglob("*.py")
        if path != PACKAGE / "__init__.py"
    ]
    return ours + [("functions", path) for path in (ROOT / "functions").rglob("*.py")]


@pytest.mark.parametrize(("part", "path"), files(), ids=lambda value: str(value).removeprefix(str(ROOT)))
def test_imports_run_one_way(part: str, path: Path) -> None:
    assert parts(imports(path)) <= MAY_IMPORT[part]


@pytest.mark.parametrize("part", STANDARD_LIBRARY_ONLY)
def test_the_inner_parts_need_nothing_but_the_standard_library(part: str) -> None:
    inner = [path for path in (PACKAGE / part).rglob("*.py") if path.stem != READS_STRANGERS]
    roots = {name.split(".")[0] for path in inner for name in imports(path)}

    assert roots - {"turnkeeper"} <= sys.stdlib_module_names


def test_the_status_codes_can_be_used_without_the_rest_of_us() -> None:
    asc = list((PACKAGE / "asc").rglob("*.py"))
    reader = PACKAGE / "asc" / f"{READS_STRANGERS}.py"

    assert {part for path in asc for part in parts(imports(path))} == {"asc"}
    assert {name.split(".")[0] for name in imports(reader)} - sys.stdlib_module_names == {
        "turnkeeper",
        "pydantic",
        "pydantic_core",
    }
    assert not [path for path in asc if "turnkeeper.asc.envelope" in imports(path)]


def test_the_poll_pays_for_the_names_of_the_codes_and_for_nothing_else_of_theirs() -> None:
    assert imports(PACKAGE / "asc" / "registry.py") == {"enum", "enum.IntEnum"}


def test_the_process_that_evaluates_expressions_needs_nothing_of_ours() -> None:
    roots = {name.split(".")[0] for name in imports(PACKAGE / "guards" / "child.py")}

    assert roots <= sys.stdlib_module_names


@pytest.mark.parametrize("module", ["random", "secrets", "time", "os", "uuid"])
def test_the_domain_knows_no_clock_no_environment_and_no_randomness(module: str) -> None:
    found = {name.split(".")[0] for path in (PACKAGE / "domain").rglob("*.py") for name in imports(path)}

    assert module not in found
    assert not any("now()" in path.read_text(encoding="utf-8") for path in (PACKAGE / "domain").rglob("*.py"))
