"""The layers as they ship: built for the right processor, compiled, without what no function needs."""

import struct
from importlib.util import MAGIC_NUMBER
from pathlib import Path

import aws_cdk as cdk
import pytest

from infra.layers import LOCK, PACKAGE, SharedPackage, fingerprint
from infra.stack import Turnkeeper
from infra.stage import Arch, Stage
from tests.infra.conftest import SETTINGS

ELF_MACHINES = {Arch.ARM64: 183, Arch.X86_64: 62}
UNCHECKED_HASH = 0b01


@pytest.fixture(scope="module", params=list(Arch))
def arch(request: pytest.FixtureRequest) -> Arch:
    return Arch(request.param)


@pytest.fixture(scope="module")
def deps(arch: Arch, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the dependencies as the whole stack builds them, which is how a deployment uploads them."""
    assembly = tmp_path_factory.mktemp(arch)
    app = cdk.App(outdir=str(assembly), context=SETTINGS | {"arch": arch})
    Turnkeeper(app, "Turnkeeper", stage=Stage.from_context(app.node.get_all_context()), stack_name="test")
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


def test_every_module_is_compiled_and_never_compared_with_a_file_time(deps: Path) -> None:
    for source in deps.rglob("*.py"):
        (compiled,) = (source.parent / "__pycache__").glob(f"{source.stem}.cpython-313.pyc")
        head = compiled.read_bytes()[:8]
        assert head[:4] == MAGIC_NUMBER, source
        assert struct.unpack("<I", head[4:]) == (UNCHECKED_HASH,), source


def test_the_pages_of_a_browsers_console_are_left_out(deps: Path) -> None:
    assert not list(deps.rglob("swagger-ui*"))
    assert not (deps / "bin").exists()


def test_the_shared_package_is_copied_whole_and_compiled(tmp_path: Path) -> None:
    SharedPackage().try_bundle(str(tmp_path))

    ours = {path.relative_to(PACKAGE) for path in PACKAGE.rglob("*.py")}
    assert ours
    assert {path.relative_to(tmp_path) for path in tmp_path.rglob("*.py")} == ours
    assert len(list(tmp_path.rglob("*.pyc"))) == len(ours)


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
