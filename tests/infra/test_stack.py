"""The stack as a whole: nothing has a name of its own, and it tells what its users need."""

from aws_cdk.assertions import Template

from tests.infra.reading import files_of, of_type

PHYSICAL_NAMES = {
    "Cognito::UserPool": "UserPoolName",
    "Cognito::UserPoolClient": "ClientName",
    "DynamoDB::Table": "TableName",
    "Events::Rule": "Name",
    "IAM::Role": "RoleName",
    "Lambda::Function": "FunctionName",
    "Lambda::LayerVersion": "LayerName",
    "Logs::LogGroup": "LogGroupName",
    "S3::Bucket": "BucketName",
    "SQS::Queue": "QueueName",
}


def test_nothing_has_a_physical_name_so_that_two_stages_fit_into_one_account(template: Template) -> None:
    for kind, name in PHYSICAL_NAMES.items():
        assert of_type(template, kind), kind
        for logical_id, properties in of_type(template, kind).items():
            assert name not in properties, logical_id


def test_the_stack_tells_where_everything_is(template: Template) -> None:
    (api,), (table,) = of_type(template, "ApiGatewayV2::Api"), of_type(template, "DynamoDB::Table")
    bucket, _ = files_of(template)
    (pool,), (client,) = of_type(template, "Cognito::UserPool"), of_type(template, "Cognito::UserPoolClient")
    (dead,) = [name for name in of_type(template, "SQS::Queue") if "DeadLetters" in name]
    (wake,) = [name for name in of_type(template, "SQS::Queue") if "WakeUps" in name]
    (bus,) = of_type(template, "Events::EventBus")
    (untold,) = [name for name in of_type(template, "SQS::Queue") if name.startswith("PushUntold")]

    assert {name: output["Value"] for name, output in template.find_outputs("*").items()} == {
        "BaseUrl": {"Fn::GetAtt": [api, "ApiEndpoint"]},
        "TableName": {"Ref": table},
        "BucketName": {"Ref": bucket},
        "QueueUrl": {"Ref": wake},
        "DeadLetterQueueUrl": {"Ref": dead},
        "EventBusName": {"Ref": bus},
        "UntoldQueueUrl": {"Ref": untold},
        "UserPoolId": {"Ref": pool},
        "UserPoolClientId": {"Ref": client},
    }
