"""What a message pins of a file that it names, as a map inside an item; apart, since a poll has no messages."""

from collections.abc import Mapping
from typing import Any

from turnkeeper.domain.messages import Pin
from turnkeeper.store.parts import Attributes


def pin_to_map(pin: Pin) -> Attributes:
    """What a reference named."""
    return {"uri": pin.uri, "version": pin.version, "size": pin.size, "kind": pin.kind}


def pin_from_map(stored: Mapping[str, Any]) -> Pin:
    """What `pin_to_map` wrote."""
    return Pin(uri=stored["uri"], version=stored["version"], size=stored["size"], kind=stored["kind"])
