"""How the console prints: tables for people, JSON for programs, one message for what went wrong."""

import json
import sys
from collections.abc import Sequence
from typing import Any

from pydantic import BaseModel
from rich.console import Console
from rich.markup import escape
from rich.table import Table

PEOPLE = Console()
"""Standard output, as people read it."""

ERRORS = Console(stderr=True)
"""Standard error."""


def complain(message: str) -> None:
    """Tell a person what is wrong."""
    ERRORS.print(f"kernelmill: {message}", style="red", highlight=False, markup=False, soft_wrap=True)


def print_json(value: Any) -> None:
    """Print one JSON value on a line of its own."""
    sys.stdout.write(json.dumps(value, default=_plain) + "\n")
    sys.stdout.flush()


def print_rows(rows: Sequence[BaseModel], columns: Sequence[tuple[str, str]], *, as_json: bool, empty: str) -> None:
    """Print a listing: one JSON object a line, or a table of the named fields.

    Args:
        rows: what to list.
        columns: pairs of field name and heading.
        as_json: for programs.
        empty: what people are told when there is nothing.
    """
    if as_json:
        for row in rows:
            print_json(row)
        return
    if not rows:
        PEOPLE.print(empty)
        return
    table = Table(box=None, pad_edge=False)
    for _, heading in columns:
        table.add_column(heading, overflow="fold")
    for row in rows:
        table.add_row(*(escape(_cell(getattr(row, name))) for name, _ in columns))
    PEOPLE.print(table)


def _plain(value: Any) -> Any:
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json")
    return str(value)


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.3f}"
    if isinstance(value, tuple | list):
        return ", ".join(_cell(item) for item in value)
    return str(value)
