"""The table of contents, where a pattern (`decisions/*.md`) stands for all pages that are named nowhere else."""

from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase
from typing import Any


def filled(nav: Any, pages: Iterable[str]) -> Any:
    """*nav* with each pattern replaced by those of *pages* that it matches, in the order of their names."""
    named = {one for one in _pages(nav) if not _is_pattern(one)}
    return _filled(nav, [page for page in sorted(pages) if page not in named])


def _filled(nav: Any, left: list[str]) -> Any:
    if isinstance(nav, dict):
        return {title: _filled(below, left) for title, below in nav.items()}
    if not isinstance(nav, list):
        return nav
    found: list[Any] = []
    for one in nav:
        if isinstance(one, str) and _is_pattern(one):
            # A pattern means one folder: `*` stops at a slash here.
            matching = [page for page in left if page.count("/") == one.count("/") and fnmatchcase(page, one)]
            left[:] = [page for page in left if page not in matching]
            found += matching
        else:
            found.append(_filled(one, left))
    return found


def _is_pattern(one: str) -> bool:
    return "*" in one


def _pages(nav: Any) -> Iterator[str]:
    match nav:
        case dict():
            for below in nav.values():
                yield from _pages(below)
        case list():
            for below in nav:
                yield from _pages(below)
        case str():
            yield nav
