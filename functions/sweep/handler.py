"""EventBridge to the sweep: each minute, whatever is due."""

from typing import Any

from aws_lambda_powertools import Logger

from turnkeeper.service.sweep import sweep
from turnkeeper.settings import runtime

SPARE_MS = 5_000

log = Logger(service="turnkeeper")


def handle(_event: dict[str, Any], context: Any) -> dict[str, Any]:
    """Sweep once; what is left when the time runs short waits a minute."""
    swept = sweep(runtime(), may_go_on=lambda: context.get_remaining_time_in_millis() > SPARE_MS)
    counts = {
        "looked": swept.looked,
        "changed": swept.changed,
        "deleted": swept.deleted,
        "failed": swept.failed,
        "cut_short": swept.cut_short,
    }
    log.info("swept", extra=counts)
    return counts
