"""Libraries that trusted baselines may link, by name."""

import shutil
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from kernelmill.sandbox import reachable_by_others
from kernelmill.targets.cpu.errors import CpuTargetError

_CBLAS_NAMES = ("sgemm", "sgemv", "dgemm", "dgemv", "sdot", "saxpy", "sbgemm")


_RESOURCE = "links."


def linked_resources(names: Iterable[str]) -> dict[str, float]:
    """Return the artifact resources that tell which libraries must be readable when it is loaded."""
    return {f"{_RESOURCE}{name}": 1.0 for name in names}


def linked_names(resources: Iterable[str]) -> tuple[str, ...]:
    """Return the names of the libraries that an artifact's resources tell of."""
    return tuple(name.removeprefix(_RESOURCE) for name in resources if name.startswith(_RESOURCE))


@dataclass(frozen=True)
class LinkedLibrary:
    """How one library is compiled against and linked."""

    compile_flags: tuple[str, ...]
    link_flags: tuple[str, ...]
    readable: tuple[Path, ...]
    """What the compiler and the loader must be able to read."""
    version: str


def linked_library(name: str, folder: Path) -> LinkedLibrary:
    """Return how to use a library.

    Args:
        name: `m`, `mvec` or `openblas` (from the wheel scipy-openblas32, its `cblas_*` names mapped).
        folder: Where a copy is kept if sandboxed users cannot reach the installed one.

    Raises:
        CpuTargetError: if the name is unknown or the library is not installed.
    """
    if name in {"m", "mvec"}:
        return LinkedLibrary((), (f"-l{name}",), (), "glibc")
    if name != "openblas":
        raise CpuTargetError(f"library '{name}' is not known to the cpu target; it knows m, mvec, openblas")
    try:
        import scipy_openblas32 as wheel  # type: ignore[import-untyped]  # noqa: PLC0415  # a library for baselines only
    except ImportError as error:
        raise CpuTargetError("OpenBLAS is not installed; install it with `pip install scipy-openblas32`") from error
    libraries, headers = Path(wheel.get_lib_dir()), Path(wheel.get_include_dir())
    if not reachable_by_others(libraries / "x"):
        libraries, headers = _copied(libraries, folder), _copied(headers, folder)
    mapped = tuple(f"-Dcblas_{routine}=scipy_cblas_{routine}" for routine in _CBLAS_NAMES)
    return LinkedLibrary(
        (f"-I{headers}", *mapped),
        (f"-L{libraries}", f"-l{wheel.get_library()}", f"-Wl,-rpath,{libraries}"),
        (libraries, headers),
        f"OpenBLAS {wheel.__version__}",
    )


def _copied(source: Path, folder: Path) -> Path:
    target = folder / "openblas" / source.name
    if not target.exists():
        shutil.copytree(source, target, dirs_exist_ok=True)
    return target
