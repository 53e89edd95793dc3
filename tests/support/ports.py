"""Ports for a `make up`: the engine's, and the console's beside it."""

from offline.engine import free_port, is_taken


def two_free_ports() -> int:
    """The first of two ports in a row that nothing listens on."""
    while is_taken((port := free_port()) + 1):
        pass
    return port
