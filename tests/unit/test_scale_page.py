"""docs/scale.md reckons with what is measured, and cites a source for each limit of AWS's."""

import re
from pathlib import Path

from bench import results
from bench.figures import number
from turnkeeper.store.items import SHARDS

PAGE = (Path(__file__).parents[2] / "docs" / "scale.md").read_text(encoding="utf-8")
POLLS, POLLS_OF_A_TURN = 50_000, 20
A_PARTITION_WRITES = 1_000
UNITS = ("read_unit", "write_unit", "index_unit")


def used(use_case: str) -> dict[str, float]:
    found = results.read().parts["accounting"].found[use_case]["used"]
    return {name: found.get(name, 0) for name in UNITS}


def test_every_unit_of_the_page_is_the_one_that_was_counted() -> None:
    rows = re.findall(r"^\| `(\w+)` \| ([\d.]+) \| (\d+) \| (\d+) \|$", PAGE, re.MULTILINE)

    assert len(rows) == 9
    for use_case, *units in rows:
        assert [float(unit) for unit in units] == list(used(use_case).values()), use_case


def test_what_follows_from_them_is_reckoned_right() -> None:
    turns = POLLS / POLLS_OF_A_TURN
    accept, turn, poll = used("accept"), used("turn"), used("poll")
    moves = accept["index_unit"] + turn["index_unit"]
    look = used("messages_nothing_new")["read_unit"]
    reads = POLLS * poll["read_unit"] + turns * (accept["read_unit"] + turn["read_unit"] + look)
    writes = turns * (accept["write_unit"] + turn["write_unit"] - moves)
    room = len(SHARDS) * A_PARTITION_WRITES

    for said in (
        f"**{number(reads)} read units**",
        f"**{number(writes)} write units**",
        f"**{number(turns * moves)}**",
        f"{number(room)} / {moves:g} = **{number(room // moves)} turns a second**",
    ):
        assert said in PAGE


def test_every_source_is_cited_and_every_citation_has_one() -> None:
    text, _, sources = PAGE.partition("## Sources")

    cited = {int(found) for found in re.findall(r"\[(\d+)\](?!\()", text)}
    listed = [int(found) for found in re.findall(r"^(\d+)\. \[", sources, re.MULTILINE)]
    assert listed == list(range(1, len(listed) + 1))
    assert cited == set(listed)
