"""Seeds: starting candidates whose tunables are macros at the head of the source."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from kernelmill.problems.declared import read_toml
from kernelmill.problems.errors import ExpressionError, ProblemFormatError
from kernelmill.problems.expression import evaluate

FOLDER = "seeds/"

_DEFINE = re.compile(r"^#define (KM_[A-Z0-9_]+) (-?\d+)[^\n]*$", re.MULTILINE)


class _Tunable(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    values: tuple[int, ...] = Field(min_length=1)
    technique: str
    description: str = ""


class _File(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    structure: Literal["naive", "structured"]
    entry: str = "kernel"
    files: tuple[str, ...]
    description: str = ""
    techniques: tuple[str, ...] = ()
    flags: tuple[tuple[str, ...], ...] = (("-O3", "-march=native"),)
    standard: str = "gnu11"
    constraints: tuple[str, ...] = ()
    tunables: dict[str, _Tunable] = Field(default_factory=dict)


@dataclass(frozen=True)
class Tunable:
    """One macro of a seed."""

    name: str
    values: tuple[int, ...]
    """Values that may be tried, in a meaningful order."""
    default: int
    """The value in the seed as it stands."""
    technique: str
    """Technique that it belongs to, for lessons."""
    description: str


@dataclass(frozen=True)
class Seed:
    """A starting candidate with its space of configurations."""

    name: str
    structure: Literal["naive", "structured"]
    files: dict[str, bytes]
    """Sources by path, tunables at their defaults."""
    entry: str
    tunables: tuple[Tunable, ...]
    constraints: tuple[str, ...]
    """Expressions over tunables that a valid configuration makes non-zero."""
    flag_sets: tuple[tuple[str, ...], ...]
    """Build flags to start from; `-march=native` stands for the node's own features."""
    standard: str
    techniques: tuple[str, ...]
    description: str

    @property
    def defaults(self) -> dict[str, int]:
        """The configuration of the seed as it stands."""
        return {tunable.name: tunable.default for tunable in self.tunables}

    @property
    def configurations(self) -> int:
        """Number of combinations, constraints not counted."""
        return prod(len(tunable.values) for tunable in self.tunables)

    def valid(self, configuration: Mapping[str, int]) -> bool:
        """Return whether a whole configuration uses declared values and meets every constraint."""
        if set(configuration) != {tunable.name for tunable in self.tunables}:
            return False
        if any(configuration[tunable.name] not in tunable.values for tunable in self.tunables):
            return False
        return all(evaluate(text, configuration) for text in self.constraints)


def render(seed: Seed, configuration: Mapping[str, int]) -> dict[str, bytes]:
    """Return the seed's sources with the tunables of a configuration written into their macros.

    Args:
        seed: the seed.
        configuration: values by tunable; those that are left out keep their defaults.

    Raises:
        ValueError: a name is no tunable of the seed.
    """
    unknown = set(configuration) - {tunable.name for tunable in seed.tunables}
    if unknown:
        raise ValueError(f"seed {seed.name} has no tunable {', '.join(sorted(unknown))}")

    def replace(match: re.Match[str]) -> str:
        name = match.group(1)
        return f"#define {name} {configuration[name]}" if name in configuration else match.group(0)

    return {path: _DEFINE.sub(replace, data.decode()).encode() for path, data in seed.files.items()}


def parse_seeds(files: Mapping[str, bytes]) -> dict[str, Seed]:
    """Return the seeds that the files seeds/*.toml declare.

    Raises:
        ProblemFormatError: a file is wrong, names a missing source, or a tunable without its macro.
    """
    found = {}
    for path in sorted(files):
        if path.startswith(FOLDER) and path.endswith(".toml"):
            name = path.removeprefix(FOLDER).removesuffix(".toml")
            found[name] = _seed(name, path, files)
    return found


def _seed(name: str, path: str, files: Mapping[str, bytes]) -> Seed:
    declared = read_toml(_File, files, path)
    sources = {}
    for file in declared.files:
        if FOLDER + file not in files:
            raise ProblemFormatError(path, f"it names {file}, which is not in {FOLDER}")
        sources[file] = files[FOLDER + file]
    macros: dict[str, int] = {}
    for data in sources.values():
        macros |= {match.group(1): int(match.group(2)) for match in _DEFINE.finditer(data.decode())}
    tunables = []
    for tunable, item in declared.tunables.items():
        if tunable not in macros:
            raise ProblemFormatError(path, f"tunable {tunable} has no line `#define {tunable} NUMBER` in the sources")
        if macros[tunable] not in item.values:
            raise ProblemFormatError(path, f"tunable {tunable} is {macros[tunable]}, which is not one of its values")
        tunables.append(Tunable(tunable, item.values, macros[tunable], item.technique, item.description))
    seed = Seed(
        name,
        declared.structure,
        sources,
        declared.entry,
        tuple(tunables),
        declared.constraints,
        declared.flags,
        declared.standard,
        declared.techniques,
        declared.description,
    )
    try:
        valid = seed.valid(seed.defaults)
    except ExpressionError as error:
        raise ProblemFormatError(path, f"constraints: {error}") from error
    if not valid:
        raise ProblemFormatError(path, "the defaults do not meet the seed's own constraints")
    return seed
