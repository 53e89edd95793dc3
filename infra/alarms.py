"""The alarms worth waking for: what each watches, from where on, and what silence means.

docs/runbook.md has a section for each, by its name.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from aws_cdk import Duration
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_sqs as sqs
from constructs import Construct

from infra.metrics import Counted
from infra.stack import Turnkeeper

RUNBOOK = "docs/runbook.md"
FIVE_MINUTES, QUARTER, HOUR = Duration.minutes(5), Duration.minutes(15), Duration.hours(1)
SILENT, LAST = cloudwatch.TreatMissingData.NOT_BREACHING, cloudwatch.TreatMissingData.IGNORE
AT_LEAST = cloudwatch.ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD
LESS = cloudwatch.ComparisonOperator.LESS_THAN_THRESHOLD

LOST = "FILL(conflicts, 0)"
"""Without conflicts there is no metric of them, and nothing can be added to nothing."""

CONFLICTS_PERCENT = f"IF(writes + {LOST} >= 100, 100 * {LOST} / (writes + {LOST}), 0)"
"""Of few writes, one that lost is already many in a hundred, and nothing to wake for."""


@dataclass(frozen=True, kw_only=True)
class Watched:
    """One alarm."""

    name: str
    says: str
    metric: cloudwatch.IMetric
    threshold: float
    operator: cloudwatch.ComparisonOperator = AT_LEAST
    periods: int = 1
    of: int | None = None
    """It rings when so many of this many periods are over the threshold; None is as many as *periods*."""
    missing: cloudwatch.TreatMissingData = SILENT


def letters(name: str, queue: sqs.IQueue, says: str) -> Watched:
    """Return the alarm on any letter in *queue*."""
    return Watched(
        name=name,
        says=says,
        metric=queue.metric_approximate_number_of_messages_visible(statistic="Maximum", period=FIVE_MINUTES),
        threshold=1,
        # A queue that nobody touches says nothing after six hours, and its letters are still there.
        missing=LAST,
    )


def watched(product: Turnkeeper, counted: Counted) -> Iterator[Watched]:
    """Everything that is watched."""
    yield letters(
        "DeadLetters",
        product.queues.dead_letters,
        "A wake-up failed ten times and lies in the dead-letter queue.",
    )
    for host, queues in product.host_queues.items():
        yield letters(
            f"DeadLettersOf-{host}", queues.dead_letters, f"The host {host} left a wake-up ten times undone."
        )
    yield letters(
        "Untold", product.push.untold, "A change of a task's status could not be told on the event bus."
    )
    # A task that could run is looked at after 1, 3, 7 and 15 minutes, and then each quarter of an hour.
    yield Watched(
        name="OldestRunnable",
        says="A task could have run for 15 minutes, and nobody took it.",
        metric=counted.metric("OldestRunnable", statistic="Maximum", period=QUARTER),
        threshold=900,
    )
    # Seen when a wait is looked at, at its deadline at the latest: 7 days where nothing else is said.
    yield Watched(
        name="OldestWaiting",
        says="A task has waited for somebody for three days.",
        metric=counted.metric("OldestWaiting", statistic="Maximum", period=HOUR),
        threshold=3 * 24 * 3600,
    )
    yield Watched(
        name="SweepLag",
        says="For a quarter of an hour the sweep came five minutes late or later.",
        metric=counted.metric("SweepLag", statistic="Maximum", period=FIVE_MINUTES),
        threshold=300,
        periods=3,
    )
    if counted.stage.sweep_enabled:
        yield Watched(
            name="SweepSilent",
            says="The sweep has not finished once in ten minutes: nothing expires, and no lost wake-up is found.",
            metric=counted.metric("Looked", statistic="SampleCount", period=FIVE_MINUTES),
            threshold=1,
            operator=LESS,
            periods=2,
            missing=cloudwatch.TreatMissingData.BREACHING,
        )
    yield Watched(
        name="LooksFailed",
        says="For a quarter of an hour there was a due task that the sweep could not look at.",
        metric=counted.metric("LooksFailed", statistic="Sum", period=FIVE_MINUTES),
        threshold=1,
        periods=3,
    )
    yield Watched(
        name="ConflictRate",
        says="For a quarter of an hour one commit in five lost to a faster writer.",
        metric=cloudwatch.MathExpression(
            expression=CONFLICTS_PERCENT,
            label="commits that lost, in a hundred",
            period=FIVE_MINUTES,
            using_metrics={
                "writes": counted.metric("Writes", statistic="Sum", period=FIVE_MINUTES),
                "conflicts": counted.metric("Conflicts", statistic="Sum", period=FIVE_MINUTES),
            },
        ),
        threshold=20,
        periods=3,
    )
    # One may be a lost connection or a throttled table; five, twice in a quarter of an hour, are not.
    yield Watched(
        name="ServerErrors",
        says="The API answered at least five requests in five minutes with 5xx, twice in a quarter of an hour.",
        metric=product.api.http.metric_server_error(statistic="Sum", period=FIVE_MINUTES),
        threshold=5,
        periods=2,
        of=3,
    )


class Alarms(Construct):
    """Every alarm of one deployment."""

    def __init__(self, scope: Construct, id_: str, *, product: Turnkeeper, counted: Counted) -> None:
        super().__init__(scope, id_)
        self.all = [self._alarm(one) for one in watched(product, counted)]

    def _alarm(self, one: Watched) -> cloudwatch.Alarm:
        return cloudwatch.Alarm(
            self,
            one.name,
            alarm_description=f"{one.says} What to do: {RUNBOOK}, {one.name.partition('-')[0]}.",
            metric=one.metric,
            threshold=one.threshold,
            comparison_operator=one.operator,
            evaluation_periods=one.of or one.periods,
            datapoints_to_alarm=one.periods,
            treat_missing_data=one.missing,
        )
