"""Take a stage away: `make destroy STAGE=dev`. What is kept is named, and whoever asks is asked once.

Buckets that go with the stack are emptied first, of every version: CloudFormation deletes none that holds anything.
"""

import argparse
import sys
from collections.abc import Mapping
from typing import Any

from botocore.exceptions import ClientError, WaiterError

from scripts.stacks import NotThere, Stacks

BUCKET = "AWS::S3::Bucket"


def main() -> int:
    """Destroy; return the exit code."""
    parser = argparse.ArgumentParser(prog="scripts.destroy", description=__doc__)
    parser.add_argument("stage")
    parser.add_argument("--yes", action="store_true", help="do not ask")
    asked = parser.parse_args()
    try:
        stacks = Stacks.of(asked.stage)
        if stacks.is_protected:
            print(f"{stacks.product} is protected. First: {unprotect(asked.stage)}", file=sys.stderr)
            return 1
        going, kept = sorted_out(stacks)
        account = stacks.client("sts").get_caller_identity()["Account"]
        where = f"{stacks.product} in account {account}, {stacks.session.region_name}"
        print(f"This deletes {where}: {sum(map(len, going.values()))} resources.")
        for name in kept:
            print(f"  stays: {name}")
        if not asked.yes and input(f"Type {asked.stage} to go on: ") != asked.stage:
            print("Nothing was deleted.", file=sys.stderr)
            return 1
        destroy(stacks, going.get(BUCKET, []))
    except (NotThere, ClientError) as refused:
        print(f"Not deleted: {refused}", file=sys.stderr)
        return 1
    except WaiterError:
        print(f"{stacks.product} was not deleted; its events say why: {why(stacks)}", file=sys.stderr)
        return 1
    print(
        "It is gone."
        if not kept
        else "It is gone, but for what stays: delete that by hand, by the names above."
    )
    return 0


def unprotect(stage: str) -> str:
    """Return how to take the protection off."""
    return f'make deploy STAGE={stage} SETTINGS="deletion_protection=false"'


def sorted_out(stacks: Stacks) -> tuple[Mapping[str, list[str]], list[str]]:
    """Return what goes with the stack, by its kind, and what stays."""
    cloudformation = stacks.client("cloudformation")
    template = cloudformation.get_template(StackName=stacks.product)["TemplateBody"]["Resources"]
    going: dict[str, list[str]] = {}
    kept = []
    for resource in cloudformation.describe_stack_resources(StackName=stacks.product)["StackResources"]:
        kind, name = resource["ResourceType"], resource["PhysicalResourceId"]
        if template[resource["LogicalResourceId"]].get("DeletionPolicy") == "Retain":
            kept.append(f"{kind} {name}")
        else:
            going.setdefault(kind, []).append(name)
    return going, kept


def destroy(stacks: Stacks, buckets: list[str]) -> None:
    """Delete the stacks of a stage, the one that watches first, since it reads names from the other."""
    for bucket in buckets:
        empty(stacks.client("s3"), bucket)
    cloudformation = stacks.client("cloudformation")
    for stack in filter(stacks.exists, (stacks.operations, stacks.product)):
        print(f"Deleting {stack} …", flush=True)
        cloudformation.delete_stack(StackName=stack)
        cloudformation.get_waiter("stack_delete_complete").wait(
            StackName=stack, WaiterConfig={"Delay": 2, "MaxAttempts": 900}
        )


def empty(s3: Any, bucket: str) -> None:
    """Delete every version of every file of *bucket*."""
    for page in s3.get_paginator("list_object_versions").paginate(Bucket=bucket):
        versions = [
            {"Key": one["Key"], "VersionId": one["VersionId"]}
            for one in (*page.get("Versions", ()), *page.get("DeleteMarkers", ()))
        ]
        if versions:
            answer = s3.delete_objects(Bucket=bucket, Delete={"Objects": versions, "Quiet": True})
            if errors := answer.get("Errors"):
                raise NotThere(f"{bucket} keeps {errors[0]['Key']}: {errors[0]['Message']}")


def why(stacks: Stacks) -> str:
    """Return what CloudFormation says of the first failure."""
    events = stacks.client("cloudformation").describe_stack_events(StackName=stacks.product)["StackEvents"]
    reasons = [
        f"{event['LogicalResourceId']}: {event.get('ResourceStatusReason', 'no reason')}"
        for event in events
        if event["ResourceStatus"] == "DELETE_FAILED"
    ]
    return reasons[-1] if reasons else "none failed"


if __name__ == "__main__":
    sys.exit(main())
