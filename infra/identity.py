"""Who people are: a user pool of our own, or any OIDC issuer the deployment is told to trust instead."""

from dataclasses import dataclass
from urllib.parse import urlsplit

from aws_cdk import Duration, RemovalPolicy, Stack
from aws_cdk import aws_cognito as cognito
from constructs import Construct

from infra.page import SIGNED_IN, SIGNED_OUT, SignIn
from infra.stage import COGNITO_HUMAN_CLAIM, ConsoleSignIn, Stage

PASSWORDS = cognito.PasswordPolicy(
    min_length=12, require_lowercase=True, require_uppercase=True, require_digits=True, require_symbols=True
)


class Identity(Construct):
    """The issuer and audiences of a person's token, and the claim that only a human's token has."""

    issuer: str
    audiences: list[str]
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
        self.audiences = [self.client.user_pool_client_id]
        self.human_claim = COGNITO_HUMAN_CLAIM


class SignInPage(Construct):
    """Where people of a pool sign in for the console: Cognito's own page, at an address of the deployment's."""

    def __init__(self, scope: Construct, id_: str, *, people: UserPool, stage: Stage) -> None:
        super().__init__(scope, id_)
        self._people = people
        self.domain = people.pool.add_domain(
            "SignIn",
            cognito_domain=cognito.CognitoDomainOptions(
                domain_prefix=f"turnkeeper-{stage.stage}-{Stack.of(self).account}"
            ),
            managed_login_version=cognito.ManagedLoginVersion.NEWER_MANAGED_LOGIN,
        )

    @property
    def origin(self) -> str:
        """Where it is."""
        return self.domain.base_url()

    def let_in(self, console: str) -> SignIn:
        """Let the page at the origin *console* sign people in, by a code that only it can redeem."""
        people = self._people
        client = people.pool.add_client(
            "Console",
            generate_secret=False,
            o_auth=cognito.OAuthSettings(
                flows=cognito.OAuthFlows(authorization_code_grant=True),
                scopes=[cognito.OAuthScope.OPENID],
                callback_urls=[f"{console}{SIGNED_IN}"],
                logout_urls=[f"{console}{SIGNED_OUT}"],
            ),
            supported_identity_providers=[cognito.UserPoolClientIdentityProvider.COGNITO],
            prevent_user_existence_errors=True,
            enable_token_revocation=True,
            access_token_validity=Duration.hours(1),
            id_token_validity=Duration.hours(1),
            refresh_token_validity=Duration.hours(1),
        )
        cfn = client.node.default_child
        assert isinstance(cfn, cognito.CfnUserPoolClient)  # noqa: S101 - what a client of the CDK's is made of
        # Nobody signs in for it but at the page; said nothing, Cognito would add ways of its own.
        cfn.explicit_auth_flows = ["ALLOW_REFRESH_TOKEN_AUTH"]
        cognito.CfnManagedLoginBranding(
            self,
            "Branding",
            user_pool_id=people.pool.user_pool_id,
            client_id=client.user_pool_client_id,
            use_cognito_provided_values=True,
        )
        people.audiences.append(client.user_pool_client_id)
        return SignIn(
            issuer=people.issuer,
            client_id=client.user_pool_client_id,
            authorization_endpoint=f"{self.origin}/oauth2/authorize",
            token_endpoint=f"{self.origin}/oauth2/token",
            end_session_endpoint=f"{self.origin}/logout",
        )


class TrustedIssuer(Identity):
    """People are whoever an OIDC issuer says they are."""

    def __init__(self, scope: Construct, id_: str, *, issuer: str, audience: str, human_claim: str) -> None:
        super().__init__(scope, id_)
        self.issuer, self.audiences, self.human_claim = issuer, [audience], human_claim


@dataclass(frozen=True)
class TheirSignInPage:
    """Where an issuer of one's own signs people in, which lets the console in by itself."""

    issuer: str
    told: ConsoleSignIn

    @property
    def origin(self) -> str:
        """Where tokens are got."""
        parts = urlsplit(self.told.token_endpoint)
        return f"{parts.scheme}://{parts.netloc}"

    def let_in(self, console: str) -> SignIn:  # noqa: ARG002 - the issuer was told by its own means
        """What the page is told of it."""
        return SignIn(issuer=self.issuer, **self.told.model_dump())
