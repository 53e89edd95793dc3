"""What things cost is what the page says: measured again on the real store, and multiplied with the same prices."""

import pytest

from scripts import cost
from tests.support.engines import Engine


@pytest.mark.usefixtures("moto_engine")
def test_the_page_is_what_the_code_does() -> None:
    assert cost.page() == cost.PAGE.read_text(encoding="utf-8"), "run `make cost`"


def test_a_poll_costs_one_read_and_a_turn_two_transactions(moto_engine: Engine) -> None:
    acts = cost.measurements()

    assert moto_engine.name == "moto"
    assert (acts["a poll"][0]["read_unit"], acts["a poll"][0]["write_unit"]) == (1, 0)
    assert acts["a turn with one output"][0]["event"] == 2
    assert acts["its deletion, and what it was kept before"][1] > 0


def test_every_price_names_its_page() -> None:
    text = (cost.ROOT / "scripts" / "prices.toml").read_text(encoding="utf-8")
    priced = text.partition("[per_million]")[2].partition("[assumed]")[0].splitlines()

    for line in priced:
        if " = " in line:
            assert "aws.amazon.com/" in line or "# the same" in line, line
