"""The routes there are, read from the handlers' source: method, path, name, and what its docstring says of it."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

FUNCTIONS = Path(__file__).parents[2] / "functions"
POLL = "GET", "/v1/tasks/{task_id}"
"""The one route of a function without a resolver."""
HOSTS = "/v1/host/"


@dataclass(frozen=True, slots=True)
class Route:
    """One route of a handler."""

    method: str
    path: str
    name: str
    says: str

    @property
    def key(self) -> str:
        """As the gateway writes it."""
        return f"{self.method} {self.path}"

    @property
    def is_a_hosts(self) -> bool:
        """Hosts sign for it; everything else is people's or everybody's."""
        return self.path.startswith(HOSTS)

    @property
    def parameters(self) -> list[str]:
        """The names in its path."""
        return [part[1:-1] for part in self.path.split("/") if part.startswith("{")]


def routes() -> list[Route]:
    """Every route, in the order of the handlers."""
    poll = ast.parse((FUNCTIONS / "status" / "handler.py").read_text())
    (handle,) = (node for node in poll.body if isinstance(node, ast.FunctionDef))
    first = Route(*POLL, "read_task", ast.get_docstring(handle) or "")
    return [first, *_resolved("tasks"), *_resolved("host")]


def _resolved(function: str) -> Iterator[Route]:
    module = ast.parse((FUNCTIONS / function / "handler.py").read_text())
    for node in module.body:
        if not isinstance(node, ast.FunctionDef):
            continue
        for decorator in node.decorator_list:
            match decorator:
                case ast.Call(
                    func=ast.Attribute(value=ast.Name("app"), attr=method), args=[ast.Constant(str(path))]
                ):
                    path = path.replace("<", "{").replace(">", "}")
                    says = ast.get_docstring(node) or ""
                    name = node.name if function == "tasks" else f"host_{node.name}"
                    yield Route(method.upper(), path, name, says)
                case _:
                    pass
