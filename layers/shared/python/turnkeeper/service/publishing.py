"""Push: whatever of a task's status was written is told on the event bus, as the poll shows it (PO-2).

It follows the table's stream, so no write waits for it and none fails with it. A record that cannot be read is set
aside at once, since no repeat would mend it and those behind it would wait.
"""

import logging
from collections.abc import Callable, Iterable, Iterator
from itertools import batched

from turnkeeper import traces
from turnkeeper.bus import MOST_ENTRIES, Bus
from turnkeeper.domain.errors import StoreIsUnavailable
from turnkeeper.domain.standing import Standing
from turnkeeper.store import stream
from turnkeeper.store.stream import Record

log = logging.getLogger(__name__)


def publish(bus: Bus, records: Iterable[Record], *, as_text: Callable[[Standing], str]) -> list[str]:
    """The sequence numbers of those *records* that must come again; all others are told, aside, or say nothing new."""
    again: list[str] = []
    for batch in batched(_told(bus, records, as_text, again), MOST_ENTRIES, strict=False):
        taken = bus.tell([detail for _, detail in batch])
        again += [number for (number, _), is_taken in zip(batch, taken, strict=True) if not is_taken]
    return again


def _told(
    bus: Bus, records: Iterable[Record], as_text: Callable[[Standing], str], again: list[str]
) -> Iterator[tuple[str, str]]:
    """What there is to tell, each with its record's number; what can be neither read nor set aside joins *again*."""
    for record in records:
        try:
            task = stream.shown(record)
            detail = as_text(task) if task is not None else None
        except StoreIsUnavailable:
            # A newer version wrote it, whose `publish` comes next.
            again.append(stream.number(record))
            continue
        except Exception as error:  # noqa: BLE001 - one record's fault must not stop the others
            log.error("a record of the stream cannot be read: %s", traces.line(error))  # noqa: TRY400 - without its words
            if not bus.set_aside(stream.names(record)):
                again.append(stream.number(record))
            continue
        if detail is not None:
            yield stream.number(record), detail
