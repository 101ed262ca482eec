"""User ids of sandboxes: which range, and that no two are equal at a time."""

from kernelmill.sandbox.slots import FALLBACK_BASE, PREFERRED_BASE, SLOTS, UserSlots, base_uid


def test_full_id_space_uses_the_range_that_nobody_hands_out() -> None:
    assert base_uid("         0          0 4294967295\n") == PREFERRED_BASE


def test_small_maps_use_the_fallback() -> None:
    assert base_uid("         0     100000      65536\n") == FALLBACK_BASE
    assert base_uid(f"0 0 {PREFERRED_BASE + SLOTS - 1}\n") == FALLBACK_BASE
    assert FALLBACK_BASE + SLOTS < 65_536


def test_slots_differ_until_they_are_released() -> None:
    one, other = UserSlots(), UserSlots()
    taken = [one.acquire(), other.acquire(), one.acquire()]
    assert len(set(taken)) == 3
    one.release(taken[0])
    assert one.acquire() == taken[0]
