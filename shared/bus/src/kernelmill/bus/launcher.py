"""The `kernelmill` command: starts a service by name, and hands everything else to the console where there is one."""

import sys
from collections.abc import Sequence
from importlib.metadata import EntryPoint, entry_points
from typing import Final

from kernelmill.bus.errors import LauncherError

SERVICES: Final = "kernelmill.services"
CONSOLE: Final = "kernelmill.console"


def find_service(name: str) -> EntryPoint:
    """Return the entry point of a service.

    Raises:
        LauncherError: it is not installed; the message lists what is.
    """
    found = {point.name: point for point in entry_points(group=SERVICES)}
    if name not in found:
        known = ", ".join(sorted(found)) or "none"
        raise LauncherError(f"no service '{name}' is installed (installed: {known}); install kernelmill-{name}")
    return found[name]


def launch(arguments: Sequence[str]) -> int:
    """Run what the arguments ask for and return the exit code."""
    if arguments[:1] == ["service"] and len(arguments) == 2 and not arguments[1].startswith("-"):
        return int(find_service(arguments[1]).load()() or 0)
    console = next(iter(entry_points(group=CONSOLE)), None)
    if console is None:
        raise LauncherError(
            "the console is not installed here: use `kernelmill service NAME`, or install kernelmill-console"
        )
    return int(console.load()() or 0)


def main() -> None:
    """Run the command line."""
    try:
        code = launch(sys.argv[1:])
    except LauncherError as error:
        sys.stderr.write(f"kernelmill: {error}\n")
        code = 2
    raise SystemExit(code)


if __name__ == "__main__":
    main()
