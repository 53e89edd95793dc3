"""How the tests read a template: by the kind of a resource, and by the name of a function."""

from typing import Any

from aws_cdk.assertions import Template


def of_type(template: Template, kind: str) -> dict[str, dict[str, Any]]:
    """Return the properties of every resource of *kind* by its logical id."""
    found = template.find_resources(f"AWS::{kind}")
    return {name: resource.get("Properties", {}) for name, resource in found.items()}


def only(template: Template, kind: str) -> dict[str, Any]:
    """Return the properties of the one resource of *kind*."""
    (properties,) = of_type(template, kind).values()
    return properties


def function_of(template: Template, name: str) -> tuple[str, dict[str, Any]]:
    """Return the logical id and the properties of the function *name*."""
    (found,) = [
        (logical_id, properties)
        for logical_id, properties in of_type(template, "Lambda::Function").items()
        if logical_id.startswith(f"Functions{name.title()}")
    ]
    return found


def files_of(template: Template) -> tuple[str, dict[str, Any]]:
    """Return the logical id and the properties of the bucket that holds people's files."""
    (found,) = [it for it in of_type(template, "S3::Bucket").items() if it[0].startswith("FilesBucket")]
    return found


def wake_ups_of(template: Template, construct: str) -> str:
    """Return the logical id of the queue of wake-ups in the stack's *construct*."""
    (found,) = [name for name in of_type(template, "SQS::Queue") if name.startswith(f"{construct}WakeUps")]
    return found
