"""Boxes, arrows and words as one SVG that is legible on light and on dark, by itself and within a page."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from xml.sax.saxutils import escape

type Point = tuple[float, float]

STYLE = """\
.ground{fill:#fff}.group{fill:#f2f6f6;stroke:#b9cccb}.turn{fill:#e3efee;stroke:#8fb3b0;stroke-dasharray:5 4}
.box{fill:#fff;stroke:#00695c;stroke-width:1.5}.end{fill:#00695c;stroke:#00695c}.dot{fill:#24403d}
.arrow{fill:none;stroke:#54706d;stroke-width:1.4}.head{fill:#54706d}
text{font:13px system-ui,-apple-system,"Segoe UI",Helvetica,Arial,sans-serif;fill:#1d3533}
.small{font-size:11.5px;fill:#48625f}.name{font-weight:600}.on-end,.on-end.small{fill:#fff}.title{fill:#48625f;font-weight:600}
@media(prefers-color-scheme:dark){.ground{fill:#12191a}.group{fill:#1a2425;stroke:#3b5352}
.turn{fill:#20302f;stroke:#4f716e}.box{fill:#12191a;stroke:#4db6ac}.end{fill:#4db6ac;stroke:#4db6ac}.dot{fill:#cfe3e1}
.arrow{stroke:#9ab5b2}.head{fill:#9ab5b2}text{fill:#e2eeed}.small,.title{fill:#a9c2bf}.on-end,.on-end.small{fill:#0b1414}}"""

HEAD = """\
<defs><marker id="head" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="7" markerHeight="7"
orient="auto-start-reverse"><path class="head" d="M0 0 10 5 0 10z"/></marker></defs>"""


@dataclass(frozen=True, kw_only=True)
class Box:
    """A rectangle with words in its middle, or a title in its corner when it holds others."""

    x: float
    y: float
    width: float
    height: float
    words: Sequence[str]
    kind: str = "box"

    def svg(self) -> str:
        """Return it as SVG."""
        rectangle = (
            f'<rect class="{self.kind}" x="{self.x:g}" y="{self.y:g}" '
            f'width="{self.width:g}" height="{self.height:g}" rx="8"/>'
        )
        if self.kind in {"group", "turn"}:
            return rectangle + words(self.words, (self.x + 10, self.y + 19), kind="title", anchor="start")
        first = self.y + self.height / 2 + 4.5 - 8 * (len(self.words) - 1)
        kind = "on-end" if self.kind == "end" else "name"
        middle = self.x + self.width / 2
        beneath = "on-end small" if self.kind == "end" else "small"
        named = words(self.words[:1], (middle, first), kind=kind, anchor="middle")
        return rectangle + named + words(self.words[1:], (middle, first + 16), kind=beneath, anchor="middle")


@dataclass(frozen=True, kw_only=True)
class Arrow:
    """A line through *points* with a head at its end, and words beside it."""

    points: Sequence[Point]
    words: Sequence[str] = ()
    at: Point = (0, 0)
    anchor: str = "middle"

    def svg(self) -> str:
        """Return it as SVG."""
        line = " ".join(f"{x:g},{y:g}" for x, y in self.points)
        drawn = f'<polyline class="arrow" marker-end="url(#head)" points="{line}"/>'
        return drawn + words(self.words, self.at, kind="small", anchor=self.anchor)


def words(lines: Iterable[str], at: Point, *, kind: str, anchor: str) -> str:
    """*lines* below one another, the first at *at*."""
    x, y = at
    return "".join(
        f'<text class="{kind}" x="{x:g}" y="{y + 14 * place:g}" text-anchor="{anchor}">{escape(line)}</text>'
        for place, line in enumerate(lines)
    )


def picture(width: int, height: int, title: str, description: str, parts: Iterable[str]) -> str:
    """*parts*, in the order in which they lie over one another, as an SVG document that says what it shows."""
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img">',
            f"<title>{escape(title)}</title>",
            f"<desc>{escape(description)}</desc>",
            f"<style>{STYLE}</style>",
            HEAD,
            f'<rect class="ground" width="{width}" height="{height}" rx="12"/>',
            *parts,
            "</svg>\n",
        ]
    )
