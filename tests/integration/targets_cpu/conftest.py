"""One cpu target for all tests of this folder: its caches lie where sandboxed users can reach them."""

import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from kernelmill.events import BuildOptions
from kernelmill.targets.cpu import CpuTarget
from kernelmill.targets.port import Artifact, Program

Build = Callable[..., Artifact]


@pytest.fixture(scope="session")
def target() -> Iterator[CpuTarget]:
    folder = Path(tempfile.mkdtemp(prefix="kernelmill-test-", dir="/var/tmp"))  # pytest's own are private
    folder.chmod(0o755)
    cpu = CpuTarget(folder)
    try:
        yield cpu
    finally:
        cpu.close()
        shutil.rmtree(folder)


@pytest.fixture(scope="session")
def build(target: CpuTarget) -> Build:
    def compiled(source: str, *flags: str, entry: str = "kernel") -> Artifact:
        program = Program({"kernel.c": source.encode()}, entry, BuildOptions(flags=flags or ("-O2",)))
        artifact = target.compile(program)
        assert isinstance(artifact, Artifact), artifact
        return artifact

    return compiled
