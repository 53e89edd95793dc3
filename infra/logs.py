"""Every log group is one of ours: kept as long as the deployment says, and no longer than its data."""

from aws_cdk import RemovalPolicy
from aws_cdk import aws_logs as logs
from constructs import Construct

from infra.stage import LogRetention, Stage

RETENTION = {
    LogRetention.WEEK: logs.RetentionDays.ONE_WEEK,
    LogRetention.MONTH: logs.RetentionDays.ONE_MONTH,
    LogRetention.QUARTER: logs.RetentionDays.THREE_MONTHS,
    LogRetention.YEAR: logs.RetentionDays.ONE_YEAR,
}


def kept_log(scope: Construct, id_: str, *, stage: Stage) -> logs.LogGroup:
    """Return a new log group with the retention and removal that *stage* asks for."""
    return logs.LogGroup(
        scope,
        id_,
        retention=RETENTION[stage.log_retention_days],
        removal_policy=RemovalPolicy.RETAIN if stage.keep_data else RemovalPolicy.DESTROY,
    )
