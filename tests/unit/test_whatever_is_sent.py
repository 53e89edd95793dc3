"""Whatever strangers send to whatever reads it: it is read, or refused in the documented way, and nothing takes long.

Each parser that has no such property beside its own tests is here; texts are made of what it pays attention to.
"""

import json
import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.gateway import event
from turnkeeper.domain.errors import (
    InputTooLarge,
    InvalidInput,
    MalformedRequest,
    NotAHost,
    NotAHuman,
    TaskNotFound,
)
from turnkeeper.domain.manifest import LONGEST, duration
from turnkeeper.edge import bodies, etags, files, host_requests, manifests, requests, waits
from turnkeeper.edge.caller import has_claim, human, principal
from turnkeeper.edge.content import Kind
from turnkeeper.edge.instants import Instant
from turnkeeper.guards import syntax, templates
from turnkeeper.guards.evaluator import Asks, Evaluator, Fails, Is
from turnkeeper.guards.syntax import ExpressionRefused
from turnkeeper.queue import task_of
from turnkeeper.service.owned import check_id
from turnkeeper.tracing import trace_id

SOON = 2.0
"""Seconds of this thread's own work; what is linear takes a hundredth of it."""
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)
SURROGATES = st.characters(codec=None, categories=["Cs"])


@contextmanager
def soon() -> Iterator[None]:
    """The block does not work for long, however busy the machine is."""
    began = time.thread_time()
    yield
    assert time.thread_time() - began < SOON


def tried(call: Callable[[], Any], *refusals: type[Exception]) -> tuple[Any, Any]:
    """What *call* returns, or how it was refused; whatever else it raises is a failure."""
    try:
        return call(), None
    except refusals as refused:
        return None, refused


@given(st.text(alphabet='"W/\\,* \t\x00é', max_size=40), st.text(max_size=5))
def test_an_if_none_match_names_a_revision_or_does_not(header: str, revision: str) -> None:
    assert etags.matches(header, revision) in {True, False}


@pytest.mark.parametrize("piece", ['"', 'W/"', ",", '"a",', " \t", "W/", '"a" '])
def test_a_long_list_of_entity_tags_is_soon_read(piece: str) -> None:
    with soon():
        etags.matches(piece * 20_000, "a")


@given(st.text(max_size=40) | st.text("0123456789abcdef\n", min_size=30, max_size=34))
def test_an_id_is_one_or_nothing_is_there(text: str) -> None:
    try:
        check_id(text)
    except TaskNotFound:
        assert not re.fullmatch(r"[0-9a-f]{32}", text)
    else:
        assert re.fullmatch(r"[0-9a-f]{32}", text)


class Told(bodies.Sent):
    """An instant and a type, as bodies have them."""

    at: Instant | None = None
    kind: Kind | None = None


@given(st.text(alphabet="0123456789-:.TtZz+ \n٣", max_size=40) | ANYTHING)
def test_an_instant_is_one_with_its_offset_or_is_refused(sent: Any) -> None:
    read, refused = tried(lambda: bodies.checked(Told, {"at": sent}).at, InvalidInput)

    assert refused or read is None or read.utcoffset() is not None
    assert refused is None or [place.at for place in refused.places] == ["at"]


@given(st.text(alphabet="ab/+.-; \n\x00é", max_size=300) | ANYTHING)
def test_a_type_of_files_can_stand_in_a_header_or_is_refused(sent: Any) -> None:
    kind, _ = tried(lambda: bodies.checked(Told, {"kind": sent}).kind, InvalidInput)

    assert kind is None or (kind.isascii() and kind.isprintable() and len(kind) <= 255)


@given(st.text(alphabet="0123456789msdh٣ .-", max_size=14))
def test_a_duration_is_no_longer_than_it_may_be_or_is_refused(text: str) -> None:
    lasts, refused = tried(lambda: duration(text), ValueError)

    assert repr(text) in str(refused) if refused else lasts <= LONGEST


@given(st.text(alphabet="{}()[]'\"\\a.é ", max_size=60) | st.text(SURROGATES, max_size=4))
def test_a_template_is_taken_apart_or_refused(text: str) -> None:
    found, refused = tried(lambda: templates.parts(text), ExpressionRefused)

    assert refused is None or refused.problem
    assert sum(isinstance(part, templates.Hole) for part in found or ()) <= templates.MOST_EXPRESSIONS


@given(st.text(alphabet="{}a", max_size=20), ANYTHING)
def test_what_a_template_becomes_is_no_longer_than_a_template(text: str, value: Any) -> None:
    filled, _ = tried(lambda: templates.filled(text, lambda _: value), ExpressionRefused)

    assert len((filled or "").encode()) <= templates.LONGEST


@pytest.mark.parametrize("piece", ["{", "}", "(", "'", "\\", "{a}", "{{", "a{'}"])
def test_a_long_template_is_soon_refused_or_read(piece: str) -> None:
    with soon():
        tried(lambda: templates.parts(piece * (templates.LONGEST // len(piece))), ExpressionRefused)


SIGNS = "a . ( ) [ ] { } : , ? ! - + * / % < _ é \" && || == in // ''' r'\\'"
VALUES = "input true null 1 0 1.5 1e400 9223372036854775808 0x 1u 'x' b'\\xff' [1,2] {'a':1} optional.none()"
CALLS = (
    "has( size( matches( duration('1h') timestamp('x') type( int( dyn( request_review( .all(x,x) .map(x,x)"
)
PIECES = st.sampled_from(["\n", *SIGNS.split(" "), *VALUES.split(" "), *CALLS.split(" ")])


@given(st.lists(PIECES, max_size=14).map(" ".join))
def test_any_expression_has_a_value_or_fails_or_is_refused(evaluator: Evaluator, text: str) -> None:
    _, refused = tried(lambda: syntax.check(text), ExpressionRefused)

    if refused:
        assert refused.problem
    else:
        outcome = evaluator.evaluate(text, {"input": {"a": [1, "x", None]}, "a": 1})
        assert isinstance(outcome, Is | Asks | Fails)


@given(st.text(max_size=40) | ANYTHING.map(json.dumps))
def test_a_message_of_the_queue_names_a_task_or_is_no_wake_up(body: str) -> None:
    task_id, refused = tried(lambda: task_of(body), ValueError)

    assert refused or isinstance(task_id, str)


@pytest.mark.parametrize("body", ["[" * 500_000, '{"a":' * 500_000, "1" * 500_000, '"' * 500_000, ""])
def test_an_absurd_message_of_the_queue_is_no_wake_up(body: str) -> None:
    with soon(), pytest.raises(ValueError, match=r"\S"):
        task_of(body)


@given(st.text(alphabet="Root=1-;abcdef0123456789 Sampled", max_size=80) | st.none())
def test_a_trace_is_named_in_full_or_not_at_all(header: str | None) -> None:
    named = trace_id(header)

    assert named is None or re.fullmatch(r"[0-9a-f]{32}", named)


@given(st.text(alphabet=" ab[],=", max_size=30), ANYTHING)
def test_whoever_the_authorizer_says_is_somebody_or_nobody(claim: str, claims: Any) -> None:
    request = {"requestContext": {"authorizer": {"jwt": {"claims": claims}, "iam": claims}}}
    has_claim(request, claim)
    for read, refusal in (
        (lambda: human(request, claim=claim), NotAHuman),
        (lambda: principal(request), NotAHost),
    ):
        who, refused = tried(read, refusal)
        assert who or refused


QUERIES: list[type[bodies.Query]] = [
    requests.ListQuery,
    requests.MessagesQuery,
    requests.PageQuery,
    files.Wanted,
]


@given(
    st.sampled_from(QUERIES),
    st.lists(
        st.tuples(
            st.sampled_from(["limit", "cursor", "after", "phase", "agent", "ref", "at", "other"]),
            st.text(max_size=6) | st.sampled_from(["1", "100", "idle", "1,2", "2026-11-30T12:00:00.000000Z"]),
        ),
        max_size=4,
    ),
)
def test_any_query_string_is_read_or_refused_with_its_places(
    model: type[bodies.Query], sent: list[tuple[str, str]]
) -> None:
    given_once = dict(sent)
    request = event("GET", "/v1/tasks", query=given_once)
    _, refused = tried(lambda: bodies.query(model, request), MalformedRequest)

    assert refused is None or {place.at for place in refused.places} <= {*given_once, "ref"}


BODIES: list[Callable[..., object]] = [
    requests.creation,
    requests.input_content,
    manifests.manifest,
    waits.child,
    waits.decision,
    lambda sent: files.upload(sent, caller="alice-sub"),
    *(
        partial(host_requests.read, model)
        for model in (
            host_requests.Beat,
            host_requests.Completion,
            host_requests.Finish,
            host_requests.Heard,
            host_requests.Output,
            host_requests.Reconciliation,
            waits.Waiting,
            waits.HostsWord,
            waits.Grant,
        )
    ),
]
BODY_NAMES = (
    "agent input message mimeType text file fence number waits id kind memo usage outcome answer unit report"
)
NAMES = st.sampled_from([*BODY_NAMES.split(" "), "call", "name", "sizeBytes", "decision", "turnkeeper"])
SENT = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-2, 2)
    | st.floats()
    | st.text(max_size=8)
    | st.just("text/plain"),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=5),
    max_leaves=16,
)


@given(
    st.sampled_from(BODIES),
    st.text(max_size=30) | SENT.map(json.dumps),
    st.sampled_from(["application/json", "application/yaml", "text/plain", ""]),
    st.booleans(),
)
def test_any_body_is_read_or_refused(
    read: Callable[..., object],
    body: str,
    kind: str,
    packed: bool,  # noqa: FBT001 - hypothesis gives it by place
) -> None:
    request = event("POST", "/v1/tasks", body=body, headers={"content-type": kind})
    request["isBase64Encoded"] = packed
    _, refused = tried(lambda: read(request), MalformedRequest, InvalidInput, InputTooLarge)

    assert refused is None or str(refused)
