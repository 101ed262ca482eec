"""Filters are whole BPF programs, and differ by what they must allow."""

import pytest

from kernelmill.sandbox import kernel_filter
from kernelmill.sandbox.filters import ALLOWED_TO_KERNELS, FORBIDDEN_TO_TOOLS, REFUSED_TO_KERNELS, tool_filter

INSTRUCTION = 8


def test_programs_are_whole_instructions() -> None:
    for code in (tool_filter(), kernel_filter(threads=False, memory_bytes=1 << 30)):
        assert code is not None
        assert code
        assert len(code) % INSTRUCTION == 0


def test_threads_and_memory_are_part_of_the_program() -> None:
    programs = {
        kernel_filter(threads=threads, memory_bytes=size) for threads in (False, True) for size in (1 << 28, 1 << 30)
    }
    assert len(programs) == 4


@pytest.mark.parametrize("call", ["execve", "fork", "vfork", "kill", "socket", "ptrace", "io_uring_setup", "sendmsg"])
def test_kernels_have_no_business_with(call: str) -> None:
    assert call not in ALLOWED_TO_KERNELS
    assert call not in REFUSED_TO_KERNELS


def test_lists_do_not_overlap() -> None:
    assert not set(ALLOWED_TO_KERNELS) & set(REFUSED_TO_KERNELS)
    assert not set(ALLOWED_TO_KERNELS) & set(FORBIDDEN_TO_TOOLS)
