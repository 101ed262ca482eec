"""Errors of problems; each says which file is wrong and what to change."""

from pydantic import ValidationError


class ProblemError(Exception):
    """The root of this package's errors."""


class ProblemFormatError(ProblemError):
    """A file of a problem's folder is missing, or does not say what it has to."""

    def __init__(self, path: str, message: str) -> None:
        super().__init__(f"{path}: {message}")
        self.path = path
        self.message = message


class ExpressionError(ProblemError, ValueError):
    """An arithmetic expression over axes cannot be read or has no value."""


class UnknownWorkloadError(ProblemError, KeyError):
    """The problem has no workload of that id."""

    def __str__(self) -> str:
        return str(self.args[0])


def fields_of(error: ValidationError) -> str:
    """Return what a schema complains about, field by field, in one line."""
    return "; ".join(f"{'.'.join(map(str, item['loc'])) or 'the file'}: {item['msg']}" for item in error.errors())
