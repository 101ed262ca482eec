"""The vocabulary: every event class is declared, documented and survives its own encoding."""

import json
import re
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernelmill.events import (
    EVENT_TYPES,
    BuildOptions,
    CampaignPaused,
    NewerVersionError,
    UndecodableError,
    UnknownKindError,
    candidate_digest,
    decode,
    encode,
)
from kernelmill.identity import command_id, digest_framed, new_id

NOW = datetime(2026, 12, 1, 6, 0, 0, 123456, tzinfo=UTC)


@pytest.mark.parametrize("event_type", EVENT_TYPES.values(), ids=list(EVENT_TYPES))
def test_every_event_class_is_declared_and_documented(event_type: type) -> None:
    declaration = event_type.declaration
    assert declaration.id_field in event_type.model_fields
    assert declaration.facet_field is None or declaration.facet_field in event_type.model_fields
    assert declaration.appended_by
    assert event_type.model_config["frozen"]
    assert event_type.__doc__
    undocumented = [name for name, field in event_type.model_fields.items() if not field.description and name != "kind"]
    assert undocumented == []


def test_kinds_are_past_tense_names_of_their_classes() -> None:
    for kind, event_type in EVENT_TYPES.items():
        assert kind == event_type.__name__ == event_type.model_fields["kind"].default


def paused(because: str = "lunch") -> CampaignPaused:
    return CampaignPaused(event_id="e1", recorded_at=NOW, target="cpu", campaign="c1", because=because)


@given(st.text())
def test_an_event_survives_encoding(because: str) -> None:
    surrogate_free = because.encode("utf-8", "ignore").decode()
    event = paused(surrogate_free)
    assert decode("CampaignPaused", 1, encode(event)) == event


def test_encoding_keeps_microseconds_in_utc() -> None:
    assert json.loads(encode(paused()))["recorded_at"] == "2026-12-01T06:00:00.123456Z"


def test_what_cannot_be_understood_says_so() -> None:
    with pytest.raises(UnknownKindError, match="unknown event kind 'Nonsense'"):
        decode("Nonsense", 1, b"{}")
    with pytest.raises(NewerVersionError, match="upgrade this program"):
        decode("CampaignPaused", 99, b"{}")
    with pytest.raises(UndecodableError, match="does not validate"):
        decode("CampaignPaused", 1, b'{"kind": "CampaignPaused"}')
    with pytest.raises(UndecodableError):
        decode("CampaignPaused", 1, b"\xff not json")


@given(st.lists(st.binary(max_size=8), max_size=4), st.lists(st.binary(max_size=8), max_size=4))
def test_framed_digests_tell_different_parts_apart(left: list[bytes], right: list[bytes]) -> None:
    assert (digest_framed(left) == digest_framed(right)) == (left == right)


def test_a_candidate_is_its_content() -> None:
    build = BuildOptions(flags=("-O3",))
    base = candidate_digest("p" * 64, "cpu", {"k.c": b"a\n", "h.h": b"b"}, "kernel", build)
    assert candidate_digest("p" * 64, "cpu", {"h.h": b"b", "k.c": b"a\r\n"}, "kernel", build) == base
    assert candidate_digest("p" * 64, "cpu", {"k.c": b"a", "h.h": b"b"}, "kernel", build) != base
    assert (
        candidate_digest("p" * 64, "cpu", {"k.c": b"a\n", "h.h": b"b"}, "kernel", BuildOptions(flags=("-O2",))) != base
    )


def test_ids_are_token_safe_and_commands_deterministic() -> None:
    assert re.fullmatch(r"[A-Za-z0-9_-]+", new_id("campaign"))
    assert command_id("a", "b") == command_id("a", "b") != command_id("ab", "")
