"""C kernels on the cores of this machine."""

from kernelmill.targets.cpu.errors import CompilerMissingError, CpuTargetError, MeasurementError
from kernelmill.targets.cpu.target import CpuTarget

__all__ = ["CompilerMissingError", "CpuTarget", "CpuTargetError", "MeasurementError"]
