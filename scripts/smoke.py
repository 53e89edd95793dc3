"""One task through a deployed stage, and whether all is as promised: `make smoke STAGE=dev`, or `BASE_URL=… TOKEN=…`.

It leaves nothing to clean up: its task is a mayfly's, which ends by itself five seconds after it is idle, and the
person it makes in the stage's user pool is removed. Exit code 0 is well, 1 is not, 2 is not told enough.
"""

import argparse
import os
import secrets
import ssl
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import httpx
from botocore.exceptions import ClientError

from scripts.demo.person import NotAsPromised, Person, require, said
from scripts.stacks import NotThere, Stacks

UNAUTHORIZED = 401


def main() -> int:
    """Walk; return the exit code."""
    parser = argparse.ArgumentParser(prog="scripts.smoke", description=__doc__)
    parser.add_argument("--stage", help="a stage in the account that the shell is signed in to")
    parser.add_argument("--base-url", help="where the routes begin, without /v1; instead of a stage")
    asked = parser.parse_args()
    token = os.environ.get("TOKEN")
    if not asked.stage and not (asked.base_url and token):
        print("Say STAGE=…, or BASE_URL=… and TOKEN=… (an access token of a person there).", file=sys.stderr)
        return 2
    try:
        with ExitStack() as kept:
            base_url = asked.base_url
            if not (base_url and token):
                stacks = Stacks.of(asked.stage)
                base_url = base_url or stacks.outputs["BaseUrl"]
                token = token or kept.enter_context(passing_person(stacks))
            walk(kept.enter_context(connection(base_url, token)))
    except (NotAsPromised, NotThere) as broken:
        print(f"Not well: {broken}", file=sys.stderr)
        return 1
    except ClientError as refused:
        print(f"Not well: AWS refused the person it would have been: {refused}", file=sys.stderr)
        return 1
    except httpx.HTTPError as error:
        said_so = f"{type(error).__name__}: {error}"
        print(f"Not well: {base_url} does not answer ({said_so}). Is it the output BaseUrl?", file=sys.stderr)
        return 1
    print("All as promised.")
    return 0


def walk(smoke: Person) -> None:
    """Take one task from its first input to its end."""
    stranger = smoke.http.get("v1/tasks", headers={"Authorization": ""})
    require(
        stranger.status_code == UNAUTHORIZED, f"without a token it answers {stranger.status_code}, not 401"
    )
    told("whoever has no token is turned away")
    made = smoke.ask("POST", "tasks", expect=202, json={"agent": "mayfly", "input": said("Smoke?")})
    task = made.json()["id"]
    told(f"task {task} is accepted")
    again = {"Idempotency-Key": secrets.token_hex(8)}
    first, second = (
        smoke.ask("POST", f"tasks/{task}/inputs", expect=202, json=said("And now?"), **again)
        for _ in range(2)
    )
    require(
        first.headers["received-at"] == second.headers["received-at"], "an input sent twice was taken twice"
    )
    told("an input that is sent twice is taken once")
    idle = smoke.until(task, "idle")
    kinds = [entry["type"] for entry in smoke.messages(task)]
    require(kinds.count("input") == 2 and "output" in kinds, f"its conversation is {kinds}")  # noqa: PLR2004
    told("its turns were taken and answered: queue, worker, table")
    smoke.until(task, "terminal")
    known = smoke.ask("GET", f"tasks/{task}", expect=200).headers["etag"]
    smoke.ask("GET", f"tasks/{task}", expect=304, **{"If-None-Match": known})
    smoke.ask("POST", f"tasks/{task}/inputs", expect=409, json=said("Too late."))
    told(f"it ended as announced, at {idle['idle_expires_at']}, and takes nothing more")


def told(promise: str) -> None:
    """Print what held, and when."""
    print(f"{time.strftime('%H:%M:%S')}  {promise}", flush=True)


@contextmanager
def connection(base_url: str, token: str) -> Iterator[Person]:
    """A person with *token* at *base_url*."""
    certificate = os.environ.get("AWS_CA_BUNDLE")
    trust = ssl.create_default_context(cafile=certificate) if certificate else True
    headers = {"Authorization": f"Bearer {token}"}
    with httpx.Client(base_url=f"{base_url.rstrip('/')}/", headers=headers, timeout=30, verify=trust) as http:
        yield Person("smoke", http)


@contextmanager
def passing_person(stacks: Stacks) -> Iterator[str]:
    """The token of somebody in the user pool of *stacks*, who is gone afterwards."""
    outputs, cognito = stacks.outputs, stacks.client("cognito-idp")
    if "UserPoolId" not in outputs:
        issuer = f"People of {stacks.product} come from an issuer of its own"
        raise NotThere(f"{issuer}: say BASE_URL={outputs['BaseUrl']} and TOKEN=… of one of them.")
    pool, name, password = (
        outputs["UserPoolId"],
        f"smoke-{secrets.token_hex(6)}",
        f"Smoke-{secrets.token_urlsafe(16)}1",
    )
    cognito.admin_create_user(UserPoolId=pool, Username=name, MessageAction="SUPPRESS")
    try:
        cognito.admin_set_user_password(UserPoolId=pool, Username=name, Password=password, Permanent=True)
        signed_in = cognito.admin_initiate_auth(
            UserPoolId=pool,
            ClientId=outputs["UserPoolClientId"],
            AuthFlow="ADMIN_USER_PASSWORD_AUTH",
            AuthParameters={"USERNAME": name, "PASSWORD": password},
        )
        yield signed_in["AuthenticationResult"]["AccessToken"]
    finally:
        cognito.admin_delete_user(UserPoolId=pool, Username=name)


if __name__ == "__main__":
    sys.exit(main())
