"""The command `turnkeeper`; it needs the extra `cli`."""

import sys


def main() -> None:
    """Do what the arguments ask for; ends with an exit code of `exits`."""
    try:
        from turnkeeper_client.cli.app import app  # noqa: PLC0415 - so that its absence can be told in words
    except ModuleNotFoundError as missing:
        if missing.name is None or missing.name.startswith("turnkeeper"):
            raise
        sys.stderr.write(
            f"The command needs {missing.name}: pip install './client[cli]' in Turnkeeper's folder\n"
        )
        sys.exit(2)
    app()
