"""Baselines: what a user would use instead, with the settings over which each is swept."""

import importlib.util
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from kernelmill.events import BuildOptions
from kernelmill.problems.declared import read_toml
from kernelmill.problems.errors import ProblemFormatError

FOLDER = "baselines/"


class _Declared(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: Literal["c", "python"]
    files: tuple[str, ...]
    entry: str = "kernel"
    link: tuple[str, ...] = ()
    requires: tuple[str, ...] = ()
    compilers: tuple[Literal["gcc", "clang"], ...] = ("gcc",)
    flags: tuple[tuple[str, ...], ...] = ((),)
    standard: str = "gnu11"
    description: str = ""


class _File(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    baselines: dict[str, _Declared] = Field(default_factory=dict)


@dataclass(frozen=True)
class BaselineSource:
    """A baseline's program and its sweep. The best setting on a node is what counts there."""

    name: str
    kind: Literal["c", "python"]
    """`c` is compiled like a candidate; `python` defines `run(*inputs, *outputs, *axes)` and writes the outputs."""
    files: dict[str, bytes]
    """Sources by path."""
    entry: str
    link: tuple[str, ...]
    """Trusted libraries to link, for example `openblas`."""
    requires: tuple[str, ...]
    """Python modules without which it is unsupported."""
    sweep: tuple[BuildOptions, ...]
    """Settings to try; one empty setting for Python baselines."""
    description: str

    def missing(self) -> str:
        """Return the first required module that is not installed here, or an empty string."""
        return next((name for name in self.requires if importlib.util.find_spec(name) is None), "")


def parse_baselines(files: Mapping[str, bytes]) -> dict[str, BaselineSource]:
    """Return the baselines that baselines/baselines.toml declares.

    Raises:
        ProblemFormatError: the file is missing or wrong, or names a source that is not there.
    """
    path = f"{FOLDER}baselines.toml"
    if path not in files:
        raise ProblemFormatError(path, "the file is missing: declare at least a numpy baseline")
    declared = read_toml(_File, files, path)
    return {name: _source(name, item, files, path) for name, item in declared.baselines.items()}


def _source(name: str, item: _Declared, files: Mapping[str, bytes], path: str) -> BaselineSource:
    sources = {}
    for file in item.files:
        if FOLDER + file not in files:
            raise ProblemFormatError(path, f"baseline {name} names {file}, which is not in {FOLDER}")
        sources[file] = files[FOLDER + file]
    settings: list[BuildOptions] = []
    for compiler, flags in product(item.compilers, item.flags):
        settings.append(BuildOptions.model_validate({"compiler": compiler, "flags": flags, "standard": item.standard}))
    sweep = tuple(settings) if item.kind == "c" else (BuildOptions(),)
    entry = item.entry if item.kind == "c" else "run"
    return BaselineSource(name, item.kind, sources, entry, item.link, item.requires, sweep, item.description)
