"""Carries a function's source into another file, together with everything at its file's top level that it uses."""

import ast
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kernelmill.problems.errors import ProblemFormatError

_RESERVED = frozenset({"run", "magnitude"})


@dataclass(frozen=True)
class Carried:
    """Source that defines a function anywhere."""

    imports: tuple[str, ...]
    """Import statements, one line each."""
    definitions: str
    """The function and the constants, functions and classes that it uses, in their order."""
    name: str
    uses_torch: bool


def carried_source(function: Callable[..., Any]) -> Carried:
    """Return the source of a function with what it needs.

    Raises:
        ProblemFormatError: it is no function at the top level of a file, or has a name that a problem needs itself.
    """
    name = getattr(function, "__name__", str(function))
    try:
        path = inspect.getsourcefile(function)
        text = Path(path).read_text(encoding="utf-8") if path else ""
    except (TypeError, OSError, UnicodeDecodeError) as error:
        raise ProblemFormatError(name, f"its source cannot be read ({error}): write it with `def` in a file") from error
    statements = _top_level(ast.parse(text))
    if getattr(function, "__qualname__", name) != name or not isinstance(statements.get(name), ast.FunctionDef):
        raise ProblemFormatError(name, "it is not defined by `def` at the top level of its file: move it there")
    needed = _needed(name, statements)
    clash = sorted(_RESERVED & needed)
    if clash:
        raise ProblemFormatError(name, f"the problem itself defines {clash[0]}(): give your function another name")
    chosen = {id(statements[item]): statements[item] for item in needed}
    ordered = sorted(chosen.values(), key=lambda statement: statement.lineno)
    imports = tuple(ast.unparse(item) for item in ordered if isinstance(item, ast.Import | ast.ImportFrom))
    others = [_text_of(item, text) for item in ordered if not isinstance(item, ast.Import | ast.ImportFrom)]
    return Carried(imports, "\n\n\n".join(others), name, any(_imports_torch(item) for item in ordered))


def _top_level(tree: ast.Module) -> dict[str, ast.stmt]:
    """Return the last statement at the top level that binds each name."""
    bound: dict[str, ast.stmt] = {}
    for statement in tree.body:
        match statement:
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                bound[name] = statement
            case ast.Import(names=names) | ast.ImportFrom(names=names):
                bound.update({(alias.asname or alias.name).partition(".")[0]: statement for alias in names})
            case ast.Assign() | ast.AnnAssign():
                targets = {node.id for node in ast.walk(statement) if isinstance(node, ast.Name) and _stored(node)}
                bound.update(dict.fromkeys(targets, statement))
            case _:
                continue
    return bound


def _needed(name: str, statements: dict[str, ast.stmt]) -> set[str]:
    needed, waiting = set[str](), [name]
    while waiting:
        item = waiting.pop()
        if item in needed:
            continue
        needed.add(item)
        used = {node.id for node in ast.walk(statements[item]) if isinstance(node, ast.Name)}
        waiting += sorted(used & set(statements))
    return needed


def _stored(node: ast.Name) -> bool:
    return isinstance(node.ctx, ast.Store)


def _text_of(statement: ast.stmt, text: str) -> str:
    decorators = getattr(statement, "decorator_list", [])
    first = min([statement.lineno, *(item.lineno for item in decorators)])
    return "\n".join(text.splitlines()[first - 1 : statement.end_lineno])


def _imports_torch(statement: ast.stmt) -> bool:
    match statement:
        case ast.Import(names=names):
            return any(alias.name.partition(".")[0] == "torch" for alias in names)
        case ast.ImportFrom(module=module):
            return (module or "").partition(".")[0] == "torch"
        case _:
            return False
