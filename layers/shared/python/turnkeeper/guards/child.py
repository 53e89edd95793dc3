"""The process that evaluates expressions: a line of JSON in, a line of JSON out, and nothing else of ours in reach.

It is started as a program, without our package, without site-packages and without our environment. Whoever asks kills
it at a deadline, and a crash of the library is a crash of this process alone.
"""

import importlib
import importlib.util
import json
import resource
import sys
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from types import ModuleType
from typing import Any

MEMORY = 512 * 1024 * 1024
LARGEST_VALUE = 512 * 1024
LONGEST_SUBJECT = 2_048
LONGEST_REVIEWER = 128
ALIASES = {"context": "c", "input": "i", "output": "o"}


class NotDecided(Exception):
    """A review that nobody decided yet was asked for."""


class Library:
    """The expression library of *folder*, without the command line that importing it would load."""

    def __init__(self, folder: str) -> None:
        spec = importlib.util.spec_from_file_location(
            "cel", f"{folder}/__init__.py", submodule_search_locations=[folder]
        )
        if spec is None:
            raise ImportError(folder)
        sys.modules["cel"] = importlib.util.module_from_spec(spec)
        self.core: Any = importlib.import_module("cel.cel")
        extensions: ModuleType = importlib.import_module("cel.stdlib")
        self.functions: dict[str, Callable[..., Any]] = {
            **extensions.STDLIB_FUNCTIONS,
            "put": put,
            "float": float,
        }

    def compiled(self, expression: str) -> dict[str, Any]:
        """What *expression* refers to, or what is wrong with it."""
        try:
            return dict(self.core.compile(expression).references())
        except Exception as error:  # noqa: BLE001 - whatever the library raises is a refusal
            return {"wrong": str(error)}

    def context(self, values: Mapping[str, Any], review: Callable[..., bool]) -> Any:
        """*values* and every function, as the library takes them."""
        short = {ALIASES[name]: value for name, value in values.items() if name in ALIASES}
        return self.core.Context({**values, **short}, {**self.functions, "review": review})


def put(fields: dict[str, Any], name: str, value: Any) -> dict[str, Any]:
    """*fields* with *name* as *value*."""
    return {**fields, name: value}


class Reviews:
    """What was decided of one expression's reviews, and who must still decide."""

    def __init__(self) -> None:
        self.decided: dict[str, bool] = {}
        self.asked: list[tuple[str, str | None]] = []

    def begin(self, decided: dict[str, bool]) -> None:
        """Start on another expression."""
        self.decided, self.asked = decided, []

    def review(self, user: Any, subject: Any = None) -> bool:
        """What *user* decided, who is shown *subject*."""
        if not isinstance(user, str) or not 0 < len(user.encode()) <= LONGEST_REVIEWER:
            raise ValueError("a reviewer is a text of 1 to 128 bytes")
        if subject is not None and not (
            isinstance(subject, str) and 0 < len(subject.encode()) <= LONGEST_SUBJECT
        ):
            raise ValueError("what is to be decided is a text of 1 to 2,048 bytes")
        if user not in self.decided:
            self.asked.append((user, subject))
            raise NotDecided
        return self.decided[user]


def evaluated(library: Library, context: Any, reviews: Reviews, expression: str) -> dict[str, Any]:
    """The value of *expression*, who must review first, or why it has none; never more of an error than its class."""
    try:
        value = plain(library.core.compile(expression).execute(context))
        size = len(json.dumps(value, allow_nan=False, ensure_ascii=False).encode())
    except BaseException as error:  # noqa: BLE001 - a panic of the library is no Exception
        if not reviews.asked:
            return {"fails": type(error).__name__}
        user, subject = reviews.asked[0]
        return {"asks": user, "subject": subject}
    return {"is": value} if size <= LARGEST_VALUE else {"fails": "TooLarge"}


def plain(value: Any) -> Any:
    """*value* as JSON has it; an instant is a text, and what JSON does not have is a TypeError.

    The library gives the keys of a map in another order each time; sorted, they are the same for the same input.
    """
    match value:
        case None | bool() | int() | float() | str():
            return value
        case datetime():
            return value.astimezone(UTC).replace(tzinfo=None).isoformat(timespec="microseconds") + "Z"
        case list():
            return [plain(one) for one in value]
        case dict() if all(isinstance(name, str) for name in value):
            return {name: plain(value[name]) for name in sorted(value)}
        case _:
            raise TypeError(type(value).__name__)


def serve(library: Library) -> None:
    """Answer each line until there are no more."""
    reviews = Reviews()
    context = library.context({}, reviews.review)
    tell({"ready": True})
    for line in sys.stdin:
        question = json.loads(line)
        if "compile" in question:
            tell(library.compiled(question["compile"]))
            continue
        if "values" in question:
            context = library.context(question["values"], reviews.review)
        reviews.begin(question["decided"])
        tell(evaluated(library, context, reviews, question["evaluate"]))


def tell(answer: dict[str, Any]) -> None:
    """Write *answer* as a line."""
    sys.stdout.write(json.dumps(answer) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    serve(Library(sys.argv[1]))
