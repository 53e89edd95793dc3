"""What a stage does to the template: production is safe as it comes, development cheap and disposable."""

from typing import Any

import pytest
from aws_cdk.assertions import Template

from infra.keys import USE
from tests.infra.conftest import Synthesise
from tests.infra.reading import files_of, function_of, of_type, only
from tests.infra.test_grants import GRANTS, as_list, role_of

CERTIFICATE = "arn:aws:acm:eu-central-1:123456789012:certificate/0f9d-12"
KEY_OF_OTHERS = "arn:aws:kms:eu-central-1:123456789012:key/0f9d-12"
ACME = {"principal": "123456789012/AROAEXAMPLE", "arn": "arn:aws:iam::123456789012:role/acme"}


@pytest.fixture(scope="module")
def own_key(synthesise: Synthesise) -> Template:
    return synthesise(encryption_key="own", external_hosts={"acme": ACME})


def test_production_keeps_what_people_made_can_restore_it_and_logs_who_came(template: Template) -> None:
    table = only(template, "DynamoDB::Table")

    assert table["PointInTimeRecoverySpecification"] == {"PointInTimeRecoveryEnabled": True}
    assert table["DeletionProtectionEnabled"] is True
    assert only(template, "Cognito::UserPool")["DeletionProtection"] == "ACTIVE"
    assert "AccessLogSettings" in only(template, "ApiGatewayV2::Stage")
    assert {
        resource["DeletionPolicy"] for resource in template.find_resources("AWS::S3::Bucket").values()
    } == {"Retain"}


def test_development_leaves_nothing_behind_and_pays_for_no_copies(synthesise: Synthesise) -> None:
    template = synthesise(stage="dev")

    assert only(template, "DynamoDB::Table")["PointInTimeRecoverySpecification"] == {
        "PointInTimeRecoveryEnabled": False
    }
    assert "AccessLogSettings" not in only(template, "ApiGatewayV2::Stage")
    assert len(of_type(template, "S3::Bucket")) == 1
    kept = [
        name
        for name, resource in template.to_json()["Resources"].items()
        if resource.get("DeletionPolicy", "Delete") != "Delete"
    ]
    assert kept == []


@pytest.mark.parametrize("stage", ["dev", "prod"])
def test_nothing_is_at_rest_in_the_clear_at_any_stage(synthesise: Synthesise, stage: str) -> None:
    template = synthesise(stage=stage)

    assert only(template, "DynamoDB::Table")["SSESpecification"]["SSEEnabled"] is True
    assert {queue["SqsManagedSseEnabled"] for queue in of_type(template, "SQS::Queue").values()} == {True}
    for bucket in of_type(template, "S3::Bucket").values():
        assert bucket["BucketEncryption"]["ServerSideEncryptionConfiguration"]
    assert of_type(template, "KMS::Key") == {}


def test_who_got_which_file_is_logged_into_a_bucket_that_forgets_with_the_logs(
    synthesise: Synthesise,
) -> None:
    template = synthesise(access_logs=True, log_retention_days=30)
    (log_id,) = [name for name in of_type(template, "S3::Bucket") if name.startswith("FilesAccessLogs")]

    assert files_of(template)[1]["LoggingConfiguration"] == {"DestinationBucketName": {"Ref": log_id}}
    (rule,) = of_type(template, "S3::Bucket")[log_id]["LifecycleConfiguration"]["Rules"]
    assert (rule["ExpirationInDays"], rule["Status"]) == (30, "Enabled")


def test_a_key_of_its_own_is_over_the_table_the_files_the_queues_and_the_logs(own_key: Template) -> None:
    (key,) = of_type(own_key, "KMS::Key")
    arn = {"Fn::GetAtt": [key, "Arn"]}

    assert only(own_key, "KMS::Key")["EnableKeyRotation"] is True
    assert only(own_key, "DynamoDB::Table")["SSESpecification"] == {
        "SSEEnabled": True,
        "SSEType": "KMS",
        "KMSMasterKeyId": arn,
    }
    (rule,) = files_of(own_key)[1]["BucketEncryption"]["ServerSideEncryptionConfiguration"]
    assert rule == {
        "BucketKeyEnabled": True,
        "ServerSideEncryptionByDefault": {"SSEAlgorithm": "aws:kms", "KMSMasterKeyID": arn},
    }
    assert [queue["KmsMasterKeyId"] for queue in of_type(own_key, "SQS::Queue").values()] == [arn] * 5
    logs = of_type(own_key, "Logs::LogGroup")
    assert [log["KmsKeyId"] for log in logs.values()] == [arn] * len(logs)


@pytest.mark.parametrize("name", GRANTS)
def test_a_function_uses_the_key_only_through_the_services_that_keep_things_under_it(
    own_key: Template, name: str
) -> None:
    (key,) = of_type(own_key, "KMS::Key")
    (statement,) = [
        statement
        for policy in of_type(own_key, "IAM::Policy").values()
        if {"Ref": role_of(own_key, name)} in policy["Roles"]
        for statement in policy["PolicyDocument"]["Statement"]
        if any(action.startswith("kms:") for action in as_list(statement["Action"]))
    ]

    assert statement["Action"] == USE
    assert statement["Resource"] == {"Fn::GetAtt": [key, "Arn"]}
    assert services(statement["Condition"]) == ["dynamodb.", "sqs.", "s3."]


def test_the_key_lets_in_the_account_the_logs_the_alarms_and_a_host_at_its_queue_and_nobody_else(
    own_key: Template,
) -> None:
    account, logs, alarms, host = only(own_key, "KMS::Key")["KeyPolicy"]["Statement"]

    assert account["Principal"]["AWS"]["Fn::Join"][1][-1] == ":root"
    assert logs["Principal"]["Service"]["Fn::Join"][1][0] == "logs."
    assert set(logs["Condition"]) == {"ArnLike"}
    assert alarms["Principal"] == {"Service": "cloudwatch.amazonaws.com"}
    assert (host["Principal"], host["Action"]) == ({"AWS": ACME["arn"]}, "kms:Decrypt")
    assert services(host["Condition"]) == ["sqs."]


def services(condition: dict[str, Any]) -> list[str]:
    """The services through which alone a key is used, without their region."""
    return [one["Fn::Join"][1][0] for one in condition["StringEquals"]["kms:ViaService"]]


def test_somebody_elses_key_is_used_and_its_policy_left_to_them(synthesise: Synthesise) -> None:
    template = synthesise(encryption_key=KEY_OF_OTHERS)

    assert of_type(template, "KMS::Key") == {}
    assert only(template, "DynamoDB::Table")["SSESpecification"]["KMSMasterKeyId"] == KEY_OF_OTHERS


def test_a_domain_of_its_own_is_the_one_way_in_and_stands_in_its_zone(synthesise: Synthesise) -> None:
    template = synthesise(
        domain_name="tasks.example.com", certificate_arn=CERTIFICATE, hosted_zone_id="Z0123ABC"
    )
    (domain,) = of_type(template, "ApiGatewayV2::DomainName")

    assert only(template, "ApiGatewayV2::DomainName")["DomainNameConfigurations"] == [
        {"CertificateArn": CERTIFICATE, "EndpointType": "REGIONAL", "SecurityPolicy": "TLS_1_2"}
    ]
    assert only(template, "ApiGatewayV2::ApiMapping")["DomainName"] == {"Ref": domain}
    assert only(template, "ApiGatewayV2::Api")["DisableExecuteApiEndpoint"] is True
    records = of_type(template, "Route53::RecordSet").values()
    assert {(one["Name"], one["Type"], one["HostedZoneId"]) for one in records} == {
        ("tasks.example.com", "A", "Z0123ABC"),
        ("tasks.example.com", "AAAA", "Z0123ABC"),
    }
    assert template.find_outputs("BaseUrl")["BaseUrl"]["Value"] == {
        "Fn::Join": ["", ["https://", {"Ref": domain}]]
    }


def test_without_a_zone_whoever_keeps_the_domain_is_told_where_it_must_lead(synthesise: Synthesise) -> None:
    template = synthesise(domain_name="tasks.example.com", certificate_arn=CERTIFICATE)
    (domain,) = of_type(template, "ApiGatewayV2::DomainName")

    assert of_type(template, "Route53::RecordSet") == {}
    assert template.find_outputs("DomainTarget")["DomainTarget"]["Value"] == {
        "Fn::GetAtt": [domain, "RegionalDomainName"]
    }


def test_the_poll_can_be_restored_from_a_snapshot_of_its_start(synthesise: Synthesise) -> None:
    template = synthesise(snap_start=True)
    status, function = function_of(template, "status")
    (alias,) = of_type(template, "Lambda::Alias")
    (version,) = of_type(template, "Lambda::Version")

    assert function["SnapStart"] == {"ApplyOn": "PublishedVersions"}
    assert only(template, "Lambda::Version")["FunctionName"] == {"Ref": status}
    assert only(template, "Lambda::Alias")["FunctionVersion"] == {"Fn::GetAtt": [version, "Version"]}
    route = only_route(template, "GET /v1/tasks/{task_id}")
    integration = of_type(template, "ApiGatewayV2::Integration")[route["Target"]["Fn::Join"][1][1]["Ref"]]
    assert integration["IntegrationUri"] == {"Ref": alias}
    others = [one for name, one in of_type(template, "Lambda::Function").items() if name != status]
    assert [one for one in others if "SnapStart" in one] == []


def only_route(template: Template, key: str) -> dict[str, Any]:
    """The route of *key*."""
    (found,) = [
        route for route in of_type(template, "ApiGatewayV2::Route").values() if route["RouteKey"] == key
    ]
    return found


def test_without_the_snapshot_no_version_is_published(template: Template) -> None:
    assert of_type(template, "Lambda::Version") == of_type(template, "Lambda::Alias") == {}
    assert "SnapStart" not in function_of(template, "status")[1]
