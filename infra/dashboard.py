"""One look at a deployment: how tasks move, what is late, how fast it answers, and what it costs."""

from collections.abc import Iterable

from aws_cdk import Duration
from aws_cdk import aws_cloudwatch as cloudwatch
from constructs import Construct

from infra.alarms import Alarms
from infra.metrics import MINUTE, Counted
from infra.stack import Turnkeeper

THIRD, HALF, WHOLE, HIGH, LOW = 8, 12, 24, 6, 3
HOUR = Duration.hours(1)
PERCENTILES = ("p50", "p95", "p99")


class Dashboard(Construct):
    """The dashboard of one deployment."""

    def __init__(
        self, scope: Construct, id_: str, *, product: Turnkeeper, counted: Counted, alarms: Alarms
    ) -> None:
        super().__init__(scope, id_)
        self.board = cloudwatch.Dashboard(
            self,
            "Board",
            default_interval=Duration.hours(3),
            widgets=[
                [cloudwatch.AlarmStatusWidget(title="Alarms", alarms=alarms.all, width=WHOLE, height=LOW)],
                how_tasks_move(counted),
                how_it_answers(product, counted),
                what_it_costs(product),
            ],
        )


def how_tasks_move(counted: Counted) -> list[cloudwatch.IWidget]:
    """Tasks by phase, turns per minute, and the age of the oldest."""
    oldest = [
        counted.metric(name, statistic="Maximum", label=label)
        for name, label in (
            ("OldestRunnable", "could run"),
            ("OldestWaiting", "waits for somebody"),
            ("SweepLag", "sweep comes late"),
        )
    ]
    return [
        graph("Tasks that came to a phase, per minute", counted.entered(), stacked=True),
        graph("Turns per minute", counted.turns()),
        graph("The oldest, seconds", oldest),
    ]


def how_it_answers(product: Turnkeeper, counted: Counted) -> list[cloudwatch.IWidget]:
    """The poll's latency, conflicts, and errors."""
    api, status = product.api.http, product.functions.status
    poll = [status.metric_duration(statistic=p, period=MINUTE, label=f"poll {p}") for p in PERCENTILES]
    whole = [api.metric_latency(statistic=p, period=MINUTE, label=f"any request {p}") for p in PERCENTILES]
    commits = [
        counted.metric("Writes", statistic="Sum", label="commits"),
        counted.metric("Conflicts", statistic="Sum", label="lost to a faster writer"),
    ]
    answers = [
        api.metric_count(statistic="Sum", period=MINUTE, label="requests"),
        api.metric_client_error(statistic="Sum", period=MINUTE, label="4xx"),
        api.metric_server_error(statistic="Sum", period=MINUTE, label="5xx"),
        product.queues.dead_letters.metric_approximate_number_of_messages_visible(
            statistic="Maximum", period=MINUTE, label="dead letters"
        ),
    ]
    return [
        graph(
            "Latency of the poll (in its function) and of any request (at the gateway), ms", [*poll, *whole]
        ),
        graph("Conflicts per minute", commits),
        graph("Answers per minute", answers),
    ]


def what_it_costs(product: Turnkeeper) -> list[cloudwatch.IWidget]:
    """What AWS bills for, per hour: requests, runs and their time, capacity, messages."""
    functions, table, queue = product.functions.all, product.storage.table, product.queues.wake_ups
    runs = [
        function.metric_invocations(statistic="Sum", period=HOUR, label=function.node.id)
        for function in functions
    ]
    time = [
        function.metric_duration(statistic="Sum", period=HOUR, label=function.node.id)
        for function in functions
    ]
    units = [
        table.metric_consumed_read_capacity_units(statistic="Sum", period=HOUR, label="read units"),
        table.metric_consumed_write_capacity_units(statistic="Sum", period=HOUR, label="write units"),
    ]
    calls = [
        product.api.http.metric_count(statistic="Sum", period=HOUR, label="requests of the API"),
        queue.metric_number_of_messages_sent(statistic="Sum", period=HOUR, label="wake-ups sent"),
        queue.metric_number_of_empty_receives(statistic="Sum", period=HOUR, label="empty receives"),
    ]
    return [
        graph("Runs of the functions, per hour", runs, width=HIGH),
        graph("Their time, ms per hour", time, width=HIGH),
        graph("Capacity of the table, per hour", units, width=HIGH),
        graph("Requests and messages, per hour", calls, width=HIGH),
    ]


def graph(
    title: str, metrics: Iterable[cloudwatch.IMetric], *, stacked: bool = False, width: int = THIRD
) -> cloudwatch.GraphWidget:
    """Return a graph of *metrics*, from zero up."""
    return cloudwatch.GraphWidget(
        title=title,
        left=list(metrics),
        stacked=stacked,
        width=width,
        height=HIGH,
        left_y_axis=cloudwatch.YAxisProps(min=0, show_units=False),
    )
