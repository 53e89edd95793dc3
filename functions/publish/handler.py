"""The table's stream to the event bus: each new status of a task, and no more is loaded than that needs."""

from typing import Any

from turnkeeper import settings
from turnkeeper.edge import lines
from turnkeeper.edge.answers import status_text
from turnkeeper.service.publishing import publish

lines.speak()
# Made now, while a starting function has a whole CPU, and kept for every batch.
settings.bus()


def handle(event: dict[str, Any], _context: object) -> dict[str, Any]:
    """The function's entry: records in, those that must come again out."""
    again = publish(settings.bus(), event["Records"], as_text=status_text)
    return {"batchItemFailures": [{"itemIdentifier": number} for number in again]}
