"""gRPC: the status of a call that ended because of an agent status (BND-GRPC)."""

from enum import IntEnum

from turnkeeper.asc.registry import Code
from turnkeeper.asc.said import SaidStatus, has_failed
from turnkeeper.asc.vocabulary import Kind


class GrpcStatus(IntEnum):
    """The canonical codes of gRPC that we use."""

    OK = 0
    CANCELLED = 1
    UNKNOWN = 2
    INVALID_ARGUMENT = 3
    DEADLINE_EXCEEDED = 4
    NOT_FOUND = 5
    PERMISSION_DENIED = 7
    RESOURCE_EXHAUSTED = 8
    FAILED_PRECONDITION = 9
    ABORTED = 10
    UNIMPLEMENTED = 12
    INTERNAL = 13
    UNAVAILABLE = 14
    DATA_LOSS = 15


SPECIFIED = {
    Code.RATE_LIMITED: GrpcStatus.RESOURCE_EXHAUSTED,
    Code.PERMISSION_DENIED: GrpcStatus.PERMISSION_DENIED,
    Code.TIMEOUT: GrpcStatus.DEADLINE_EXCEEDED,
    Code.DEPENDENCY_UNAVAILABLE: GrpcStatus.UNAVAILABLE,
    Code.FAILED_PRECONDITION: GrpcStatus.FAILED_PRECONDITION,
    Code.ABORTED_CONCURRENCY: GrpcStatus.ABORTED,
    Code.INTERNAL_ERROR: GrpcStatus.INTERNAL,
    Code.DATA_LOSS: GrpcStatus.DATA_LOSS,
}
OURS = {
    Code.CANCELLED: GrpcStatus.CANCELLED,
    Code.INVALID_REQUEST: GrpcStatus.INVALID_ARGUMENT,
    Code.NOT_FOUND: GrpcStatus.NOT_FOUND,
    Code.UNSUPPORTED_CAPABILITY: GrpcStatus.UNIMPLEMENTED,
    Code.RESOURCE_EXHAUSTED: GrpcStatus.RESOURCE_EXHAUSTED,
}
"""Codes that the specification leaves open and that gRPC has a word for."""

_BY_CODE = {code.value: status for code, status in (SPECIFIED | OURS).items()}


def grpc_status(status: SaidStatus) -> GrpcStatus:
    """How a call ends whose scope has ended so: a failure nobody named is UNKNOWN, anything else OK (INV-2)."""
    if not status.terminal or status.kind is not Kind.STATUS:
        return GrpcStatus.OK
    otherwise = GrpcStatus.UNKNOWN if has_failed(status) else GrpcStatus.OK
    return _BY_CODE.get(status.code, otherwise)
