"""Constructs that no kernel needs. Screening saves money; the sandbox does not rely on it."""

import re
from collections.abc import Collection

from tree_sitter import Node

from kernelmill.targets.cpu.screening.tokens import leaves, walk

HEADERS = frozenset(
    """
    assert.h complex.h ctype.h errno.h fenv.h float.h inttypes.h iso646.h limits.h math.h stdalign.h stdbool.h
    stddef.h stdint.h stdio.h stdlib.h stdnoreturn.h string.h tgmath.h time.h omp.h immintrin.h x86intrin.h
    xmmintrin.h emmintrin.h pmmintrin.h tmmintrin.h smmintrin.h nmmintrin.h wmmintrin.h ammintrin.h arm_neon.h
    arm_sve.h algorithm array atomic bit cassert cfenv cfloat cinttypes climits cmath complex concepts cstddef
    cstdint cstdio cstdlib cstring functional initializer_list iterator limits memory new numbers numeric span
    tuple type_traits utility vector
    """.split()  # noqa: SIM905  # one name a line would hide the code
)
"""Headers that may be included by angle brackets."""

NAMES = frozenset(
    """
    dlopen dlsym dlvsym dlmopen dl_iterate_phdr fork vfork clone clone3 execve execv execvp execl system popen
    ptrace syscall mmap mmap64 mprotect mremap munmap memfd_create shm_open pthread_create thrd_create
    process_vm_readv process_vm_writev sigaction sigprocmask timer_create setitimer clock_gettime gettimeofday
    clock nanosleep usleep __rdtsc __rdtscp _rdtsc __builtin_ia32_rdtsc __builtin_ia32_rdtscp getenv setenv
    environ fopen freopen openat socket _mm_setcsr __builtin_ia32_ldmxcsr _MM_SET_FLUSH_ZERO_MODE
    _MM_SET_DENORMALS_ZERO_MODE _MM_SET_ROUNDING_MODE _FPU_SETCW fesetenv fesetround feupdateenv feholdexcept
    feenableexcept atexit on_exit quick_exit _exit _Exit longjmp setjmp sched_setaffinity prctl seccomp
    pthread_setaffinity_np sched_yield __libc_start_main _dl_runtime_resolve _init _fini
    """.split()  # noqa: SIM905  # one name a line would hide the code
)
"""Names that are refused wherever they appear."""

_ATTRIBUTES = frozenset(
    {
        b"constructor",
        b"destructor",
        b"ifunc",
        b"optimize",
        b"__constructor__",
        b"__destructor__",
        b"__ifunc__",
        b"__optimize__",
    }
)
_ASSEMBLY = re.compile(
    rb"\.incbin|\.include|\.(?:pre)?init|\.fini|\.globl|\.global|\.section|\.pushsection|\.macro|\bsyscall\b|\bsysenter\b|"
    rb"\bint\s+\$?0x80|\brdtscp?\b|\brdpmc\b|\bldmxcsr\b|\bfldcw\b|\bxrstor\w*|\bwrmsr\b"
)
_PRAGMA = re.compile(rb"\s*GCC\s+(optimize|push_options|pop_options|reset_options|dependency|system_header)")


def _line(node: Node) -> int:
    return node.start_point[0] + 1


def _include(node: Node, own: Collection[str]) -> str:
    path = node.child_by_field_name("path")
    text = (path.text or b"").decode(errors="replace") if path is not None else ""
    name = text[1:-1]
    if text.startswith("<"):
        return "" if name in HEADERS else f"<{name}> is not on the list of headers; include a standard numeric header"
    if text.startswith('"'):
        return "" if name in own or name in HEADERS else f'"{name}" is not one of the candidate\'s own files'
    return "an include must name its file directly"


def _problem(node: Node, own: Collection[str]) -> str:
    match node.type:
        case "preproc_include":
            return _include(node, own)
        case "preproc_call":
            directive = node.child_by_field_name("directive")
            argument = node.child_by_field_name("argument")
            word = (directive.text or b"") if directive is not None else b""
            if word.strip().lstrip(b"#").strip() in {b"include_next", b"import", b"embed", b"line"}:
                return f"the directive {word.decode(errors='replace')} is refused"
            if argument is not None and _PRAGMA.match(argument.text or b""):
                return "pragmas that change optimisation are refused; put flags into the build options"
        case "gnu_asm_expression" | "asm_statement":
            if found := _ASSEMBLY.search(node.text or b""):
                return f"assembly with '{found.group().decode()}' is refused; keep to computing instructions"
    return ""


def first_forbidden(name: str, root: Node, own: Collection[str]) -> str:
    """Return what is forbidden in a file, with its line and what to do, or an empty string.

    Args:
        name: The file's name, for the message.
        root: Its syntax tree.
        own: Names of the candidate's own files as an include may write them.
    """
    for node in walk(root):
        if why := _problem(node, own):
            return f"{name}:{_line(node)}: {why}"
    for kind, text in leaves(root):
        word = text.decode(errors="replace")
        if word in NAMES:
            return f"{name}: '{word}' is refused: a kernel only computes; remove it"
        if text in _ATTRIBUTES:
            return f"{name}: the attribute '{word}' is refused: nothing may run outside the kernel's call; remove it"
        if kind in {"string_content", "string_literal"} and (
            b".init_array" in text or b".incbin" in text or b".fini_array" in text
        ):
            return f"{name}: the section or directive {word[:60]!r} is refused; remove it"
    return ""
