"""Expressions are evaluated in a process of their own, and nothing they do outlives its deadline."""

import os
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from turnkeeper.guards import evaluator as module
from turnkeeper.guards.evaluator import Asks, Evaluator, EvaluatorUnavailable, Fails, Is, References
from turnkeeper.guards.syntax import DEEPEST, MOST_TOKENS, ExpressionRefused

MANY = list(range(10_000))
LONG = "a" * 100_000
SLOW = "input.a.all(x, input.a.all(y, x != y || x == y))"
QUICK = 1.0
"""Beside the deadline: for starting, killing, and the other work of the machine."""


@pytest.mark.clause("AG-5")
@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("input.amount <= 500.0", True),
        ("i == input && c == context && now > '2026'", True),
        ("input.whole + 1", 4),
        ("input.amount + 0.5", 300.5),
        ("float(input.whole) + 0.5", 3.5),
        ("input.put('amount', 1).amount", 1),
        ("input.put('email', 'x') == {'amount': 300.0, 'whole': 3, 'text': 'Grüezi', 'email': 'x'}", True),
        ("has(input.amount) && !has(input.other)", True),
        ("input.text.lowerAscii().replace('ü', 'ue')", "grueezi"),
        ("input.text.matches('^G.*i$')", True),
        ("timestamp(now)", "2026-11-30T12:00:00.000001Z"),
        ("[1, 2.5, null, true, 'x', {'a': [2u]}]", [1, 2.5, None, True, "x", {"a": [2]}]),
        ("size(input.text)", len("Grüezi".encode())),  # the library's way; CEL counts characters
        ("size([1, 2]) == 2 && {'a': 1}.size() == 1 && size(b'x') == 1", True),
        ("'😀\\n'", "😀\n"),
    ],
)
def test_an_expression_has_a_value(evaluator: Evaluator, expression: str, value: object) -> None:
    amounts = {"amount": 300.0, "whole": 3, "text": "Grüezi"}
    values = {"input": amounts, "context": {}, "now": "2026-11-30T12:00:00.000001Z"}

    assert evaluator.evaluate(expression, values) == Is(value)


@pytest.mark.clause("AG-4")
@pytest.mark.parametrize(
    "expression",
    [
        "input.nope",
        "1 / 0",
        "9223372036854775807 + 1",
        "'a' + 1",
        "int('x')",
        "'a'.matches('(')",
        "nobody('x')",
        "1 +",
        "",
        "duration('1s')",
        "b'bytes'",
        "optional.of(1)",
        "{1: 'a key that JSON does not have'}",
        "1.0 / 0.0",
        "double('nan')",
        "review('')",
        "review(7)",
        "review('a', 7)",
        "lists.range(1000000000)",
    ],
)
def test_what_has_no_value_that_json_has_cannot_be_evaluated(evaluator: Evaluator, expression: str) -> None:
    assert isinstance(evaluator.evaluate(expression, {"input": {}}), Fails)


@pytest.mark.clause("AG-5")
def test_a_review_is_asked_for_only_where_its_answer_matters(evaluator: Evaluator) -> None:
    def said(expression: str, **decided: bool) -> object:
        return evaluator.evaluate(expression, {}, decided=decided)

    assert said("true || review('bob')") == said("review('bob') || true") == Is(value=True)
    assert said("review('bob') && false") == Is(value=False)
    assert said("false || review('bob')") == Asks("bob")
    assert said("false || review('bob')", bob=True) == Is(value=True)
    assert said("false || review('bob')", bob=False) == Is(value=False)
    assert said("review('bob') && review('eve')", bob=True) == Asks("eve")
    assert said("review('bob') && review('eve')", eve=True) == Asks("bob")


def test_a_map_has_its_keys_in_one_order_always(evaluator: Evaluator) -> None:
    found = evaluator.evaluate("{'c': {'z': 1, 'y': 2, 'x': 3}, 'b': 2, 'a': 1}", {})

    assert isinstance(found, Is)
    assert [*found.value, *found.value["c"]] == ["a", "b", "c", "x", "y", "z"]


def test_nothing_of_one_evaluation_is_there_in_the_next(evaluator: Evaluator) -> None:
    assert evaluator.evaluate("input.a", {"input": {"a": 1}}) == Is(1)
    assert isinstance(evaluator.evaluate("input.a", {"output": {}}), Fails)
    assert evaluator.evaluate("review('bob')", {}, decided={"bob": True}) == Is(value=True)
    assert evaluator.evaluate("review('bob')", {}) == Asks("bob")


def test_what_an_error_says_never_comes_out(evaluator: Evaluator) -> None:
    found = evaluator.evaluate("'a'.matches(input.secret)", {"input": {"secret": "(hunter2"}})

    assert isinstance(found, Fails)
    assert "hunter2" not in found.why


@pytest.mark.clause("AG-4")
def test_a_value_of_512_kb_is_one_and_a_larger_one_is_none(evaluator: Evaluator) -> None:
    values = {"input": {"a": "a" * 131_072, "b": "b" * 131_070}}

    found = evaluator.evaluate("input.a + input.a + input.a + input.b", values)

    assert found == Is("a" * 393_216 + "b" * 131_070)
    assert evaluator.evaluate("input.a + input.a + input.a + input.b + 'c'", values) == Fails("TooLarge")


WORST: dict[str, tuple[str, Any]] = {
    "a loop in a loop": (SLOW, MANY),
    "a list of lists": ("input.a.map(x, input.a).map(y, size(y))", MANY),
    "membership": ("size(input.a.filter(x, x in input.a))", MANY),
    "sorting": ("input.a.map(x, input.a.sort())", MANY),
    "joining": ("input.a.map(x, input.b + input.b).map(x, x + x).join('')", MANY),
    "expressions of a pattern": ("input.a.all(x, input.b.matches('(a{50}){10}b|(a|aa)+$'))", MANY),
    "replacing": ("input.a.map(x, input.b.replace('a', input.b))", MANY),
    "doubling": ("[input.b].map(x, [x+x+x+x+x+x+x+x].map(y, y+y+y+y+y+y+y+y+y))", 0),
    "the longest chain": ("+".join(["1"] * (MOST_TOKENS // 2)), 0),
    "the deepest brackets": ("[" * DEEPEST + "]" * DEEPEST, 0),
    "the longest negation": ("!" * (MOST_TOKENS - 1) + "true", 0),
    "a large answer": ("input.b + input.b + input.b + input.b + input.b + input.b", 0),
}


@pytest.mark.clause("AG-4")
@pytest.mark.parametrize("name", WORST)
def test_no_expression_that_is_accepted_takes_longer_than_its_deadline(name: str) -> None:
    expression, many = WORST[name]
    held = Evaluator()
    held.references(expression)
    began = time.monotonic()

    found = held.evaluate(expression, {"input": {"a": many, "b": LONG}})
    took = time.monotonic() - began
    again = held.evaluate("1 + 1", {})
    held.close()

    assert isinstance(found, Is | Fails)
    assert took < module.DEADLINE + QUICK
    assert again == Is(2)


@pytest.mark.clause("AG-4")
def test_a_loop_in_a_loop_is_killed_and_the_next_expression_has_a_new_process() -> None:
    held = Evaluator(deadline=0.1)

    assert held.evaluate(SLOW, {"input": {"a": MANY}}) == Fails("Killed")
    assert held.evaluate("input.a", {"input": {"a": 1}}) == Is(1)
    held.close()


def test_what_makes_the_library_crash_ends_its_process_and_no_other() -> None:
    """No manifest may say so much; this is the second line."""
    held = Evaluator(deadline=5)

    assert held.evaluate("1" + "+1" * 16_000, {}) == Fails("Killed")
    assert held.evaluate("1 + 1", {}) == Is(2)
    held.close()


def test_our_own_threads_run_while_an_expression_does() -> None:
    """The library holds the interpreter's lock, and a lease must be renewed meanwhile."""
    held, beats, done = Evaluator(), 0, threading.Event()
    held.evaluate("1", {})

    def evaluate() -> None:
        held.evaluate(SLOW, {"input": {"a": MANY}})
        done.set()

    thread = threading.Thread(target=evaluate)
    thread.start()
    while not done.wait(0.01):
        beats += 1
    thread.join()
    held.close()

    assert beats > 10


def test_a_process_that_died_is_replaced() -> None:
    held = Evaluator()
    assert held.evaluate("1", {}) == Is(1)
    child = held._child  # noqa: SLF001 - to end it from outside
    assert child
    os.kill(child.pid, 9)
    child.wait()

    # It died of something else, which says nothing of this expression.
    assert held.evaluate("1", {}) == Is(1)
    child = held._child  # noqa: SLF001
    assert child
    os.kill(child.pid, 9)
    child.wait()
    assert held.references("now").variables == {"now"}
    held.close()


@pytest.mark.parametrize("program", ["/bin/true", "/bin/cat", "/nowhere"])
def test_a_process_that_cannot_start_denies_nobody(monkeypatch: pytest.MonkeyPatch, program: str) -> None:
    monkeypatch.setattr(sys, "executable", program)

    with pytest.raises(EvaluatorUnavailable):
        Evaluator().evaluate("true", {})


def test_the_process_sees_nothing_of_our_environment_and_writes_no_file() -> None:
    held = Evaluator()
    held.evaluate("1", {})
    child = held._child  # noqa: SLF001 - to look at it from outside
    assert child
    environment = Path(f"/proc/{child.pid}/environ").read_bytes()
    limits = Path(f"/proc/{child.pid}/limits").read_text()
    held.close()

    assert {name.split(b"=")[0] for name in environment.split(b"\0") if name} <= {
        b"LD_LIBRARY_PATH",
        b"LC_CTYPE",
    }
    bounds = {line[:26].strip(): line[26:].split()[0] for line in limits.splitlines()[1:]}
    assert bounds["Max address space"] == str(512 * 1024 * 1024)
    assert bounds["Max file size"] == bounds["Max core file size"] == "0"


@pytest.mark.clause("AG-1")
def test_what_an_expression_refers_to_is_known_without_evaluating_it(evaluator: Evaluator) -> None:
    found = evaluator.references("input.a.exists(p, p.size() > math.abs(q)) || review(c.user)")

    assert found.variables == {"input", "math", "q", "c"}
    assert {"size", "abs", "review"} <= found.functions
    assert evaluator.references("'a'") == References(frozenset(), frozenset())


@pytest.mark.clause("AG-1")
@pytest.mark.parametrize("expression", ["1 +", "a..b", "", "has(1)", "a.b(c)(d)"])
def test_what_is_no_expression_is_refused_with_the_librarys_words(
    evaluator: Evaluator, expression: str
) -> None:
    with pytest.raises(ExpressionRefused, match=r"^is no expression: \d+:\d+: .*"):
        evaluator.references(expression)


def test_our_own_process_never_loads_the_library(evaluator: Evaluator) -> None:
    evaluator.evaluate("1", {})

    assert not [name for name in sys.modules if name == "cel" or name.startswith("cel.")]
