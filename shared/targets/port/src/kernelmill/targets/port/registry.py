"""Finds targets by name among the installed distributions."""

from importlib.metadata import entry_points

from kernelmill.targets.port.port import Target

GROUP = "kernelmill.targets"


class UnknownTargetError(LookupError):
    """No installed distribution offers the target."""


def target_names() -> tuple[str, ...]:
    """Return the names of the installed targets, sorted."""
    return tuple(sorted(point.name for point in entry_points(group=GROUP)))


def load_target(name: str) -> Target:
    """Return the target of that name; `cuda-sm90` is served by the entry point `cuda`.

    Raises:
        UnknownTargetError: if no installed distribution offers it.
    """
    family = name.partition("-")[0]
    for point in entry_points(group=GROUP):
        if point.name == family:
            target: Target = point.load()()
            return target
    known = ", ".join(target_names()) or "none"
    raise UnknownTargetError(
        f"target '{name}' is not installed (installed: {known}); install kernelmill-targets-{family}"
    )
