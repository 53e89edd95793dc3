"""The set-up finds a Python that really runs, says what is missing where there is none, and works once per lock."""

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

from infra import ROOT
from scripts import setup

SCRIPT = ROOT / "scripts" / "setup.py"
REFUSES = "#!/bin/sh\necho 'pyenv: python3.13: command not found' >&2\nexit 127\n"


def program(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return path


def saying(version: str) -> str:
    return f"#!/bin/sh\necho {version}\n"


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine whose default Python is too old, with pyenv's shims first in its PATH."""
    monkeypatch.delenv("PYTHON_3_13", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path / "pyenv"))
    monkeypatch.setattr(sys, "executable", str(program(tmp_path / "bin" / "python3", saying("3.11.7"))))
    return tmp_path


def test_a_shim_that_does_not_run_is_passed_over_for_one_of_pyenvs_own_versions(machine: Path) -> None:
    program(machine / "bin" / "python3.13", REFUSES)
    program(machine / "pyenv" / "versions" / "3.13.9" / "bin" / "python", saying("3.13.9"))
    newest = program(machine / "pyenv" / "versions" / "3.13.10" / "bin" / "python", saying("3.13.10"))

    assert setup.find_python() == (str(newest), "3.13.10")


def test_the_python_in_the_path_is_taken_when_it_runs(machine: Path) -> None:
    program(machine / "bin" / "python3.13", saying("3.13.2"))
    program(machine / "pyenv" / "versions" / "3.13.9" / "bin" / "python", saying("3.13.9"))

    assert setup.find_python() == ("python3.13", "3.13.2")


def test_a_python_that_is_named_is_the_only_one_looked_at(
    machine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program(machine / "bin" / "python3.13", saying("3.13.2"))
    monkeypatch.setenv("PYTHON_3_13", str(program(machine / "mine", saying("3.12.0"))))

    with pytest.raises(setup.SetupFailed, match="mine"):
        setup.find_python()


def test_where_there_is_none_it_says_what_is_missing_where_it_looked_and_what_to_do(machine: Path) -> None:
    program(machine / "bin" / "python3.13", REFUSES)

    with pytest.raises(setup.SetupFailed) as refused:
        setup.find_python()

    assert "needs Python 3.13" in str(refused.value)
    assert "python3.13" in str(refused.value)
    assert "PYTHON_3_13=" in str(refused.value)


def test_a_failure_ends_with_a_sentence_and_no_traceback(tmp_path: Path) -> None:
    copy = program(tmp_path / "scripts" / "setup.py", SCRIPT.read_text())
    program(tmp_path / "requirements" / "dev.txt", "")
    nowhere = {"PATH": os.defpath, "PYTHON_3_13": str(tmp_path / "nowhere")}

    done = subprocess.run([sys.executable, copy], env=nowhere, capture_output=True, text=True, check=False)

    assert (done.returncode, done.stdout) == (1, "")
    assert str(tmp_path / "nowhere") in done.stderr
    assert "Traceback" not in done.stderr


class Clone:
    """A fresh clone on a machine whose Python only writes down what it is asked to do."""

    def __init__(self, root: Path) -> None:
        self.script = program(root / "scripts" / "setup.py", SCRIPT.read_text())
        self.dev, self.engine = root / "requirements" / "dev.txt", root / "requirements" / "engine.txt"
        self.client = root / "client" / "pyproject.toml"
        for lock in (self.dev, self.engine, self.client, root / "package.json", root / "package-lock.json"):
            program(lock, "1")
        self.asked = root / "asked"
        self.python = program(root / "machine" / "python", PYTHON.format(asked=self.asked))

    def set_up(self) -> tuple[list[str], str]:
        """Return what was installed, and what was said."""
        self.asked.write_text("")
        done = subprocess.run(
            [sys.executable, self.script],
            env={"PATH": os.defpath, "PYTHON_3_13": str(self.python)},
            capture_output=True,
            text=True,
            check=True,
        )
        asked = self.asked.read_text()
        found = {
            ".venv": "dev.txt" in asked,
            "client": "-e" in asked,
            ".engine": "engine.txt" in asked,
            "node_modules": "npm" in asked,
        }
        return [name for name, was in found.items() if was], done.stderr


PYTHON = """#!/bin/sh
echo "$*" >> {asked}
case "$*" in
    *ensurepip*) echo 3.13.7 ;;
    "-m venv"*) mkdir -p "$4/bin" && cp "$0" "$4/bin/python" ;;
    *npm*) mkdir -p node_modules ;;
esac
"""


def test_everything_is_installed_once_and_then_only_what_has_a_new_lock(tmp_path: Path) -> None:
    clone = Clone(tmp_path)

    installed, said = clone.set_up()
    assert installed == [".venv", "client", ".engine", "node_modules"]
    assert all(name in said for name in installed)

    assert clone.set_up() == ([], "")

    clone.engine.write_text("2")
    assert clone.set_up()[0] == [".engine"]
    clone.dev.write_text("2")
    assert clone.set_up()[0] == [".venv", "client"]
    clone.client.write_text("2")
    assert clone.set_up()[0] == ["client"]
    (tmp_path / "package-lock.json").write_text("2")
    assert clone.set_up()[0] == ["node_modules"]
    assert clone.set_up() == ([], "")


def test_an_environment_whose_python_is_gone_is_made_again(tmp_path: Path) -> None:
    clone = Clone(tmp_path)
    clone.set_up()
    (tmp_path / ".engine" / "bin" / "python").unlink()

    assert clone.set_up()[0] == [".engine"]


def test_the_script_runs_on_an_older_python_too() -> None:
    """Held by the compiler to the grammar of 3.9, since a machine may have no more than that."""
    ast.parse(SCRIPT.read_text(), feature_version=(3, 9))


@pytest.mark.parametrize("user", [0, 1000])
def test_a_browser_is_installed_where_we_may_and_named_where_we_may_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], user: int
) -> None:
    asked = tmp_path / "asked"
    program(tmp_path / "bin" / "apt-get", f'#!/bin/sh\necho "$DEBIAN_FRONTEND $*" >> {asked}\n')
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/bin")
    monkeypatch.setenv("CHROMIUM", str(tmp_path / "nowhere"))
    monkeypatch.setattr("os.geteuid", lambda: user)

    setup.browser()

    installed = asked.read_text().splitlines() if asked.exists() else []
    said = capsys.readouterr().err
    if user == 0:
        assert installed == [
            "noninteractive update",
            "noninteractive install --yes --no-install-recommends chromium",
        ]
    else:
        assert installed == []
        assert "CHROMIUM=" in said


def test_a_browser_that_is_there_is_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mine = program(tmp_path / "chromium", "#!/bin/sh\n")
    monkeypatch.setenv("CHROMIUM", str(mine))

    assert setup.find_browser() == str(mine)
