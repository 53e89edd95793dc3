"""What cdk-nag's AwsSolutions pack finds and we leave so: each finding, where it is, and why.

Nothing else may be found, and each of these would be: tests/infra/test_nag.py holds both.
"""

from dataclasses import dataclass
from fnmatch import fnmatchcase

from aws_cdk import Acknowledgment, Stack, Validations

from infra.files import ROOTS
from infra.stage import Stage

PACK = "AwsSolutions"


@dataclass(frozen=True)
class Acknowledged:
    """A finding that is left so, for a reason; *at* is the path of a construct in its stack, where `*` is anything."""

    rule: str
    at: str
    why: str
    unless: str | None = None
    """The setting that, when it is on, takes the finding away."""


ACKNOWLEDGED = (
    Acknowledged(
        "APIG4",
        "Api/$default/Resource",
        "Everybody is let in to one answer, our 404; it reaches nothing else.",
    ),
    Acknowledged(
        "APIG4",
        "Api/GET --v1--openapi.json/Resource",
        "What the API takes and answers is for everybody to read; it says nothing of anybody, and reads nothing.",
    ),
    Acknowledged(
        "COG2",
        "Identity/People/Resource",
        "Whether people need a second factor is for those whose people they are; their own issuer may ask for one.",
    ),
    Acknowledged(
        "COG8",
        "Identity/People/Resource",
        "The plus plan is priced per person, and nobody signs up here by themselves.",
    ),
    Acknowledged(
        "L1",
        "Functions/*/Resource",
        "Python 3.13 is what the layer's binaries are built for and what every test runs on.",
    ),
    Acknowledged(
        "IAM5[Resource::*]",
        "Functions/*Role/DefaultPolicy/Resource",
        "X-Ray's two actions take no resource: a trace has no ARN.",
    ),
    *(
        Acknowledged(
            f"IAM5[Resource::<{{bucket}}.Arn>/{root}/*]",
            f"Functions/{function}Role/DefaultPolicy/Resource",
            "Which file may be sent or fetched is decided for each request and signed; the role keeps to its root.",
        )
        for root in ROOTS
        for function in ("Tasks", "Host")
    ),
    Acknowledged(
        "IAM5[Resource::<{bucket}.Arn>/task/*]",
        "Functions/SweepRole/DefaultPolicy/Resource",
        "Whose files are deleted is decided for each ended task; the role keeps to the root of tasks' own.",
    ),
    Acknowledged(
        "IAM5[Resource::<{table}.Arn>/stream/*]",
        "Functions/PublishRole/DefaultPolicy/Resource",
        "ListStreams is asked of a table's streams, not of one; it tells their names, and this table has the one.",
    ),
    Acknowledged(
        "SQS3",
        "Push/Untold/Resource",
        "It is where records go that could not be told; a queue behind it would be one more of the same.",
    ),
    Acknowledged(
        "CFR1",
        "Console/Distribution/Resource",
        "Who may come is decided by who can sign in, and not by where they are.",
    ),
    Acknowledged(
        "CFR2",
        "Console/Distribution/Resource",
        "A firewall is priced by the month and the rule; files are everybody's, and the API throttles and checks.",
    ),
    Acknowledged(
        "CFR3",
        "Console/Distribution/Resource",
        "Its log would tell addresses, and whose task was looked at; requests of the API are logged by the API.",
    ),
    Acknowledged(
        "CFR4",
        "Console/Distribution/Resource",
        "Without a name of its own it has CloudFront's certificate, with which CloudFront decides about TLS.",
        "console_domain_name",
    ),
    Acknowledged(
        "S1",
        "Console/Bucket/Resource",
        "What is in it anybody may read, and nobody but CloudFront reads it here.",
    ),
    Acknowledged(
        "L1",
        "Custom::CDKBucketDeployment*/Resource",
        "The function that puts the console's files in place is the CDK's, and so is what it runs on.",
    ),
    *(
        Acknowledged(
            f"IAM5[{wildcard}]",
            "Console/FilesRole/DefaultPolicy/Resource",
            "The CDK's own grants to what puts the console's files in place: from its assets into that one bucket.",
        )
        for wildcard in (
            "Action::s3:Abort*",
            "Action::s3:DeleteObject*",
            "Action::s3:GetBucket*",
            "Action::s3:GetObject*",
            "Action::s3:List*",
            "Resource::<{console}.Arn>/*",
            "Resource::arn:<AWS::Partition>:s3:::cdk-hnb659fds-assets-<AWS::AccountId>-<AWS::Region>/*",
        )
    ),
    Acknowledged(
        "APIG1", "Api/Stage/Resource", "A stage that is not for production logs no requests.", "access_logs"
    ),
    Acknowledged(
        "S1", "Files/Bucket/Resource", "A stage that is not for production logs no requests.", "access_logs"
    ),
    Acknowledged(
        "DDB3",
        "Storage/Table/Resource",
        "A stage that is not for production is disposable, and restored from nothing.",
        "point_in_time_recovery",
    ),
)


def acknowledge(stack: Stack, *, stage: Stage, bucket: str, table: str, console: str | None) -> None:
    """Say of each finding in *stack* that is left so why it is; the others are logical ids."""
    constructs = stack.node.find_all()
    for left in ACKNOWLEDGED:
        if left.unless and getattr(stage, left.unless):
            continue
        said = Acknowledgment(
            id=f"{PACK}::{PACK}-{left.rule.format(bucket=bucket, table=table, console=console)}",
            reason=left.why,
        )
        for construct in constructs:
            if fnmatchcase(construct.node.path.removeprefix(f"{stack.node.path}/"), left.at):
                Validations.of(construct).acknowledge(said)
