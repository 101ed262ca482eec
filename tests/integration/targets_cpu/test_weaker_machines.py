"""The target on machines that lack something: only the v1 freezer, only stop signals, an ordinary user."""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from contract.target_contract import DoublingRow, plan

from kernelmill.events import BuildOptions
from kernelmill.sandbox import Freeze
from kernelmill.targets.cpu import CpuTarget
from kernelmill.targets.port import Artifact, CandidateFault, InfrastructureFault, Limits, PairMeasured, Program

ROW = DoublingRow()
SIGNATURE = "void kernel(const float *x, float *y, long n)"
HONEST = f"{SIGNATURE} {{ for (long i = 0; i < n; i++) y[i] = 2 * x[i]; }}\n"
UNFINISHED = f"{SIGNATURE} {{ for (long i = 0; i < n - 1; i++) y[i] = 2 * x[i]; }}\n"


def available(freeze: Freeze) -> bool:
    if freeze == "self-stop":
        return True
    return os.geteuid() == 0 and Path("/sys/fs/cgroup/freezer").is_dir()


@pytest.fixture(scope="module", params=["cgroup-v1", "self-stop"])
def weaker(request: pytest.FixtureRequest, target: CpuTarget) -> Iterator[CpuTarget]:
    if not available(request.param):
        pytest.skip(f"{request.param} is not mounted here, or needs root")
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:  # pytest's own folders are private
        Path(folder).chmod(0o755)
        cpu = CpuTarget(Path(folder), strongest_freeze=request.param)
        assert cpu.sandboxing().freeze == request.param
        yield cpu
        cpu.close()


def built(target: CpuTarget, source: str) -> Artifact:
    artifact = target.compile(Program({"k.c": source.encode()}, "kernel", BuildOptions(flags=("-O2",))))
    assert isinstance(artifact, Artifact)
    return artifact


def test_pairs_are_timed_and_say_how(weaker: CpuTarget) -> None:
    artifact = built(weaker, HONEST)
    outcome = weaker.time_pair(artifact, artifact, ROW, plan(), Limits())
    if isinstance(outcome, InfrastructureFault):
        outcome = weaker.time_pair(artifact, artifact, ROW, plan(), Limits())
    assert isinstance(outcome, PairMeasured), outcome
    assert outcome.sandboxing.freeze == weaker.sandboxing().freeze


def test_faults_are_found(weaker: CpuTarget) -> None:
    outcome = weaker.time_pair(built(weaker, UNFINISHED), built(weaker, HONEST), ROW, plan(), Limits())
    assert isinstance(outcome, CandidateFault), outcome
    assert outcome.reason == "unfinished"


def test_fingerprints_of_weaker_machines_differ(weaker: CpuTarget, target: CpuTarget) -> None:
    if weaker.sandboxing().freeze != target.sandboxing().freeze:
        assert weaker.fingerprint().digest != target.fingerprint().digest


ORDINARY_USER = """
import json, os, sys
from pathlib import Path
sys.path.insert(0, sys.argv[2])
import numpy.random, pyseccomp, runpy
from contract.target_contract import DoublingRow, plan
from kernelmill.events import BuildOptions
from kernelmill.targets.cpu import CpuTarget
from kernelmill.targets.port import Limits, Program
os.setgroups([]); os.setresgid(64124, 64124, 64124); os.setresuid(64124, 64124, 64124)
cpu, row = CpuTarget(Path(sys.argv[1])), DoublingRow()
source = b"void kernel(const float *x, float *y, long n) { for (long i = 0; i < n; i++) y[i] = 2 * x[i]; }"
artifact = cpu.compile(Program({"k.c": source}, "kernel", BuildOptions(flags=("-O2",))))
with cpu.session(artifact, Limits()) as session:
    outcome = session.run(row.call()).outcome
pair = [type(cpu.time_pair(artifact, artifact, row, plan(), Limits())).__name__ for _ in range(3)]
print(json.dumps([cpu.sandboxing().layers, outcome, "PairMeasured" in pair]))
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="the whole suite runs as an ordinary user already")
def test_ordinary_users_check_and_time() -> None:
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:  # pytest's own folders are private
        os.chown(folder, 64124, 64124)
        tests = str(Path(__file__).parents[2])
        done = subprocess.run(
            [sys.executable, "-c", ORDINARY_USER, folder, tests],
            capture_output=True,
            text=True,
            timeout=90,
            check=False,
        )
        assert done.stdout, done.stderr
        assert json.loads(done.stdout) == [["landlock", "namespaces", "rlimits", "seccomp"], "completed", True]
