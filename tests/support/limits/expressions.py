"""DynamoDB's rules for expressions: what they may be made of, and that everything given is used."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from moto.dynamodb.parsing.reserved_keywords import ReservedKeywords

from tests.support.limits.refusal import refuse, refuse_unless

LONGEST = 4096
MOST_OPERATORS = 300
MOST_IN = 100
LONGEST_PLACEHOLDER = 255
MOST_PLACEHOLDER_BYTES = 2 * 1024 * 1024
EXPRESSIONS = (
    "ConditionExpression",
    "UpdateExpression",
    "KeyConditionExpression",
    "FilterExpression",
    "ProjectionExpression",
)

_TOKEN = re.compile(
    r"\s*(?:([#:]?[A-Za-z_][A-Za-z0-9_]*|[#:][A-Za-z0-9_]+)|(<>|<=|>=|[=<>+\-(),.])|(\[\d+\]))"
)
_WORDS = frozenset("AND OR NOT BETWEEN IN SET REMOVE ADD DELETE".split())  # noqa: SIM905 - a sentence of them
_FUNCTIONS = frozenset(
    {"attribute_exists", "attribute_not_exists", "attribute_type", "begins_with", "contains", "size"}
    | {"if_not_exists", "list_append"}
)
_OPERATORS = frozenset({"=", "<>", "<", "<=", ">", ">=", "+", "-", "AND", "OR", "NOT", "BETWEEN", "IN"})
_RESERVED = frozenset(ReservedKeywords.get_reserved_keywords())


@dataclass(frozen=True)
class Expression:
    """One expression, as tokens."""

    kind: str
    text: str
    names: Mapping[str, str] = field(default_factory=dict)
    values: Mapping[str, Any] = field(default_factory=dict)

    @cached_property
    def tokens(self) -> list[str]:
        """Names, placeholders, words and signs in order."""
        found, at = [], 0
        text = self.text.rstrip()
        while at < len(text):
            match = _TOKEN.match(text, at)
            if match is None:
                refuse(f"{self.kind} is no expression at {text[at : at + 20]!r}")
            found.append(match[1] or match[2] or match[3])
            at = match.end()
        return found

    @property
    def placeholders(self) -> set[str]:
        """The names and values that it uses by placeholder."""
        return {token for token in self.tokens if token[0] in "#:"}

    def name_of(self, token: str) -> str:
        """The attribute that *token* means."""
        return self.names.get(token, token)

    def compared(self) -> Iterator[tuple[str, str, list[Any]]]:
        """(attribute, operator, values) of each comparison with values, in order; functions by their names."""
        tokens = self.tokens
        for at, token in enumerate(tokens):
            rest = tokens[at + 1 :]
            if rest[:1] and rest[0] in {"=", "<", "<=", ">", ">="} and rest[1:2] and rest[1][0] == ":":
                yield self.name_of(token), rest[0], [self.values.get(rest[1])]
            elif rest[:1] == ["BETWEEN"]:
                yield self.name_of(token), "BETWEEN", [self.values.get(rest[1]), self.values.get(rest[3])]
            elif token == "begins_with":  # noqa: S105 - a function
                yield self.name_of(rest[1]), token, [self.values.get(rest[3])]

    def check(self) -> None:
        """Its size, its words and how many of them."""
        refuse_unless(self.text.strip(), f"{self.kind} is not empty")
        size = len(self.text.encode())
        refuse_unless(size <= LONGEST, f"{self.kind} is at most {LONGEST} bytes; this is {size}")
        tokens = self.tokens
        operators = sum(token.upper() in _OPERATORS or token in _FUNCTIONS for token in tokens)
        refuse_unless(operators <= MOST_OPERATORS, f"{self.kind} has at most {MOST_OPERATORS} operators")
        for token, following in zip(tokens, [*tokens[1:], ""], strict=True):
            is_function = token in _FUNCTIONS and following == "("
            is_plain = token[0].isalpha() or token[0] == "_"
            if is_plain and not is_function and token.upper() not in _WORDS:
                refuse_unless(
                    token.upper() not in _RESERVED, f"{token} is reserved: name it by a placeholder"
                )
        for at, token in enumerate(tokens):
            if token.upper() == "IN":
                inside = tokens[at + 2 : tokens.index(")", at)]
                refuse_unless(inside.count(",") < MOST_IN, f"IN has at most {MOST_IN} operands")


def expressions_of(request: Mapping[str, Any]) -> list[Expression]:
    """Every expression of *request*, each checked, and its placeholders: each is used, and none is missing."""
    names = request.get("ExpressionAttributeNames", {})
    values = request.get("ExpressionAttributeValues", {})
    found = [Expression(kind, request[kind], names, values) for kind in EXPRESSIONS if kind in request]
    for expression in found:
        expression.check()
    _check_placeholders(request, set().union(*(expression.placeholders for expression in found)))
    return found


def _check_placeholders(request: Mapping[str, Any], used: Iterable[str]) -> None:
    given: set[str] = set()
    for which, sign in (("ExpressionAttributeNames", "#"), ("ExpressionAttributeValues", ":")):
        if which in request:
            refuse_unless(request[which], f"{which} is not empty; leave it out")
            given |= set(request[which])
            refuse_unless(
                all(
                    name.startswith(sign) and 1 < len(name.encode()) <= LONGEST_PLACEHOLDER
                    for name in request[which]
                ),
                f"what {which} names begins with {sign} and has at most {LONGEST_PLACEHOLDER} bytes",
            )
    unused, missing = given - set(used), set(used) - given
    refuse_unless(not unused, f"{sorted(unused)} are given and not used")
    refuse_unless(not missing, f"{sorted(missing)} are used and not given")
