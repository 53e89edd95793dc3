"""An agent as somebody's Lambda function: says two parts under the turn's fence, and can be told to hang.

Standard library and botocore only, since that is all a function has that brings nothing along. An input `hang after 1`
makes its first attempt report that it runs, and hang when one part was said; any other input is answered in capitals.
"""

import json
import os
import re
import ssl
import time
import urllib.request
from typing import Any

from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

PARTS = 2


def handle(event: dict[str, Any], _context: object) -> dict[str, str] | None:
    """The function's entry: a turn in, what is said last out."""
    told = event["inputs"][0]["message"][0]["text"]
    hang = re.fullmatch(r"hang after (\d)", told)
    if hang is None:
        return {"text": told.upper()}
    hangs_after = int(hang[1]) if event["attempt"] == 1 else None
    send(event, "heartbeat", {"usage": {"tool_calls": 1}})
    if hangs_after == 0:
        time.sleep(50)
    for number in range(event["first_output"], PARTS + 1):
        say(event, number)
        if number == hangs_after:
            time.sleep(50)
    return None


def say(event: dict[str, Any], number: int) -> None:
    """Say the part of this *number*."""
    send(
        event,
        "outputs",
        {"number": number, "message": [{"mimeType": "text/plain", "text": f"part {number}"}]},
    )


def send(event: dict[str, Any], what: str, told: dict[str, Any]) -> None:
    """Send something of the turn to the hosts' API, under its fence, signed by the function's role."""
    body = json.dumps({"fence": event["fence"], **told}).encode()
    url = f"{os.environ['BASE_URL']}/v1/host/tasks/{event['task']}/{what}"
    signed: Any = AWSRequest("POST", url, data=body, headers={"content-type": "application/json"})
    # On AWS its own credentials would do. The engine gives a function a session that has the role's name for an id.
    keys = Credentials(*json.loads(os.environ["SESSION_OF_THE_ROLE"]))
    signer: Any = SigV4Auth(keys, "execute-api", os.environ["AWS_REGION"])
    signer.add_auth(signed)
    request = urllib.request.Request(url, data=body, headers=dict(signed.headers.items()), method="POST")  # noqa: S310
    trust = ssl.create_default_context(cafile=os.environ.get("AWS_CA_BUNDLE"))
    with urllib.request.urlopen(request, timeout=20, context=trust) as answer:  # noqa: S310 - the test's own address
        answer.read()
