"""The pure parts of timing and building: cores, batches, scores, layouts, poison, endings, probes, ELF."""

import math
import signal
import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernelmill.sandbox import Ended
from kernelmill.targets.cpu.buffers import Pool
from kernelmill.targets.cpu.cores import divide
from kernelmill.targets.cpu.elf import read_shared_object
from kernelmill.targets.cpu.endings import Report, explain
from kernelmill.targets.cpu.facts import processor_facts
from kernelmill.targets.cpu.layout import padding_source
from kernelmill.targets.cpu.poison import pattern_for
from kernelmill.targets.cpu.timing.batch import calls_for, typical_seconds
from kernelmill.targets.cpu.timing.dispatch import DispatchCost
from kernelmill.targets.cpu.timing.probes import LEAST_BYTES, bucket
from kernelmill.targets.cpu.timing.score import Duel, score_duels
from kernelmill.targets.cpu.timing.telemetry import steal_ticks
from kernelmill.targets.cpu.words import one_line, plain
from kernelmill.targets.port import Limits, PairPlan, TensorSpec


@given(st.sets(st.integers(0, 255), min_size=1, max_size=64))
def test_cores_are_divided_within_what_is_available(available: set[int]) -> None:
    cores = divide(available)
    assert {*cores.bench, cores.parent, *cores.others} <= available
    assert cores.others
    assert cores.reserved == (len(available) >= 4)
    assert (cores.parent in cores.bench) == (len(available) == 1)


@given(st.integers(1, 8))
def test_threads_get_distinct_cores_the_parent_last(threads: int) -> None:
    cores = divide(range(8)).for_threads(threads)
    assert len(set(cores)) == len(cores) == threads
    assert (6 in cores) == (threads == 8)


@given(st.floats(1e-9, 10.0), st.integers(1, 128))
def test_batches_stay_within_the_pool(seconds: float, slots: int) -> None:
    assert 1 <= calls_for(seconds, PairPlan(duels=1), slots) <= slots


def test_batches_aim_at_the_planned_length() -> None:
    assert calls_for(50e-6, PairPlan(duels=1, batch_seconds=5e-4), 128) == 10


def test_score_is_trimmed_and_tells_the_plain_mean() -> None:
    duels = [Duel(1e-3, 2e-3, 10)] * 7 + [Duel(8e-3, 1e-3, 10)]
    score = score_duels(duels, discarded=2)
    assert score.log_ratio == pytest.approx(math.log(2))
    assert score.mean_log_ratio < score.log_ratio
    assert (score.duels, score.discarded) == (8, 2)
    assert score.candidate_ns == pytest.approx(1e5)


def test_dispatch_cost_is_shared_by_the_calls_of_a_batch() -> None:
    assert DispatchCost(turn=1e-5, call=1e-8).per_call_ns(10) == pytest.approx(1010.0)


@given(st.binary(min_size=16, max_size=16))
def test_layouts_are_reproducible_and_keep_alignment(seed: bytes) -> None:
    source, order = padding_source(seed, ["a.o", "b.o"])
    assert (source, order) == padding_source(seed, ["a.o", "b.o"])
    assert sorted(order[1:]) == ["a.o", "b.o"]
    assert order[0] == "padding.s"
    skips = [
        int(line.split()[1].rstrip(",")) for line in source.decode().splitlines() if line.strip().startswith(".skip")
    ]
    assert all(skip % 64 == 0 and 0 < skip <= 4096 for skip in skips)


@given(st.integers(0, 2**64 - 1), st.sampled_from(["<f2", "<f4", "<f8"]))
def test_floating_poison_is_nan_in_every_element(secret: int, name: str) -> None:
    pattern, width = pattern_for(secret, np.dtype(name))
    values = np.frombuffer(struct.pack("<Q", pattern), dtype=name)
    assert np.isnan(values).all()
    assert width == np.dtype(name).itemsize


def test_integer_poison_is_looked_for_in_wide_places() -> None:
    assert pattern_for(6, np.dtype(np.int8)) == (7, 8)
    assert pattern_for(6, np.dtype(np.uint16))[1] == 8


@given(st.integers(1, 1 << 34))
def test_probe_footprints_round_down(size: int) -> None:
    chosen = bucket(size)
    assert chosen % 4096 == 0
    assert chosen <= max(size, LEAST_BYTES)


def ended(kind: str, number: int, cpu: float = 0.0) -> Ended:
    return Ended("signal" if kind == "signal" else "code", number, cpu, 0, timed_out=False)


@pytest.mark.parametrize(
    ("end", "report", "outcome"),
    [
        (ended("signal", signal.SIGKILL, 10.0), Report(0, 0, 0), "timed-out"),
        (ended("signal", signal.SIGKILL, 0.1), Report(0, 0, 0), "memory"),
        (ended("signal", signal.SIGSYS), Report(0, 0, 0), "crashed"),
        (ended("code", 0), Report(0, 0, 0), "crashed"),
        (ended("code", 0), Report(3, 11, 0), "crashed"),
        (ended("code", 139), Report(3, 11, 0), "input-changed"),
        (ended("code", 139), Report(2, 11, 0), "memory"),
        (ended("code", 4), Report(4, 0, 0), "state-changed"),
        (ended("code", 4), Report(9, 99, 0), "crashed"),
    ],
)
def test_reports_count_only_where_they_agree_with_the_end(end: Ended, report: Report, outcome: str) -> None:
    assert explain(end, report, Limits())[0] == outcome


@given(st.binary(max_size=300))
def test_any_bytes_may_be_read_as_an_elf_file(data: bytes) -> None:
    header = b"\x7fELF\x02\x01" + data
    assert read_shared_object(data, "kernel") is None
    result = read_shared_object(header, "kernel")
    assert result is None or result.text_bytes >= 0


def object_with_names(names: bytes, offsets: list[int]) -> bytes:
    """A file with a table of dynamic symbols whose names start at the given offsets."""
    symbols = b"".join(struct.pack("<IBBHQQ", offset, 0, 0, 1, 0, 0) for offset in offsets)
    head = 64 + 2 * 64
    table = struct.pack("<IIQQQQIIQQ", 0, 11, 2, 0, head, len(symbols), 1, 0, 8, 24)
    strings = struct.pack("<IIQQQQIIQQ", 0, 3, 2, 0, head + len(symbols), len(names), 0, 0, 1, 0)
    header = b"\x7fELF\x02\x01".ljust(40, b"\0") + struct.pack("<Q", 64) + bytes(10) + struct.pack("<HHH", 64, 2, 0)
    return header + table + strings + symbols + names


def test_exported_names_are_found_and_not_collected() -> None:
    names = b"\0" + b"a" * 1_000_000 + b"\0kernel\0"
    found = read_shared_object(object_with_names(names, [1_000_002]), "kernel")
    assert found is not None
    assert found.exports_entry
    # Every suffix of one long string is a name: listed, they would take gigabytes.
    missing = read_shared_object(object_with_names(names, list(range(1, 100_000))), "kernel")
    assert missing is not None
    assert not missing.exports_entry


TENSOR = TensorSpec("x", (37,), np.dtype(np.float32))


@pytest.mark.parametrize("guarded", [False, True])
def test_writing_beside_an_output_is_noticed(*, guarded: bool) -> None:
    with Pool((TENSOR,), (TENSOR, TENSOR), (), 1, guarded=guarded) as pool:
        for _, size, _ in pool.slots[0].output_spans:
            assert size == 4 * 37
        for array in pool.slots[0].outputs.values():
            array[...] = 1.0
        assert not pool.spilled()
        address, size, _ = pool.slots[0].output_spans[1]
        behind = address - pool.outputs.address + size
        pool.outputs.bytes[behind] ^= 1
        assert pool.spilled()


def test_guard_pages_stand_right_behind_the_last_line_of_every_tensor() -> None:
    scalar = TensorSpec("s", (), np.dtype(np.float32))
    with Pool((TENSOR, scalar), (TENSOR,), (5,), 1, guarded=True) as pool:
        words = pool.inputs.bytes[pool.guards : pool.description[0]].view(np.int64)
        inputs = words[1 : 1 + words[0]]
        offsets = pool.inputs.bytes[pool.table : pool.description[0]].view(np.int64)[4:6]
        for guard, offset, size in zip(inputs[1:], offsets, (192, 64), strict=True):
            assert guard % 4096 == 0
            assert guard - offset == size
        assert pool.inputs.bytes[offsets[0] + 4 * 37] == 0xFF


def test_other_pools_have_no_guard_pages() -> None:
    with Pool((TENSOR,), (TENSOR,), (), 3) as pool:
        assert pool.guards == 0
    with pytest.raises(ValueError, match="one call"):
        Pool((TENSOR,), (TENSOR,), (), 3, guarded=True)


def test_words_of_hostile_origin_are_made_plain() -> None:
    assert plain(b"a\tb\nc \xc3\xa9 \x1b[2J\x07\xff\r") == "a\tb\nc \u00e9 \ufffd[2J\ufffd\ufffd\ufffd"
    assert one_line("a\n b\u202e") == "a b\ufffd"


def test_steal_is_read_per_core() -> None:
    stat = "cpu  1 2 3 4 5 6 7 8 9 10\ncpu0 1 2 3 4 5 6 7 80 9 10\ncpu1 1 2 3 4 5 6 7 81 9 10\nintr 5\n"
    assert (steal_ticks(1, stat), steal_ticks(7, stat)) == (81, -1)


def test_processor_facts_do_not_depend_on_the_order_of_features() -> None:
    one = processor_facts("model name\t: CPU\nflags\t\t: b a\n\nmodel name : other\n")
    assert one == processor_facts("flags : a b\nmodel name : CPU\n")
    assert one["model"] == "CPU"


def test_nobody_makes_batches_short_by_waiting() -> None:
    assert typical_seconds(1e-5, 4e-5) == typical_seconds(4e-5, 1e-5) == pytest.approx(2e-5)
    assert typical_seconds(10.0, 1e-5) == pytest.approx(2e-5)
