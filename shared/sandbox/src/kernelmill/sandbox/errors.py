"""Errors of the sandbox: the machinery failed; nothing is said about the program inside."""


class SandboxError(OSError):
    """The sandbox could not be set up or lost track of its process."""


class ToolchainMissingError(SandboxError):
    """A program that the sandbox itself needs is not installed."""
