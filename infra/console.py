"""The console: its files in a private bucket, and CloudFront in front of them and of the API, as one origin.

So the page needs no CORS, and the policy that it comes with names no other origin but where people sign in and where
files are sent (infra/page.py; docs/decisions/0110, 0112).
"""

from collections.abc import Mapping, Sequence

from aws_cdk import Duration, RemovalPolicy
from aws_cdk import aws_certificatemanager as certificates
from aws_cdk import aws_cloudfront as cloudfront
from aws_cdk import aws_cloudfront_origins as origins
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_s3_deployment as s3_deployment
from constructs import Construct

from infra import ROOT
from infra.logs import kept_log
from infra.page import (
    ASKED_FOR_ANEW,
    CONFIG,
    FILES,
    FRAMES,
    INDEX,
    NOT_SERVED,
    POLICY,
    REFERRER,
    SNIFFING,
    TRANSPORT,
    YEAR_SECONDS,
    SignIn,
    config,
    headers,
)
from infra.stage import Stage

API = "/v1/*"
ANY_CLOUDFRONT = "https://*.cloudfront.net"
"""Whose pages may send files while the console has no name of its own: its name is not known before its bucket's is."""

KEPT_ERRORS = (400, 403, 404, 405, 414, 500, 501, 502, 503, 504)
"""Statuses that CloudFront keeps for ten seconds unless it is told otherwise, whatever the answer says of that and
whoever asked: what is unknown to one is another's task."""

PLACES = f"""\
function handler(event) {{
  var request = event.request;
  if (!request.uri.split("/").pop().includes(".")) request.uri = "/{INDEX}";
  return request;
}}
"""
"""An address whose last part has no dot is a place within the page. It is asked of files alone: an API's 404 stays."""


class Console(Construct):
    """What a browser finds of one deployment."""

    def __init__(
        self, scope: Construct, id_: str, *, stage: Stage, api: str, sign_in: str, files: str
    ) -> None:
        """*api* is the host of the API; *sign_in* and *files* are the origins that the page may talk to besides."""
        super().__init__(scope, id_)
        self._stage = stage
        self.bucket = s3.Bucket(
            self,
            "Bucket",
            encryption=s3.BucketEncryption.S3_MANAGED,
            block_public_access=s3.BlockPublicAccess.BLOCK_ALL,
            object_ownership=s3.ObjectOwnership.BUCKET_OWNER_ENFORCED,
            enforce_ssl=True,
            # All of it is in the repository.
            removal_policy=RemovalPolicy.DESTROY,
        )
        certificate = (
            certificates.Certificate.from_certificate_arn(self, "Certificate", stage.console_certificate_arn)
            if stage.console_certificate_arn
            else None
        )
        told = self._headers(headers(connect=(sign_in, files)))
        self.distribution = cloudfront.Distribution(
            self,
            "Distribution",
            comment=f"Turnkeeper's console, {stage.stage}",
            default_root_object=INDEX,
            default_behavior=cloudfront.BehaviorOptions(
                origin=origins.S3BucketOrigin.with_origin_access_control(self.bucket),
                viewer_protocol_policy=cloudfront.ViewerProtocolPolicy.REDIRECT_TO_HTTPS,
                cache_policy=cloudfront.CachePolicy.CACHING_OPTIMIZED,
                response_headers_policy=told,
                function_associations=[
                    cloudfront.FunctionAssociation(
                        event_type=cloudfront.FunctionEventType.VIEWER_REQUEST,
                        function=cloudfront.Function(
                            self,
                            "Places",
                            code=cloudfront.FunctionCode.from_inline(PLACES),
                            runtime=cloudfront.FunctionRuntime.JS_2_0,
                        ),
                    )
                ],
            ),
            additional_behaviors={
                API: cloudfront.BehaviorOptions(
                    origin=origins.HttpOrigin(
                        api,
                        protocol_policy=cloudfront.OriginProtocolPolicy.HTTPS_ONLY,
                        origin_ssl_protocols=[cloudfront.OriginSslPolicy.TLS_V1_2],
                    ),
                    viewer_protocol_policy=cloudfront.ViewerProtocolPolicy.HTTPS_ONLY,
                    allowed_methods=cloudfront.AllowedMethods.ALLOW_ALL,
                    cache_policy=cloudfront.CachePolicy.CACHING_DISABLED,
                    # All but Host, by which the gateway knows which API is meant.
                    origin_request_policy=cloudfront.OriginRequestPolicy.ALL_VIEWER_EXCEPT_HOST_HEADER,
                    response_headers_policy=told,
                    # It would weaken the ETags.
                    compress=False,
                )
            },
            # Their words and their status stay the API's.
            error_responses=[
                cloudfront.ErrorResponse(http_status=status, ttl=Duration.seconds(0))
                for status in KEPT_ERRORS
            ],
            http_version=cloudfront.HttpVersion.HTTP2_AND_3,
            domain_names=[stage.console_domain_name] if stage.console_domain_name else None,
            certificate=certificate,
            # Without a name of its own it has CloudFront's certificate, and what CloudFront allows with that.
            minimum_protocol_version=cloudfront.SecurityPolicyProtocol.TLS_V1_2_2021 if certificate else None,
        )

    @property
    def resource(self) -> s3.CfnBucket:
        """Its bucket as CloudFormation has it."""
        made = self.bucket.node.default_child
        assert isinstance(made, s3.CfnBucket)  # noqa: S101 - what a bucket of the CDK's is made of
        return made

    @property
    def origin(self) -> str:
        """Where the console is."""
        return f"https://{self._stage.console_domain_name or self.distribution.distribution_domain_name}"

    def hand_out(self, sign_in: SignIn, *, key: kms.IKey | None) -> None:
        """Have the files there, and what they are told of *sign_in*."""
        folder = s3_deployment.Source.asset(str(ROOT / FILES), exclude=list(NOT_SERVED))
        told = s3_deployment.Source.json_data(CONFIG, config(sign_in, origin=self.origin))
        log_group = kept_log(self, "FilesLog", stage=self._stage, key=key)
        role = iam.Role(self, "FilesRole", assumed_by=iam.ServicePrincipal("lambda.amazonaws.com"))
        log_group.grant_write(role)
        s3_deployment.BucketDeployment(
            self,
            "Files",
            destination_bucket=self.bucket,
            sources=[folder, told],
            cache_control=[s3_deployment.CacheControl.from_string(ASKED_FOR_ANEW)],
            # Whatever an earlier version had goes, and all of it with the stack.
            prune=True,
            retain_on_delete=False,
            # A role of our own: the default one may write to every log group of the account.
            role=role,
            log_group=log_group,
        )

    def _headers(self, told: Mapping[str, str]) -> cloudfront.ResponseHeadersPolicy:
        """Every header of *told*; CloudFront has fields of its own for some."""
        known = {POLICY, FRAMES, REFERRER, SNIFFING, TRANSPORT}
        return cloudfront.ResponseHeadersPolicy(
            self,
            "Headers",
            security_headers_behavior=cloudfront.ResponseSecurityHeadersBehavior(
                content_security_policy=cloudfront.ResponseHeadersContentSecurityPolicy(
                    content_security_policy=told[POLICY], override=True
                ),
                content_type_options=cloudfront.ResponseHeadersContentTypeOptions(override=True),
                frame_options=cloudfront.ResponseHeadersFrameOptions(
                    frame_option=cloudfront.HeadersFrameOption.DENY, override=True
                ),
                referrer_policy=cloudfront.ResponseHeadersReferrerPolicy(
                    referrer_policy=cloudfront.HeadersReferrerPolicy.NO_REFERRER, override=True
                ),
                strict_transport_security=cloudfront.ResponseHeadersStrictTransportSecurity(
                    access_control_max_age=Duration.seconds(YEAR_SECONDS),
                    include_subdomains=True,
                    override=True,
                ),
            ),
            custom_headers_behavior=cloudfront.ResponseCustomHeadersBehavior(
                custom_headers=[
                    cloudfront.ResponseCustomHeader(header=name, value=value, override=True)
                    for name, value in told.items()
                    if name not in known
                ]
            ),
        )


def origins_of(stage: Stage) -> Sequence[str]:
    """Whose pages may send files: those that *stage* names, and the console's."""
    if not stage.console:
        return stage.cors_origins
    own = f"https://{stage.console_domain_name}" if stage.console_domain_name else ANY_CLOUDFRONT
    return [*stage.cors_origins, own]
