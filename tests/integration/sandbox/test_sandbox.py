"""The sandbox holds real programs: shells, bombs, sleepers; and cleans up after them, whoever dies."""

import os
import select
import signal
import subprocess
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest

from kernelmill.sandbox import Confinement, Sandbox, SandboxError

DEADLINE = 20.0


def shell(script: str) -> list[str]:
    return ["/bin/sh", "-c", script]


def wait_until_dead(pid: int) -> None:
    try:
        descriptor = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    try:
        ready, _, _ = select.select([descriptor], [], [], DEADLINE)
        assert ready, f"process {pid} still runs"
    finally:
        os.close(descriptor)


def test_every_layer_of_this_machine_is_active(sandbox: Sandbox) -> None:
    assert {"rlimits", "landlock", "namespaces", "seccomp"} <= set(sandbox.layers)
    assert ("uid" in sandbox.layers) == (os.geteuid() == 0)


def test_exit_status_and_output_come_back(sandbox: Sandbox, confinement: Confinement) -> None:
    ended, output = sandbox.run(shell("echo hello; echo there >&2; exit 7"), confinement)
    assert (ended.kind, ended.number, ended.timed_out) == ("code", 7, False)
    assert output == b"hello\nthere\n"


def test_only_the_working_folder_can_be_written(sandbox: Sandbox, confinement: Confinement) -> None:
    script = "echo x > here; ln -s /etc/passwd link; echo x > /tmp/kernelmill-out; echo x > /usr/out; cat link"
    _, output = sandbox.run(shell(script), confinement)
    assert output.count(b"denied") == 3
    assert confinement.writable is not None
    assert (confinement.writable / "here").read_bytes() == b"x\n"


@pytest.mark.parametrize(
    "script",
    ["cat /etc/passwd", "cat /etc/shadow", "ls /proc/1", "ls /sys/kernel", "ls /root", f"kill -0 {os.getpid()}"],
)
def test_outside_is_out_of_sight(sandbox: Sandbox, confinement: Confinement, script: str) -> None:
    ended, _ = sandbox.run(shell(script), confinement)
    assert ended.number != 0


def test_user_of_the_sandbox_is_nobody_else(sandbox: Sandbox, confinement: Confinement) -> None:
    _, first = sandbox.run(shell("id -u"), confinement)
    if os.geteuid() == 0:
        assert int(first) > 60_000
    else:
        assert int(first) == os.geteuid()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can keep its user id inside")
def test_trusted_programs_of_root_keep_no_capability(sandbox: Sandbox, confinement: Confinement) -> None:
    # chown needs a capability even from root.
    script = "id -u; echo x > file; chown 64125 file && echo kept"
    _, output = sandbox.run(shell(script), replace(confinement, user_slot=False))
    assert output.splitlines()[0] == b"0"
    assert b"kept" not in output


def test_network_is_empty(sandbox: Sandbox, confinement: Confinement) -> None:
    _, output = sandbox.run(["/usr/bin/perl", "-e", "socket(S,2,1,0) or print 'refused'"], confinement)
    assert output == b"refused"


def test_fork_bomb_is_bounded_and_ends(sandbox: Sandbox, confinement: Confinement) -> None:
    started = time.monotonic()
    ended, _ = sandbox.run(shell("b() { b | b & b; }; b"), replace(confinement, wall_seconds=1.0))
    assert ended.timed_out or ended.number != 0
    assert time.monotonic() - started < DEADLINE


def test_wall_limit_kills_everything_inside(sandbox: Sandbox, confinement: Confinement) -> None:
    ended, _ = sandbox.run(shell("sleep 1000 & sleep 1000"), replace(confinement, wall_seconds=0.3))
    assert (ended.kind, ended.number, ended.timed_out) == ("signal", signal.SIGKILL, True)


def test_cpu_limit_kills(sandbox: Sandbox, confinement: Confinement) -> None:
    ended, _ = sandbox.run(shell("while :; do :; done"), replace(confinement, cpu_seconds=1.0))
    assert (ended.kind, ended.number, ended.timed_out) == ("signal", signal.SIGKILL, False)
    assert ended.cpu_seconds >= 0.9


def test_file_size_is_limited(sandbox: Sandbox, confinement: Confinement) -> None:
    limited = replace(confinement, file_bytes=1 << 20)
    sandbox.run(shell("head -c 8000000 /usr/bin/perl /usr/bin/perl /usr/bin/perl > big"), limited)
    assert limited.writable is not None
    assert (limited.writable / "big").stat().st_size <= 1 << 20


def test_closing_kills_and_removes_the_group(sandbox: Sandbox, confinement: Confinement) -> None:
    process = sandbox.start(shell("sleep 1000"), confinement)
    pid = process.wait_started(time.monotonic() + DEADLINE)
    process.close()
    wait_until_dead(pid)
    for folder in (process.group.unified, process.group.freezer):
        assert folder is None or not folder.exists()


def test_missing_program_is_an_error_of_the_machinery(sandbox: Sandbox, confinement: Confinement) -> None:
    with pytest.raises(SandboxError, match="exec"):
        sandbox.run(["/usr/bin/no-such-program"], confinement)


def test_many_threads_start_sandboxes_at_once(sandbox: Sandbox, confinement: Confinement) -> None:
    answers: list[bytes] = []

    def work() -> None:
        inside = replace(confinement, writable=None)
        answers.extend(sandbox.run(shell("id -u"), inside)[1] for _ in range(5))

    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(DEADLINE)
    assert len(answers) == 30
    assert all(answers)


KILLED_PARENT = """
import sys, time
from pathlib import Path
from kernelmill.sandbox import Confinement, Sandbox
sandbox = Sandbox(Path(sys.argv[1]))
process = sandbox.start(["/bin/sleep", "1000"], Confinement(
    wall_seconds=0, cpu_seconds=5, memory_bytes=1 << 30, readable=(Path("/usr"), Path("/bin"))))
print(process.wait_started(time.monotonic() + 20), process.group.unified or process.group.freezer, flush=True)
time.sleep(1000)
"""


def test_killed_parent_takes_everything_with_it(reachable: Path) -> None:
    parent = subprocess.Popen([sys.executable, "-c", KILLED_PARENT, str(reachable)], stdout=subprocess.PIPE, text=True)
    assert parent.stdout is not None
    with parent.stdout:
        pid, folder = parent.stdout.readline().split()
        parent.kill()
        parent.wait()
    wait_until_dead(int(pid))
    if folder != "None":
        group = Path(folder)
        limit = time.monotonic() + DEADLINE
        while group.exists():
            assert time.monotonic() < limit, f"{group} was left behind"
        # The dead owner's own folder goes when the next sandbox starts.
        Sandbox(reachable).close()
        assert not group.parent.exists()


ORDINARY_USER = """
import os, sys
from pathlib import Path
import pyseccomp, runpy, tempfile
from kernelmill.sandbox import Confinement, Sandbox
os.setgroups([]); os.setresgid(64123, 64123, 64123); os.setresuid(64123, 64123, 64123)
sandbox = Sandbox(Path(sys.argv[1]))
work = Path(sys.argv[1]) / "work"
work.mkdir()
ended, output = sandbox.run(["/bin/sh", "-c", "id -u; cat /etc/passwd; ls /proc; echo x > file"], Confinement(
    wall_seconds=5, cpu_seconds=5, memory_bytes=1 << 30, readable=(Path("/usr"), Path("/bin")), writable=work,
    processes=8, environment={"PATH": "/usr/bin:/bin"}))
print(",".join(sandbox.layers), ended.number, output.count(b"denied"), (work / "file").read_text().strip())
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="the whole suite runs as an ordinary user already")
def test_ordinary_users_get_all_but_the_user_id(reachable: Path) -> None:
    folder = reachable / "ordinary"
    folder.mkdir()
    os.chown(folder, 64123, 64123)
    done = subprocess.run(
        [sys.executable, "-c", ORDINARY_USER, str(folder)], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.stdout.split() == ["landlock,namespaces,rlimits,seccomp", "0", "2", "x"], done.stderr
