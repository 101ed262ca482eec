"""Short forms of ids: what people type instead of 64 digits."""

import re
from collections.abc import Iterable
from typing import Final

from kernelmill_console.errors import AmbiguousIdError

SHORT = 12
"""Digits shown of a digest."""

_DIGEST: Final = re.compile(rf"\b([0-9a-f]{{{SHORT}}})[0-9a-f]{{{64 - SHORT}}}\b")


def shorten(text: str) -> str:
    """Return the text with each digest in it cut to the digits that people type; names stay whole."""
    return _DIGEST.sub(r"\1", text)


def opponent_name(opponent: str) -> str:
    """Return how an effect's opponent is called: a baseline by its name, a candidate as the champion that it was."""
    return _DIGEST.sub(r"champion \1", opponent)


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
