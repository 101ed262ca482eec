"""The cpu target keeps the port's contract."""

import pytest
from contract.target_contract import TargetContract

from kernelmill.events import BuildOptions
from kernelmill.targets.port import Program

HEAD = "void kernel(const float *x, float *y, long n) {"


def program(body: str) -> Program:
    return Program({"kernel.c": f"{HEAD} {body} }}\n".encode()}, "kernel", BuildOptions(flags=("-O2",)))


class TestCpuTarget(TargetContract):
    @pytest.fixture
    def right(self) -> Program:
        return program("for (long i = 0; i < n; i++) y[i] = 2 * x[i];")

    @pytest.fixture
    def wrong(self) -> Program:
        return program("for (long i = 0; i < n; i++) y[i] = 0 * x[i];")

    @pytest.fixture
    def unfinished(self) -> Program:
        return program("for (long i = 0; i < n - 1; i++) y[i] = 2 * x[i];")

    @pytest.fixture
    def crashing(self) -> Program:
        return program("(void)x; (void)y; (void)n; __builtin_trap();")

    @pytest.fixture
    def broken(self) -> Program:
        return program("for (long i = 0; i < n; i++) y[i] = 2 * z[i];")
