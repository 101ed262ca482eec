"""What the notes add up to: effects of techniques, failure signatures, stated lessons, and the canonical export."""

import math
from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from kernelmill.identity import canonical_json
from kernelmill_lessons.domain.notes import VERSION, Memory, Note

_MOST_FAILURES = 50


def effects(memory: Memory) -> list[dict[str, Any]]:
    """Return for each (problem, target, technique) how often it was tried and what it gained.

    A technique is credited with the difference between child and first parent where the parent did not show it: the
    log of the ratio of their headline speed-ups. Sums are exact (`math.fsum`): the order of events cannot show.
    """
    groups: defaultdict[tuple[str, str, str], list[tuple[Note, float | None]]] = defaultdict(list)
    for note in memory.notes.values():
        problem, target = memory.campaigns.get(note.campaign, ("", ""))
        parent = memory.notes.get((note.campaign, note.parent)) if note.parent else None
        new = set(note.techniques) - set(parent.techniques if parent else ())
        gain = _gain(note, parent)
        for technique in new:
            groups[problem, target, technique].append((note, gain))
    return [_effect(key, members) for key, members in sorted(groups.items())]


def failures(memory: Memory) -> list[dict[str, Any]]:
    """Return failure signatures, the most frequent first, with the techniques of the first accepted descendants."""
    children: defaultdict[tuple[str, str], list[Note]] = defaultdict(list)
    for note in memory.notes.values():
        if note.parent:
            children[note.campaign, note.parent].append(note)
    found: defaultdict[tuple[str, str], list[Note]] = defaultdict(list)
    for note in memory.notes.values():
        if note.signature:
            found[memory.campaigns.get(note.campaign, ("", ""))[0], note.signature].append(note)
    rows: list[dict[str, Any]] = []
    for (problem, signature), notes in found.items():
        fixes = sorted(
            child.candidate
            for note in notes
            for child in children[note.campaign, note.candidate]
            if child.decision == "accepted"
        )
        rows.append({"problem": problem, "signature": signature, "count": len(notes), "fixed_by": fixes[:5]})
    return sorted(rows, key=lambda row: (-row["count"], row["problem"], row["signature"]))[:_MOST_FAILURES]


def stated(memory: Memory) -> list[dict[str, Any]]:
    """Return stated lessons; one without evidence is a guess, one whose evidence was retracted is demoted."""
    retracted = {verdict for note in memory.notes.values() for verdict in note.retracted}
    rows = []
    for lesson, content in sorted(memory.stated.items()):
        cited = set(content["evidence"])
        standing = (
            "retired" if content["retired"] else "demoted" if cited & retracted else "supported" if cited else "guess"
        )
        rows.append({"lesson": lesson, "claim": content["claim"], "standing": standing, "author": content["author"]})
    return rows


def advice(memory: Memory, problem: str, target: str, limit: int) -> list[dict[str, Any]]:
    """Return what a campaign should know: techniques by verified gain, of its own problem first."""
    own: list[dict[str, Any]] = []
    others: list[dict[str, Any]] = []
    for row in effects(memory):
        if row["target"] == target and row["median_gain"] is not None:
            (own if row["problem"] == problem else others).append(row)
    known = {row["technique"] for row in own}
    chosen = sorted(own, key=_promise) + sorted((row for row in others if row["technique"] not in known), key=_promise)
    return [
        {
            "lesson": row["lesson"],
            "technique": row["technique"],
            "tried": row["tried"],
            "gain": row["median_gain"],
        }
        for row in chosen[:limit]
    ]


def export(memory: Memory) -> bytes:
    """Return the canonical bytes of everything that is remembered at a position: equal histories, equal bytes."""
    return canonical_json(
        {
            "version": VERSION,
            "position": memory.position,
            "campaigns": {key: list(value) for key, value in sorted(memory.campaigns.items())},
            "notes": [memory.notes[key].plain() for key in sorted(memory.notes)],
            "effects": effects(memory),
            "failures": failures(memory),
            "stated": stated(memory),
        }
    )


def _gain(note: Note, parent: Note | None) -> float | None:
    if parent is None or note.speedup is None or parent.speedup is None:
        return None
    if note.speedup <= 0 or parent.speedup <= 0:
        return None
    return math.log(note.speedup / parent.speedup)


def _effect(key: tuple[str, str, str], members: Sequence[tuple[Note, float | None]]) -> dict[str, Any]:
    problem, target, technique = key
    decisions = [note.decision for note, _ in members]
    gains = sorted(gain for _, gain in members if gain is not None)
    return {
        "lesson": f"effect/{problem}/{target}/{technique}",
        "problem": problem,
        "target": target,
        "technique": technique,
        "tried": len(members),
        "accepted": decisions.count("accepted"),
        "rejected": decisions.count("rejected"),
        "inconclusive": decisions.count("inconclusive"),
        "median_gain": _median(gains),
        "mean_gain": math.fsum(gains) / len(gains) if gains else None,
        "measured": len(gains),
    }


def _median(values: Sequence[float]) -> float | None:
    if not values:
        return None
    middle = len(values) // 2
    return values[middle] if len(values) % 2 else math.fsum(values[middle - 1 : middle + 1]) / 2.0


def _promise(row: dict[str, Any]) -> tuple[float, str]:
    """Sort by gain, drawn towards nothing where it was measured seldom."""
    shrunk = row["median_gain"] * row["measured"] / (row["measured"] + 3.0)
    return -shrunk, row["technique"]
