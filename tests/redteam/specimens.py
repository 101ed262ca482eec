"""Reads cheats and controls: one file each, with what it is in its first comment."""

import re
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
_COMMENT = re.compile(r"\A\s*/\*(.*?)\*/", re.DOTALL)
_LINE = re.compile(r"^\s*\*?\s*(trick|problem|flags|standard|threads|expect|open):\s*(.+?)\s*$", re.MULTILINE)
HONEST_LOSSES = ("not-faster", "slower-on-a-row", "eliminated-in-race")
"""Reasons that end an honest candidate which is no faster."""


@dataclass(frozen=True)
class Specimen:
    """One candidate of the red team."""

    name: str
    family: str
    """Folder of a cheat; `control` for an honest one."""
    path: Path
    trick: str
    expect: tuple[str, ...]
    """Reason codes that may end it."""
    problem: str = "rmsnorm"
    flags: tuple[str, ...] = ("-O3", "-march=native")
    standard: str = "gnu17"
    threads: int = 1
    open: str = ""
    """Why no gate finds it yet; empty for every cheat that has to be found."""

    @property
    def hostile(self) -> bool:
        """Whether it has to be rejected."""
        return self.family != "control"


def read(path: Path, family: str) -> Specimen:
    """Read one file.

    Raises:
        ValueError: its first comment lacks `trick` or `expect`.
    """
    comment = _COMMENT.match(path.read_text())
    told = dict(_LINE.findall(comment.group(1))) if comment else {}
    if "trick" not in told or "expect" not in told:
        raise ValueError(f"{path}: the first comment has to say `trick:` and `expect:`, see tests/redteam/README.md")
    more: dict[str, object] = {}
    if "flags" in told:
        more["flags"] = tuple(told["flags"].split())
    if "threads" in told:
        more["threads"] = int(told["threads"])
    more |= {key: told[key] for key in ("problem", "standard", "open") if key in told}
    return Specimen(path.stem, family, path, told["trick"], tuple(told["expect"].split()), **more)  # type: ignore[arg-type]


def specimens(only: str = "") -> list[Specimen]:
    """Return all cheats and controls whose family or name contains `only`."""
    found = [read(path, path.parent.name) for path in sorted(HERE.glob("cheats/*/*")) if path.suffix in {".c", ".cpp"}]
    found += [read(path, "control") for path in sorted(HERE.glob("controls/*")) if path.suffix in {".c", ".cpp"}]
    return [specimen for specimen in found if only in f"{specimen.family}/{specimen.name}"]
