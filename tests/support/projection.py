"""The part of an item that DynamoDB answers with, where a request names one: attributes, and some inside of maps."""

from collections.abc import Mapping
from typing import Any

type Wire = dict[str, Any]


def projected(item: Mapping[str, Any], request: Mapping[str, Any]) -> Wire:
    """*item*, in wire form, as *request* asks for it: whole, or what its ProjectionExpression names."""
    if "ProjectionExpression" not in request:
        return dict(item)
    names = request.get("ExpressionAttributeNames", {})
    part: Wire = {}
    for path in request["ProjectionExpression"].split(","):
        _take(item, part, [names.get(step, step) for step in path.strip().split(".")])
    return part


def _take(item: Mapping[str, Any], part: Wire, steps: list[str]) -> None:
    first, *rest = steps
    if first not in item:
        return
    if not rest:
        part[first] = item[first]
    elif "M" in item[first]:
        _take(item[first]["M"], part.setdefault(first, {"M": {}})["M"], rest)
