"""The injector itself: it fails a writer that does not defend itself, and it does what it says it does."""

import pytest
from botocore.exceptions import ClientError, ConnectionClosedError, ConnectTimeoutError, ReadTimeoutError

from tests.faults.victims import THE_SDKS, Victim
from tests.support.faults import (
    CONFLICT,
    ERROR_AFTER,
    ERROR_BEFORE,
    LATE,
    LOST,
    NOT_SENT,
    READ,
    THROTTLED,
    TIMED_OUT_AFTER,
    TIMED_OUT_BEFORE,
    UPDATE,
    WRITE,
    Fault,
    Killed,
)
from tests.support.laboratory import Laboratory
from turnkeeper.store.wire import item_to_wire

KEY = {"pk": "P", "sk": "S"}


def count_up(lab: Laboratory) -> None:
    """Write what somebody writes who trusts the SDK's retries: only if it is not there yet."""
    put = {
        "TableName": lab.table,
        "Item": item_to_wire({**KEY, "count": 1}),
        "ConditionExpression": "attribute_not_exists(pk)",
    }
    lab.dynamodb.transact_write_items(TransactItems=[{"Put": put}])


def is_there(lab: Laboratory) -> bool:
    return ("P", "S") in lab.everything()


@pytest.mark.parametrize("fault", [LOST, TIMED_OUT_AFTER, ERROR_AFTER], ids=str)
def test_a_lost_answer_tells_a_defenceless_writer_a_lie(
    moto_lab: Laboratory, trusting: Victim, fault: Fault
) -> None:
    trusting.faults.inject(fault, WRITE)

    with pytest.raises(ClientError) as refused:
        count_up(trusting.lab)

    assert refused.value.response["Error"]["Code"] == "TransactionCanceledException"
    assert refused.value.response["ResponseMetadata"]["RetryAttempts"] == 1
    assert is_there(moto_lab)
    assert trusting.faults.attempts == [WRITE, WRITE]


@pytest.mark.parametrize("fault", [ERROR_BEFORE, NOT_SENT, TIMED_OUT_BEFORE], ids=str)
def test_a_request_that_never_arrives_is_sent_again_by_the_sdk(
    moto_lab: Laboratory, trusting: Victim, fault: Fault
) -> None:
    trusting.faults.inject(fault, WRITE)

    count_up(trusting.lab)

    assert is_there(moto_lab)
    assert trusting.faults.attempts == [WRITE, WRITE]
    assert trusting.stopwatch.now >= fault.takes_s


@pytest.mark.parametrize(
    ("fault", "error"),
    [
        (LOST, ConnectionClosedError),
        (TIMED_OUT_BEFORE, ReadTimeoutError),
        (NOT_SENT, ConnectTimeoutError),
        (ERROR_BEFORE, ClientError),
        (THROTTLED, ClientError),
    ],
    ids=lambda value: value.name if isinstance(value, Fault) else "",
)
def test_from_then_on_means_every_attempt(
    moto_lab: Laboratory, trusting: Victim, fault: Fault, error: type[Exception]
) -> None:
    trusting.faults.inject(fault, WRITE, times=None)

    with pytest.raises(error):
        count_up(trusting.lab)

    assert trusting.faults.attempts == [WRITE] * THE_SDKS
    assert is_there(moto_lab) is (fault is LOST)


def test_a_conflict_inside_a_cancelled_transaction_is_nothing_that_the_sdk_retries(
    moto_lab: Laboratory, trusting: Victim
) -> None:
    trusting.faults.inject(CONFLICT, WRITE)

    with pytest.raises(ClientError) as refused:
        count_up(trusting.lab)

    assert refused.value.response["CancellationReasons"][1]["Code"] == "TransactionConflict"
    assert trusting.faults.attempts == [WRITE]
    assert not is_there(moto_lab)


def test_only_the_nth_attempt_of_its_operation_meets_a_fault(moto_lab: Laboratory, trusting: Victim) -> None:
    key = item_to_wire(KEY)
    counting = {"UpdateExpression": "SET n = :n", "ExpressionAttributeValues": {":n": {"N": "1"}}}
    trusting.faults.inject(THROTTLED, UPDATE, nth=2)

    for _ in range(2):
        trusting.lab.dynamodb.get_item(TableName=moto_lab.table, Key=key)
        trusting.lab.dynamodb.update_item(TableName=moto_lab.table, Key=key, **counting)

    assert trusting.faults.attempts == [READ, UPDATE, READ, UPDATE, UPDATE]


def test_a_third_writer_comes_after_the_commit_and_before_the_retry(
    moto_lab: Laboratory, trusting: Victim
) -> None:
    seen: list[bool] = []
    trusting.faults.inject(LOST, WRITE, then=lambda: seen.append(is_there(moto_lab)))

    with pytest.raises(ClientError):
        count_up(trusting.lab)

    assert seen == [True]


def test_a_late_request_arrives_when_it_is_let(moto_lab: Laboratory, trusting: Victim) -> None:
    trusting.faults.inject(LATE, WRITE, times=None)

    with pytest.raises(ReadTimeoutError):
        count_up(trusting.lab)
    before = is_there(moto_lab)
    trusting.faults.arrive()

    assert (before, is_there(moto_lab)) == (False, True)


@pytest.mark.parametrize("sent", [False, True])
def test_a_killed_process_makes_no_further_call(
    moto_lab: Laboratory, trusting: Victim, *, sent: bool
) -> None:
    trusting.faults.die_at(WRITE, 1, sent=sent)

    with pytest.raises(Killed):
        count_up(trusting.lab)
    with pytest.raises(Killed):
        trusting.lab.everything()

    assert is_there(moto_lab) is sent
