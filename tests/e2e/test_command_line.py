"""The command line as a person uses it: real processes, one data folder, from a campaign file to a champion in use."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kernelmill_console.supervisor import running_address

ROOT = Path(__file__).parents[2]
CAMPAIGN = """
problem = "rmsnorm"
workloads = ["smollm2-128", "odd-33"]
baselines = ["c-o3", "numpy"]
seed = 4
[budget]
evaluations = {evaluations}
minutes = 2.5
"""


EITHER = -1
"""For answers that may honestly be yes or no on a noisy machine."""


def command(*arguments: str | Path, cwd: Path, code: int = 0, seconds: float = 200.0) -> str:
    result = subprocess.run(
        [sys.executable, "-m", "kernelmill.bus.launcher", *map(str, arguments)],
        cwd=cwd,
        env=os.environ | {"KERNELMILL_KERNELS": str(ROOT / "kernels"), "COLUMNS": "200", "NO_COLOR": "1"},
        capture_output=True,
        text=True,
        timeout=seconds,
        check=False,
    )
    expected = {0, 1} if code == EITHER else {code}
    assert result.returncode in expected, f"exit code {result.returncode}\n{result.stdout}\n{result.stderr}"
    return result.stdout if code in {0, EITHER} else result.stdout + result.stderr


def objects(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


def standings(folder: Path, campaign: str) -> set[str]:
    return {row["standing"] for row in objects(command("leaderboard", campaign, "--json", cwd=folder))}


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which a campaign has been run to its champion."""
    folder = tmp_path_factory.mktemp("work")
    (folder / "campaign.toml").write_text(CAMPAIGN.format(evaluations=16))
    summary = objects(command("run", "campaign.toml", "--json", cwd=folder))[-1]
    assert summary["status"] == "closed"
    assert summary["champion"]
    assert summary["first_verdict_seconds"] < 60.0
    assert summary["exported"] == "champions/rmsnorm"
    return folder


@pytest.mark.timeout(280)
def test_listings_agree_with_each_other(finished: Path) -> None:
    campaign = objects(command("campaigns", "--json", cwd=finished))[0]
    rows = objects(command("leaderboard", campaign["campaign"], "--json", cwd=finished))
    assert [row["candidate"] for row in rows if row["standing"] == "champion"] == [campaign["champion"]]
    story = objects(command("explain", campaign["champion"][:10], "--json", cwd=finished))
    assert story[0]["text"].startswith("proposed by search")
    assert "crowned champion" in story[-1]["text"]
    audit = json.loads(command("audit", campaign["campaign"], "--json", cwd=finished))
    assert audit["disagreements"] == []
    assert audit["verdicts"] == campaign["judged"] == 16
    status = json.loads(command("status", "--json", cwd=finished))
    assert status["running"] is None
    assert len(status["nodes"]) == 1
    assert "everything agrees" in command("audit", cwd=finished)
    assert "folded up to sequence" in command("lessons", cwd=finished)


@pytest.mark.timeout(280)
def test_the_exported_champion_computes(finished: Path) -> None:
    program = (
        "import sys; sys.path.insert(0, 'champions/rmsnorm')\n"
        "import numpy as np\n"
        "from champion import kernel\n"
        "x = np.arange(12, dtype=np.float32).reshape(3, 4); w = np.ones(4, np.float32)\n"
        "print(kernel(x, w).tolist()); assert kernel.why_fallback == '', kernel.why_fallback\n"
    )
    environment = os.environ | {"XDG_CACHE_HOME": str(finished / "cache")}
    result = subprocess.run(
        [sys.executable, "-c", program], cwd=finished, env=environment, capture_output=True, text=True, check=True
    )
    x = np.arange(12, dtype=np.float64).reshape(3, 4)
    expected = x / np.sqrt((x * x).mean(axis=1, keepdims=True) + 1e-6)
    np.testing.assert_allclose(np.array(json.loads(result.stdout)), expected, rtol=1e-5)
    report = (finished / "champions/rmsnorm/REPORT.md").read_text()
    assert "Confirmed speed-ups" in report
    assert (finished / "champions/rmsnorm/speedup.svg").read_text().startswith("<?xml")


@pytest.mark.timeout(280)
def test_daily_work_goes_through_the_same_gates(finished: Path) -> None:
    source = (ROOT / "kernels/rmsnorm/seeds/naive.c").read_text()
    (finished / "right.c").write_text(source)
    (finished / "wrong.c").write_text(source.replace("1e-6f", "1e-2f"))
    command("up", cwd=finished)
    try:
        assert running_address(finished / ".kernelmill") is not None
        verdict = json.loads(
            command("bench", "wrong.c", "--problem", "rmsnorm", "--json", cwd=finished, code=1).splitlines()[0]
        )
        assert verdict["reason"] == "incorrect"
        verdict = json.loads(
            command("bench", "right.c", "--problem", "rmsnorm", "--json", cwd=finished, code=1).splitlines()[0]
        )
        assert verdict["decision"] == "rejected"
        assert verdict["reason"] in {"not-faster", "slower-on-a-row"}
        lessons = command("lessons", cwd=finished)
        assert "folded up to sequence" in lessons
        rebuilt = json.loads(command("lessons", "rebuild", "--verify", "--json", cwd=finished))
        assert rebuilt["equal"] is True
    finally:
        command("down", cwd=finished)
    assert running_address(finished / ".kernelmill") is None


@pytest.mark.timeout(280)
def test_judging_is_taken_back_and_measured_again(finished: Path, tmp_path: Path) -> None:
    # A copy: other tests look at what was judged here.
    own = shutil.copytree(finished, tmp_path / "own")
    campaign = objects(command("campaigns", "--json", cwd=own))[0]
    champion = campaign["champion"]
    (own / "strict.toml").write_text("accept_speedup = 50.0\n")
    command("up", cwd=own)
    try:
        again = objects(command("reproduce", champion[:12], "--json", cwd=own, code=EITHER))
        assert {row["workload"] for row in again} >= {"geometric-mean", "smollm2-128", "odd-33"}
        findings = objects(command("doctor", "--json", cwd=own, code=EITHER))
        assert {"noise", "gcc", "sandbox: seccomp"} <= {finding["about"] for finding in findings}
        points = objects(command("calibrate", "--pairs", "30", "--json", cwd=own, code=EITHER))
        assert [point["effect"] for point in points] == [1.0, 1.01, 1.02, 1.03, 1.05]
        command("dispute", champion[:12], "--because", "too good to be true", cwd=own)
        wanted = campaign["campaign"]
        command("policy", "adopt", "strict.toml", "--because", "a test", "--campaign", wanted, cwd=own)
        ended = time.monotonic() + 60.0
        while any(row["standing"] == "champion" for row in objects(command("leaderboard", wanted, "--json", cwd=own))):
            assert time.monotonic() < ended
        story = objects(command("explain", champion[:10], "--json", cwd=own))
        assert any("too good to be true" in line["text"] for line in story)
        assert len(objects(command("policy", "list", "--json", cwd=own))) == 2
    finally:
        command("down", cwd=own)
    audit = json.loads(command("audit", wanted, "--json", cwd=own))
    assert audit["disagreements"] == []
    assert audit["verdicts"] > campaign["judged"]


@pytest.mark.timeout(280)
def test_ctrl_c_pauses_and_resume_goes_on(tmp_path: Path) -> None:
    (tmp_path / "campaign.toml").write_text(CAMPAIGN.format(evaluations=12))
    process = subprocess.Popen(
        [sys.executable, "-m", "kernelmill.bus.launcher", "run", "campaign.toml"],
        cwd=tmp_path,
        env=os.environ | {"KERNELMILL_KERNELS": str(ROOT / "kernels")},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    for line in process.stdout:
        if "rejected" in line or "accepted" in line:
            break
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "go on with `kernelmill run --resume" in errors
    (paused,) = objects(command("campaigns", "--json", cwd=tmp_path))
    assert paused["status"] == "paused"
    command("run", "--resume", "--json", cwd=tmp_path)
    (closed,) = objects(command("campaigns", "--json", cwd=tmp_path))
    assert (closed["status"], closed["proposed"]) == ("closed", 12)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("campaigns",), "holds no log"),
        (("run",), "name a problem"),
        (("run", "nonsense"), "no problem 'nonsense'"),
        (("run", "missing.toml"), "cannot be read"),
        (("service", "nonsense"), "no service 'nonsense'"),
        (("bench", "missing.c", "--problem", "rmsnorm"), "missing.c cannot be read"),
        (("problem", "new", "x", "--source", "nowhere.py:f", "--shape", "x=2x3"), "write FILE.py:FUNCTION"),
    ],
)
def test_what_cannot_be_served_is_said_in_one_message(tmp_path: Path, arguments: tuple[str, ...], says: str) -> None:
    text = command(*arguments, cwd=tmp_path, code=2)
    assert says in " ".join(text.split())
    assert "Traceback" not in text


def test_a_new_problem_from_a_function_is_checked(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("def centre(x, w):\n    return (x - x.mean(axis=1, keepdims=True)) * w\n")
    shapes = ("--shape", "x=24x96", "--shape", "w=96")
    command("problem", "new", "centre", "--source", "mine.py:centre", *shapes, cwd=tmp_path)
    text = command("problem", "check", "centre", cwd=tmp_path, code=1)
    assert "seeds/naive.c" in text
    assert "not written yet" in text
    seed = tmp_path / "centre/seeds/naive.c"
    body = (
        "{ for (int64_t r = 0; r < n1; r++) { double s = 0; for (int64_t i = 0; i < n0; i++) s += x[r * n0 + i];"
        " for (int64_t i = 0; i < n0; i++) out[r * n0 + i] = (float)(x[r * n0 + i] - s / n0) * w[i]; } }"
    )
    lines = seed.read_text().splitlines()
    seed.write_text("\n".join(lines[1:]).replace("{\n}", body))
    assert "campaigns can rest on it" in command("problem", "check", "centre", cwd=tmp_path)
    assert len(objects(command("problem", "list", "--json", cwd=tmp_path))) == 5
