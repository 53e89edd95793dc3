"""The site of the pages: it builds strictly, needs nothing from elsewhere, and nothing that is wrong gets through."""

import re
import subprocess
import sys
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path

import pytest

from infra import ROOT
from scripts.site import DOCS, navigation

LOADS = {
    "script": "src",
    "img": "src",
    "iframe": "src",
    "source": "srcset",
    "link": "href",
    "object": "data",
    "video": "src",
    "embed": "src",
}
"""What a browser fetches by itself, and by which name."""


class Loaded(HTMLParser):
    """What a page has a browser fetch."""

    def __init__(self, page: Path) -> None:
        super().__init__()
        self.found: list[str] = []
        self.classes: set[str] = set()
        self.feed(page.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = dict(attrs)
        self.classes.update((attributes.get("class") or "").split())
        if attributes.get("rel") in {"canonical", "prev", "next"}:
            return
        if address := attributes.get(LOADS.get(tag, "")):
            self.found.append(address)


def build(folder: Path, config: Path = ROOT / "mkdocs.yml") -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "-f", str(config), "-d", str(folder)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=100)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    built = build(folder)
    assert built.returncode == 0, built.stdout + built.stderr
    return folder


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[Path, Loaded]:
    return {page: Loaded(page) for page in site.rglob("*.html")}


def test_every_page_of_docs_is_in_it(site: Path) -> None:
    sources = [path.relative_to(DOCS) for path in DOCS.rglob("*.md")]

    missing = [
        str(source)
        for source in sources
        if not (site / source.parent / source.name.replace("README.md", "index.md"))
        .with_suffix(".html")
        .exists()
    ]

    assert len(sources) > 60
    assert not missing


def test_no_page_loads_anything_from_elsewhere(pages: dict[Path, Loaded], site: Path) -> None:
    away = {(page, one) for page, loaded in pages.items() for one in loaded.found if "//" in one}
    styles = re.findall(
        r"(?:url\(|@import)\s*[\"']?(?:https?:)?//[^)\"']+",
        "".join(style.read_text(encoding="utf-8") for style in site.rglob("*.css")),
    )

    assert not away
    assert not styles


def test_nothing_is_drawn_by_a_script_that_would_have_to_be_fetched(pages: dict[Path, Loaded]) -> None:
    assert not {page for page, loaded in pages.items() if "mermaid" in loaded.classes}


def test_whatever_a_page_loads_is_there(pages: dict[Path, Loaded], site: Path) -> None:
    missing = {
        (str(page.relative_to(site)), one)
        for page, loaded in pages.items()
        for one in loaded.found
        # The page of what is not found is served at any depth.
        if page.name != "404.html"
        if not (page.parent / one.partition("#")[0].partition("?")[0]).exists()
    }

    assert not missing


def test_it_can_be_searched_without_a_server(site: Path) -> None:
    index = (site / "search" / "search_index.js").read_text(encoding="utf-8")
    page = (site / "index.html").read_text(encoding="utf-8")

    assert index.startswith("var __index")
    assert "heartbeat" in index
    assert 'src="assets/javascripts/iframe-worker.js"' in page
    assert "Worker" in (site / "assets" / "javascripts" / "iframe-worker.js").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def complaints(tmp_path_factory: pytest.TempPathFactory) -> str:
    """What a build says of a page that is in no table of contents, and of its links."""
    folder = tmp_path_factory.mktemp("wrong")
    (folder / "docs" / "lost").mkdir(parents=True)
    for source in DOCS.iterdir():
        (folder / "docs" / source.name).symlink_to(source)
    (folder / "docs" / "lost" / "page.md").write_text(
        "# Lost\n\n[gone](nowhere.md), [no such part](../api.md#nowhere), [not of the site](/etc/passwd)\n"
    )
    config = folder / "mkdocs.yml"
    config.write_text(f"INHERIT: {ROOT}/mkdocs.yml\ndocs_dir: docs\nhooks: [{ROOT}/scripts/site/hooks.py]\n")
    built = build(folder / "site", config)
    assert built.returncode == 1
    return built.stdout + built.stderr


@pytest.mark.parametrize(
    "complaint",
    [
        'not included in the "nav" configuration: - lost/page.md',
        "link 'nowhere.md', but the target 'lost/nowhere.md' is not found",
        "does not contain an anchor '#nowhere'",
        "absolute link '/etc/passwd'",
    ],
)
def test_a_page_outside_of_the_contents_or_a_broken_link_ends_the_build(
    complaints: str, complaint: str
) -> None:
    said = re.split(r"^(INFO|WARNING|ERROR) +-", complaints, flags=re.MULTILINE)
    warnings = [" ".join(words.split()) for level, words in pairwise(said) if level == "WARNING"]

    assert [warning for warning in warnings if complaint in warning]


def test_a_pattern_stands_for_the_pages_that_are_named_nowhere_else() -> None:
    nav = [{"One": ["b.md", "*.md"]}, {"Two": ["deep/*.md", {"Three": "c.md"}]}]

    filled = navigation.filled(nav, ["a.md", "b.md", "c.md", "deep/d.md", "deep/er/e.md"])

    assert filled == [{"One": ["b.md", "a.md"]}, {"Two": ["deep/d.md", {"Three": "c.md"}]}]
