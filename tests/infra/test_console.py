"""The console on AWS: its page and the API are one origin, and nothing else is let in or out."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from aws_cdk.assertions import Template

from infra.console import ANY_CLOUDFRONT, PLACES
from infra.page import headers
from tests.infra.conftest import Synthesise
from tests.infra.reading import files_of, of_type, only

DOMAIN = {
    "console_domain_name": "console.example.com",
    "console_certificate_arn": "arn:aws:acm:us-east-1:123456789012:certificate/0f9d-12",
}
THEIRS = {
    "oidc_issuer": "https://id.example/realm",
    "oidc_audience": "turnkeeper",
    "human_claim": "preferred_username",
    "console_sign_in": {
        "client_id": "console",
        "authorization_endpoint": "https://id.example/realm/authorize",
        "token_endpoint": "https://token.id.example/realm/token",
    },
}
CACHING_DISABLED = "4135ea2d-6df8-44a3-9df3-4b5a84be39ad"
ALL_BUT_HOST = "b689b0a8-53d0-40ab-baf2-68738e2966ac"


@pytest.fixture(scope="module")
def template(synthesise: Synthesise) -> Template:
    return synthesise(console=True)


@pytest.fixture(scope="module")
def named(synthesise: Synthesise) -> Template:
    return synthesise(console=True, **DOMAIN)


def distribution(template: Template) -> dict[str, Any]:
    found: dict[str, Any] = only(template, "CloudFront::Distribution")["DistributionConfig"]
    return found


def origin(template: Template, behaviour: dict[str, Any]) -> dict[str, Any]:
    (found,) = [one for one in distribution(template)["Origins"] if one["Id"] == behaviour["TargetOriginId"]]
    return dict(found)


def api_behaviour(template: Template) -> dict[str, Any]:
    (found,) = distribution(template)["CacheBehaviors"]
    return dict(found)


def bucket(template: Template) -> tuple[str, dict[str, Any]]:
    (found,) = [
        (name, one) for name, one in of_type(template, "S3::Bucket").items() if name.startswith("Console")
    ]
    return found


def client(template: Template) -> tuple[str, dict[str, Any]]:
    (found,) = [
        (name, one) for name, one in of_type(template, "Cognito::UserPoolClient").items() if "Console" in name
    ]
    return found


def text(value: Any) -> str:
    """*value* as a text in which a reference stands as JSON."""
    if isinstance(value, dict) and "Fn::Join" in value:
        separator, parts = value["Fn::Join"]
        return str(separator).join(part if isinstance(part, str) else json.dumps(part) for part in parts)
    return value if isinstance(value, str) else json.dumps(value)


def told(template: Template) -> Iterator[tuple[str, str]]:
    """Every header that CloudFront adds, and whether it stands against what an origin says."""
    config = only(template, "CloudFront::ResponseHeadersPolicy")["ResponseHeadersPolicyConfig"]
    said = config["SecurityHeadersConfig"]
    policy, transport = said["ContentSecurityPolicy"], said["StrictTransportSecurity"]
    yield "content-security-policy", text(policy["ContentSecurityPolicy"])
    yield "x-content-type-options", "nosniff"
    yield "x-frame-options", said["FrameOptions"]["FrameOption"]
    yield "referrer-policy", said["ReferrerPolicy"]["ReferrerPolicy"]
    below = "; includeSubDomains" if transport["IncludeSubdomains"] else ""
    yield "strict-transport-security", f"max-age={transport['AccessControlMaxAgeSec']}{below}"
    for one in config["CustomHeadersConfig"]["Items"]:
        yield one["Header"], one["Value"]
        assert one["Override"] is True
    assert all(one["Override"] is True for one in said.values())


def test_only_cloudfront_reads_the_files_and_only_by_tls(template: Template) -> None:
    name, own = bucket(template)
    (policy,) = [
        policy["PolicyDocument"]["Statement"]
        for policy in of_type(template, "S3::BucketPolicy").values()
        if policy["Bucket"] == {"Ref": name}
    ]
    (allowed,) = [one for one in policy if one["Effect"] == "Allow"]
    (refused,) = [one for one in policy if one["Effect"] == "Deny"]

    assert set(own["PublicAccessBlockConfiguration"].values()) == {True}
    assert (allowed["Action"], allowed["Principal"]) == (
        "s3:GetObject",
        {"Service": "cloudfront.amazonaws.com"},
    )
    (distribution_id,) = of_type(template, "CloudFront::Distribution")
    assert distribution_id in json.dumps(allowed["Condition"]["StringEquals"]["AWS:SourceArn"])
    assert refused["Condition"] == {"Bool": {"aws:SecureTransport": "false"}}
    behind = origin(template, distribution(template)["DefaultCacheBehavior"])
    assert "OriginAccessControlId" in behind
    control = only(template, "CloudFront::OriginAccessControl")["OriginAccessControlConfig"]
    assert (control["SigningBehavior"], control["SigningProtocol"]) == ("always", "sigv4")


def test_the_api_is_at_the_same_origin_and_nothing_of_it_is_kept_or_changed(template: Template) -> None:
    behaviour = api_behaviour(template)
    behind = origin(template, behaviour)
    (api,) = of_type(template, "ApiGatewayV2::Api")

    assert behaviour["PathPattern"] == "/v1/*"
    assert {"GET", "POST", "PUT"} <= set(behaviour["AllowedMethods"])
    assert behaviour["CachePolicyId"] == CACHING_DISABLED
    assert behaviour["OriginRequestPolicyId"] == ALL_BUT_HOST
    assert behaviour["ViewerProtocolPolicy"] == "https-only"
    # A compressed answer would have another ETag.
    assert behaviour["Compress"] is False
    # What is no file of the console's stays what the API says.
    assert "FunctionAssociations" not in behaviour
    assert all("ResponsePagePath" not in kept for kept in distribution(template)["CustomErrorResponses"])
    assert api in json.dumps(behind["DomainName"])
    assert behind["CustomOriginConfig"]["OriginProtocolPolicy"] == "https-only"
    assert behind["CustomOriginConfig"]["OriginSSLProtocols"] == ["TLSv1.2"]


def test_what_one_person_is_refused_is_kept_for_nobody_else(template: Template) -> None:
    """By default CloudFront keeps an error for ten seconds for whoever asks for that address, `no-store` or not."""
    kept = {one["ErrorCode"]: one for one in distribution(template)["CustomErrorResponses"]}

    assert kept == {
        status: {"ErrorCode": status, "ErrorCachingMinTTL": 0}
        for status in (400, 403, 404, 405, 414, 500, 501, 502, 503, 504)
    }


def test_an_api_with_an_address_of_its_own_is_asked_by_that(synthesise: Synthesise) -> None:
    template = synthesise(
        console=True,
        domain_name="tasks.example.com",
        certificate_arn="arn:aws:acm:eu-central-1:123456789012:certificate/0f9d-12",
    )

    (domain,) = of_type(template, "ApiGatewayV2::DomainName")

    assert origin(template, api_behaviour(template))["DomainName"] == {"Ref": domain}


def test_the_page_comes_by_tls_and_an_address_within_it_is_the_page(template: Template) -> None:
    behaviour = distribution(template)["DefaultCacheBehavior"]

    assert behaviour["ViewerProtocolPolicy"] == "redirect-to-https"
    assert distribution(template)["DefaultRootObject"] == "index.html"
    (called,) = behaviour["FunctionAssociations"]
    assert called["EventType"] == "viewer-request"
    assert only(template, "CloudFront::Function")["FunctionCode"] == PLACES


def test_every_answer_has_every_header_of_the_page(template: Template) -> None:
    sent = dict(told(template))
    (policy,) = of_type(template, "CloudFront::ResponseHeadersPolicy")
    (files, _) = files_of(template)
    policies = sent.pop("content-security-policy")
    wanted = headers(connect=())
    wanted.pop("content-security-policy")

    assert sent == wanted
    assert policies.startswith("default-src 'none'; script-src 'self'; style-src 'self'")
    (connect,) = [part for part in policies.split("; ") if part.startswith("connect-src")]
    assert connect.split(" https://")[0] == "connect-src 'self'"
    assert connect.count("https://") == 2
    assert files in connect
    assert ".amazoncognito.com" in connect
    assert "*" not in connect
    assert {
        one["ResponseHeadersPolicyId"]["Ref"]
        for one in (distribution(template)["DefaultCacheBehavior"], api_behaviour(template))
    } == {policy}


def test_people_sign_in_for_it_by_a_code_with_no_secret_and_come_back_to_it_alone(template: Template) -> None:
    name, own = client(template)
    (distribution_id,) = of_type(template, "CloudFront::Distribution")
    back = {"Fn::GetAtt": [distribution_id, "DomainName"]}

    assert own["AllowedOAuthFlows"] == ["code"]
    assert own["AllowedOAuthScopes"] == ["openid"]
    assert own["GenerateSecret"] is False
    assert own["CallbackURLs"] == [{"Fn::Join": ["", ["https://", back, "/signed-in"]]}]
    assert own["LogoutURLs"] == [{"Fn::Join": ["", ["https://", back, "/signed-out"]]}]
    assert own["SupportedIdentityProviders"] == ["COGNITO"]
    # Cognito has a default of its own where nothing is said.
    assert own["ExplicitAuthFlows"] == ["ALLOW_REFRESH_TOKEN_AUTH"]
    assert own["AccessTokenValidity"] == 60
    branding = only(template, "Cognito::ManagedLoginBranding")
    assert (branding["ClientId"], branding["UseCognitoProvidedValues"]) == ({"Ref": name}, True)


def test_the_api_takes_its_tokens_and_those_of_the_other_client(template: Template) -> None:
    trusted = only(template, "ApiGatewayV2::Authorizer")["JwtConfiguration"]["Audience"]

    assert len(trusted) == 2
    assert {"Ref": client(template)[0]} in trusted


def test_the_page_is_told_where_to_sign_in(template: Template) -> None:
    (deployed,) = [
        one["Properties"] for one in template.find_resources("Custom::CDKBucketDeployment").values()
    ]
    markers = deployed["SourceMarkers"]

    assert deployed["SystemMetadata"] == {"cache-control": "no-cache"}
    assert (deployed["Prune"], deployed["RetainOnDelete"]) == (True, False)
    assert json.dumps({"Ref": client(template)[0]}) in json.dumps(markers)


def test_a_name_of_its_own_brings_tls_1_2_and_lets_pages_of_that_name_alone_send_files(
    named: Template, template: Template
) -> None:
    certificate = distribution(named)["ViewerCertificate"]
    (rule,) = files_of(named)[1]["CorsConfiguration"]["CorsRules"]
    (unnamed,) = files_of(template)[1]["CorsConfiguration"]["CorsRules"]

    assert certificate["AcmCertificateArn"] == DOMAIN["console_certificate_arn"]
    assert certificate["MinimumProtocolVersion"] == "TLSv1.2_2021"
    assert distribution(named)["Aliases"] == [DOMAIN["console_domain_name"]]
    assert rule["AllowedOrigins"] == ["https://console.example.com"]
    assert unnamed["AllowedOrigins"] == [ANY_CLOUDFRONT]
    assert client(named)[1]["CallbackURLs"] == ["https://console.example.com/signed-in"]
    outputs = named.find_outputs("*")
    assert outputs["ConsoleUrl"]["Value"] == "https://console.example.com"
    assert "ConsoleTarget" in outputs


def test_an_issuer_of_ones_own_signs_people_in_for_it(synthesise: Synthesise) -> None:
    template = synthesise(console=True, **THEIRS)
    policies = dict(told(template))["content-security-policy"]

    assert "https://token.id.example " in f"{policies} "
    assert "id.example/realm" not in policies
    assert of_type(template, "Cognito::UserPoolClient") == {}
    # An ID token is for the client; only what is for the API may call it.
    assert only(template, "ApiGatewayV2::Authorizer")["JwtConfiguration"]["Audience"] == ["turnkeeper"]


def test_without_it_there_is_nothing_of_it(synthesise: Synthesise) -> None:
    template = synthesise(console=False)

    assert not [name for name in template.to_json()["Resources"] if "Console" in name or "CDKBucket" in name]
    assert "ConsoleUrl" not in template.find_outputs("*")
