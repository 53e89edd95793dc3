"""docs/performance.md and its plots, made of what `results.json` holds and of nothing else: `python -m bench.page`.

A part that was never measured is not on the page; one that was, but is no part any more, is refused.
"""

from collections.abc import Iterator, Mapping

from bench import ROOT, results
from bench.figures import number
from bench.machine import Machine
from bench.parts import PARTS, NoSuchPart, part, plots
from bench.results import Results, Taken
from bench.tables import Plot, markdown

PAGE = ROOT / "docs" / "performance.md"
PLOTS = ROOT / "docs" / "performance"
BEGINNING = """\
# How fast and how even

`make bench` measures all of this and writes the page (`bench/results.json` has the figures; a test holds the page to
them); `make bench PART=…` measures one part, as each table says. Ratios are of pairs that were taken beside each other
in one run. What it costs in money is [cost.md](cost.md), and what gives first [scale.md](scale.md).
"""


def page(kept: Results) -> str:
    """The page, as it must stand in docs/performance.md."""
    return "\n".join([BEGINNING, *_machines(kept), *_parts(kept)])


def all_plots(kept: Results) -> Iterator[Plot]:
    """Every plot that the page shows."""
    for name, taken in _known(kept).items():
        yield from plots(part(name), taken.found)


def write(kept: Results) -> None:
    """Have the page and its plots say what was *kept*."""
    from bench.plots import draw  # noqa: PLC0415 - the page is read, and compared, without drawing

    text = page(kept)
    drawn = {draw(plot, PLOTS) for plot in all_plots(kept)}
    for stale in set(PLOTS.glob("*.svg")) - drawn:
        stale.unlink()
    PAGE.write_text(text, encoding="utf-8")


def _known(kept: Results) -> Mapping[str, Taken]:
    for name in kept.parts:
        if name not in PARTS:
            raise NoSuchPart(name)
    return {name: kept.parts[name] for name in PARTS if name in kept.parts}


def _machines(kept: Results) -> Iterator[str]:
    yield "## Where it was measured\n"
    by_machine: dict[str, list[str]] = {}
    for name, taken in _known(kept).items():
        by_machine.setdefault(_described(taken.machine), []).append(name)
    for described, names in by_machine.items():
        yield f"- {', '.join(names)}: {described}."
    if busy := [name for name, taken in _known(kept).items() if taken.is_busy]:
        yield (
            f"- **Not alone**: {', '.join(busy)}. Others took processors meanwhile: times are too long, counts hold."
        )
    yield ""


def _described(machine: Machine) -> str:
    libraries = ", ".join(f"{name} {version}" for name, version in machine.libraries.items())
    return (
        f"{machine.cpu}, {machine.cores} cores, {machine.memory_gb:g} GB, {machine.kernel},"
        f" Python {machine.python}, {libraries}"
    )


def _parts(kept: Results) -> Iterator[str]:
    for name, taken in _known(kept).items():
        made = part(name)
        yield f"## {made.TITLE}\n"
        yield f"{made.ABOUT}\n"
        for table in made.tables(taken.found):
            yield f"{markdown(table)}\n"
        for plot in plots(made, taken.found):
            yield f"![{plot.title}: {plot.y} by {plot.x}]({PLOTS.name}/{plot.name}.svg)\n"
        yield (
            f"`{taken.command}` on {taken.on}, {taken.rounds} rounds, {number(taken.seconds)} s; load before"
            f" {taken.load_before:g}, {taken.taken_by_others:.0%} of the processors taken by others.\n"
        )


def main() -> None:
    """Write them anew."""
    write(results.read())
    print(f"{PAGE.relative_to(ROOT)} and {PLOTS.relative_to(ROOT)}/ say what bench/results.json does.")


if __name__ == "__main__":
    main()
