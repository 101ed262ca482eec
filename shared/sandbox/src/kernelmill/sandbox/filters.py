"""System call filters (seccomp BPF), compiled by libseccomp through pyseccomp; none where the library is missing."""

import errno
import logging
import tempfile
from functools import cache
from types import ModuleType

log = logging.getLogger(__name__)

FORBIDDEN_TO_TOOLS = """
    acct add_key bpf connect accept accept4 bind listen socket fanotify_init finit_module fsconfig fsmount
    fsopen fspick init_module delete_module io_uring_enter io_uring_register io_uring_setup kexec_file_load
    kexec_load keyctl mount mount_setattr move_mount name_to_handle_at open_by_handle_at open_tree
    perf_event_open pidfd_getfd pivot_root process_vm_readv process_vm_writev ptrace quotactl reboot
    request_key setns swapoff swapon syslog umount2 unshare userfaultfd vhangup settimeofday clock_settime
    clock_adjtime adjtimex chroot
    """.split()  # noqa: SIM905  # one name a line would hide the code
"""What neither a compiler nor a kernel needs; answered with EPERM."""

ALLOWED_TO_KERNELS = """
    read write readv writev close fstat newfstatat stat lstat lseek pread64 openat open access faccessat
    faccessat2 readlink munmap madvise brk rt_sigaction rt_sigprocmask rt_sigreturn sigaltstack exit
    exit_group futex futex_waitv clock_gettime clock_getres gettimeofday time nanosleep clock_nanosleep
    sched_yield getpid gettid tgkill poll ppoll restart_syscall getrandom set_robust_list rseq set_tid_address
    sched_getaffinity getcpu sysinfo uname getrusage recvmsg fcntl getuid geteuid getgid getegid getppid times
    membarrier dup get_mempolicy sched_getparam sched_getscheduler arch_prctl
    """.split()  # noqa: SIM905  # one name a line would hide the code
"""What the harness, libm, libgomp and a numeric kernel use."""

REFUSED_TO_KERNELS = """
    ioctl sched_setaffinity sched_setscheduler prctl mbind set_mempolicy getdents64 prlimit64 setpriority
    statfs mlock munlock mincore getcwd pipe2 eventfd2 unlink statx
    """.split()  # noqa: SIM905  # one name a line would hide the code
"""What libraries try and can do without; answered with EPERM. Anything not named kills the process (SIGSYS)."""

_MAPPING_CALLS = {"mmap": 1, "mremap": 2}
"""Calls that map memory, and which argument holds the length."""

_WRITE, _EXECUTE = 2, 4
_PROTECTION = 2
"""Argument of mmap and mprotect that holds what may be done with the pages."""


@cache
def _library() -> ModuleType | None:
    try:
        import pyseccomp  # noqa: PLC0415  # importing fails without the system library, which is a supported state
    except (ImportError, OSError, RuntimeError) as error:
        log.warning("seccomp is off: libseccomp could not be loaded (%s); install libseccomp2", error)
        return None
    library: ModuleType = pyseccomp
    return library


def _compiled(rules: object) -> bytes:
    with tempfile.TemporaryFile() as file:
        rules.export_bpf(file)  # type: ignore[attr-defined]  # pyseccomp has no type hints
        file.seek(0)
        return file.read()


@cache
def tool_filter() -> bytes | None:
    """Return the filter for compilers and drivers: all but FORBIDDEN_TO_TOOLS; None without libseccomp."""
    library = _library()
    if library is None:
        return None
    rules = library.SyscallFilter(defaction=library.ALLOW)
    for name in FORBIDDEN_TO_TOOLS:
        _add(library, rules, library.ERRNO(errno.EPERM), name)
    return _compiled(rules)


@cache
def kernel_filter(*, threads: bool, memory_bytes: int) -> bytes | None:
    """Return the filter that a harness installs before it loads a kernel; None without libseccomp.

    Args:
        threads: Whether `clone` may make threads; new processes are never allowed.
        memory_bytes: A single mapping of more bytes traps (SIGSYS with SYS_mmap), so that it is told apart from a bug.
    """
    library = _library()
    if library is None:
        return None
    rules = library.SyscallFilter(defaction=library.KILL_PROCESS)
    for name in ALLOWED_TO_KERNELS:
        _add(library, rules, library.ALLOW, name)
    for name in REFUSED_TO_KERNELS:
        _add(library, rules, library.ERRNO(errno.EPERM), name)
    for name, position in _MAPPING_CALLS.items():
        fits = library.Arg(position, library.LE, memory_bytes)
        for condition, action in _protections(library) if name == "mmap" else [((), library.ALLOW)]:
            rules.add_rule(action, name, fits, *condition)
        rules.add_rule(library.TRAP, name, library.Arg(position, library.GT, memory_bytes))
    # What was writable never becomes code, so nobody rewrites the harness's or the loader's.
    for protection, action in ((0, library.ALLOW), (_EXECUTE, library.ERRNO(errno.EACCES))):
        rules.add_rule(action, "mprotect", library.Arg(_PROTECTION, library.MASKED_EQ, _EXECUTE, protection))
    # glibc falls back to clone when clone3, whose flags a filter cannot see, is said not to exist.
    _add(library, rules, library.ERRNO(errno.ENOSYS), "clone3")
    thread_flag = 0x00010000
    is_thread = library.Arg(0, library.MASKED_EQ, thread_flag, thread_flag)
    rules.add_rule(library.ALLOW if threads else library.ERRNO(errno.EAGAIN), "clone", is_thread)
    return _compiled(rules)


def _protections(library: ModuleType) -> list[tuple[tuple[object, ...], object]]:
    """Return conditions on the protection of a mapping and what becomes of it: code and writable exclude each other."""
    both = _WRITE | _EXECUTE
    return [
        ((library.Arg(_PROTECTION, library.MASKED_EQ, both, wanted),), action)
        for wanted, action in (
            (0, library.ALLOW),
            (_WRITE, library.ALLOW),
            (_EXECUTE, library.ALLOW),
            (both, library.ERRNO(errno.EACCES)),
        )
    ]


def _add(library: ModuleType, rules: object, action: object, name: str) -> None:
    try:
        library.resolve_syscall(library.Arch.NATIVE, name)
        rules.add_rule(action, name)  # type: ignore[attr-defined]  # pyseccomp has no type hints
    except (ValueError, RuntimeError, OSError):
        log.debug("this libseccomp does not know the system call %s", name)
