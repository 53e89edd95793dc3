"""Records of the table's stream as Lambda gets them, made of what an item was and is.

No engine's stream is right (moto's has records of cancelled transactions), so tests make them of the table itself.
"""

from collections.abc import Mapping
from itertools import count
from typing import Any

type Wire = Mapping[str, Any]
type Record = dict[str, Any]

_numbers = count(100_000_000_000_000_000_001)


def record(old: Wire | None, new: Wire | None) -> Record:
    """The record of an item that was *old* and is *new*, in wire form; None where there was none, or is none."""
    item = new or old
    assert item is not None
    kind = "INSERT" if old is None else "REMOVE" if new is None else "MODIFY"
    number = str(next(_numbers))
    images = {"OldImage": old, "NewImage": new}
    return {
        "eventID": f"{int(number):032x}",
        "eventName": kind,
        "eventVersion": "1.1",
        "eventSource": "aws:dynamodb",
        "awsRegion": "eu-central-1",
        "dynamodb": {
            "ApproximateCreationDateTime": 1796040000,
            "Keys": {"pk": item["pk"], "sk": item["sk"]},
            **{name: dict(image) for name, image in images.items() if image is not None},
            "SequenceNumber": number,
            "SizeBytes": 1024,
            "StreamViewType": "NEW_AND_OLD_IMAGES",
        },
        "eventSourceARN": "arn:aws:dynamodb:eu-central-1:123456789012:table/tasks/stream/2026-11-30T12:00:00.000",
    }
