"""The composition root: the environment the stack gives a function, and the runtime made of it once per process.

Nothing has a silent default: what is missing stops the function at its start, by name.
"""

import json
import os
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import TYPE_CHECKING, Any

import botocore.session
from botocore.config import Config

from turnkeeper import sdk
from turnkeeper.domain.pace import Pace
from turnkeeper.service.runtime import Runtime
from turnkeeper.store.table import Table

if TYPE_CHECKING:
    from turnkeeper.agents.models import Model
    from turnkeeper.bus import Bus
    from turnkeeper.metrics import Measured, Meter
    from turnkeeper.mounts import Mounts
    from turnkeeper.queue import WakeUps

# Short enough that several attempts fit into a caller's patience.
CALLS = Config(
    connect_timeout=1,
    read_timeout=3,
    retries={"mode": "standard", "total_max_attempts": 3},
    tcp_keepalive=True,
)
# The store tries again itself. It keeps to one deadline and must know what became of each attempt, to tell whether a
# write may still arrive; the SDK's own retries would hide the first and multiply the other.
STORE_CALLS = CALLS.merge(Config(retries={"mode": "standard", "total_max_attempts": 1}))
# A poll asks one thing, whose key is checked before and whose rest is written down: nobody need check it again.
POLL_CALLS = STORE_CALLS.merge(Config(parameter_validation=False))
# Only the fourth signature can hold a client to headers; it is over the host as well, so that must be the region's own
# and not one that redirects. A checksum would be of a body that nobody has yet.
S3_CALLS = Config(
    signature_version="s3v4",
    s3={"addressing_style": "virtual", "us_east_1_regional_endpoint": "regional"},
    request_checksum_calculation="when_required",
)


class SettingMissing(Exception):
    """The function's environment lacks a variable that the stack should have set."""


@cache
def session() -> botocore.session.Session:
    """The one botocore session of this process: each reads the same descriptions again."""
    return sdk.session()


@cache
def runtime(*, wakes: bool = True) -> Runtime:
    """The runtime of this process; without *wakes* it has no queue, for what never wakes anybody."""
    told = json.loads(_setting("REPORTERS")) if wakes else {}
    reporters = {issuer: frozenset(scopes) for issuer, scopes in told.items()}
    dynamodb: Any = session().create_client("dynamodb", config=STORE_CALLS if wakes else POLL_CALLS)
    table = Table(dynamodb, _setting("TABLE"))
    return Runtime(
        table=table,
        queue=wake_ups() if wakes else None,
        host_functions=frozenset(json.loads(_setting("HOST_FUNCTIONS"))) if wakes else frozenset(),
        models=models() if wakes else {},
        mounts=mounts() if "TURNKEEPER_BUCKET" in os.environ else None,
        reporters=reporters,
        severities=_severities() if "TURNKEEPER_SEVERITIES" in os.environ else {},
        pace=Pace(
            lease=_seconds("LEASE_SECONDS"),
            wake_grace=_seconds("WAKE_GRACE_SECONDS"),
            wake_grace_max=_seconds("WAKE_GRACE_MAX_SECONDS"),
            retention=_seconds("RETENTION_SECONDS"),
        ),
        heartbeat=_seconds("HEARTBEAT_SECONDS"),
        idempotency=_seconds("IDEMPOTENCY_SECONDS"),
        clock=utc_now,
        meter=_meter(_setting("METRICS_NAMESPACE")),
        trace=trace,
    )


@cache
def models() -> "dict[str, Model]":
    """The agents that are a model of Bedrock's, by name."""
    from turnkeeper.agents import models  # noqa: PLC0415 - the poll must not pay for it

    return models.models(json.loads(_setting("BEDROCK_AGENTS")))


@cache
def wake_ups() -> "WakeUps":
    """The queue as this process sees it."""
    from turnkeeper.queue import WakeUps  # noqa: PLC0415 - the poll wakes nobody

    sqs: Any = session().create_client("sqs", config=CALLS)
    return WakeUps(sqs, _setting("QUEUE_URL"), json.loads(_setting("HOST_QUEUES")), trace=trace)


@cache
def bus() -> "Bus":
    """The event bus as this process sees it."""
    from turnkeeper.bus import Bus  # noqa: PLC0415 - the poll must not pay for it

    events: Any = session().create_client("events", config=CALLS)
    sqs: Any = session().create_client("sqs", config=CALLS)
    return Bus(events=events, sqs=sqs, name=_setting("BUS"), untold_url=_setting("UNTOLD_URL"))


def trace() -> str | None:
    """X-Ray's header of the request that is answered now, as Lambda tells it; None where nothing is traced."""
    return os.environ.get("_X_AMZN_TRACE_ID")


@cache
def mounts() -> "Mounts":
    """The roots of files as this process sees them; a client of S3 is made when the first file needs it."""
    from turnkeeper.mounts import Mounts  # noqa: PLC0415 - the poll must not pay for it

    return Mounts(
        connect=s3,
        bucket=_setting("BUCKET"),
        largest=int(_setting("LARGEST_FILE_BYTES")),
        lasts=_seconds("FILE_URL_SECONDS"),
    )


@cache
def s3() -> Any:
    """A client of S3, whose signatures say what whoever gets one may do."""
    return session().create_client("s3", config=CALLS.merge(S3_CALLS))


def _meter(namespace: str) -> "Meter":
    def tell(measured: "Iterable[Measured]") -> None:
        from turnkeeper.metrics import told_to  # noqa: PLC0415 - the poll has nothing to count

        told_to(namespace)(measured)

    return tell


def _severities() -> dict[int, str]:
    return {int(code): word for code, word in json.loads(_setting("SEVERITIES")).items()}


def human_claim() -> str:
    """The claim that only a human's token has."""
    return _setting("HUMAN_CLAIM")


def developer_claim() -> str | None:
    """The claim of people who may read what developers may; None where nobody may."""
    return _setting("DEVELOPER_CLAIM") or None


@cache
def auditors() -> frozenset[str]:
    """The principals that may read every task's status to the last, and nothing else of it."""
    return frozenset(json.loads(_setting("AUDITORS")))


@cache
def deployment_hosts() -> frozenset[str]:
    """The principals that are hosts of the built-in agents."""
    return frozenset(json.loads(_setting("DEPLOYMENT_HOSTS")))


def utc_now() -> datetime:
    """The one clock."""
    return datetime.now(UTC)


def _setting(name: str) -> str:
    try:
        return os.environ[f"TURNKEEPER_{name}"]
    except KeyError as missing:
        raise SettingMissing(
            f"TURNKEEPER_{name} is not set; the stack sets it for every function"
        ) from missing


def _seconds(name: str) -> timedelta:
    return timedelta(seconds=float(_setting(name)))
