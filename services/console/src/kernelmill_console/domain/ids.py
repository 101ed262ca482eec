"""Short forms of ids: what people type instead of 64 digits."""

from collections.abc import Iterable

from kernelmill_console.errors import AmbiguousIdError

SHORT = 12
"""Digits shown of a digest."""


def resolve(prefix: str, known: Iterable[str], what: str) -> str:
    """Return the one known id that starts with `prefix` (or ends with it, for ids that begin with a name).

    Raises:
        AmbiguousIdError: none fits, or several do.
    """
    ids = sorted(set(known))
    if prefix in ids:
        return prefix
    fitting = [item for item in ids if item.startswith(prefix) or item.endswith(prefix)]
    if len(fitting) == 1:
        return fitting[0]
    if not fitting:
        raise AmbiguousIdError(f"no {what} '{prefix}'" + (f"; the newest is {ids[-1]}" if ids else ""))
    shown = ", ".join(fitting[:5])
    raise AmbiguousIdError(f"'{prefix}' fits {len(fitting)} {what}s ({shown}, ...): give more of it")
