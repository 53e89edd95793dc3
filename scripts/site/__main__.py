"""`python -m scripts.site` draws the pictures of docs/pictures anew."""

from collections.abc import Callable, Mapping

from scripts.site import DOCS, life, overview

PICTURES: Mapping[str, Callable[[], str]] = {"life.svg": life.drawn, "overview.svg": overview.drawn}


def main() -> None:
    """Write each picture where the pages have it."""
    folder = DOCS / "pictures"
    folder.mkdir(exist_ok=True)
    for name, drawn in PICTURES.items():
        (folder / name).write_text(drawn(), encoding="utf-8")


if __name__ == "__main__":
    main()
