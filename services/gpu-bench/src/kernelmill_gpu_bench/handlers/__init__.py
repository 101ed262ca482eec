"""Subscribers of the bench: baselines are tuned, candidates are timed, would-be champions are confirmed."""

from kernelmill_gpu_bench.handlers.calibrating import Calibrating
from kernelmill_gpu_bench.handlers.confirming import Confirming
from kernelmill_gpu_bench.handlers.measuring import Measuring
from kernelmill_gpu_bench.handlers.tuning import Tuning
from kernelmill_gpu_bench.handlers.workshop import Workshop

__all__ = ["Calibrating", "Confirming", "Measuring", "Tuning", "Workshop"]
