"""One sandbox for all tests of this folder, and a folder that sandboxed users can reach."""

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from kernelmill.sandbox import Confinement, Sandbox


@pytest.fixture(scope="session")
def reachable() -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="kernelmill-test-", dir="/var/tmp"))  # pytest's own are private
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


@pytest.fixture(scope="session")
def sandbox(reachable: Path) -> Iterator[Sandbox]:
    made = Sandbox(reachable)
    yield made
    made.close()


@pytest.fixture
def confinement(reachable: Path) -> Iterator[Confinement]:
    work = Path(tempfile.mkdtemp(dir=reachable))
    yield Confinement(
        wall_seconds=5.0,
        cpu_seconds=5.0,
        memory_bytes=1 << 30,
        processes=16,
        readable=tuple(path for path in (Path("/usr"), Path("/bin")) if path.exists()),
        writable=work,
        environment={"PATH": "/usr/bin:/bin"},
    )
    shutil.rmtree(work)
