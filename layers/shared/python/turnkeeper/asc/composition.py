"""What children report, and what their parent makes of it: a rule that the parent names, and nothing else.

A child never decides its parent's status (MOD-4, SEC-4). Every unit is kept, with what it may have changed.
"""

from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from turnkeeper.asc.parts import Boundary, Composition, Reference, Unit
from turnkeeper.asc.refusals import NoAuthority, StatusRefused
from turnkeeper.asc.registry import Code, class_of
from turnkeeper.asc.report import MOST
from turnkeeper.asc.retry import SideEffects
from turnkeeper.asc.said import Said
from turnkeeper.asc.vocabulary import Kind

_REACHED = frozenset({Code.SUCCESS, Code.SUCCESS_WITH_WARNINGS, Code.NO_ACTION_REQUIRED})
_WORST_FIRST = (SideEffects.UNKNOWN, SideEffects.POSSIBLE, SideEffects.CONFIRMED, SideEffects.NONE)


@dataclass(frozen=True, slots=True)
class Rule:
    """How a parent's status follows from its units; *name* stands in the report (MOD-4)."""

    name: str
    choose: Callable[[Sequence[Unit]], Code]


@dataclass(frozen=True, slots=True)
class Composed:
    """The parent's code, what it was made of, and the units (the first 64) that explain it if it is no success."""

    code: Code
    composition: Composition
    causes: tuple[Reference, ...]

    @property
    def side_effects(self) -> SideEffects:
        """What the units may have changed, taken together: the least certain of them."""
        found = {unit.side_effect_state for unit in self.composition.units}
        return next((state for state in _WORST_FIRST if state in found), SideEffects.NONE)


def unit(name: str, said: Said, *, report_id: str | None = None, requested: bool = True) -> Unit:
    """What *said* comes to as the unit *name* of a parent; its words and details stay behind (SEC-5).

    *requested*: the parent's goal needs this one, and not only some of its kind. A child that says nothing of
    side effects may have had some.
    """
    status = said.status
    if status.kind is not Kind.STATUS:
        raise StatusRefused("status.kind", "is not status, and only an outcome makes a unit")
    return Unit(
        unit=name,
        code=int(status.code),
        name=status.name,
        terminal=status.terminal,
        side_effect_state=said.retry.side_effect_state if said.retry else SideEffects.UNKNOWN,
        requested=requested,
        report_id=report_id,
    )


def compose(units: Sequence[Unit], rule: Rule) -> Composed:
    """The parent's status by *rule*, or StatusRefused if it hides a requested unit that was not reached (REG-6)."""
    code = rule.choose(units)
    if class_of(code) == "event":
        raise StatusRefused("status.code", f"is an event's, which rule {rule.name} made an outcome")
    if code in _REACHED and any(one.requested and not reached(one) for one in units):
        raise StatusRefused(
            "status.code", f"is {code.name} by rule {rule.name}, but a requested unit was not reached"
        )
    explains = () if code in _REACHED else tuple(one for one in units if not reached(one))
    causes = tuple(Reference(ref=one.report_id or one.unit, code=one.code, name=one.name) for one in explains)
    return Composed(code, Composition(rule=rule.name, units=tuple(units)), causes[:MOST])


def reached(one: Unit) -> bool:
    """The unit has ended, and its goal was reached; an unknown code counts by its class (CMP-6)."""
    return one.terminal and class_of(one.code) == "success" and one.code != Code.PARTIAL_SUCCESS


def decided(name: str, code: Code) -> Rule:
    """The rule *name*, by which the parent's status is its own word, whatever its units came to."""
    return Rule(name, lambda _: code)


def at_least(number: int) -> Rule:
    """The rule that *number* units are enough."""

    def choose(units: Sequence[Unit]) -> Code:
        done = sum(map(reached, units))
        if done >= number:
            return Code.SUCCESS if done == len(units) else Code.SUCCESS_WITH_WARNINGS
        return _unfinished(units) or _unsuccessful(units)

    return Rule(f"at_least_{number}", choose)


def _every(units: Sequence[Unit]) -> Code:
    if unfinished := _unfinished(units):
        return unfinished
    if not all(map(reached, units)):
        return _unsuccessful(units)
    codes = {one.code for one in units}
    if codes <= {Code.NO_ACTION_REQUIRED}:
        return Code.NO_ACTION_REQUIRED
    return Code.SUCCESS_WITH_WARNINGS if Code.SUCCESS_WITH_WARNINGS in codes else Code.SUCCESS


def _unfinished(units: Sequence[Unit]) -> Code | None:
    return None if all(one.terminal for one in units) else Code.WAITING_DEPENDENCY


def _unsuccessful(units: Sequence[Unit]) -> Code:
    codes = {one.code for one in units}
    if Code.RESULT_STATE_UNKNOWN in codes:
        return Code.RESULT_STATE_UNKNOWN
    if any(class_of(code) == "success" for code in codes):
        return Code.PARTIAL_SUCCESS
    return Code.CANCELLED if codes == {Code.CANCELLED} else Code.FATAL_ERROR


EVERY_UNIT = Rule("every_unit", _every)
"""Every unit has to be reached; some give PARTIAL_SUCCESS, and one unknown result makes the whole unknown."""


def admitted(
    *,
    issuer: str | None,
    scope: str,
    authorities: Mapping[str, AbstractSet[str]],
    observed_by: str,
    integrity: str,
) -> Boundary:
    """The boundary by which a foreign report counts here, or NoAuthority (SEC-4).

    *authorities* is local policy: which issuer may report on which scopes. What the report says of its own
    authority is not asked. *integrity*: how we checked that it is theirs, such as `iam_signature`.
    """
    if issuer is None or scope not in authorities.get(issuer, frozenset()):
        raise NoAuthority(issuer, scope)
    return Boundary(
        issuer=issuer, observed_by=observed_by, authority=f"may_report_on:{scope}", integrity=integrity
    )
