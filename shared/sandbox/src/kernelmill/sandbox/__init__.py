"""Running hostile programs: one fresh, exec'd process per program, behind every layer that the machine offers."""

from kernelmill.sandbox.cgroups import Group
from kernelmill.sandbox.errors import SandboxError, ToolchainMissingError
from kernelmill.sandbox.filters import kernel_filter
from kernelmill.sandbox.native import build_trusted, trusted_compiler
from kernelmill.sandbox.places import open_lock, reachable_by_others, runtime_folder
from kernelmill.sandbox.policy import Confinement, Freeze
from kernelmill.sandbox.process import Ended, Process
from kernelmill.sandbox.sandbox import Sandbox

__all__ = [
    "Confinement",
    "Ended",
    "Freeze",
    "Group",
    "Process",
    "Sandbox",
    "SandboxError",
    "ToolchainMissingError",
    "build_trusted",
    "kernel_filter",
    "open_lock",
    "reachable_by_others",
    "runtime_folder",
    "trusted_compiler",
]
