"""Every log group is one of ours: kept as long as the deployment says, and no longer than its data."""

from aws_cdk import RemovalPolicy
from aws_cdk import aws_kms as kms
from aws_cdk import aws_logs as logs
from constructs import Construct

from infra.notation import LogRetention
from infra.stage import Stage

RETENTION = {
    LogRetention.WEEK: logs.RetentionDays.ONE_WEEK,
    LogRetention.MONTH: logs.RetentionDays.ONE_MONTH,
    LogRetention.QUARTER: logs.RetentionDays.THREE_MONTHS,
    LogRetention.YEAR: logs.RetentionDays.ONE_YEAR,
}


def kept_log(scope: Construct, id_: str, *, stage: Stage, key: kms.IKey | None) -> logs.LogGroup:
    """Return a new log group with the retention and removal that *stage* asks for."""
    return logs.LogGroup(
        scope,
        id_,
        retention=RETENTION[stage.log_retention_days],
        encryption_key=key,
        removal_policy=RemovalPolicy.RETAIN if stage.keep_data else RemovalPolicy.DESTROY,
    )
