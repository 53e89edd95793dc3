"""The poll: one small read and one status object, and nothing is loaded that those two do not need."""

from typing import TYPE_CHECKING

from turnkeeper import settings
from turnkeeper.edge import etags, lines
from turnkeeper.edge.answers import Answer, polled
from turnkeeper.edge.caller import human
from turnkeeper.edge.exchange import Event, exchange
from turnkeeper.service.poll import poll, poll_after

if TYPE_CHECKING:
    from aws_lambda_powertools.utilities.typing import LambdaContext

lines.speak()
# Made now, while a starting function has a whole CPU, and kept for every request.
settings.runtime(wakes=False)


@exchange
def handle(event: Event, _context: "LambdaContext") -> Answer:
    """The caller's task as its status object; 304 when they have it already."""
    runtime = settings.runtime(wakes=False)
    caller = human(event, claim=settings.human_claim())
    task = poll(runtime, caller=caller, task_id=(event.get("pathParameters") or {}).get("task_id", ""))
    is_known = etags.matches((event.get("headers") or {}).get("if-none-match"), task.revision)
    return polled(task, look_after=poll_after(task, runtime.clock()), is_known=is_known)
