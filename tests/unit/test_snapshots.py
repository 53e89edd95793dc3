"""Processes that are restored from one snapshot draw nothing alike: all chance is the kernel's, and asked for late."""

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
OURS = [*(ROOT / "layers" / "shared").rglob("*.py"), *(ROOT / "functions").rglob("*.py")]
OF_THE_KERNEL = {"SystemRandom"}


def chances(tree: ast.Module) -> Iterator[str]:
    """Every name of `random`, `uuid` and their like that *tree* uses."""
    for node in ast.walk(tree):
        match node:
            case ast.Attribute(value=ast.Name(id="random"), attr=name):
                yield name
            case (
                ast.ImportFrom(module="random" | "uuid" | "numpy.random")
                | ast.Import(names=[ast.alias(name="uuid")])
            ):
                yield "imported by name"


def draws(statement: ast.stmt) -> bool:
    """Whether *statement* asks for chance when its module is imported."""
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return False
    return any(
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and isinstance(node.func.value, ast.Name)
        and node.func.value.id == "secrets"
        for node in ast.walk(statement)
    )


def test_all_chance_is_the_kernels() -> None:
    used = {path.name: set(chances(ast.parse(path.read_text()))) for path in OURS}

    assert {name: what - OF_THE_KERNEL for name, what in used.items() if what - OF_THE_KERNEL} == {}
    assert used["patience.py"] == OF_THE_KERNEL


def test_nothing_is_drawn_while_a_module_is_imported() -> None:
    assert [path for path in OURS if any(draws(one) for one in ast.parse(path.read_text()).body)] == []
