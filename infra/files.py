"""The files: one private bucket, in which nothing is lost or replaced, and nothing handed out but by signature."""

from collections.abc import Sequence

from aws_cdk import Duration, RemovalPolicy
from aws_cdk import aws_s3 as s3
from constructs import Construct

ROOTS = ("task", "agent", "workspace")
"""The corner of each root, as the keys begin."""


class Files(Construct):
    """The bucket of all files. Every version stays, since a reference names one."""

    def __init__(self, scope: Construct, id_: str, *, keep_data: bool, origins: Sequence[str]) -> None:
        super().__init__(scope, id_)
        self.bucket = s3.Bucket(
            self,
            "Bucket",
            versioned=True,
            encryption=s3.BucketEncryption.S3_MANAGED,
            block_public_access=s3.BlockPublicAccess.BLOCK_ALL,
            object_ownership=s3.ObjectOwnership.BUCKET_OWNER_ENFORCED,
            enforce_ssl=True,
            lifecycle_rules=[s3.LifecycleRule(abort_incomplete_multipart_upload_after=Duration.days(1))],
            cors=browsers(origins),
            removal_policy=RemovalPolicy.RETAIN if keep_data else RemovalPolicy.DESTROY,
        )

    def below(self, root: str) -> str:
        """Return the ARN of everything in one *root*, for a grant that reaches nothing else."""
        return self.bucket.arn_for_objects(f"{root}/*")


def browsers(origins: Sequence[str]) -> list[s3.CorsRule] | None:
    """Return what pages of other *origins* may send and get; nothing when there are none."""
    if not origins:
        return None
    return [
        s3.CorsRule(
            allowed_origins=list(origins),
            allowed_methods=[s3.HttpMethods.GET, s3.HttpMethods.PUT],
            allowed_headers=["content-disposition", "content-type", "if-none-match"],
            max_age=3600,
        )
    ]
