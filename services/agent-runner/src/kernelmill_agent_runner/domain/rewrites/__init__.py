"""Rewrites of marked C loops, source to source."""

from kernelmill_agent_runner.domain.rewrites.apply import LoopRewrites, rewrite_source
from kernelmill_agent_runner.domain.rewrites.loops import MarkedLoop, find_loops

__all__ = ["LoopRewrites", "MarkedLoop", "find_loops", "rewrite_source"]
