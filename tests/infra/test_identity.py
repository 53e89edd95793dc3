"""Who is let in as a person: users of our own pool, or of the issuer that the deployment names."""

from aws_cdk.assertions import Template

from tests.infra.conftest import Synthesise
from tests.infra.reading import function_of, of_type, only

OIDC = {
    "oidc_issuer": "https://id.example/realm",
    "oidc_audience": "turnkeeper",
    "human_claim": "preferred_username",
}


def test_only_the_operator_makes_users(template: Template) -> None:
    pool = only(template, "Cognito::UserPool")

    assert pool["AdminCreateUserConfig"] == {"AllowAdminCreateUserOnly": True}


def test_the_client_has_no_secret_signs_in_two_ways_and_its_tokens_live_an_hour(template: Template) -> None:
    client = only(template, "Cognito::UserPoolClient")

    assert client["GenerateSecret"] is False
    assert sorted(client["ExplicitAuthFlows"]) == [
        "ALLOW_ADMIN_USER_PASSWORD_AUTH",
        "ALLOW_REFRESH_TOKEN_AUTH",
        "ALLOW_USER_SRP_AUTH",
    ]
    assert client["AllowedOAuthFlowsUserPoolClient"] is False
    assert (client["AccessTokenValidity"], client["TokenValidityUnits"]["AccessToken"]) == (60, "minutes")
    assert client["PreventUserExistenceErrors"] == "ENABLED"


def test_the_authorizer_trusts_the_pool_and_its_client_only(template: Template) -> None:
    (pool,), (client,) = of_type(template, "Cognito::UserPool"), of_type(template, "Cognito::UserPoolClient")
    trusted = only(template, "ApiGatewayV2::Authorizer")["JwtConfiguration"]

    assert trusted["Audience"] == [{"Ref": client}]
    assert trusted["Issuer"]["Fn::Join"][1] == [
        "https://cognito-idp.",
        {"Ref": "AWS::Region"},
        ".",
        {"Ref": "AWS::URLSuffix"},
        "/",
        {"Ref": pool},
    ]


def test_another_issuer_takes_the_place_of_the_pool(synthesise: Synthesise) -> None:
    template = synthesise(**OIDC)

    assert only(template, "ApiGatewayV2::Authorizer")["JwtConfiguration"] == {
        "Issuer": "https://id.example/realm",
        "Audience": ["turnkeeper"],
    }
    for name in ("status", "tasks"):
        variables = function_of(template, name)[1]["Environment"]["Variables"]
        assert variables["TURNKEEPER_HUMAN_CLAIM"] == "preferred_username"
    assert of_type(template, "Cognito::UserPool") == {}
    assert not {"UserPoolId", "UserPoolClientId"} & set(template.find_outputs("*"))
