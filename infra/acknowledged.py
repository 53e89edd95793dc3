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


def acknowledge(stack: Stack, *, stage: Stage, bucket: str, table: str) -> None:
    """Say of each finding in *stack* that is left so why it is; *bucket* and *table* are logical ids."""
    constructs = stack.node.find_all()
    for left in ACKNOWLEDGED:
        if left.unless and getattr(stage, left.unless):
            continue
        said = Acknowledgment(
            id=f"{PACK}::{PACK}-{left.rule.format(bucket=bucket, table=table)}", reason=left.why
        )
        for construct in constructs:
            if fnmatchcase(construct.node.path.removeprefix(f"{stack.node.path}/"), left.at):
                Validations.of(construct).acknowledge(said)
