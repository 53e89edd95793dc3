"""What CloudWatch keeps of a deployment: what the product counts itself, by the names it counts by.

Every name here is one of `turnkeeper.metrics`, with a value of its dimension; a test holds them to it.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from aws_cdk import Duration
from aws_cdk import aws_cloudwatch as cloudwatch

from infra.stage import Stage

PHASES = ("idle", "processing", "completed", "errored", "restricted")
OUTCOMES = ("started", "resumed", "finished", "failed", "lost")
MINUTE = Duration.minutes(1)


@dataclass(frozen=True)
class Counted:
    """The metrics that the product of one stage writes."""

    stage: Stage

    @property
    def namespace(self) -> str:
        """Where they are kept; the functions are told the same."""
        return f"Turnkeeper/{self.stage.stage}"

    def metric(
        self,
        name: str,
        *,
        statistic: str,
        period: Duration = MINUTE,
        dimension: tuple[str, str] | None = None,
        label: str | None = None,
    ) -> cloudwatch.Metric:
        """Return one of them; *dimension* is its name and value, where it has one."""
        return cloudwatch.Metric(
            namespace=self.namespace,
            metric_name=name,
            statistic=statistic,
            period=period,
            dimensions_map=dict([dimension]) if dimension else None,
            label=label,
        )

    def entered(self) -> Iterator[cloudwatch.Metric]:
        """Tasks that came to each phase."""
        for phase in PHASES:
            yield self.metric("TasksEntered", statistic="Sum", dimension=("phase", phase), label=phase)

    def turns(self) -> Iterator[cloudwatch.Metric]:
        """Turns by what became of them."""
        for outcome in OUTCOMES:
            yield self.metric("Turns", statistic="Sum", dimension=("outcome", outcome), label=outcome)
