"""What a poll would see of a task, whoever has it whole."""

from turnkeeper.domain.standing import Glance, Standing
from turnkeeper.store.items import task_to_item
from turnkeeper.store.standing import glance


def as_seen(task: Standing) -> Glance:
    """A glance at *task*, so that what was read whole and what was read in part compare."""
    return task if isinstance(task, Glance) else glance(task_to_item(task))
