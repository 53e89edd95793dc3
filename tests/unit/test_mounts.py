"""Where a file lies, and what a browser is told of it."""

import re
from urllib.parse import unquote

import pytest

from tests.support.specimens import idle
from turnkeeper.domain.uris import FileUri, Root
from turnkeeper.mounts import attachment, key_of

NAMES = [
    "a.csv",
    "week 48, 2026.csv",
    "é…😀.pdf",
    'a"b.csv',
    'a"; filename="b.exe',
    "a;b='c'.csv",
    "~!@$^&*()_+.txt",
]


@pytest.mark.parametrize("name", NAMES)
def test_a_browser_saves_a_file_under_its_name_whatever_that_is(name: str) -> None:
    """Nothing in a name ends the quotation, and who reads the newer form gets every character (RFC 6266)."""
    found = re.fullmatch(
        r"attachment; filename=\"([ !#-\[\]-~]*)\"; filename\*=UTF-8''([A-Za-z0-9._~%-]*)", attachment(name)
    )

    assert found
    assert unquote(found[2]) == name
    assert len(found[1]) == len(name)


@pytest.mark.clause("CP-4")
def test_each_root_has_a_corner_of_its_own() -> None:
    task = idle()
    owner = task.terms.owner

    assert {key_of(task, FileUri(root, "x/a.csv")) for root in Root} == {
        f"task/{task.id}/x/a.csv",
        f"agent/{owner}/{task.agent}/x/a.csv",
        "workspace/x/a.csv",
    }
