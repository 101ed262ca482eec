"""The swarm's memory: rebuilt equals live, retraction refolds, storage resumes."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.events import at, candidate_id
from support.histories import HISTORY, judged, retracted

from kernelmill.events import LessonStated
from kernelmill_lessons.domain.notes import Memory, signature_of
from kernelmill_lessons.domain.summaries import advice, effects, export, failures, stated
from kernelmill_lessons.storage import Store


def folded(events: list[Any]) -> Memory:
    memory = Memory()
    for sequence, event in enumerate(events, 1):
        memory.apply(sequence, event)
    return memory


def test_a_technique_is_credited_with_the_difference_that_it_made() -> None:
    rows = {row["technique"]: row for row in effects(folded(HISTORY))}
    assert rows["unroll"]["tried"] == 2
    assert rows["unroll"]["accepted"] == 1
    assert rows["unroll"]["median_gain"] == pytest.approx(0.1, abs=1e-3)
    assert rows["vectors"]["tried"] == 1
    assert rows["vectors"]["median_gain"] is None


def test_failures_are_known_by_their_shape_and_by_what_fixed_them() -> None:
    rows = failures(folded(HISTORY))
    assert {row["signature"] for row in rows} == {
        "compile: error: NAME undeclared",
        "correctness: wrong on normal",
    }
    compile_row = next(row for row in rows if row["signature"].startswith("compile"))
    assert compile_row["fixed_by"] == [candidate_id("d")]
    assert signature_of("a/b.c:3:1: error: 'foo12' in line 9") == signature_of("z.c:77: error: 'bar' in line 10")


def test_a_retraction_takes_the_gain_back_and_demotes_what_rests_on_it() -> None:
    said = LessonStated(
        event_id="said",
        recorded_at=at(0),
        lesson="l1",
        claim="unrolling helps",
        problem_class="rmsnorm",
        for_target="cpu",
        evidence=(judged("b", 0.2).event_id,),
        author="test",
    )
    before = folded([*HISTORY, said])
    assert stated(before)[0]["standing"] == "supported"
    after = folded([*HISTORY, said, retracted("b")])
    assert stated(after)[0]["standing"] == "demoted"
    unroll = next(row for row in effects(after) if row["technique"] == "unroll")
    assert (unroll["accepted"], unroll["median_gain"]) == (0, None)


def test_advice_prefers_what_was_gained_on_the_own_problem() -> None:
    rows = advice(folded(HISTORY), "rmsnorm", "cpu", 5)
    assert rows[0]["technique"] == "unroll"
    assert advice(folded(HISTORY), "rmsnorm", "cuda", 5) == []
    assert advice(folded(HISTORY), "softmax", "cpu", 5)[0]["technique"] == "unroll"


@given(cut=st.integers(0, len(HISTORY)), again=st.integers(0, len(HISTORY)))
def test_memory_stored_at_any_point_goes_on_to_the_same_bytes(
    tmp_path_factory: pytest.TempPathFactory, cut: int, again: int
) -> None:
    folder = tmp_path_factory.mktemp("lessons")
    store = Store(folder)
    memory = store.load("log-1")
    for position in sorted({cut, again}):
        for sequence, event in enumerate(HISTORY, 1):
            if memory.position < sequence <= position:
                memory.apply(sequence, event)
        store.save("log-1", memory)
        store.close()
        store = Store(folder)
        memory = store.load("log-1")
    for sequence, event in enumerate(HISTORY, 1):
        if sequence > memory.position:
            memory.apply(sequence, event)
    store.close()
    assert export(memory) == export(folded(HISTORY))


def test_another_log_starts_from_nothing(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.save("log-1", folded(HISTORY))
    assert store.load("log-2").position == 0
    store.close()
