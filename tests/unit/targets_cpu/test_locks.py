"""The machine's reader-writer lock: who excludes whom, and that nobody starves."""

import threading
from pathlib import Path

import pytest

from kernelmill.targets.cpu.locks import MachineLock, SharedLease

DEADLINE = 20.0


@pytest.fixture
def lock(tmp_path: Path) -> MachineLock:
    return MachineLock(tmp_path)


def held_by_thread(hold: object, entered: threading.Event, leave: threading.Event) -> threading.Thread:
    def work() -> None:
        with hold:  # type: ignore[attr-defined]  # a context manager
            entered.set()
            assert leave.wait(DEADLINE)

    thread = threading.Thread(target=work)
    thread.start()
    return thread


def test_readers_share(lock: MachineLock) -> None:
    entered, leave = threading.Event(), threading.Event()
    thread = held_by_thread(lock.shared(), entered, leave)
    assert entered.wait(DEADLINE)
    with lock.shared():
        leave.set()
    thread.join(DEADLINE)


@pytest.mark.parametrize(
    ("first", "second"), [("shared", "exclusive"), ("exclusive", "shared"), ("exclusive", "exclusive")]
)
def test_timing_is_alone(lock: MachineLock, first: str, second: str) -> None:
    entered, leave, inside = threading.Event(), threading.Event(), threading.Event()
    thread = held_by_thread(getattr(lock, first)(), entered, leave)
    assert entered.wait(DEADLINE)
    finished = threading.Event()
    finished.set()
    other = held_by_thread(getattr(lock, second)(), inside, finished)
    assert not inside.wait(0.05)
    leave.set()
    assert inside.wait(DEADLINE)
    for each in (thread, other):
        each.join(DEADLINE)


def test_a_waiting_timer_keeps_new_readers_out(lock: MachineLock) -> None:
    order: list[str] = []
    entered, leave = threading.Event(), threading.Event()
    reader = held_by_thread(lock.shared(), entered, leave)
    assert entered.wait(DEADLINE)
    at_gate = threading.Event()
    original = lock._acquire

    def note(kind: int) -> int:
        at_gate.set()
        return original(kind)

    lock._acquire = note  # type: ignore[method-assign]  # to know when a thread begins to wait

    def work(kind: str) -> None:
        with getattr(lock, kind)():
            order.append(kind)

    timer = threading.Thread(target=work, args=("exclusive",))
    timer.start()
    assert at_gate.wait(DEADLINE)
    gate = lock._gate
    while not _is_locked(gate):
        assert timer.is_alive()
    late = threading.Thread(target=work, args=("shared",))
    late.start()
    leave.set()
    for each in (reader, timer, late):
        each.join(DEADLINE)
    assert order == ["exclusive", "shared"]


def _is_locked(path: Path) -> bool:
    import fcntl  # noqa: PLC0415  # only this probe needs it

    with path.open() as file:
        try:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False


def test_a_holder_may_enter_again(lock: MachineLock) -> None:
    with lock.exclusive(), lock.exclusive(), lock.shared():
        pass


def test_a_lease_lets_a_timer_in_between_steps(tmp_path: Path) -> None:
    reader, timer = MachineLock(tmp_path), MachineLock(tmp_path)
    lease = SharedLease(reader, slice_seconds=0.0)
    entered, leave = threading.Event(), threading.Event()
    leave.set()
    thread = held_by_thread(timer.exclusive(), entered, leave)
    while not _is_locked(timer._gate):
        assert thread.is_alive()
    assert not entered.is_set()
    lease.step()
    assert entered.is_set()
    lease.close()
    lease.close()
    thread.join(DEADLINE)
    with timer.exclusive():
        pass


def test_raising_the_lock_is_refused_instead_of_waiting_for_ever(lock: MachineLock) -> None:
    with lock.shared(), pytest.raises(RuntimeError, match="deadlock"), lock.exclusive():
        pass


def test_readers_need_not_wait_where_timing_has_its_own_cores(tmp_path: Path) -> None:
    lock = MachineLock(tmp_path, exclusive_only=True)
    entered, leave = threading.Event(), threading.Event()
    thread = held_by_thread(lock.exclusive(), entered, leave)
    assert entered.wait(DEADLINE)
    with lock.shared():
        leave.set()
    thread.join(DEADLINE)
