"""What every function imports: our package, and the locked dependencies, built here without Docker.

Both are compiled to bytecode, since a function cannot write any: what is not compiled here is compiled again
at each cold start. The bytecode never looks at file times, because the zip of an asset loses them.
"""

import compileall
import hashlib
import os
import py_compile
import shutil
import subprocess
import sys
from importlib.util import MAGIC_NUMBER
from pathlib import Path

import jsii
from aws_cdk import AssetHashType, BundlingOptions, DockerImage, ILocalBundling
from aws_cdk import aws_lambda as lambda_
from constructs import Construct

from infra import ROOT
from infra.notation import Arch

LOCK = ROOT / "requirements" / "layer.txt"
PACKAGE = ROOT / "layers" / "shared"
TRIMMING = "2"
"""Changes whenever what a layer leaves out, or how it is compiled, changes."""

UNUSED = (
    "bin",
    ".lock",
    # The pages of a browser's API console; our functions serve none.
    "aws_lambda_powertools/event_handler/openapi/swagger_ui/swagger-ui-bundle.min.js",
    "aws_lambda_powertools/event_handler/openapi/swagger_ui/swagger-ui.min.css",
    # Of powertools, what nothing else of it imports, and nothing of ours.
    *(
        f"aws_lambda_powertools/utilities/{name}"
        for name in ("auth_alpha", "circuit_breaker", "data_masking")
    ),
    *(f"aws_lambda_powertools/utilities/{name}" for name in ("feature_flags", "idempotency", "kafka")),
    *(f"aws_lambda_powertools/utilities/{name}" for name in ("parameters", "streaming")),
    # pydantic's old API, loaded for a class that is written for it, and its plug-in of mypy.
    "pydantic/v1",
    "pydantic/mypy.py",
    "jsonschema/benchmarks",
    "jsonschema/tests",
    "jsonschema_specifications/tests",
    "referencing/tests",
)
"""Each must be there, so that what a library has moved is looked at again. Why it is safe: docs/decisions/0093."""
PLATFORMS = {Arch.ARM64: "aarch64-manylinux2014", Arch.X86_64: "x86_64-manylinux2014"}
ARCHITECTURES = {Arch.ARM64: lambda_.Architecture.ARM_64, Arch.X86_64: lambda_.Architecture.X86_64}


class Layers(Construct):
    """The shared package and its dependencies, for one architecture."""

    def __init__(self, scope: Construct, id_: str, *, arch: Arch) -> None:
        super().__init__(scope, id_)
        package, locked = fingerprint(PACKAGE), fingerprint(LOCK, arch)
        self.all = [
            self._layer("Shared", "The turnkeeper package.", SharedPackage(), package, arch),
            self._layer("Deps", "The hashed requirements.", Dependencies(arch), locked, arch),
        ]

    def _layer(
        self, name: str, description: str, bundling: ILocalBundling, asset_hash: str, arch: Arch
    ) -> lambda_.LayerVersion:
        # The image is what the CDK would fall back to; a local bundling that cannot bundle raises instead.
        bundled = BundlingOptions(image=DockerImage.from_registry("none"), local=bundling)
        code = lambda_.Code.from_asset(
            str(LOCK.parent), asset_hash=asset_hash, asset_hash_type=AssetHashType.CUSTOM, bundling=bundled
        )
        return lambda_.LayerVersion(
            self,
            name,
            description=description,
            code=code,
            compatible_runtimes=[lambda_.Runtime.PYTHON_3_13],
            compatible_architectures=[ARCHITECTURES[arch]],
        )


@jsii.implements(ILocalBundling)
class SharedPackage:
    """Our package, copied and compiled."""

    def try_bundle(self, output_dir: str, *_: object, **__: object) -> bool:
        """Fill *output_dir* with layers/shared."""
        shutil.copytree(
            PACKAGE, output_dir, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__", "*.pyc")
        )
        compile_for_lambda(Path(output_dir, "python"))
        return True


@jsii.implements(ILocalBundling)
class Dependencies:
    """The requirements of the lock for *arch*, trimmed and compiled."""

    def __init__(self, arch: Arch) -> None:
        self.arch = arch

    def try_bundle(self, output_dir: str, *_: object, **__: object) -> bool:
        """Fill *output_dir* with what requirements/layer.txt locks."""
        install_locked(Path(output_dir, "python"), arch=self.arch)
        return True


def install_locked(target: Path, *, arch: Arch) -> None:
    """Install the layer's lock into *target* for *arch*, whatever machine this is."""
    pip_install = [sys.executable, "-m", "uv", "pip", "install", "--quiet", "--python", sys.executable]
    wheels = ["--python-version", "3.13", "--python-platform", PLATFORMS[arch], "--only-binary", ":all:"]
    # The lock is complete, and leaves out on purpose what a wheel may still ask for.
    command = [
        *pip_install,
        *wheels,
        "--require-hashes",
        "--no-deps",
        "--target",
        str(target),
        "-r",
        str(LOCK),
    ]
    environment = os.environ | {"UV_PYTHON_DOWNLOADS": "never"}
    # What was downloaded once needs no network again, wherever the assembly is.
    from_cache = subprocess.run([*command, "--offline"], env=environment, capture_output=True, check=False)
    if from_cache.returncode != 0:
        subprocess.run(command, check=True, env=environment, stdout=sys.stderr)
    for unused in UNUSED:
        path = target / unused
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink()
    for stub in target.rglob("*.pyi"):
        stub.unlink()
    compile_for_lambda(target)


def compile_for_lambda(folder: Path) -> None:
    """Compile all of *folder*, which Lambda mounts as /opt/python."""
    done = compileall.compile_dir(
        str(folder),
        quiet=1,
        stripdir=str(folder),
        prependdir="/opt/python",
        invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH,
    )
    if not done:
        raise RuntimeError(f"{folder} holds Python that does not compile.")


def fingerprint(path: Path, *parts: str) -> str:
    """Return a hash of the file or folder *path* and of how layers are made."""
    digest = hashlib.sha256("\0".join((TRIMMING, MAGIC_NUMBER.hex(), *parts)).encode())
    files = [path, *sorted(path.rglob("*"))]
    for file in (file for file in files if file.is_file() and file.suffix != ".pyc"):
        digest.update(f"\0{file.relative_to(ROOT).as_posix()}\0".encode() + file.read_bytes())
    return digest.hexdigest()
