"""What botocore reads before it makes a client: no more of its 26 MB of descriptions than the services we call need.

By itself it looks through the folders of all 400 services for each kind of description, and reads every service's
endpoints in every region (1.2 MB), which the rules that come with each service have made superfluous. Both are a
quarter of a cold start (docs/decisions/0091).
"""

import os
from typing import Any

import botocore.session
from botocore.loaders import Loader

SERVICES = ["bedrock-runtime", "dynamodb", "events", "lambda", "s3", "sqs"]
"""All that we make clients of; botocore refuses others by name."""
_VARIANTS = {
    ("fips",): "{service}-fips.{region}.{dnsSuffix}",
    ("dualstack",): "{service}.{region}.{dnsSuffix}",
    ("dualstack", "fips"): "{service}-fips.{region}.{dnsSuffix}",
}


class OurServices(Loader):
    """botocore's loader, told what it would find out, and with the endpoints as its partitions have them."""

    def list_available_services(self, type_name: str) -> list[str]:  # noqa: ARG002 - ours have every kind
        """The services that a client may be made of."""
        return SERVICES

    def load_data_with_path(self, name: str) -> tuple[Any, str]:
        """What lies under *name*, and where botocore has it."""
        if name != "endpoints":
            found: tuple[Any, str] = super().load_data_with_path(name)
            return found
        partitions = self.load_data("partitions")["partitions"]
        endpoints = {"version": 3, "partitions": [_endpoints(**each) for each in partitions]}
        # Named as botocore's own: of other endpoints it would take the address, and not ask the service's rules.
        return endpoints, os.path.join(self.BUILTIN_DATA_PATH, name)  # noqa: PTH118 - its paths are text


def session() -> botocore.session.Session:
    """A session whose clients are made with as little reading as can be."""
    made = botocore.session.get_session()
    made.register_component("data_loader", OurServices())
    return made


def _endpoints(id: str, outputs: dict[str, Any], **partition: Any) -> dict[str, Any]:  # noqa: A002 - botocore's name
    """A partition in the form of botocore's `endpoints.json`: its regions, and no service that is special there."""
    dns, dual = outputs["dnsSuffix"], outputs["dualStackDnsSuffix"]
    variants = [
        {"tags": list(tags), "hostname": hostname, "dnsSuffix": dual if "dualstack" in tags else dns}
        for tags, hostname in _VARIANTS.items()
    ]
    return {
        "partition": id,
        "dnsSuffix": dns,
        "regionRegex": partition["regionRegex"],
        "regions": partition["regions"],
        "services": {},
        "defaults": {
            "hostname": "{service}.{region}.{dnsSuffix}",
            "protocols": ["https"],
            "signatureVersions": ["v4"],
            "variants": variants,
        },
    }
