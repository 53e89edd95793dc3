"""Gives deployed resources what the engine's CloudFormation leaves out, read from the template that asked for it."""

from collections.abc import Mapping
from typing import Any

from offline.engine import Engine


def repair(engine: Engine, stack: str, template: Mapping[str, Any]) -> None:
    """Have what *stack* deployed be as *template* says, where the engine would silently differ."""
    cloudformation = engine.client("cloudformation")
    for logical_id, resource in template["Resources"].items():
        mend = REPAIRS.get(resource["Type"])
        if mend is not None:
            found = cloudformation.describe_stack_resource(StackName=stack, LogicalResourceId=logical_id)
            mend(engine, found["StackResourceDetail"]["PhysicalResourceId"], resource["Properties"])


def let_browsers_in(engine: Engine, api_id: str, properties: Mapping[str, Any]) -> None:
    """Give an API its CORS configuration."""
    gateway = engine.client("apigatewayv2")
    if "CorsConfiguration" in properties:
        gateway.update_api(ApiId=api_id, CorsConfiguration=properties["CorsConfiguration"])
    else:
        gateway.delete_cors_configuration(ApiId=api_id)


def keep_time(engine: Engine, table: str, properties: Mapping[str, Any]) -> None:
    """Give a table its time to live and its point-in-time recovery."""
    dynamodb = engine.client("dynamodb")
    if (
        dynamodb.describe_time_to_live(TableName=table)["TimeToLiveDescription"]["TimeToLiveStatus"]
        != "ENABLED"
    ):
        dynamodb.update_time_to_live(
            TableName=table, TimeToLiveSpecification=properties["TimeToLiveSpecification"]
        )
    dynamodb.update_continuous_backups(
        TableName=table, PointInTimeRecoverySpecification=properties["PointInTimeRecoverySpecification"]
    )


REPAIRS = {"AWS::ApiGatewayV2::Api": let_browsers_in, "AWS::DynamoDB::Table": keep_time}
