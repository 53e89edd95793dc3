"""The table: its keys, its indexes, and what keeps its items safe."""

from aws_cdk.assertions import Template

from tests.infra.conftest import Synthesise, stack_of
from tests.infra.reading import only
from tests.support.schema import INDEXES, KEY


def test_the_table_has_the_keys_and_indexes_that_the_store_writes(template: Template) -> None:
    table = only(template, "DynamoDB::Table")

    assert keys(table["KeySchema"]) == KEY
    assert {
        index["IndexName"]: (keys(index["KeySchema"]), index["Projection"])
        for index in table["GlobalSecondaryIndexes"]
    } == {name: (index, {"ProjectionType": "KEYS_ONLY"}) for name, index in INDEXES.items()}
    assert {attribute["AttributeType"] for attribute in table["AttributeDefinitions"]} == {"S"}


def test_the_table_is_on_demand_encrypted_and_can_be_restored_to_any_second(template: Template) -> None:
    table = only(template, "DynamoDB::Table")

    assert table["BillingMode"] == "PAY_PER_REQUEST"
    assert table["SSESpecification"] == {"SSEEnabled": True}
    assert table["PointInTimeRecoverySpecification"] == {"PointInTimeRecoveryEnabled": True}


def test_idempotency_items_go_away_by_themselves(template: Template) -> None:
    table = only(template, "DynamoDB::Table")

    assert table["TimeToLiveSpecification"] == {"AttributeName": "expires_at", "Enabled": True}


def test_nothing_that_people_made_goes_with_the_stack_unless_the_deployment_says_so(
    synthesise: Synthesise,
) -> None:
    for kept, policy in ((True, "Retain"), (False, "Delete")):
        template = synthesise(keep_data=kept, deletion_protection=kept)
        table = only(template, "DynamoDB::Table")
        pool = only(template, "Cognito::UserPool")

        assert table["DeletionProtectionEnabled"] is kept
        assert stack_of(keep_data=kept, deletion_protection=kept).termination_protection is kept
        assert pool["DeletionProtection"] == ("ACTIVE" if kept else "INACTIVE")
        for kind in ("DynamoDB::Table", "Cognito::UserPool", "Logs::LogGroup", "S3::Bucket"):
            policies = {
                (resource["DeletionPolicy"], resource["UpdateReplacePolicy"])
                for resource in template.find_resources(f"AWS::{kind}").values()
            }
            assert policies == {(policy, policy)}, kind


def keys(schema: list[dict[str, str]]) -> tuple[str, ...]:
    """Return the names of the partition key and the sort key."""
    by_kind = {key["KeyType"]: key["AttributeName"] for key in schema}
    return by_kind["HASH"], by_kind["RANGE"]
