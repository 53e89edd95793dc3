"""The layers as they ship: built for the right processor, compiled, without what no function needs."""

import ast
import platform
import struct
import sys
import zipfile
from importlib.util import MAGIC_NUMBER
from pathlib import Path

import aws_cdk as cdk
import pytest

from infra.layers import LOCK, PACKAGE, UNUSED, SharedPackage, fingerprint, install_locked
from infra.notation import Arch
from infra.stack import Turnkeeper
from infra.stage import Stage
from tests.infra.conftest import SETTINGS
from tests.support.fresh import FUNCTIONS, ROOT, said

ELF_MACHINES = {Arch.ARM64: 183, Arch.X86_64: 62}
UNCHECKED_HASH = 0b01
MB = 1_000_000
LARGEST = {"deps": (24 * MB, 8.3 * MB), "shared": (2.2 * MB, 1.1 * MB)}
"""Bytes of each layer, unzipped and zipped; a cold function fetches the one and unpacks the other."""
RUNTIME = ("botocore", "dateutil", "six.py", "urllib3", "certifi")
"""What the Lambda runtime has beside Python, and a layer need not."""
USES_ALL = """
import importlib.util, pkgutil
import jsonschema, pydantic, turnkeeper, yaml
for found in pkgutil.walk_packages(turnkeeper.__path__, "turnkeeper."):
    importlib.import_module(found.name)
from turnkeeper.guards.child import Library
cel = importlib.util.find_spec("cel").origin
assert "wrong" not in Library(cel.removesuffix("/__init__.py")).compiled("x + 1 == 2")
jsonschema.Draft202012Validator({"type": "integer", "$ref": "#/$defs/a", "$defs": {"a": {"minimum": 1}}}).validate(1)
class Model(pydantic.BaseModel):
    name: str | None = pydantic.Field(default=None, max_length=3)
Model.model_validate_json('{"name": "abc"}')
Model.model_json_schema()
list(yaml.parse("a: [1, 2]", Loader=yaml.CSafeLoader))
print(cel, jsonschema.__file__, pydantic.__file__, turnkeeper.__file__, yaml.__file__, sep="\\n")
"""


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


@pytest.mark.parametrize("layer", LARGEST)
def test_a_layer_is_no_larger_than_it_may_be(assembly: Path, deps: Path, tmp_path: Path, layer: str) -> None:
    (ours,) = assembly.glob("asset.*/python/turnkeeper")
    folder = {"deps": deps, "shared": ours.parent}[layer].parent
    files = sorted(path for path in folder.rglob("*") if path.is_file())

    with zipfile.ZipFile(tmp_path / "layer.zip", "w", zipfile.ZIP_DEFLATED) as packed:
        for file in files:
            packed.write(file, file.relative_to(folder))

    unzipped, zipped = sum(file.stat().st_size for file in files), (tmp_path / "layer.zip").stat().st_size
    assert unzipped <= LARGEST[layer][0]
    assert zipped <= LARGEST[layer][1]


def test_stubs_and_what_nothing_loads_are_left_out(deps: Path) -> None:
    assert not list(deps.rglob("*.pyi"))
    assert [name for name in UNUSED if (deps / name).exists()] == []


@pytest.fixture(scope="module")
def as_in_lambda(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, ...]:
    """Return where a function finds its modules in Lambda: both layers as they ship, then what the runtime has."""
    folder = tmp_path_factory.mktemp("lambda")
    arch = Arch.ARM64 if platform.machine() in {"aarch64", "arm64"} else Arch.X86_64
    install_locked(folder / "deps", arch=arch)
    SharedPackage().try_bundle(str(folder / "shared"))
    (folder / "runtime").mkdir()
    for name in RUNTIME:
        found = next(Path(place) / name for place in sys.path if (Path(place) / name).exists())
        (folder / "runtime" / name).symlink_to(found)
    return ROOT, folder / "shared" / "python", folder / "deps", folder / "runtime"


@pytest.mark.parametrize("function", FUNCTIONS)
def test_every_function_starts_from_the_layers_as_they_ship(
    as_in_lambda: tuple[Path, ...], function: str
) -> None:
    program = f"import functions.{function}.handler, turnkeeper, botocore; print(turnkeeper.__file__)"

    started = said(program, function, *as_in_lambda, alone=True)

    assert started.strip() == str(as_in_lambda[1] / "turnkeeper" / "__init__.py")


def test_whatever_is_loaded_later_is_in_the_layers_too(as_in_lambda: tuple[Path, ...]) -> None:
    found = said(USES_ALL, None, *as_in_lambda, alone=True).splitlines()

    assert [path for path in found if not path.startswith(str(as_in_lambda[1].parents[1]))] == []
    assert len(found) == 5


def test_nothing_that_ships_imports_what_was_left_out(as_in_lambda: tuple[Path, ...]) -> None:
    """But for pydantic's one place that is for classes of its old API, which none of ours is."""
    gone = {name.removesuffix(".py").replace("/", ".") for name in UNUSED if "/" in name}
    asked = {
        (str(path.relative_to(folder)), name)
        for folder in as_in_lambda[1:3]
        for path in folder.rglob("*.py")
        for name in imported(path)
        if any(name == module or name.startswith(f"{module}.") for module in gone)
    }

    assert {path for path, _ in asked} == {"pydantic/_internal/_generate_schema.py"}
    assert {name for _, name in asked} == {"pydantic.v1", "pydantic.v1.BaseModel"}


def imported(path: Path) -> set[str]:
    """Return the dotted names that *path* imports, wherever in it."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            names |= {str(node.module), *(f"{node.module}.{alias.name}" for alias in node.names)}
    return names


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
