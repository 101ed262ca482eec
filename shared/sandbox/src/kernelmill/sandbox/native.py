"""Builds the trusted C programs of this repository once and keeps them by digest."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from kernelmill.identity import digest_framed
from kernelmill.sandbox.errors import SandboxError, ToolchainMissingError

BUILD_SECONDS = 60.0


@cache
def trusted_compiler() -> tuple[str, str]:
    """Return path and version line of the compiler for our own C sources.

    Raises:
        ToolchainMissingError: if neither gcc nor cc is installed.
    """
    path = shutil.which("gcc") or shutil.which("cc")
    if path is None:
        raise ToolchainMissingError("no C compiler found; install gcc (for example `apt-get install gcc libc6-dev`)")
    answer = subprocess.run([path, "--version"], capture_output=True, text=True, timeout=BUILD_SECONDS, check=True)  # noqa: S603  # our own compiler
    return path, answer.stdout.splitlines()[0]


def build_trusted(source: Path, folder: Path, flags: Sequence[str] = ()) -> Path:
    """Compile one of our own C sources and return the result; later calls find it by its digest.

    Args:
        source: The C file.
        folder: Where results are kept; created if missing. Sandboxed processes must be able to reach it.
        flags: Flags beyond `-O2`; libraries may be among them.

    Raises:
        ToolchainMissingError: if there is no compiler.
        SandboxError: if the source does not compile.
    """
    compiler, version = trusted_compiler()
    code = [path.read_bytes() for path in (source, *sorted(source.parent.glob("*.h")))]
    key = digest_framed([*code, version.encode(), *(flag.encode() for flag in flags)])[:24]
    target = folder / f"{source.stem}-{key}"
    if target.exists():
        return target
    folder.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=folder, prefix=f".{source.stem}-")
    os.close(handle)
    built = subprocess.run(  # noqa: S603  # our own compiler and our own source
        [compiler, "-O2", "-std=gnu11", "-o", name, str(source), *flags],
        capture_output=True,
        text=True,
        timeout=BUILD_SECONDS,
        check=False,
    )
    if built.returncode:
        Path(name).unlink(missing_ok=True)
        raise SandboxError(f"{source.name} does not compile with {version}: {built.stderr.strip()}")
    Path(name).chmod(0o755)
    Path(name).rename(target)
    return target
