"""What hosts send: steps of a turn under its fence. Their manifests are read in `manifests`."""

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import AfterValidator, Field, model_validator

from turnkeeper.asc.registry import Code, class_of
from turnkeeper.domain.task import NOTHING_USED, Usage
from turnkeeper.domain.transitions import Answer
from turnkeeper.edge import manifests, strict_json
from turnkeeper.edge.bodies import Sent, body, checked, content, refusal, said_of_json
from turnkeeper.edge.content import Message
from turnkeeper.edge.declarations import Declaration, Word
from turnkeeper.edge.manifests import MOST_USED, Count

FAILED_CLASSES = frozenset(
    {"request_or_policy", "transient_failure", "fatal_or_indeterminate", "quality_or_verification"}
)
COMPLETIONS = frozenset({2000, 2001, 2002, 2003, 3004})
"""How a task may be completed: the successes, and cancelled."""
FAILURES = frozenset(code.value for code in Code if class_of(code) in FAILED_CLASSES)
"""How a task may be errored."""

REPORT_BYTES = 8_192

manifest = manifests.manifest

type Fence = Annotated[int, Field(ge=1, le=MOST_USED)]


class Metered(Sent):
    """What was used since the last report."""

    prompt_tokens: Count | None = None
    completion_tokens: Count | None = None
    tool_calls: Count | None = None

    def used(self) -> Usage:
        """As the domain counts it."""
        return Usage(
            prompt_tokens=self.prompt_tokens,
            completion_tokens=self.completion_tokens,
            tool_calls=self.tool_calls,
        )


def _small(report: dict[str, Any]) -> dict[str, Any]:
    if (size := strict_json.size(strict_json.written(report))) > REPORT_BYTES:
        raise refusal(f"is {size} bytes serialised; at most {REPORT_BYTES} are taken")
    return report


class Heard(Sent):
    """What somebody else reported to the turn; *requested*: the task's goal needs this unit."""

    fence: Fence
    unit: Word | None = None
    requested: bool = False
    report: Annotated[dict[str, Any], AfterValidator(_small), said_of_json(REPORT_BYTES)]


class Nothing(Sent):
    """An empty object: there is nothing to say."""


class Held(Sent):
    """Something that only the holder of the turn may do."""

    fence: Fence


class Beat(Held):
    """A sign of life, and what was used since the last one."""

    usage: Metered | None = None

    def used(self) -> Usage:
        """What was used, nothing as a rule."""
        return self.usage.used() if self.usage else NOTHING_USED


class Output(Beat):
    """The turn's output of this number: the first of an attempt is its `first_output`."""

    number: Annotated[int, Field(ge=1, le=MOST_USED)]
    message: Message


class Finish(Beat):
    """The end of the turn, with what is said last if anything is."""

    message: Message | None = None


def _completion(code: int) -> int:
    if code not in COMPLETIONS:
        raise refusal("must be one of " + ", ".join(str(each) for each in sorted(COMPLETIONS)))
    return code


def _failure(code: int) -> int:
    if code not in FAILURES:
        raise refusal("must be a registered code from 4000 to 7999")
    return code


class Completion(Declaration):
    """How the task is completed; pending inputs are only lost when that is said."""

    outcome: Annotated[
        int, AfterValidator(_completion), Field(json_schema_extra={"enum": sorted(COMPLETIONS)})
    ] = Code.SUCCESS.value
    discard_pending: bool = False


type Failed = Annotated[int, AfterValidator(_failure), Field(json_schema_extra={"enum": sorted(FAILURES)})]


class Failure(Declaration):
    """Why the task is errored: a code of the classes 4 to 7."""

    outcome: Failed = Code.FATAL_ERROR.value


class Reconciliation(Sent):
    """What became of a lost turn."""

    outcome: Failed = Code.FATAL_ERROR.value
    answer: Answer = Field(strict=False)
    message: Message | None = None

    @model_validator(mode="after")
    def _nothing_that_goes_with_another_answer(self) -> "Reconciliation":
        if self.message is not None and self.answer is not Answer.DONE:
            raise refusal("has a message only when the answer is done")
        if "outcome" in self.model_fields_set and self.answer is not Answer.FAILED:
            raise refusal("has an outcome only when the answer is failed")
        return self


def read[S: Sent](model: type[S], event: Mapping[str, Any]) -> tuple[S, str]:
    """The body of *event* as a *model*, and as the text that makes the same key another request."""
    sent = {} if strict_json.is_blank(event.get("body") or "") else body(event)
    return checked(model, sent), strict_json.written(sent)


def said(event: Mapping[str, Any]) -> str | None:
    """The message in the body of *event* as the store keeps an output, if there is one."""
    message = body(event).get("message")
    return None if message is None else content({"message": message})
