"""Input: taken at any time, from its user alone, and never lost (IN-1, IN-2)."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.conformance.client import Client, answered, said, text_part
from tests.conformance.host import Host, auth, new_name
from tests.conformance.person import Person

MANY, AT_ONCE = 60, 5
UNKNOWN = "0" * 32
EVERY_OTHER_METHOD = ("PUT", "PATCH", "DELETE", "POST")


@pytest.mark.clause("IN-1a")
def test_an_input_is_one_object_with_a_message_of_parts(owner: Person, host: Host, idle: str) -> None:
    message = [text_part("look"), {**text_part("there"), "metadata": {"tone": "calm"}, "sizeBytes": 5}]

    answered(owner.ask("POST", f"tasks/{idle}/inputs", {"message": message}), 202)
    host.take_turn(idle)

    (entry,) = owner.messages(idle)
    assert entry["message"] == message


@pytest.mark.clause("IN-1a")
@pytest.mark.parametrize(
    ("sent", "at"),
    [
        pytest.param({}, "message", id="nothing"),
        pytest.param({"message": []}, "message", id="no part"),
        pytest.param({"message": "hello"}, "message", id="no list"),
        pytest.param({"message": None}, "message", id="null"),
        pytest.param({"message": [text_part("a")], "undeclared": 1}, "undeclared", id="an unknown key"),
        pytest.param(
            {"message": [text_part("a")], "responsible_user": "me"}, "responsible_user", id="a user"
        ),
    ],
)
def test_what_is_no_such_object_is_refused_with_where_and_changes_nothing(
    owner: Person, idle: str, sent: object, at: str
) -> None:
    before = owner.sees(idle)

    refused = owner.ask("POST", f"tasks/{idle}/inputs", sent)

    assert refused.status_code == 422, refused.text
    assert [error["at"] for error in refused.json()["errors"]] == [at]
    assert owner.sees(idle) == before


@pytest.mark.clause("IN-1c")
def test_inputs_beyond_number_wait_in_order_while_a_turn_runs_and_the_next_takes_them_all(
    owner: Person, host: Host, queued: str
) -> None:
    fence = host.start(queued)
    sent = [f"input {number}" for number in range(MANY)]
    statuses = {owner.send(queued, text).status_code for text in sent}
    waiting = owner.waiting(queued)

    host.finish(queued, fence, "answer to the first")
    busy_again = owner.phase(queued)
    fence = host.start(queued)
    taken = owner.waiting(queued)
    host.finish(queued, fence, "answer to the rest")

    assert statuses == {202}
    assert waiting == sent
    assert busy_again == ("processing", None)
    assert taken == []
    assert owner.texts(queued) == ["first", "answer to the first", *sent, "answer to the rest"]
    assert owner.phase(queued) == ("idle", None)


@pytest.mark.clause("IN-1c")
def test_it_is_taken_in_every_phase_before_the_end(owner: Person, host: Host, idle: str) -> None:
    owner.tell(idle, "while idle")
    owner.tell(idle, "while queued")
    fence = host.start(idle)
    owner.tell(idle, "while running")
    host.finish(idle, fence)
    owner.tell(idle, "between turns")
    host.take_turn(idle)

    assert owner.texts(idle) == ["while idle", "while queued", "while running", "between turns"]
    assert owner.waiting(idle) == []


@pytest.mark.clause("IN-1c")
def test_it_is_taken_while_the_task_waits_for_its_user_and_ends_no_wait(
    owner: Person, host: Host, queued: str
) -> None:
    host.wait(queued, host.start(queued), auth("sign-in", "github"))
    outstanding = owner.notifications(queued)

    owner.tell(queued, "never mind")

    assert owner.waiting(queued) == ["never mind"]
    assert owner.notifications(queued) == outstanding
    assert host.post(queued, "turns").status_code == 409


@pytest.mark.clause("IN-1c")
def test_it_is_taken_between_two_attempts_and_left_to_the_next_turn(owner: Person, host: Host) -> None:
    task = owner.create(host.agent(repeatable=True, attempts=2, backoff=["1ms"]), "first")
    host.do(task, "fail", fence=host.start(task))

    owner.tell(task, "second")
    host.finish(task, host.start(task), "answer to the first")

    assert owner.texts(task) == ["first", "answer to the first", "second"]
    assert owner.waiting(task) == ["second"]


@pytest.mark.clause("IN-1c")
def test_the_turn_in_flight_is_not_interrupted(owner: Person, host: Host, queued: str) -> None:
    fence = host.start(queued)
    before = host.read(queued)["turn"]

    owner.tell(queued, "one more thing")

    assert host.read(queued)["turn"] == before
    host.say(queued, fence, 1, "still here")
    host.finish(queued, fence, "done")
    assert owner.texts(queued) == ["first", "still here", "done", "one more thing"]


@pytest.mark.clause("IN-1c")
def test_completing_is_refused_while_inputs_wait(owner: Person, host: Host, queued: str) -> None:
    before = owner.sees(queued)

    refused = host.post(queued, "complete")

    assert refused.status_code == 409, refused.text
    assert owner.sees(queued) == before
    host.take_turn(queued, "done")
    host.do(queued, "complete")
    assert owner.texts(queued) == ["first", "done"]


@pytest.mark.clause("IN-1c")
def test_a_host_that_says_so_completes_and_what_it_discards_stays_listed(
    owner: Person, host: Host, queued: str
) -> None:
    host.do(queued, "complete", discard_pending=True)

    assert owner.phase(queued) == ("terminal", "completed")
    assert owner.waiting(queued) == ["first"]


@pytest.mark.clause("IN-1c")
def test_an_interruption_leaves_what_waits_to_the_next_turn(owner: Person, host: Host, queued: str) -> None:
    host.start(queued)
    owner.tell(queued, "second")

    host.do(queued, "interrupt")

    assert owner.phase(queued) == ("processing", None)
    assert owner.waiting(queued) == ["second"]
    host.take_turn(queued, "answer to the second")
    assert owner.texts(queued) == ["first", "second", "answer to the second"]


@pytest.mark.clause("IN-1c")
def test_the_same_input_sent_again_under_its_key_is_one_input(owner: Person, idle: str) -> None:
    key = {"idempotency-key": new_name()}

    answers = [owner.ask("POST", f"tasks/{idle}/inputs", said("once"), headers=key) for _ in range(3)]

    assert {answer.status_code for answer in answers} == {202}
    assert len({answer.headers["received-at"] for answer in answers}) == 1
    assert owner.texts(idle) == ["once"]


@pytest.mark.clause("IN-1c")
def test_inputs_that_are_sent_at_once_are_all_there_once(owner: Person, host: Host, queued: str) -> None:
    fence = host.start(queued)
    texts = [f"input {number}" for number in range(AT_ONCE * 5)]

    with ThreadPoolExecutor(AT_ONCE) as senders:
        answers = list(senders.map(lambda text: owner.send_for_sure(queued, text, new_name()), texts))
    host.finish(queued, fence, "answer to the first")
    host.take_turn(queued, "answer to the rest")

    assert {answer.status_code for answer in answers} == {202}
    first, answer, *rest, last = owner.texts(queued)
    assert (first, answer, last) == ("first", "answer to the first", "answer to the rest")
    assert sorted(rest) == sorted(texts)


@pytest.mark.clause("IN-1c")
def test_one_input_that_is_sent_by_several_at_once_under_its_key_is_one_input(
    owner: Person, idle: str
) -> None:
    key = new_name()

    with ThreadPoolExecutor(AT_ONCE) as senders:
        answers = list(senders.map(lambda _: owner.send_for_sure(idle, "once", key), range(AT_ONCE)))

    assert {answer.status_code for answer in answers} == {202}
    assert len({answer.headers["received-at"] for answer in answers}) == 1
    assert owner.texts(idle) == ["once"]


@pytest.mark.clause("IN-2a")
def test_to_anybody_else_the_task_is_unknown_byte_for_byte(owner: Person, other: Person, queued: str) -> None:
    before = owner.sees(queued)

    for unknown, foreign in (
        (other.poll(UNKNOWN), other.poll(queued)),
        (other.page(UNKNOWN), other.page(queued)),
        (other.send(UNKNOWN, "mine?"), other.send(queued, "mine?")),
    ):
        assert (foreign.status_code, foreign.content) == (404, unknown.content)
        differing = {name for name in foreign.headers if foreign.headers[name] != unknown.headers.get(name)}
        assert differing <= {"date", "x-correlation-id", "apigw-requestid"}
    assert owner.sees(queued) == before


@pytest.mark.clause("IN-2a")
def test_nobody_elses_list_has_it(owner: Person, other: Person, queued: str) -> None:
    assert owner.listed(queued)

    theirs = answered(other.ask("GET", "tasks?limit=100"), 200)["tasks"]

    assert queued not in {task["id"] for task in theirs}


@pytest.mark.clause("IN-2a")
def test_nothing_is_sent_by_somebody_who_does_not_say_who_they_are(
    owner: Person, nobody: Client, idle: str
) -> None:
    before = owner.sees(idle)

    assert nobody.ask("POST", f"tasks/{idle}/inputs", said("hello")).status_code == 401
    assert owner.sees(idle) == before


@pytest.mark.clause("IN-2a")
def test_not_even_the_host_sends_input(owner: Person, host: Host, idle: str) -> None:
    before = owner.sees(idle)

    refused = host.ask("POST", f"tasks/{idle}/inputs", said("hello"))

    assert refused.status_code == 401, refused.text
    assert owner.sees(idle) == before


@pytest.mark.clause("IN-2a")
@pytest.mark.parametrize("method", EVERY_OTHER_METHOD)
@pytest.mark.parametrize("path", ["", "/messages", "/status"])
def test_a_consumer_changes_a_task_in_no_other_way(
    owner: Person, queued: str, method: str, path: str
) -> None:
    before = owner.sees(queued)

    refused = owner.ask(method, f"tasks/{queued}{path}", {"status": {"phase": "terminal"}})

    assert refused.status_code in {404, 405}, refused.text
    assert owner.sees(queued) == before


@pytest.mark.clause("IN-2b")
@pytest.mark.parametrize("what", ["interrupt", "complete", "error", "restrict", "turns"])
def test_a_consumer_drives_no_task_its_own_included(
    owner: Person, nobody: Client, queued: str, what: str
) -> None:
    before = owner.sees(queued)

    for client in (owner, nobody):
        refused = client.ask("POST", f"host/tasks/{queued}/{what}", {})
        assert refused.status_code in {401, 403}, refused.text
    assert owner.sees(queued) == before


@pytest.mark.clause("IN-2b")
def test_a_consumer_sees_what_the_host_did(owner: Person, host: Host, queued: str) -> None:
    host.start(queued)
    host.do(queued, "interrupt")
    interrupted = owner.phase(queued), owner.texts(queued)
    host.do(queued, "complete")

    assert interrupted == (("idle", None), ["first"])
    assert owner.phase(queued) == ("terminal", "completed")
