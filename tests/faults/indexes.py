"""Clients that answer Queries as AWS may and the engines do not: from an index that is behind, and in other pages."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tests.support.callbook import THE_TEST, as_function
from tests.support.engines import make_table
from tests.support.laboratory import Laboratory

INDEX_KEYS = {"mine": ("responsible_user", "created_key"), "due": ("due_shard", "due_at")}

type Query = Callable[..., dict[str, Any]]


@dataclass
class Querying:
    """*client*, whose Queries are answered by *query*, which is given the client's own."""

    client: Any
    query_as: Callable[[Query, dict[str, Any]], dict[str, Any]]

    def query(self, **request: Any) -> dict[str, Any]:
        return self.query_as(self.client.query, request)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.client, name)


def behind(lab: Laboratory) -> Querying:
    """A client for which the indexes stay as they are now, whatever is written from now on."""
    copy = make_table(lab.dynamodb)
    for item in _scanned(lab):
        lab.dynamodb.put_item(TableName=copy, Item=item)

    def query(ask: Query, request: dict[str, Any]) -> dict[str, Any]:
        return ask(**{**request, "TableName": copy} if "IndexName" in request else request)

    return Querying(lab.dynamodb, query)


def exact(client: Any) -> Querying:
    """A client that says of a page that is full that there may be more, as AWS does and moto does not."""

    def query(ask: Query, request: dict[str, Any]) -> dict[str, Any]:
        answer = ask(**request)
        if len(answer["Items"]) == request.get("Limit"):
            answer.setdefault("LastEvaluatedKey", position_of(answer["Items"][-1], request))
        return answer

    return Querying(client, query)


def in_pages(client: Any, size: int) -> Querying:
    """A client whose pages end after *size* rows where nobody asked for fewer, as AWS's do after a megabyte."""

    def query(ask: Query, request: dict[str, Any]) -> dict[str, Any]:
        return ask(**{**request, "Limit": min(size, request.get("Limit", size))})

    return exact(Querying(client, query))


def position_of(row: dict[str, Any], request: dict[str, Any]) -> dict[str, Any]:
    """Where to go on after *row*."""
    keys = ("pk", "sk", *INDEX_KEYS.get(request.get("IndexName", ""), ()))
    return {key: row[key] for key in keys}


@as_function(THE_TEST)
def _scanned(lab: Laboratory) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = lab.dynamodb.scan(TableName=lab.table, ConsistentRead=True)["Items"]
    return items
