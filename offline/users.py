"""People of an offline deployment: users of its pool, made when first asked for."""

from botocore.exceptions import ClientError

from offline.deployment import Deployment

PASSWORD = "Offline-only-1"  # noqa: S105 - opens nothing but a pool on loopback


def make_user(deployment: Deployment, name: str) -> None:
    """Have *name* be a user who can sign in; one who can already is left alone."""
    cognito, pool = deployment.client("cognito-idp"), deployment.outputs["UserPoolId"]
    try:
        cognito.admin_create_user(UserPoolId=pool, Username=name, MessageAction="SUPPRESS")
    except ClientError as error:
        if error.response["Error"]["Code"] != "UsernameExistsException":
            raise
        return
    cognito.admin_set_user_password(UserPoolId=pool, Username=name, Password=PASSWORD, Permanent=True)


def token(deployment: Deployment, name: str) -> str:
    """Return an access token of *name*, who becomes a user when they are none."""
    make_user(deployment, name)
    signed_in = deployment.client("cognito-idp").admin_initiate_auth(
        UserPoolId=deployment.outputs["UserPoolId"],
        ClientId=deployment.outputs["UserPoolClientId"],
        AuthFlow="ADMIN_USER_PASSWORD_AUTH",
        AuthParameters={"USERNAME": name, "PASSWORD": PASSWORD},
    )
    access_token: str = signed_in["AuthenticationResult"]["AccessToken"]
    return access_token
