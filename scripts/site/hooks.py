"""What mkdocs asks us on its way: pages from outside docs/, pages from the API's document, and links between them."""

import json
import posixpath
import re
import shutil
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

from scripts.site import ROOT, navigation, reference

BESIDE_DOCS = {"CHANGELOG.md": "changelog.md", "CONTRIBUTING.md": "contributing.md"}
"""Pages of the site that lie beside docs/."""

DOCUMENT = ROOT / "layers" / "shared" / "python" / "turnkeeper" / "edge" / "openapi.json"
SHIM = ROOT / "node_modules" / "iframe-worker" / "shim" / "index.js"
"""What lets a page that was opened from a folder search; package-lock.json pins it."""

LINK = re.compile(r"(\]\()(?!https?:|mailto:|#)([^)#\s]+)(#[^)\s]*)?\)")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """The files of docs/, and all that is no file there; the table of contents is filled with them."""
    for source, uri in BESIDE_DOCS.items():
        files.append(File.generated(config, uri, content=(ROOT / source).read_text(encoding="utf-8")))
    document = json.loads(DOCUMENT.read_text(encoding="utf-8"))
    for uri, content in reference.pages(document).items():
        files.append(File.generated(config, uri, content=content))
    files.append(File.generated(config, "openapi.json", abs_src_path=str(DOCUMENT)))
    pages = [file.src_uri for file in files.documentation_pages()]
    config.nav = navigation.filled(config.nav, pages)
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:  # noqa: ARG001
    """*markdown* with the links that leave docs/, or come from beside it, made links within the site."""
    return LINK.sub(lambda link: f"{link[1]}{_within(link[2], page.file.src_uri)}{link[3] or ''})", markdown)


def on_post_build(config: MkDocsConfig) -> None:
    """Lay the shim beside the pages."""
    for script in config.extra["polyfills"]:
        target = Path(config.site_dir) / script
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(SHIM, target)


def _within(target: str, uri: str) -> str:
    """The link *target* of the page *uri*, as it is within the site."""
    sources: dict[str, str] = {site: source for source, site in BESIDE_DOCS.items()}
    here = sources.get(uri, f"docs/{uri}")
    meant = posixpath.normpath(posixpath.join(posixpath.dirname(here), target))
    found: Any = BESIDE_DOCS.get(meant)
    if found is None and (uri in sources and meant.startswith("docs/")):
        found = meant.removeprefix("docs/")
    return target if found is None else posixpath.relpath(found, posixpath.dirname(uri) or ".")
