"""Python files of a problem's folder: the operator's trusted code, loaded from bytes."""

import hashlib
import types
from collections.abc import Mapping
from typing import Any

from kernelmill.problems.errors import ProblemFormatError


def load_functions(files: Mapping[str, bytes], path: str, *names: str) -> dict[str, Any]:
    """Return the named functions of a Python file.

    Raises:
        ProblemFormatError: the file is missing, does not run, or lacks one of the functions.
    """
    if path not in files:
        raise ProblemFormatError(path, "the file is missing")
    namespace = module_of(files[path], path).__dict__
    for name in names:
        if not callable(namespace.get(name)):
            raise ProblemFormatError(path, f"it has to define a function {name}(...)")
    return {name: namespace[name] for name in names}


def module_of(source: bytes, path: str) -> types.ModuleType:
    """Return the module that the source makes.

    Raises:
        ProblemFormatError: it does not compile or raises while it is loaded.
    """
    name = f"kernelmill_problem_{hashlib.sha256(source).hexdigest()[:12]}"
    module = types.ModuleType(name)
    module.__file__ = path
    try:
        exec(compile(source, path, "exec"), module.__dict__)  # noqa: S102 - the operator's own reference
    except (Exception, SystemExit) as error:
        line = getattr(error, "lineno", None)
        where = f"{path}:{line}" if line else path
        raise ProblemFormatError(where, f"it cannot be loaded: {type(error).__name__}: {error}") from error
    return module
