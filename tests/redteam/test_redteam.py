"""No cheat is accepted and no honest candidate is rejected, by the real services, with the screen off."""

import pytest
from redteam.specimens import specimens
from redteam.trial import judge

pytestmark = pytest.mark.timeout(900)


async def test_no_cheat_passes_and_no_control_fails() -> None:
    chosen = specimens()
    assert len({(specimen.family, specimen.name) for specimen in chosen}) == len(chosen)
    endings = await judge(chosen, screen=False)
    wrong = [
        f"{ending.specimen.family}/{ending.specimen.name}: {ending.wrong}; {ending.reason}: "
        f"{ending.verdict.detail if ending.verdict else ''}"
        for ending in endings
        if ending.wrong
    ]
    assert not wrong, "\n".join(wrong)
