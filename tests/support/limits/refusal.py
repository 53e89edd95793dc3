"""How a check says no."""

from typing import NoReturn


class AwsWouldRefuse(BaseException):
    """A call that AWS refuses. No `Exception`, so that nothing in the product takes it for a fault and goes on."""


def refuse(rule: str) -> NoReturn:
    """Fail the test that made the call."""
    raise AwsWouldRefuse(rule)


def refuse_unless(holds: object, rule: str) -> None:
    """Fail the test that made the call, unless the rule *holds*."""
    if not holds:
        refuse(rule)
