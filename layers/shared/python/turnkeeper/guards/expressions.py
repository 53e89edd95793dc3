"""What an expression may refer to, held when its manifest is registered: a wrong name would fail each time."""

import re
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from turnkeeper.domain.places import shortened
from turnkeeper.guards.evaluator import Evaluator
from turnkeeper.guards.syntax import ExpressionRefused, arguments

_NAMESPACES = frozenset({"math", "strings", "sets", "base64", "lists", "optional"})
_TYPES = frozenset({"bool", "int", "uint", "double", "string", "bytes", "list", "map", "null_type", "type"})
_CORE = """
    size contains startsWith endsWith matches int uint double string bytes bool timestamp duration type dyn
    getFullYear getMonth getDate getDayOfMonth getDayOfWeek getDayOfYear getHours getMinutes getSeconds getMilliseconds
    of none ofNonZeroValue hasValue value or orValue
"""
_EXTENSIONS = """
    min max sum charAt indexOf lastIndexOf substring replace split join lowerAscii upperAscii trim reverse quote
    greatest least abs sign ceil floor round trunc isNaN isInf isFinite sqrt bitOr bitAnd bitXor bitNot bitShiftLeft
    bitShiftRight equivalent intersects encode decode distinct flatten slice sort first last range
"""
_OURS = "put float"
FUNCTIONS = frozenset(f"{_CORE} {_EXTENSIONS} {_OURS}".split())
REVIEW = "review"
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """Where an expression stands: what it sees, and whether it may ask for a review (AG-5)."""

    sees: frozenset[str]
    reviews: bool = False


_ALWAYS = frozenset({"context", "c", "now"})
BEFORE = Scope(sees=_ALWAYS | {"input", "i"})
AFTER = Scope(sees=_ALWAYS | {"output", "o"})
BEFORE_ASSERT = Scope(sees=BEFORE.sees, reviews=True)
AFTER_ASSERT = Scope(sees=AFTER.sees, reviews=True)
EXPOSES = AFTER


def check(expression: str, scope: Scope, evaluator: Evaluator) -> None:
    """Raise ExpressionRefused unless *expression* can be evaluated in *scope*."""
    used = evaluator.references(expression)
    calls = {name for name in used.functions if _NAME.fullmatch(name)}
    if REVIEW in calls and not scope.reviews:
        raise ExpressionRefused("asks for a review, which only an assert may")
    if not set(arguments(expression, REVIEW)) <= {1, 2}:
        raise ExpressionRefused(
            "asks for a review of nobody: review(<sub>) or review(<sub>, <what to decide>)"
        )
    if no_functions := calls - FUNCTIONS - {REVIEW}:
        raise ExpressionRefused(f"calls {_listed(no_functions)}, which is no function here")
    if unseen := used.variables - scope.sees - _NAMESPACES - _TYPES:
        raise ExpressionRefused(f"names {_listed(unseen)}; here there are {_listed(scope.sees)}")


def _listed(names: AbstractSet[str]) -> str:
    return ", ".join(shortened(name) for name in sorted(names))
