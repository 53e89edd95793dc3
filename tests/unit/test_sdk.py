"""A client that was made with little reading asks the same of AWS as one that botocore makes by itself."""

import ast
import re
from copy import deepcopy
from pathlib import Path
from typing import Any

import botocore.session
import pytest
from botocore.awsrequest import AWSPreparedRequest
from botocore.config import Config
from botocore.exceptions import UnknownServiceError
from botocore.loaders import JSONFileLoader

from turnkeeper import sdk
from turnkeeper.settings import CALLS, S3_CALLS, STORE_CALLS

OURS = Path(sdk.__file__).parent
REGIONS = [
    "us-east-1",
    "eu-central-1",
    "cn-north-1",
    "us-gov-west-1",
    "us-iso-east-1",
    "eusc-de-east-1",
    "eu-new-9",
]
ASKED: dict[str, tuple[str, dict[str, Any], Config]] = {
    "bedrock-runtime": ("converse_stream", {"modelId": "m"}, CALLS),
    "dynamodb": ("get_item", {"TableName": "t", "Key": {"pk": {"S": "a"}}}, STORE_CALLS),
    "events": ("put_events", {"Entries": [{"Source": "s"}]}, CALLS),
    "lambda": ("invoke", {"FunctionName": "f"}, CALLS),
    "s3": ("get_object", {"Bucket": "b", "Key": "k"}, CALLS.merge(S3_CALLS)),
    "sqs": ("send_message", {"QueueUrl": "https://sqs.test/1/q", "MessageBody": "m"}, CALLS),
}
VARIANTS = {
    "plain": Config(),
    "fips": Config(use_fips_endpoint=True),
    "dualstack": Config(use_dualstack_endpoint=True),
}


class Asked(Exception):
    """The request that would have been sent."""


def asked(session: botocore.session.Session, service: str, region: str, variant: Config) -> dict[str, Any]:
    """What a client of *session* would send and by which rules it signs; or how it refuses."""
    method, parameters, config = ASKED[service]
    sent: list[AWSPreparedRequest] = []

    def stop(request: AWSPreparedRequest, **_: object) -> None:
        sent.append(request)
        raise Asked

    try:
        client: Any = session.create_client(
            service,
            region_name=region,
            # Its own: botocore writes into the part for S3.
            config=deepcopy(config).merge(variant),
            aws_access_key_id="testing",
            aws_secret_access_key="testing",  # noqa: S106 - nothing is sent
        )
        client.meta.events.register("before-send", stop)
        getattr(client, method)(**parameters)
    except Asked:
        (request,) = sent
        header: Any = request.headers["Authorization"]
        signed = re.search(rb"Credential=[^/]+/\d+/([^,]+), SignedHeaders=([^,]+)", header)
        assert signed is not None
        return {
            "url": request.url,
            "scope": signed.groups(),
            "headers": sorted(request.headers),
            "body": request.body,
            "partition": client.meta.partition,
            "region": client.meta.region_name,
        }
    except Exception as error:  # noqa: BLE001 - that both refuse alike is what is compared
        return {"refused": type(error).__name__}
    raise AssertionError("nothing was sent")


@pytest.fixture(scope="module")
def theirs() -> botocore.session.Session:
    return botocore.session.get_session()


@pytest.fixture(scope="module")
def ours() -> botocore.session.Session:
    return sdk.session()


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("service", ASKED)
def test_every_client_of_ours_asks_what_botocores_own_would_in_every_partition(
    ours: botocore.session.Session, theirs: botocore.session.Session, service: str, variant: str
) -> None:
    for region in REGIONS:
        mine, wanted = (asked(session, service, region, VARIANTS[variant]) for session in (ours, theirs))
        assert mine == wanted, region
        assert "url" in mine or variant != "plain", region


def test_the_services_are_all_that_we_make_clients_of() -> None:
    made = {
        node.args[0].value
        for path in OURS.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == "create_client"
        and isinstance(node.args[0], ast.Constant)
    }

    assert made == set(sdk.SERVICES) == set(ASKED)


def test_a_service_that_we_do_not_call_is_refused_by_name(ours: botocore.session.Session) -> None:
    with pytest.raises(UnknownServiceError, match="ec2"):
        ours.create_client("ec2", region_name="eu-central-1")


class Listed(JSONFileLoader):
    """What reads files, and keeps which."""

    def __init__(self) -> None:
        self.read: list[str] = []

    def load_file(self, file_path: str) -> Any:
        found = super().load_file(file_path)
        if found is not None:
            self.read.append(file_path)
        return found


def test_no_client_of_ours_reads_what_describes_other_services() -> None:
    listed = Listed()
    session = sdk.session()
    session.register_component("data_loader", sdk.OurServices(file_loader=listed))

    session.create_client("dynamodb", region_name="eu-central-1", config=STORE_CALLS)

    inside = {Path(path).relative_to(sdk.OurServices.BUILTIN_DATA_PATH) for path in listed.read}
    assert {path.parts[0] for path in inside if len(path.parts) > 1} == {"dynamodb"}
    assert {path.name for path in inside if len(path.parts) == 1} == {
        "partitions",
        "sdk-default-configuration",
    }
