"""The API's document, served: to anybody, once, and cheaply."""

import json

from tests.support.gateway import Gateway
from tests.support.laboratory import Laboratory
from turnkeeper.edge.reference import DOCUMENT

AT = "/v1/openapi.json"


def test_anybody_gets_the_document_as_it_is(api: Gateway, live_lab: Laboratory) -> None:
    reply = api.get(AT, person=None)

    assert (reply.status, reply.body) == (200, DOCUMENT.read_text(encoding="utf-8"))
    assert json.loads(reply.body)["openapi"].startswith("3.1.")
    assert live_lab.everything() == {}


def test_who_has_it_already_is_sent_nothing(api: Gateway) -> None:
    tag = api.get(AT, person=None).headers["ETag"]

    again, other = (api.get(AT, person=None, headers={"If-None-Match": seen}) for seen in (tag, '"other"'))

    assert (again.status, again.body, again.headers["ETag"]) == (304, "", tag)
    assert other.status == 200


def test_it_is_for_reading_alone(api: Gateway) -> None:
    assert api.post(AT, {}, person=None).status == 404
