"""The roots of files: one bucket, in which every task, agent and workspace has its own corner.

Nothing passes through here: people and hosts send to S3 and get from it themselves, each time by a URL signed for that
one file. What such a URL allows is signed, so S3 holds them to it and not the client.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from http import HTTPStatus
from typing import Any, Protocol
from urllib.parse import quote

from botocore.exceptions import ClientError

from turnkeeper.domain.errors import StoreIsUnavailable
from turnkeeper.domain.task import Task
from turnkeeper.domain.uris import FileUri, Root
from turnkeeper.faults import FAILED_CALLS

LONGEST_KEY = 1_024
"""Bytes; S3 takes no more."""
# Who may not list a bucket is told of what is not there that it is forbidden, and nobody here may list it.
_NOT_THERE = frozenset({HTTPStatus.NOT_FOUND, HTTPStatus.FORBIDDEN})


class S3(Protocol):
    """The calls of botocore's client that are used here, and no others."""

    def head_object(self, **request: Any) -> dict[str, Any]:  # noqa: D102 - AWS documents it
        ...

    def list_object_versions(self, **request: Any) -> dict[str, Any]:  # noqa: D102 - AWS documents it
        ...

    def delete_objects(self, **request: Any) -> dict[str, Any]:  # noqa: D102 - AWS documents it
        ...

    def generate_presigned_url(  # noqa: D102 - botocore documents it
        self,
        ClientMethod: str,  # noqa: N803 - botocore's name
        Params: dict[str, Any],  # noqa: N803 - botocore's name
        ExpiresIn: int,  # noqa: N803 - botocore's name
    ) -> str: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Version:
    """A file as it is now."""

    id: str
    size: int
    kind: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Mounts:
    """The bucket behind a plain botocore client, which is made when the first file needs it."""

    connect: Callable[[], S3]
    bucket: str
    largest: int
    """Bytes of one file."""
    lasts: timedelta
    """For how long a signed URL is good."""

    def look(self, key: str) -> Version | None:
        """The file at *key* as it is now, if there is one."""
        if len(key.encode()) > LONGEST_KEY:
            return None
        try:
            found = self.connect().head_object(Bucket=self.bucket, Key=key)
        except FAILED_CALLS as error:
            if isinstance(error, ClientError) and _status(error) in _NOT_THERE:
                return None
            raise StoreIsUnavailable from error
        kind = found.get("ContentType") or "application/octet-stream"
        return Version(id=found["VersionId"], size=found["ContentLength"], kind=kind)

    def upload_url(self, key: str, *, name: str, kind: str, size: int) -> tuple[str, Mapping[str, str]]:
        """Where to PUT a file, and with which headers: *size* bytes of the type *kind*, where nothing lies yet.

        They are signed, and so is the length, which every client sends by itself: S3 refuses what differs in one, and
        the second of two. It is stored as an attachment, so that nobody's browser ever shows it by mistake.
        """
        saved = attachment(name)
        url = self._signed(
            "put_object",
            Key=key,
            ContentType=kind,
            ContentLength=size,
            ContentDisposition=saved,
            IfNoneMatch="*",
        )
        return url, {"Content-Type": kind, "Content-Disposition": saved, "If-None-Match": "*"}

    def download_url(self, key: str, *, version: str, name: str) -> str:
        """Where to GET that *version* of a file, as an attachment called *name*."""
        return self._signed(
            "get_object", Key=key, VersionId=version, ResponseContentDisposition=attachment(name)
        )

    def delete_page(self, task_id: str) -> bool:
        """Delete up to 1,000 versions of the task's own files; whether none is left.

        What is deleted is listed no more, so whoever calls again goes on where it ended.
        """
        try:
            page = self.connect().list_object_versions(Bucket=self.bucket, Prefix=corner(task_id))
            there = [*page.get("Versions", ()), *page.get("DeleteMarkers", ())]
            if not there:
                return True
            named = [{"Key": one["Key"], "VersionId": one["VersionId"]} for one in there]
            answer = self.connect().delete_objects(
                Bucket=self.bucket, Delete={"Objects": named, "Quiet": True}
            )
        except FAILED_CALLS as error:
            raise StoreIsUnavailable from error
        if answer.get("Errors"):
            raise StoreIsUnavailable
        return not page.get("IsTruncated", False)

    def _signed(self, call: str, **params: Any) -> str:
        return self.connect().generate_presigned_url(
            ClientMethod=call,
            Params={"Bucket": self.bucket, **params},
            ExpiresIn=int(self.lasts.total_seconds()),
        )


def corner(task_id: str) -> str:
    """How the keys of all files of a task's own begin."""
    return f"task/{task_id}/"


def key_of(task: Task, uri: FileUri) -> str:
    """Where the file lies that *uri* means to *task*: its own, its agent's, or the deployment's."""
    match uri.root:
        case Root.TASK:
            return f"{corner(task.id)}{uri.path}"
        case Root.AGENT:
            # An owner is `deployment`, or an account and an id in it, so nobody's corner lies in another's.
            return f"agent/{task.terms.owner}/{task.agent}/{uri.path}"
        case Root.WORKSPACE:
            return f"workspace/{uri.path}"


def attachment(name: str) -> str:
    """The Content-Disposition that has a browser save a file as *name*, whatever that is, and never show it."""
    plain = "".join(
        character if " " <= character <= "~" and character not in '"\\' else "_" for character in name
    )
    return f"attachment; filename=\"{plain}\"; filename*=UTF-8''{quote(name, safe='')}"


def _status(error: ClientError) -> int:
    return error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
