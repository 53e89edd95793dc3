"""SQS to turns: each wake-up is attended to; only one that must come again is reported as failed."""

from datetime import timedelta
from typing import Any

from aws_lambda_powertools import Logger
from aws_lambda_powertools.utilities.batch import BatchProcessor, EventType, process_partial_response
from aws_lambda_powertools.utilities.data_classes.sqs_event import SQSRecord

from turnkeeper.agents import builtin
from turnkeeper.agents.protocol import Agent
from turnkeeper.converse import conversing
from turnkeeper.domain.task import Runs, Task
from turnkeeper.invocation import invoked
from turnkeeper.queue import task_of
from turnkeeper.service.turns import attend
from turnkeeper.settings import runtime, session, wake_ups

SPARE = timedelta(seconds=5)

# By this name, ours are its children; by another, it would keep what they say from the log (a filter by substring).
log = Logger(service="turnkeeper")
processor = BatchProcessor(event_type=EventType.SQS, raise_on_entire_batch_failure=False)


def agent_of(task: Task) -> Agent:
    """Whoever takes the task's turns: a class of ours, or the user's function for as long as we live."""
    if task.terms.runs is Runs.LAMBDA and task.terms.function:
        left = timedelta(milliseconds=processor.lambda_context.get_remaining_time_in_millis())
        return invoked(task.terms.function, session=session(), answers_within=max(left - SPARE, SPARE))
    if model := runtime().models.get(task.agent):
        return conversing(model, session=session())
    return builtin.agent(task.agent)


def take_turn(record: SQSRecord) -> None:
    """Attend to one wake-up; an exception leaves it in the queue."""
    task_id = task_of(record.body)
    log.info("wake-up", extra={"task": task_id, "receives": record.attributes.approximate_receive_count})
    attend(
        runtime(),
        task_id,
        hide=lambda lasts: wake_ups().hide(record.receipt_handle, lasts),
        agent_of=agent_of,
        trace=record.attributes.aws_trace_header,
    )


def handle(event: dict[str, Any], context: Any) -> dict[str, Any]:
    """The function's entry: SQS events in, the failed messages out."""
    return dict(
        process_partial_response(event=event, record_handler=take_turn, processor=processor, context=context)
    )
