"""The command line: `kernelmill --help`."""

from cyclopts import App

from kernelmill_console.commands import (
    daily,
    dead_letters,
    doctor,
    factory,
    policy,
    problem,
    reading,
    reproduce,
    running,
)

app = App(
    name="kernelmill",
    help="A factory for fast code: agents propose kernels, the factory compiles, checks, times and judges them.",
    version="0.1.0",
)
for module in (running, factory, reading, daily, dead_letters, policy, doctor, reproduce):
    module.register(app)
app.command(problem.app)


def main() -> None:
    """Run the command line; the exit code tells how it went."""
    result = app(result_action="return_value")
    raise SystemExit(result if isinstance(result, int) else 0)
