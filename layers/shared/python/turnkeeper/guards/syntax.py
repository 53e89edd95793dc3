"""The bounds of an expression, held before the library sees any of it.

The library works by recursion and takes the process with it on absurd nesting. Within these bounds nothing was found
that does; the evaluator's own process is there for what was not found.
"""

import re
from dataclasses import dataclass
from itertools import pairwise

LONGEST = 2_048
"""Bytes of UTF-8."""
DEEPEST = 16
"""How many brackets may stand inside one another."""
MOST_TOKENS = 400
MOST_MACROS = 8
DEEPEST_MACROS = 2
"""How many macros may stand inside one another: each is a loop."""
MACROS = frozenset({"all", "exists", "exists_one", "map", "filter"})

_SPACE = r"(?P<space>\s+|//[^\n]*)"
_RAW = r"""[bB]?[rR][bB]?(?:'''.*?'''|\"\"\".*?\"\"\"|'[^'\n]*+'|"[^"\n]*+")"""
_COOKED = r"""[bB]?(?:'''(?:\\.|[^\\])*?'''|\"\"\"(?:\\.|[^\\])*?\"\"\"|'(?:\\.|[^'\\\n])*+'|"(?:\\.|[^"\\\n])*+")"""
_NUMBER = r"(?:0[xX][0-9a-fA-F]++|(?:[0-9]++(?:\.[0-9]++)?+|\.[0-9]++)(?:[eE][+-]?+[0-9]++)?+)[uU]?+"
_NAME = r"(?P<name>[A-Za-z_][A-Za-z0-9_]*+)"
_SIGN = r"&&|\|\||[=!<>]=|[-+*/%<>!?:.,]"
_TOKEN = re.compile(
    rf"{_SPACE}|(?:{_RAW}|{_COOKED})|(?:{_NUMBER})|{_NAME}|(?P<open>[(\[{{])|(?P<close>[)\]}}])|(?:{_SIGN})",
    re.DOTALL,
)
_PAIRS = {"(": ")", "[": "]", "{": "}"}


class ExpressionRefused(Exception):
    """The text is no expression that we evaluate; *problem* says why."""

    def __init__(self, problem: str) -> None:
        super().__init__(problem)
        self.problem = problem


@dataclass(frozen=True, slots=True)
class Token:
    """A piece of an expression that is no space: what it is, and where it begins."""

    kind: str
    text: str
    at: int


def check(expression: str) -> frozenset[str]:
    """The names that macros bind in *expression*; ExpressionRefused when it is out of bounds."""
    if (size := len(expression.encode(errors="surrogatepass"))) > LONGEST:
        raise ExpressionRefused(f"is {size} bytes; at most {LONGEST} are taken")
    tokens = _tokens(expression)
    if len(tokens) > MOST_TOKENS:
        raise ExpressionRefused(f"has more than {MOST_TOKENS} names, signs and values")
    return _check_nesting(tokens)


def arguments(expression: str, function: str) -> list[int]:
    """How many values each call of *function* in a checked *expression* is given."""
    tokens = _tokens(expression)
    return [
        _given(tokens[place + 2 :])
        for place, (one, following) in enumerate(pairwise(tokens))
        if one.kind == "name" and one.text == function and following.text == "("
    ]


def _given(after: list[Token]) -> int:
    """How many values stand before the bracket that closes."""
    depth, commas = 0, 0
    for token in after:
        if token.kind == "close" and depth == 0:
            return 0 if token is after[0] else commas + 1
        depth += (token.kind == "open") - (token.kind == "close")
        commas += token.text == "," and depth == 0
    return commas + 1


def _tokens(expression: str) -> list[Token]:
    tokens: list[Token] = []
    at = 0
    while at < len(expression):
        if (found := _TOKEN.match(expression, at)) is None:
            raise ExpressionRefused(f"cannot be read at character {at + 1}")
        if found.lastgroup != "space":
            tokens.append(Token(found.lastgroup or "", found[0], at))
        at = found.end()
    return tokens


def _check_nesting(tokens: list[Token]) -> frozenset[str]:
    bound: set[str] = set()
    closers: list[str] = []
    loops: list[bool] = []
    macros = 0
    for place, token in enumerate(tokens):
        if token.kind == "open":
            is_macro = token.text == "(" and _is_macro(tokens, place)
            if is_macro:
                macros += 1
                bound |= {after.text for after in tokens[place + 1 : place + 2] if after.kind == "name"}
            closers.append(_PAIRS[token.text])
            loops.append(is_macro)
            _check_depths(len(closers), macros, sum(loops))
        elif token.kind == "close":
            if not closers or closers.pop() != token.text:
                raise ExpressionRefused(f"closes at character {token.at + 1} what was not opened")
            loops.pop()
    if closers:
        raise ExpressionRefused(f"lacks a {closers[-1]} at its end")
    return frozenset(bound)


def _check_depths(depth: int, macros: int, loops: int) -> None:
    if depth > DEEPEST:
        raise ExpressionRefused(f"is nested deeper than {DEEPEST}")
    if macros > MOST_MACROS:
        raise ExpressionRefused(f"has more than {MOST_MACROS} macros")
    if loops > DEEPEST_MACROS:
        raise ExpressionRefused(f"has macros nested deeper than {DEEPEST_MACROS}")


def _is_macro(tokens: list[Token], bracket: int) -> bool:
    """The *bracket*-th token opens a macro: `.all(` and its like."""
    return bracket > 1 and tokens[bracket - 1].text in MACROS and tokens[bracket - 2].text == "."
