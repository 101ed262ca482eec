"""The state of the machine over several pairs, put together."""

from collections.abc import Sequence
from statistics import fmean

from kernelmill.events import Telemetry

QUIET = Telemetry(load_1m=0.0, steal_fraction=-1.0, migrations=-1, frequency_mhz=0.0)
"""What is said where nothing was measured."""


def put_together(parts: Sequence[Telemetry]) -> Telemetry:
    """Return one telemetry for all pairs: the highest load, mean steal and clock, all migrations."""
    if not parts:
        return QUIET
    steals = [part.steal_fraction for part in parts if part.steal_fraction >= 0]
    migrations = [part.migrations for part in parts if part.migrations >= 0]
    return Telemetry(
        load_1m=max(part.load_1m for part in parts),
        steal_fraction=fmean(steals) if steals else -1.0,
        migrations=sum(migrations) if migrations else -1,
        frequency_mhz=fmean(part.frequency_mhz for part in parts),
    )
