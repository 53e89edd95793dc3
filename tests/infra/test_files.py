"""The bucket of files: nobody but by signature, nothing in the clear, no version lost."""

from aws_cdk.assertions import Template

from tests.infra.conftest import Synthesise
from tests.infra.reading import files_of, of_type


def test_the_bucket_is_private_encrypted_and_keeps_every_version(template: Template) -> None:
    _, bucket = files_of(template)

    assert bucket["PublicAccessBlockConfiguration"] == {
        "BlockPublicAcls": True,
        "BlockPublicPolicy": True,
        "IgnorePublicAcls": True,
        "RestrictPublicBuckets": True,
    }
    assert bucket["OwnershipControls"] == {"Rules": [{"ObjectOwnership": "BucketOwnerEnforced"}]}
    assert bucket["VersioningConfiguration"] == {"Status": "Enabled"}
    (rule,) = bucket["BucketEncryption"]["ServerSideEncryptionConfiguration"]
    assert rule == {"ServerSideEncryptionByDefault": {"SSEAlgorithm": "AES256"}}


def test_the_bucket_refuses_whoever_comes_without_tls_and_lets_nobody_in_by_itself(
    template: Template,
) -> None:
    bucket, _ = files_of(template)
    (statement,) = [
        statement
        for policy in of_type(template, "S3::BucketPolicy").values()
        if policy["Bucket"] == {"Ref": bucket}
        for statement in policy["PolicyDocument"]["Statement"]
    ]

    assert (statement["Effect"], statement["Action"]) == ("Deny", "s3:*")
    assert statement["Principal"] == {"AWS": "*"}
    assert statement["Condition"] == {"Bool": {"aws:SecureTransport": "false"}}
    assert {"Fn::GetAtt": [bucket, "Arn"]} in statement["Resource"]
    assert len(statement["Resource"]) == 2


def test_half_an_upload_goes_away_by_itself_and_no_version_does(template: Template) -> None:
    """A reference may name a version that is not the last."""
    assert files_of(template)[1]["LifecycleConfiguration"]["Rules"] == [
        {"AbortIncompleteMultipartUpload": {"DaysAfterInitiation": 1}, "Status": "Enabled"}
    ]


def test_a_page_of_a_named_origin_may_send_and_get_files_and_no_other_may(
    template: Template, synthesise: Synthesise
) -> None:
    _, named = files_of(synthesise(cors_origins=["https://app.example"]))

    assert named["CorsConfiguration"] == {
        "CorsRules": [
            {
                "AllowedOrigins": ["https://app.example"],
                "AllowedMethods": ["GET", "PUT"],
                "AllowedHeaders": ["content-disposition", "content-type", "if-none-match"],
                "MaxAge": 3600,
            }
        ]
    }
    assert "CorsConfiguration" not in files_of(template)[1]


def test_the_bounds_of_files_are_the_deployments(synthesise: Synthesise) -> None:
    template = synthesise(largest_file_bytes=10, file_url_seconds=30)
    told = [
        function["Environment"]["Variables"]
        for function in of_type(template, "Lambda::Function").values()
        if "TURNKEEPER_BUCKET" in function["Environment"]["Variables"]
    ]

    assert [(one["TURNKEEPER_LARGEST_FILE_BYTES"], one["TURNKEEPER_FILE_URL_SECONDS"]) for one in told] == [
        ("10", "30")
    ] * 3
