"""Hostile kernels in a checking session: every one ends as an ordinary outcome, and nothing is left behind."""

import fcntl
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from contract.target_contract import DoublingRow

from kernelmill.targets.cpu import CpuTarget
from kernelmill.targets.cpu.buffers import SEAL_FUTURE_WRITE, Pool
from kernelmill.targets.port import Artifact, CallResult, Limits

Build = Callable[..., Artifact]
ROW = DoublingRow()
SIGNATURE = "void kernel(const float *x, float *y, long n)"
DOUBLE = "for (long i = 0; i < n; i++) y[i] = 2 * x[i];"
LIMITS = Limits(wall_seconds=1.0, cpu_seconds=5.0, memory_bytes=256 << 20)

ENDINGS = [
    ("segmentation fault", "*(volatile int *)16 = 1;", "crashed", "SIGSEGV"),
    (
        "stack overflow",
        "volatile char big[64 << 20]; for (long i = 0; i < 64 << 20; i++) big[i] = 1;",
        "crashed",
        "SIG",
    ),
    ("endless loop", "for (volatile long i = 0;; i++) {}", "timed-out", "1 s"),
    ("exit", "_exit(0);", "crashed", "exit status 0"),
    ("abort", "abort();", "crashed", "SIGABRT"),
    ("closed descriptors", "for (int i = 0; i < 256; i++) close(i);", "crashed", "closed its channel"),
    ("10 GB", "char *volatile p = malloc(10L << 30); memset(p, 1, 10L << 30);", "memory", "256 MiB"),
    (
        "many small allocations",
        "for (;;) { char *volatile p = malloc(1 << 20); memset(p, 1, 1 << 20); }",
        "memory",
        "256 MiB",
    ),
    ("fork bomb", "for (;;) fork();", "crashed", "SIGSYS"),
    ("socket", "socket(AF_INET, SOCK_STREAM, 0);", "crashed", "SIGSYS"),
    ("exec", 'execl("/bin/sh", "sh", (char *)0);', "crashed", "SIGSYS"),
    ("ptrace", "ptrace(PTRACE_ATTACH, getppid(), 0, 0);", "crashed", "SIGSYS"),
    ("kill", "kill(-1, SIGKILL);", "crashed", "SIGSYS"),
    ("parent's memory", "struct iovec v = {y, 4}; process_vm_readv(getppid(), &v, 1, &v, 1, 0);", "crashed", "SIGSYS"),
    ("timer", "timer_t t; timer_create(CLOCK_REALTIME, 0, &t);", "crashed", "SIGSYS"),
    ("input written", "((float *)x)[3] = 1;", "input-changed", "wrote to an input"),
    ("input made writable", "mprotect((void *)((long)x & -4096), 4096, 3); ((float *)x)[3] = 1;", "input-changed", ""),
    ("element behind the output", "y[n] = 1;", "crashed", ""),
    ("input read far behind its end", "*(volatile float *)y = x[n + 500];", "crashed", "beyond an input or output"),
    ("output written far behind its end", "y[n + 500] = 1;", "crashed", "beyond an input or output"),
    ("input read before its start", "*(volatile float *)y = x[-500];", "crashed", ""),
    (
        "code made writable",
        "char *p = (char *)((long)kernel & -4096); mprotect(p, 4096, 7); *p = 1;",
        "crashed",
        "SEGV",
    ),
    (
        "harness's code mapped over",
        "char *p = (char *)((long)__builtin_return_address(0) & -4096); mmap(p, 4096, 3, 0x32, -1, 0); *p = 1;",
        "crashed",
        "SEGV",
    ),
    ("writable code", "char *p = mmap(0, 4096, 7, 0x22, -1, 0); if (p == MAP_FAILED) abort();", "crashed", "SIGABRT"),
    ("flush to zero", "__builtin_ia32_ldmxcsr(0x9fc0);", "state-changed", "floating point control state"),
    ("x87 precision", 'short w = 0x27f; __asm__ volatile("fldcw %0" : : "m"(w));', "state-changed", "x87"),
]
PRELUDE = """
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
"""


def run(target: CpuTarget, artifact: Artifact, limits: Limits = LIMITS) -> CallResult:
    with target.session(artifact, limits) as session:
        return session.run(ROW.call())


@pytest.mark.parametrize(
    ("body", "outcome", "words"), [case[1:] for case in ENDINGS], ids=[case[0] for case in ENDINGS]
)
def test_hostile_kernel_ends_as_an_ordinary_outcome(
    target: CpuTarget, build: Build, body: str, outcome: str, words: str
) -> None:
    result = run(target, build(f"{PRELUDE}\n{SIGNATURE} {{ {body} {DOUBLE} }}\n", "-O1", "-w"))
    assert (result.outcome, result.outputs) == (outcome, None)
    assert words in result.detail


REFUSED = [
    ("shadow", 'open("/etc/shadow", O_RDONLY)'),
    ("passwd", 'open("/etc/passwd", O_RDONLY)'),
    ("processes", 'open("/proc/1/maps", O_RDONLY)'),
    ("own process", 'open("/proc/self/mem", O_RDWR)'),
    ("names of processes", 'access("/proc/self", F_OK)'),
    ("sysfs", 'open("/sys/devices/system/cpu/online", O_RDONLY)'),
    ("home", 'open("/root", O_RDONLY)'),
    ("temporary file", 'open("/tmp/kernelmill-escape", O_RDWR | O_CREAT, 0600)'),
    ("shared memory", 'open("/dev/shm/kernelmill-escape", O_RDWR | O_CREAT, 0600)'),
]


@pytest.mark.parametrize("attempt", [case[1] for case in REFUSED], ids=[case[0] for case in REFUSED])
def test_files_outside_are_refused(target: CpuTarget, build: Build, attempt: str) -> None:
    source = f"{PRELUDE}\n{SIGNATURE} {{ {DOUBLE} y[0] = ({attempt}) < 0 ? 1 : 0; }}\n"
    result = run(target, build(source, "-O1"))
    assert result.outcome == "completed", result.detail
    assert result.outputs is not None
    assert result.outputs["y"][0] == 1.0
    assert not Path("/tmp/kernelmill-escape").exists()  # noqa: S108  # the file that must not appear


def test_all_calls_of_a_session_together_have_a_limit(target: CpuTarget, build: Build) -> None:
    artifact = build(f"{PRELUDE}\n{SIGNATURE} {{ {DOUBLE} usleep(400000); }}\n", "-O1")
    began = time.monotonic()
    with target.session(artifact, Limits(wall_seconds=0.5)) as session:
        outcomes = [session.run(ROW.call()).outcome for _ in range(20)]
    assert (outcomes[0], outcomes[-1]) == ("completed", "timed-out")
    assert time.monotonic() - began < 5.0


def test_nobody_can_keep_others_from_mapping_the_outputs(target: CpuTarget, build: Build) -> None:
    with Pool(ROW.inputs, ROW.outputs, ROW.axes, 1) as pool, pytest.raises(PermissionError):
        fcntl.fcntl(pool.outputs.descriptor, fcntl.F_ADD_SEALS, SEAL_FUTURE_WRITE)


def test_words_of_a_hostile_library_are_plain(target: CpuTarget, build: Build) -> None:
    source = f"""{PRELUDE}
__attribute__((constructor)) static void speak(void) {{
    for (int fd = 3; fd < 64; fd++) write(fd, "l\\033[2J\\n\\007", 7);
}}
{SIGNATURE} {{ {DOUBLE} }}
"""
    result = run(target, build(source, "-O1", "-w"))
    assert result.outcome == "crashed"
    assert result.detail.isprintable()


def test_state_changed_while_loading(target: CpuTarget, build: Build) -> None:
    source = f"""
__attribute__((constructor)) static void early(void) {{ __builtin_ia32_ldmxcsr(0x9fc0); }}
{SIGNATURE} {{ {DOUBLE} }}
"""
    result = run(target, build(source))
    assert result.outcome == "state-changed"
    assert "loaded" in result.detail


def test_nothing_is_inherited_but_what_the_harness_needs(target: CpuTarget, build: Build) -> None:
    source = f"""{PRELUDE}
extern char **environ;
{SIGNATURE} {{
    {DOUBLE}
    int open_ones = 0, variables = 0;
    struct stat facts;
    for (int i = 3; i < 256; i++) open_ones += fstat(i, &facts) == 0;
    for (char **v = environ; *v; v++) variables += !strncmp(*v, "PATH=", 5) || !strncmp(*v, "HOME=", 5);
    y[0] = open_ones; y[1] = variables; y[2] = geteuid() == 0;
}}
"""
    result = run(target, build(source, "-O1"))
    assert result.outputs is not None, result.detail
    # The channel to the parent, and the two buffers are closed once they are mapped.
    assert list(result.outputs["y"][:3]) == [1.0, 0.0, 0.0]


def test_a_forged_reply_only_shows_poison(target: CpuTarget, build: Build) -> None:
    source = f"""{PRELUDE}
{SIGNATURE} {{ for (int fd = 3; fd < 256; fd++) write(fd, "d", 1); for (;;) {{}} }}
"""
    result = run(target, build(source, "-O1", "-w"))
    assert result.outcome == "completed"
    assert result.outputs is not None
    assert np.isnan(result.outputs["y"]).all()


def test_one_thread_means_one_thread(target: CpuTarget, build: Build) -> None:
    source = f"""{PRELUDE}
static void *idle(void *p) {{ return p; }}
{SIGNATURE} {{ {DOUBLE} pthread_t t; y[0] = pthread_create(&t, 0, idle, 0) == EAGAIN; }}
"""
    result = run(target, build(source, "-O1"))
    assert result.outputs is not None, result.detail
    assert result.outputs["y"][0] == 1.0


def test_missing_entry_is_a_failure_of_loading(target: CpuTarget, build: Build) -> None:
    artifact = build(f"{SIGNATURE} {{ {DOUBLE} }}\n")
    result = run(target, Artifact(**{**vars(artifact), "entry": "elsewhere"}))
    assert result.outcome == "crashed"
    assert "elsewhere" in result.detail


def test_sessions_leave_no_group_behind(target: CpuTarget, build: Build) -> None:
    artifact = build(f"{SIGNATURE} {{ {DOUBLE} }}\n")
    with target.session(artifact, LIMITS) as session:
        session.run(ROW.call())
        group = session._harness.process.group
    for folder in (group.unified, group.freezer):
        assert folder is None or not folder.exists()


def test_descriptors_do_not_leak(target: CpuTarget, build: Build) -> None:
    artifact = build(f"{SIGNATURE} {{ {DOUBLE} }}\n")
    run(target, artifact)
    before = len(list(Path("/proc/self/fd").iterdir()))
    for _ in range(5):
        run(target, artifact)
    assert len(list(Path("/proc/self/fd").iterdir())) <= before
