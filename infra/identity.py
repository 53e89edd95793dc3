"""Who people are: a user pool of our own, or any OIDC issuer the deployment is told to trust instead."""

from aws_cdk import Duration, RemovalPolicy, Stack
from aws_cdk import aws_cognito as cognito
from constructs import Construct

from infra.stage import COGNITO_HUMAN_CLAIM, Stage

PASSWORDS = cognito.PasswordPolicy(
    min_length=12, require_lowercase=True, require_uppercase=True, require_digits=True, require_symbols=True
)


class Identity(Construct):
    """The issuer and audience of a person's token, and the claim that only a human's token has."""

    issuer: str
    audience: str
    human_claim: str


class UserPool(Identity):
    """People are users of a pool that belongs to this deployment; only its operator makes users."""

    def __init__(self, scope: Construct, id_: str, *, stage: Stage) -> None:
        super().__init__(scope, id_)
        self.pool = cognito.UserPool(
            self,
            "People",
            self_sign_up_enabled=False,
            account_recovery=cognito.AccountRecovery.EMAIL_ONLY,
            password_policy=PASSWORDS,
            deletion_protection=stage.deletion_protection,
            removal_policy=RemovalPolicy.RETAIN if stage.keep_data else RemovalPolicy.DESTROY,
        )
        self.client = self.pool.add_client(
            "Client",
            generate_secret=False,
            auth_flows=cognito.AuthFlow(user_srp=True, admin_user_password=True),
            disable_o_auth=True,
            prevent_user_existence_errors=True,
            access_token_validity=Duration.hours(1),
            id_token_validity=Duration.hours(1),
        )
        region, suffix = Stack.of(self).region, Stack.of(self).url_suffix
        # What the pool's attribute ProviderURL says too; the offline engine does not have that one.
        self.issuer = f"https://cognito-idp.{region}.{suffix}/{self.pool.user_pool_id}"
        self.audience = self.client.user_pool_client_id
        self.human_claim = COGNITO_HUMAN_CLAIM


class TrustedIssuer(Identity):
    """People are whoever an OIDC issuer says they are."""

    def __init__(self, scope: Construct, id_: str, *, issuer: str, audience: str, human_claim: str) -> None:
        super().__init__(scope, id_)
        self.issuer, self.audience, self.human_claim = issuer, audience, human_claim
