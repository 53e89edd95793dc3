"""The layers as they ship: built for the right processor, compiled, without what no function needs."""

import struct
from importlib.util import MAGIC_NUMBER
from pathlib import Path

import aws_cdk as cdk
import pytest

from infra.layers import LOCK, PACKAGE, SharedPackage, fingerprint, install_locked
from infra.notation import Arch
from infra.stack import Turnkeeper
from infra.stage import Stage
from tests.infra.conftest import SETTINGS

ELF_MACHINES = {Arch.ARM64: 183, Arch.X86_64: 62}
UNCHECKED_HASH = 0b01


@pytest.fixture(scope="module", params=list(Arch))
def arch(request: pytest.FixtureRequest) -> Arch:
    return Arch(request.param)


@pytest.fixture(scope="module")
def assembly(arch: Arch, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder with all that a deployment of the whole stack uploads."""
    folder = tmp_path_factory.mktemp(arch)
    app = cdk.App(outdir=str(folder), context=SETTINGS | {"arch": arch})
    Turnkeeper(app, "Turnkeeper", stage=Stage.from_context(app.node.get_all_context()), stack_name="test")
    return folder


@pytest.fixture(scope="module")
def deps(assembly: Path) -> Path:
    (found,) = assembly.glob("asset.*/python/pydantic_core")
    return found.parent


def test_every_binary_is_built_for_the_architecture_of_the_functions(arch: Arch, deps: Path) -> None:
    binaries = {path: path.read_bytes()[:20] for path in deps.rglob("*.so*")}

    assert binaries
    for path, head in binaries.items():
        assert head.startswith(b"\x7fELF"), path
        assert struct.unpack_from("<H", head, 18) == (ELF_MACHINES[arch],), path
        assert ".cpython-313-" in path.name, path


def test_the_layer_holds_what_the_lock_lists_and_no_boto3(deps: Path) -> None:
    locked = {
        line.split("==")[0] for line in LOCK.read_text().splitlines() if "==" in line and line[0] != " "
    }

    installed = {path.name.split("-")[0].replace("_", "-") for path in deps.glob("*.dist-info")}

    assert installed == locked
    assert {"pydantic", "aws-lambda-powertools"} <= installed
    assert not (deps / "boto3").exists()


def test_the_layer_has_libraries_and_none_of_their_command_lines(deps: Path) -> None:
    assert {"cel", "jsonschema", "yaml"} <= {path.name for path in deps.iterdir()}
    assert not [name for name in ("typer", "rich", "prompt_toolkit", "pygments") if (deps / name).exists()]


def test_every_module_is_compiled_and_never_compared_with_a_file_time(deps: Path) -> None:
    for source in deps.rglob("*.py"):
        (compiled,) = (source.parent / "__pycache__").glob(f"{source.stem}.cpython-313.pyc")
        head = compiled.read_bytes()[:8]
        assert head[:4] == MAGIC_NUMBER, source
        assert struct.unpack("<I", head[4:]) == (UNCHECKED_HASH,), source


def test_what_was_downloaded_once_needs_no_network_again(
    arch: Arch, deps: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for proxy in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.setenv(proxy, "http://127.0.0.1:9")
        monkeypatch.setenv(proxy.lower(), "http://127.0.0.1:9")

    install_locked(tmp_path, arch=arch)

    assert sources(tmp_path) == sources(deps)


def test_the_pages_of_a_browsers_console_are_left_out(deps: Path) -> None:
    assert not list(deps.rglob("swagger-ui*"))
    assert not (deps / "bin").exists()


def test_a_function_ships_its_handler_and_nothing_that_lies_around(assembly: Path) -> None:
    shipped = [
        sorted(path.name for path in found.parent.iterdir()) for found in assembly.glob("*/handler.py")
    ]

    assert shipped == [["handler.py"]] * 6


def test_the_shared_package_is_copied_whole_and_compiled(tmp_path: Path) -> None:
    SharedPackage().try_bundle(str(tmp_path))

    ours, shipped = sources(PACKAGE), sources(tmp_path)
    assert {path.suffix for path in ours} >= {".py", ".json"}
    assert shipped == ours
    assert len(list(tmp_path.rglob("*.pyc"))) == len([path for path in ours if path.suffix == ".py"])


def sources(folder: Path) -> set[Path]:
    """Return every file in *folder* but bytecode."""
    found = (path for path in folder.rglob("*") if path.is_file() and path.suffix != ".pyc")
    return {path.relative_to(folder) for path in found}


def test_a_layer_is_built_again_when_its_files_or_its_architecture_change_and_only_then(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("infra.layers.ROOT", tmp_path)
    package = tmp_path / "package"
    (package / "__pycache__").mkdir(parents=True)
    module = package / "module.py"
    module.write_text("a = 1\n")
    before = fingerprint(package, "arm64")

    (package / "__pycache__" / "module.cpython-313.pyc").write_bytes(b"compiled")
    assert fingerprint(package, "arm64") == before

    assert fingerprint(package, "x86_64") != before
    module.rename(package / "other.py")
    assert fingerprint(package, "arm64") != before
    (package / "other.py").rename(module)
    assert fingerprint(package, "arm64") == before
    module.write_text("a = 2\n")
    assert fingerprint(package, "arm64") != before
