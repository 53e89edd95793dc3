"""The HTTP API: people come with a token, hosts with a signature, and nobody else further than our 404."""

import json
from collections.abc import Sequence

import jsii
from aws_cdk import Duration, Fn
from aws_cdk import aws_apigateway as apigateway
from aws_cdk import aws_apigatewayv2 as apigatewayv2
from aws_cdk import aws_apigatewayv2_authorizers as authorizers
from aws_cdk import aws_apigatewayv2_integrations as integrations
from aws_cdk import aws_certificatemanager as certificates
from aws_cdk import aws_kms as kms
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_logs as logs
from aws_cdk import aws_route53 as route53
from constructs import Construct

from infra.identity import Identity
from infra.logs import kept_log
from infra.stage import Stage

ALLOWED_HEADERS = ["authorization", "content-type", "idempotency-key", "if-none-match"]
EXPOSED_HEADERS = [
    "agent-status",
    "etag",
    "location",
    "poll-after",
    "received-at",
    "retry-after",
    "x-correlation-id",
]

ACCESS_LOG = {
    "request": "$context.requestId",
    "at": "$context.requestTime",
    "route": "$context.routeKey",
    "status": "$context.status",
    "milliseconds": "$context.responseLatency",
    "bytes": "$context.responseLength",
    "token_refused": "$context.authorizer.error",
    "function_failed": "$context.integrationErrorMessage",
}
"""What is logged of a request: no path and no address, since those tell whose task it was."""

METHODS = {method.value: method for method in apigatewayv2.HttpMethod}


class Api(Construct):
    """The front door: who is let in, how often, and what is logged of it."""

    def __init__(self, scope: Construct, id_: str, *, stage: Stage, key: kms.IKey | None) -> None:
        super().__init__(scope, id_)
        self.domain = self._domain(stage)
        self.http = apigatewayv2.HttpApi(
            self,
            "Http",
            api_name="turnkeeper",
            create_default_stage=False,
            # Whoever has an address of their own has one address.
            disable_execute_api_endpoint=self.domain is not None,
            cors_preflight=browsers(stage.cors_origins),
        )
        apigatewayv2.HttpStage(
            self,
            "Stage",
            http_api=self.http,
            stage_name="$default",
            auto_deploy=True,
            throttle=apigatewayv2.ThrottleSettings(
                rate_limit=stage.throttle_rate, burst_limit=stage.throttle_burst
            ),
            access_log_settings=AccessLog(kept_log(self, "AccessLog", stage=stage, key=key))
            if stage.access_logs
            else None,
            domain_mapping=apigatewayv2.DomainMappingOptions(domain_name=self.domain)
            if self.domain
            else None,
        )
        self._people: authorizers.HttpJwtAuthorizer | None = None
        self._hosts = authorizers.HttpIamAuthorizer()
        self._integrations: dict[str, integrations.HttpLambdaIntegration] = {}

    @property
    def base_url(self) -> str:
        """Where the routes begin, without a slash at the end."""
        return f"https://{self.domain.name}" if self.domain else self.http.api_endpoint

    def _domain(self, stage: Stage) -> apigatewayv2.DomainName | None:
        """Return the address of the deployment's own, and tell its zone of it when there is one to tell."""
        if stage.domain_name is None or stage.certificate_arn is None:
            return None
        certificate = certificates.Certificate.from_certificate_arn(
            self, "Certificate", stage.certificate_arn
        )
        domain = apigatewayv2.DomainName(
            self,
            "Domain",
            domain_name=stage.domain_name,
            certificate=certificate,
            security_policy=apigatewayv2.SecurityPolicy.TLS_1_2,
        )
        if stage.hosted_zone_id is not None:
            target = route53.CfnRecordSet.AliasTargetProperty(
                dns_name=domain.regional_domain_name, hosted_zone_id=domain.regional_hosted_zone_id
            )
            for kind in ("A", "AAAA"):
                route53.CfnRecordSet(
                    self,
                    f"Record{kind}",
                    name=stage.domain_name,
                    type=kind,
                    hosted_zone_id=stage.hosted_zone_id,
                    alias_target=target,
                )
        return domain

    @property
    def host(self) -> str:
        """The name that it answers to."""
        return (
            self.base_url.removeprefix("https://")
            if self.domain
            else Fn.select(2, Fn.split("/", self.base_url))
        )

    def trust(self, people: Identity) -> None:
        """Let in whoever *people* says is one; said once all of its audiences are known, and before the routes."""
        self._people = authorizers.HttpJwtAuthorizer("People", people.issuer, jwt_audience=people.audiences)

    def people(self, route: str, function: lambda_.IFunction) -> None:
        """Let people with a token call *function* by *route*."""
        assert self._people is not None  # noqa: S101 - whom it trusts is said before its routes
        self._add(route, function, self._people)

    def hosts(self, route: str, function: lambda_.IFunction) -> None:
        """Let hosts with an IAM signature call *function* by *route*."""
        self._add(route, function, self._hosts)

    def anyone(self, route: str, function: lambda_.IFunction) -> None:
        """Let anyone call *function* by *route*."""
        self._add(route, function, apigatewayv2.HttpNoneAuthorizer())

    def _add(
        self, route: str, function: lambda_.IFunction, authorizer: apigatewayv2.IHttpRouteAuthorizer
    ) -> None:
        name = function.node.id
        if name not in self._integrations:
            self._integrations[name] = integrations.HttpLambdaIntegration(f"{name}Integration", function)
        apigatewayv2.HttpRoute(
            self,
            route,
            http_api=self.http,
            route_key=route_key(route),
            integration=self._integrations[name],
            authorizer=authorizer,
        )


@jsii.implements(apigatewayv2.IAccessLogSettings)
class AccessLog:
    """One line of JSON per request."""

    def __init__(self, log_group: logs.ILogGroup) -> None:
        self._log_group = log_group

    @property
    def destination(self) -> apigatewayv2.IAccessLogDestination:
        """Where the lines go."""
        return apigatewayv2.LogGroupLogDestination(self._log_group)

    @property
    def format(self) -> apigateway.AccessLogFormat:
        """What a line says."""
        return apigateway.AccessLogFormat.custom(json.dumps(ACCESS_LOG))


def route_key(route: str) -> apigatewayv2.HttpRouteKey:
    """Turn `GET /v1/tasks` or `$default` into the key of a route."""
    if route == "$default":
        return apigatewayv2.HttpRouteKey.DEFAULT
    method, path = route.split(" ")
    return apigatewayv2.HttpRouteKey.with_(path, METHODS[method])


def browsers(origins: Sequence[str]) -> apigatewayv2.CorsPreflightOptions | None:
    """Return what pages of other *origins* may send and see; nothing when there are none."""
    if not origins:
        return None
    return apigatewayv2.CorsPreflightOptions(
        allow_origins=list(origins),
        allow_methods=[apigatewayv2.CorsHttpMethod.GET, apigatewayv2.CorsHttpMethod.POST],
        allow_headers=ALLOWED_HEADERS,
        expose_headers=EXPOSED_HEADERS,
        max_age=Duration.hours(1),
    )
