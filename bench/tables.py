"""A table as plain rows, shown in a terminal and in Markdown alike; it says which command makes its figures."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rich.table import Table as Shown
from rich.text import Text


class NobodyMakesIt(ValueError):
    """A figure without the command that makes it: nobody could look whether it is true."""

    def __init__(self, title: str) -> None:
        super().__init__(
            f"“{title}” names no command that makes it: say it, for example `make bench PART=cold`"
        )


@dataclass(frozen=True, slots=True)
class Table:
    """Figures beside each other, all by one command."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    command: str
    note: str = ""
    """What must be known to read it, as Markdown."""

    def __post_init__(self) -> None:
        if not self.command.strip():
            raise NobodyMakesIt(self.title)
        if odd := [row for row in self.rows if len(row) != len(self.columns)]:
            raise ValueError(f"“{self.title}” has {len(self.columns)} columns, and a row is {odd[0]!r}")


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a plot: what it is, and its points."""

    name: str
    points: Sequence[tuple[float, float]]


@dataclass(frozen=True, slots=True)
class Plot:
    """How one thing follows another; its file is docs/performance/*name*.svg."""

    name: str
    title: str
    x: str
    y: str
    lines: Sequence[Line]
    log_x: bool = True
    log_y: bool = False


def shown(table: Table) -> Shown:
    """*table* as rich draws it; figures to the right."""
    drawn = Shown(title=table.title, caption=table.command, title_justify="left", caption_justify="left")
    for column, name in enumerate(table.columns):
        drawn.add_column(name, justify="right" if column else "left")
    for row in table.rows:
        drawn.add_row(*(Text(cell) for cell in row))
    return drawn


def markdown(table: Table) -> str:
    """*table* as it stands on the page."""
    lines = [f"**{table.title}** (`{table.command}`)", ""]
    lines += [_line(table.columns), _line(["---", *["---:"] * (len(table.columns) - 1)])]
    lines += [_line(row) for row in table.rows]
    return "\n".join([*lines, *(["", table.note] if table.note else [])])


def _line(cells: Iterable[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
