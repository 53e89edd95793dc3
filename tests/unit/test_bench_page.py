"""What was measured is kept with its command, shown as it is kept, and lost by nobody's failure."""

import json
import re
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from bench import __main__ as command
from bench import figures, machine, page, parts, plots, results, run
from bench.results import Results, Taken
from bench.run import PartFailed
from bench.tables import Line, NobodyMakesIt, Plot, Table, markdown

FOUND: dict[str, Any] = {"steps": []}


def taken(**ours: Any) -> Taken:
    told = {
        "command": "make bench PART=contention",
        "on": "2026-11-30",
        "rounds": 5,
        "seconds": 1.5,
        "load_before": 0.1,
        "taken_by_others": 0.0,
        "machine": machine.this_machine(),
        "found": FOUND,
        **ours,
    }
    return Taken.model_validate(told)


def test_the_page_is_what_the_kept_figures_make() -> None:
    assert page.page(results.read()) == page.PAGE.read_text(encoding="utf-8"), "run `python -m bench.page`"


def test_every_plot_of_the_page_is_drawn_from_the_kept_figures() -> None:
    wanted = {plot.name: plots.mark(plot) for plot in page.all_plots(results.read())}
    drawn = {file.stem: file.read_text(encoding="utf-8") for file in page.PLOTS.glob("*.svg")}

    assert sorted(drawn) == sorted(wanted)
    for name, mark in wanted.items():
        assert mark in drawn[name], f"{name}.svg: run `python -m bench.page`"


def test_what_is_kept_names_no_path_and_no_host() -> None:
    told = results.KEPT.read_text(encoding="utf-8") + page.PAGE.read_text(encoding="utf-8")

    assert not re.findall(
        r"(?<![\w.])/(?:home|root|tmp|work|usr|opt|Users)\b|\bhttps?://(?!127\.0\.0\.1)", told
    )


@pytest.mark.parametrize("blank", ["", " "])
def test_a_figure_without_the_command_that_makes_it_is_refused(blank: str) -> None:
    with pytest.raises(ValidationError, match="command"):
        taken(command=blank)
    with pytest.raises(NobodyMakesIt, match="Poll"):
        Table("Poll", ["a"], [["1"]], command=blank)


def test_a_kept_part_that_is_none_any_more_is_refused_by_name() -> None:
    with pytest.raises(parts.NoSuchPart, match=r"no part 'gone'; there are: .*contention"):
        page.page(Results(parts={"gone": taken()}))


def test_a_part_that_others_disturbed_is_marked() -> None:
    quiet = page.page(Results(parts={"contention": taken()}))
    busy = page.page(Results(parts={"contention": taken(taken_by_others=0.4)}))

    assert "Not alone" not in quiet
    assert "**Not alone**: contention." in busy
    assert "40% of the processors taken by others" in busy


def test_a_part_that_fails_loses_no_others_figures_and_not_its_own_earlier_ones() -> None:
    kept, told = Results(parts={"bad": taken()}), []

    def measure(name: str, rounds: int) -> dict[str, Any]:
        if name == "bad":
            raise PartFailed("out of luck")
        return {"rounds": rounds}

    failed = run.run(
        ["bad", "good"], 3, kept, measure=measure, told=lambda name, done: told.append((name, str(done)[:11]))
    )

    assert failed == ["bad"]
    assert kept.parts["good"].found == {"rounds": 3}
    assert kept.parts["good"].command == "make bench PART=good"
    assert kept.parts["bad"].found == FOUND
    assert told[0] == ("bad", "out of luck")


def test_a_run_with_a_failed_part_ends_with_1_and_writes_the_rest(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    written: list[Results] = []
    monkeypatch.setattr(command, "run", lambda *_, **__: ["contention"])
    monkeypatch.setattr(results, "keep", written.append)
    monkeypatch.setattr(page, "write", written.append)

    assert command.main(["contention"]) == 1
    assert len(written) == 2
    assert "No figures of contention" in capsys.readouterr().out


def test_a_part_that_dies_says_so() -> None:
    with pytest.raises(PartFailed, match="ended with 1"):
        run.apart("nobody", 1)


@pytest.mark.parametrize(
    ("arguments", "said"), [(["nobody"], "there is no part 'nobody'"), (["--rounds=0"], "once at least")]
)
def test_a_command_that_means_nothing_is_refused(
    arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as end:
        command.main(arguments)

    assert end.value.code == 2
    assert said in capsys.readouterr().err


def test_what_is_kept_is_read_as_it_was(tmp_path: Path) -> None:
    kept = Results(parts={"contention": taken()})

    results.keep(kept, tmp_path / "results.json")

    assert results.read(tmp_path / "results.json") == kept
    assert results.read(tmp_path / "none.json") == Results()


def test_a_percentile_is_of_what_was_measured() -> None:
    assert figures.percentile([7], 95) == 7
    assert figures.percentile(list(range(101)), 95) == 95


def test_a_table_in_markdown_keeps_its_cells_apart() -> None:
    table = Table("T", ["what", "ms"], [figures.row("a|b", 1234.5)], command="make bench")

    assert markdown(table).splitlines()[-1] == "| a\\|b | 1,234 |"
    with pytest.raises(ValueError, match="2 columns"):
        Table("T", ["what", "ms"], [["a"]], command="make bench")


def test_a_plot_is_drawn_alike_each_time_and_carries_its_mark(tmp_path: Path) -> None:
    plot = Plot("p", "Polls", "tasks", "calls", [Line("poll", [(1, 1), (10, 1)])])

    first, again = plots.draw(plot, tmp_path / "a"), plots.draw(plot, tmp_path / "b")

    assert first.read_bytes() == again.read_bytes()
    assert plots.mark(plot) in first.read_text(encoding="utf-8")


WORKS = "import time\nwhile time.process_time() < 0.6: pass\n"


def test_what_a_part_s_processes_work_is_not_taken_for_others() -> None:
    """Whether they were waited for, or go on."""
    with machine.Descendants() as waited:
        subprocess.run([sys.executable, "-c", WORKS], check=True)
    with machine.Descendants() as seen:
        process = subprocess.Popen([sys.executable, "-c", f"{WORKS}input()"], stdin=subprocess.PIPE)
        deadline = time.monotonic() + 60
        while seen.seconds < 0.5 and time.monotonic() < deadline:
            time.sleep(0.05)
        found = seen.seconds
        process.kill()
        process.communicate()

    assert waited.seconds >= 0.5
    assert found >= 0.5


@pytest.mark.parametrize("name", parts.PARTS)
def test_every_part_says_what_it_is(name: str) -> None:
    made = parts.part(name)

    assert made.TITLE
    assert made.ABOUT
    assert callable(made.measure)


def test_the_machine_is_told_without_its_name() -> None:
    told: Mapping[str, Any] = json.loads(machine.this_machine().model_dump_json())

    assert set(told) == {"cpu", "cores", "memory_gb", "kernel", "python", "libraries"}
    assert "boto3" in told["libraries"]
    assert machine.busy_seconds() > 0
    assert machine.load() >= 0
