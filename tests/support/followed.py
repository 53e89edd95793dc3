"""A page that is followed as it stands: its commands are typed, and what it shows must be what is answered.

`<name>` in what is shown is whatever stands there, and from then on what it stood for; `…` is anything, on a line of
its own any lines; instants are any instants, and a gap between columns any gap.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from tests.support.pages import Block
from tests.support.terminals import Terminal

NAME = re.compile(r"<(\w+)>")
INSTANT = r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d"
PIECE = re.compile(rf"(?P<name><\w+>)|(?P<any>…)|(?P<instant>{INSTANT})|(?P<gap>\s+)|(?P<word>[^\s<…]+|<)")
STAYS = ", until Ctrl-C"
ONCE = ", once"


class Drifted(AssertionError):
    """The page shows something else than what was answered."""


@dataclass(slots=True)
class Reader:
    """Somebody who follows a page, with as many terminals as it asks for."""

    environment: Mapping[str, str]
    known: dict[str, str] = field(default_factory=dict)
    """What the names of the page stand for, so far."""
    terminals: dict[str, Terminal] = field(default_factory=dict)
    typed: list[str] = field(default_factory=list)
    """Every line that was typed."""
    _busy: set[str] = field(default_factory=set)

    def follow(self, blocks: Iterator[Block]) -> None:
        """Do and check everything in *blocks*, in order."""
        last, answered = "", ""
        for block in blocks:
            match block.language:
                case "sh" if block.title.endswith(ONCE):
                    # What it clones is the very folder in which each terminal begins.
                    assert block.text.startswith("git clone")
                case "sh" if block.title.endswith(STAYS):
                    last, answered = block.title.removesuffix(STAYS), ""
                    self._terminal(last).start(self._filled(block))
                    self._busy.add(last)
                case "sh":
                    last = block.title
                    answered = self._terminal(last).run(self._filled(block))
                case "text":
                    self._check(block, last, answered)
                case _:
                    (self._terminal(last).folder / block.title).write_text(block.text, encoding="utf-8")

    def close(self) -> None:
        """Close every terminal, whatever runs in it."""
        for terminal in self.terminals.values():
            terminal.close()

    def _terminal(self, name: str) -> Terminal:
        if name not in self.terminals:
            assert name.startswith("terminal "), f"in which terminal? {name!r}"
            self.terminals[name] = Terminal(self.environment)
        if name in self._busy:
            self._busy.remove(name)
            self.terminals[name].interrupt()
        return self.terminals[name]

    def _filled(self, block: Block) -> str:
        """The commands of *block*, with what its names stand for."""
        unknown = {name for name in NAME.findall(block.text) if name not in self.known}
        if unknown:
            raise Drifted(f"line {block.line}: nothing before it shows {sorted(unknown)}")
        commands = NAME.sub(lambda name: self.known[name[1]], block.text)
        self.typed += commands.splitlines()
        return commands

    def _check(self, block: Block, terminal: str, answered: str) -> None:
        pattern = shown(block.text, self.known)
        if terminal in self._busy:
            found: re.Match[str] | None = self.terminals[terminal].until(pattern)
        else:
            found = pattern.fullmatch(trimmed(answered))
        if found is None:
            raise Drifted(f"line {block.line} shows\n{block.text}\nand it was\n{answered}")
        self.known |= found.groupdict()


def trimmed(printed: str) -> str:
    """What was *printed*, without what nobody sees."""
    return "".join(f"{line.rstrip()}\n" for line in printed.strip("\n").splitlines())


def shown(text: str, known: Mapping[str, str]) -> "re.Pattern[str]":
    """What answers as the page shows it, by a pattern; names that are not *known* yet are its groups."""
    named: set[str] = set()
    lines = [
        r"(?:.*\n)*"
        if line == "…"
        else "".join(_piece(piece, known, named) for piece in PIECE.finditer(line)) + r"\n"
        for line in trimmed(text).splitlines()
    ]
    return re.compile("".join(lines))


def _piece(piece: "re.Match[str]", known: Mapping[str, str], named: set[str]) -> str:
    match piece.lastgroup:
        case "name":
            return _name(piece[0][1:-1], known, named)
        case "any":
            return ".*"
        case "instant":
            return INSTANT
        case "gap":
            return r"[^\S\n]+"
        case _:
            return re.escape(piece[0])


def _name(name: str, known: Mapping[str, str], named: set[str]) -> str:
    if name in known:
        return re.escape(known[name])
    if name in named:
        return f"(?P={name})"
    named.add(name)
    return rf"(?P<{name}>\S+)"
