"""Each service installs from its own pins and its own members' wheels, and starts without the others."""

import os
import signal
import subprocess
import sys
import tomllib
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from kernelmill.bus.server import EmbeddedServer

ROOT = Path(__file__).parents[2]
UV = Path(sys.executable).parent / "uv"
FOREIGN = {
    "planner": ("optuna", "matplotlib", "kernelmill.targets", "kernelmill_verifier"),
    "agent-runner": ("matplotlib", "kernelmill.targets", "kernelmill.evidence", "kernelmill_planner"),
    "gpu-bench": ("optuna", "matplotlib", "kernelmill_verifier"),
    "verifier": ("optuna", "matplotlib", "kernelmill_gpu_bench"),
    "lessons": ("optuna", "matplotlib", "kernelmill.targets", "kernelmill_planner"),
}
"""What must not be there: dependencies and services of others."""

pytestmark = pytest.mark.timeout(300)


def members() -> dict[str, tuple[Path, tuple[str, ...]]]:
    """Return folder and first-party dependencies of every member of the workspace by its name."""
    found = {}
    patterns = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["uv"]["workspace"]["members"]
    for folder in (path for pattern in patterns for path in ROOT.glob(pattern)):
        project = tomllib.loads((folder / "pyproject.toml").read_text())["project"]
        own = tuple(item for item in project.get("dependencies", []) if item.startswith("kernelmill-"))
        found[project["name"]] = (folder, own)
    return found


def closure(name: str, known: dict[str, tuple[Path, tuple[str, ...]]]) -> set[str]:
    return {name}.union(*(closure(item, known) for item in known[name][1]))


def uv(*arguments: str | Path) -> None:
    environment = os.environ | {"UV_PYTHON_DOWNLOADS": "never"}
    environment.pop("VIRTUAL_ENV", None)
    done = subprocess.run([UV, *arguments], env=environment, capture_output=True, text=True, check=False, cwd=ROOT)
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = Path(tmp_path_factory.mktemp("wheels"))
    for path, _ in members().values():
        uv("build", "-q", "--wheel", "--no-build-isolation", "--python", sys.executable, "-o", folder, path)
    return folder


@pytest.fixture
async def server(tmp_path: Path) -> AsyncIterator[EmbeddedServer]:
    server = EmbeddedServer(tmp_path / "nats")
    await server.start()
    yield server
    await server.stop()


@pytest.mark.parametrize("service", sorted(FOREIGN))
def test_a_service_needs_nothing_of_the_others(
    service: str, wheels: Path, server: EmbeddedServer, tmp_path: Path
) -> None:
    known = members()
    python = tmp_path / "venv" / "bin" / "python"
    uv("venv", "-q", "--python", sys.executable, tmp_path / "venv")
    pins = ROOT / "deploy" / "requirements" / f"{service}.txt"
    uv("pip", "install", "-q", "--python", python, "--require-hashes", "-r", pins)
    names = sorted(closure(f"kernelmill-{service}", known))
    uv("pip", "install", "-q", "--python", python, "--no-deps", "--no-index", "--find-links", wheels, *names)
    for module in FOREIGN[service]:
        absent = f"import importlib.util as u, sys; sys.exit(u.find_spec({module!r}) is not None)"
        assert subprocess.run([python, "-c", absent], check=False, cwd=tmp_path).returncode == 0, module
    environment = os.environ | {"KERNELMILL_NATS_URL": server.url, "KERNELMILL_TARGETS": "cpu"}
    process = subprocess.Popen(
        [python.parent / "kernelmill", "service", service],
        env=environment,
        stderr=subprocess.STDOUT,
        stdout=subprocess.PIPE,
        text=True,
        cwd=tmp_path,
    )
    said = []
    assert process.stdout is not None
    for line in process.stdout:
        said.append(line)
        if '"ready"' in line or "ready" in line.split():
            break
    process.send_signal(signal.SIGTERM)
    rest, _ = process.communicate(timeout=60)
    assert process.returncode == 0, "".join(said) + rest
    assert any("ready" in line for line in said), "".join(said)
