"""MCP: a tool that failed still answered, and its answer may carry the envelope (BND-MCP).

What is wrong with the protocol itself stays a JSON-RPC error and never comes through here.
"""

import json
from collections.abc import Mapping
from typing import Any

from turnkeeper.asc.disclosure import MEDIA_TYPE
from turnkeeper.asc.said import SaidStatus, has_failed


def tool_result(
    status: SaidStatus, *, text: str, envelope: Mapping[str, Any], uri: str, withheld: bool = False
) -> dict[str, Any]:
    """The result of a tool's call: *text* for the model, and the disclosed *envelope* as the resource *uri*."""
    resource = {"uri": uri, "mimeType": MEDIA_TYPE, "text": json.dumps(envelope, ensure_ascii=False)}
    return {
        "content": [{"type": "text", "text": text}, {"type": "resource", "resource": resource}],
        "isError": has_failed(status, withheld=withheld),
    }
