"""The stacks of one stage, as CloudFormation has them: what the scripts of an operator read and delete."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import boto3
from botocore.exceptions import BotoCoreError, ClientError


class NotThere(Exception):
    """Nothing of that stage is deployed where the shell is signed in, or nobody is signed in."""


@dataclass(frozen=True)
class Stacks:
    """The stacks of *stage*, seen with the credentials of the shell."""

    stage: str
    session: boto3.Session

    @classmethod
    def of(cls, stage: str) -> Self:
        """Find them; `NotThere` says what is missing."""
        found = cls(stage, boto3.Session())
        try:
            if not found.exists(found.product):
                where = found.session.region_name
                raise NotThere(
                    f"There is no stack {found.product} in {where}; `make deploy STAGE={stage}` makes it."
                )
        except BotoCoreError as error:
            raise NotThere(
                f"AWS cannot be asked ({error}). Is the shell signed in, and AWS_REGION set?"
            ) from None
        except ClientError as error:
            raise NotThere(f"AWS refuses to say what is deployed: {error}") from None
        return found

    @property
    def product(self) -> str:
        """The stack that serves."""
        return f"turnkeeper-{self.stage}"

    @property
    def operations(self) -> str:
        """The stack that watches, where there is one."""
        return f"{self.product}-operations"

    def client(self, service: str) -> Any:
        """Return a boto3 client of *service*."""
        session: Any = self.session
        return session.client(service)

    def exists(self, stack: str) -> bool:
        """Whether *stack* is there."""
        try:
            self.client("cloudformation").describe_stacks(StackName=stack)
        except ClientError as error:
            if error.response["Error"]["Code"] != "ValidationError":
                raise
            return False
        return True

    @property
    def is_protected(self) -> bool:
        """Whether CloudFormation would refuse to delete the stack that serves."""
        (stack,) = self.client("cloudformation").describe_stacks(StackName=self.product)["Stacks"]
        return bool(stack.get("EnableTerminationProtection"))

    @property
    def outputs(self) -> Mapping[str, str]:
        """What the stack that serves tells."""
        (stack,) = self.client("cloudformation").describe_stacks(StackName=self.product)["Stacks"]
        return {output["OutputKey"]: output["OutputValue"] for output in stack["Outputs"]}
