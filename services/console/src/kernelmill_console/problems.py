"""Finds a problem's folder: a path that the user names, or one of the shipped problems by name."""

import os
from pathlib import Path

from kernelmill.problems import Problem, load_problem
from kernelmill_console.errors import ProblemNotFoundError


def shipped_folders() -> list[Path]:
    """Return the folders in which shipped problems are looked for, in order."""
    places = [Path(place) for place in os.environ.get("KERNELMILL_KERNELS", "").split(os.pathsep) if place]
    places.append(Path.cwd() / "kernels")
    places += [parent / "kernels" for parent in Path(__file__).resolve().parents]
    return [place for place in dict.fromkeys(places) if place.is_dir()]


def shipped_problems() -> dict[str, Path]:
    """Return the folders of the shipped problems by name."""
    found: dict[str, Path] = {}
    for place in shipped_folders():
        for folder in sorted(place.iterdir()):
            if (folder / "definition.json").is_file():
                found.setdefault(folder.name, folder)
    return found


def find_problem(name: str, relative_to: Path) -> Problem:
    """Return the problem of that name or at that path.

    Raises:
        ProblemNotFoundError: there is none; the message lists what there is.
    """
    for path in (relative_to / name, Path(name)):
        if (path / "definition.json").is_file():
            return load_problem(path)
    shipped = shipped_problems()
    if name in shipped:
        return load_problem(shipped[name])
    known = ", ".join(sorted(shipped)) or "none"
    raise ProblemNotFoundError(
        f"no problem '{name}': neither a folder with a definition.json nor one of the shipped problems ({known})"
    )
