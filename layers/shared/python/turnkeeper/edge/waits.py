"""What is sent about waits: what a turn waits for, a host's and a reviewer's word, an authorisation, a child's task."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field

from turnkeeper.domain.errors import InvalidInput, Place
from turnkeeper.domain.manifest import duration
from turnkeeper.domain.needs import WITHIN, Need
from turnkeeper.domain.reviews import COMMENT_BYTES
from turnkeeper.domain.transitions import CALL_BYTES
from turnkeeper.domain.waits import MEMO_BYTES, Verdict, WaitKind
from turnkeeper.edge import strict_json
from turnkeeper.edge.bodies import (
    Sent,
    body,
    checked,
    content,
    refusal,
    said_of_bytes,
    said_of_json,
)
from turnkeeper.edge.host_requests import Beat, Held
from turnkeeper.edge.instants import Instant
from turnkeeper.edge.manifests import Span
from turnkeeper.edge.requests import AgentName, Offer

NAME_BYTES = 1_024


def _at_most(size: int) -> AfterValidator:
    def check(text: str) -> str:
        if (has := strict_json.size(text)) > size:
            raise refusal(f"is {has} bytes of UTF-8; at most {size} are taken")
        return text

    return AfterValidator(check)


type Name = Annotated[str, Field(min_length=1), _at_most(NAME_BYTES), said_of_bytes(NAME_BYTES)]


class AskedWait(Sent):
    """One thing that a turn waits for; which of the names it has depends on its kind."""

    id: Name
    kind: Literal["auth", "review", "child", "host"]
    provider: Name | None = None
    needed_at: Instant | None = None
    reviewer: Name | None = None
    subject: Annotated[str, Field(min_length=1)] | None = None
    child: Name | None = None
    within: Span | None = None

    def need(self) -> Need:
        """As the domain has it."""
        return Need(
            id=self.id,
            kind=WaitKind(self.kind),
            provider=self.provider,
            needed_at=self.needed_at,
            reviewer=self.reviewer,
            subject=self.subject,
            child=self.child,
            within=WITHIN if self.within is None else duration(self.within),
        )


class Waiting(Beat):
    """The turn is suspended on *waits*; *memo* comes back when it goes on."""

    waits: list[AskedWait]
    memo: Annotated[Any, said_of_json(MEMO_BYTES)] = None

    def needs(self) -> list[Need]:
        """What is waited for."""
        return [wait.need() for wait in self.waits]

    def noted(self) -> str | None:
        """The memo as the store keeps it; `InvalidInput` past what it takes."""
        if self.memo is None:
            return None
        text = strict_json.written(self.memo)
        if (size := strict_json.size(text)) > MEMO_BYTES:
            problem = f"is {size} bytes serialised; at most {MEMO_BYTES} are taken"
            raise InvalidInput([Place("memo", problem)])
        return text


class HostsWord(Held):
    """The host's word on a wait of its own."""

    wait: Name
    verdict: Literal["done", "denied"]

    def said(self) -> Verdict:
        """As the domain has it."""
        return Verdict(self.verdict)


class Grant(Sent):
    """A person authorised a provider, now or as of *granted_at*."""

    user: Name
    provider: Name
    granted_at: Instant | None = None


class Child(Held):
    """A task for another agent, made once by this call of the turn."""

    call: Annotated[str, Field(min_length=1), _at_most(CALL_BYTES), said_of_bytes(CALL_BYTES)]
    agent: AgentName
    input: Offer = Field(default_factory=Offer)


class ReviewDecision(Sent):
    """What the reviewer says, once."""

    decision: Literal["approve", "deny"]
    comment: (
        Annotated[str, Field(min_length=1), _at_most(COMMENT_BYTES), said_of_bytes(COMMENT_BYTES)] | None
    ) = None

    def said(self) -> Verdict:
        """As the domain has it."""
        return Verdict.DONE if self.decision == "approve" else Verdict.DENIED


def child(event: Mapping[str, Any]) -> tuple[Child, str | None]:
    """The body of *event* as a child to make, and its first input as the store keeps it."""
    sent = body(event)
    asked = checked(Child, sent)
    return asked, content(sent["input"]) if "input" in sent else None


def decision(event: Mapping[str, Any]) -> ReviewDecision:
    """The body of *event* as a reviewer's word."""
    return checked(ReviewDecision, body(event))
