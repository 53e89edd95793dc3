"""The files: one private bucket, in which nothing is lost or replaced, and nothing handed out but by signature."""

from collections.abc import Sequence

from aws_cdk import Duration, RemovalPolicy
from aws_cdk import aws_kms as kms
from aws_cdk import aws_s3 as s3
from constructs import Construct

from infra.stage import Stage

ROOTS = ("task", "agent", "workspace")
"""The corner of each root, as the keys begin."""


class Files(Construct):
    """The bucket of all files. Every version stays, since a reference names one."""

    def __init__(
        self, scope: Construct, id_: str, *, stage: Stage, pages: Sequence[str], key: kms.IKey | None
    ) -> None:
        """*pages* are the origins whose pages may send and get files."""
        super().__init__(scope, id_)
        kept = RemovalPolicy.RETAIN if stage.keep_data else RemovalPolicy.DESTROY
        self.bucket = s3.Bucket(
            self,
            "Bucket",
            versioned=True,
            encryption=s3.BucketEncryption.KMS if key else s3.BucketEncryption.S3_MANAGED,
            encryption_key=key,
            # One key for the bucket in place of a call of KMS for each file.
            bucket_key_enabled=True if key else None,
            block_public_access=s3.BlockPublicAccess.BLOCK_ALL,
            object_ownership=s3.ObjectOwnership.BUCKET_OWNER_ENFORCED,
            enforce_ssl=True,
            lifecycle_rules=[s3.LifecycleRule(abort_incomplete_multipart_upload_after=Duration.days(1))],
            cors=browsers(pages),
            server_access_logs_bucket=self._access_logs(stage, kept) if stage.access_logs else None,
            removal_policy=kept,
        )

    @property
    def origin(self) -> str:
        """Where signed URLs lead."""
        return f"https://{self.bucket.bucket_regional_domain_name}"

    @property
    def resource(self) -> s3.CfnBucket:
        """The bucket as CloudFormation has it."""
        made = self.bucket.node.default_child
        assert isinstance(made, s3.CfnBucket)  # noqa: S101 - what a bucket of the CDK's is made of
        return made

    def _access_logs(self, stage: Stage, kept: RemovalPolicy) -> s3.Bucket:
        """Return where S3 writes who got which file; it takes no key but S3's own there."""
        return s3.Bucket(
            self,
            "AccessLogs",
            encryption=s3.BucketEncryption.S3_MANAGED,
            block_public_access=s3.BlockPublicAccess.BLOCK_ALL,
            object_ownership=s3.ObjectOwnership.BUCKET_OWNER_ENFORCED,
            enforce_ssl=True,
            lifecycle_rules=[s3.LifecycleRule(expiration=Duration.days(int(stage.log_retention_days)))],
            removal_policy=kept,
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
