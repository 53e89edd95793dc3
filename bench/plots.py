"""Plots by matplotlib, as SVG that is the same whenever it is drawn from the same figures; each carries their mark."""

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.figure import Figure

from bench.tables import Plot

PLAIN: Any = {"svg.hashsalt": "turnkeeper", "svg.fonttype": "none", "font.size": 9}
"""No date, no random ids, and text that stays text."""
MARKERS = "osD^v*"


def mark(plot: Plot) -> str:
    """What a plot is known by: another one when any of its figures is."""
    return hashlib.sha256(repr(plot).encode()).hexdigest()


def draw(plot: Plot, folder: Path) -> Path:
    """The file of *plot* in *folder*."""
    with mpl.rc_context(PLAIN):
        figure = Figure(figsize=(6.4, 3.2), layout="constrained")
        axes = figure.add_subplot()
        for line, marker in zip(plot.lines, _markers(), strict=False):
            axes.plot(*zip(*line.points, strict=True), marker=marker, markersize=4, label=line.name)
        axes.set_title(plot.title)
        axes.set_xlabel(plot.x)
        axes.set_ylabel(plot.y)
        axes.set_xscale("log" if plot.log_x else "linear")
        axes.set_yscale("log" if plot.log_y else "linear")
        if not plot.log_y:
            axes.set_ylim(bottom=0)
        axes.grid(visible=True, alpha=0.3)
        axes.legend(frameon=False)
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"{plot.name}.svg"
        figure.savefig(path, format="svg", metadata={"Date": None, "Description": mark(plot)})
    return path


def _markers() -> Iterator[str]:
    while True:
        yield from MARKERS
