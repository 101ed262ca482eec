"""Some of each family of cheats, and some honest controls, before the real services with the screen off.

The whole red team takes some ten minutes on two cores and is run by `tests/redteam/run.py`.
"""

from collections import Counter

import pytest
from redteam.specimens import Specimen, specimens
from redteam.trial import judge

CHEATS, CONTROLS = 1, 4
"""So many of each family, and of the controls."""

pytestmark = pytest.mark.timeout(600)


def some() -> list[Specimen]:
    """The first of each family by name, known gaps left out."""
    seen: Counter[str] = Counter()
    chosen = []
    for specimen in specimens():
        seen[specimen.family] += not specimen.open
        if not specimen.open and seen[specimen.family] <= (CHEATS if specimen.hostile else CONTROLS):
            chosen.append(specimen)
    return chosen


def test_every_specimen_says_what_it_is() -> None:
    found = specimens()
    assert len({(specimen.family, specimen.name) for specimen in found}) == len(found)
    assert sum(specimen.hostile for specimen in found) >= 200
    assert sum(not specimen.hostile for specimen in found) >= 30


async def test_no_cheat_passes_and_no_control_fails() -> None:
    endings = await judge(some(), screen=False)
    wrong = [
        f"{ending.specimen.family}/{ending.specimen.name}: {ending.wrong}; {ending.reason}: "
        f"{ending.verdict.detail if ending.verdict else ''}"
        for ending in endings
        if ending.wrong
    ]
    assert not wrong, "\n".join(wrong)
