"""What a node's own events say about how far its measurements can be believed, with advice."""

from typing import Literal

from pydantic import BaseModel

from kernelmill.events import NodeCalibrated, NodeJoined

LAYERS = {
    "namespaces": "candidates see other processes and the network: allow unprivileged user namespaces, or run as root",
    "landlock": "candidates can read files that others may read: use a kernel from 5.13 on with landlock enabled",
    "seccomp": "candidates can make any system call: use a kernel with seccomp filters",
    "rlimits": "candidates can take all memory and processes: a kernel without resource limits is not supported",
    "uid": "candidates run as your own user: start the factory as root, or in a container of its own",
}
"""Layers of the sandbox and what it means that one is missing."""
FREEZE = {
    "cgroup-v2": "processes are frozen by cgroup v2",
    "cgroup-v1": "processes are frozen by the v1 freezer: as sound, but a turn costs some 80 us more",
    "self-stop": "processes stop themselves: weaker evidence; give the user a cgroup v2 subtree (Delegate=yes)",
}
NOISY = 0.05
"""Spread of the log ratio between pairs of identical code above which small gains take long to show."""

Level = Literal["good", "warning", "bad"]


class Finding(BaseModel):
    """One line of `doctor`."""

    node: str
    about: str
    level: Level
    says: str


def diagnose(joined: NodeJoined, calibrated: NodeCalibrated | None) -> list[Finding]:
    """Return what a node offers and what weakens its evidence."""
    found = [*_machine(joined), *_compilers(joined), *_sandbox(joined), *_noise(calibrated)]
    return [Finding(node=joined.node, about=about, level=level, says=says) for about, level, says in found]


def _machine(joined: NodeJoined) -> list[tuple[str, Level, str]]:
    facts = joined.fingerprint.facts
    reserved = facts.get("reserved") == "true"
    cores = facts.get("cores", "?")
    governor = facts.get("governor", "unknown")
    return [
        ("device", "good", f"{facts.get('model', joined.target)}, {cores} cores, kernel {facts.get('kernel', '?')}"),
        (
            "cores",
            "good" if reserved else "warning",
            f"timing has cores {facts.get('bench-cores', '?')} to itself"
            if reserved
            else f"{cores} cores are too few to reserve some: compilers and timing take turns; use four or more",
        ),
        (
            "clock",
            "warning" if governor in {"powersave", "ondemand", "schedutil"} else "good",
            f"frequency governor: {governor}"
            + (" (set it to performance)" if governor in {"powersave", "ondemand", "schedutil"} else ""),
        ),
    ]


def _compilers(joined: NodeJoined) -> list[tuple[str, Level, str]]:
    facts = joined.fingerprint.facts
    installed = {name.removeprefix("compiler-"): text for name, text in facts.items() if name.startswith("compiler-")}
    lines: list[tuple[str, Level, str]] = [(name, "good", text) for name, text in sorted(installed.items())]
    for name in ("gcc", "clang"):
        if name not in installed:
            level: Level = "bad" if not installed else "warning"
            lines.append((name, level, "not installed: baselines and candidates are built without it"))
    return lines


def _sandbox(joined: NodeJoined) -> list[tuple[str, Level, str]]:
    active = set(joined.sandboxing.layers)
    lines: list[tuple[str, Level, str]] = [
        (f"sandbox: {layer}", "good" if layer in active else "bad", "active" if layer in active else missing)
        for layer, missing in LAYERS.items()
    ]
    freeze = joined.sandboxing.freeze
    return [*lines, ("freezing", "warning" if freeze == "self-stop" else "good", FREEZE[freeze])]


def _noise(calibrated: NodeCalibrated | None) -> list[tuple[str, Level, str]]:
    if calibrated is None:
        return [("noise", "bad", "the node was never calibrated")]
    good = calibrated.outcome == "good"
    says = (
        f"identical code differs by {calibrated.pair_bias:+.1%}, pairs spread by {calibrated.pair_sd:.1%} "
        f"({calibrated.pairs} pairs)"
    )
    level: Level = "bad" if not good else "warning" if calibrated.pair_sd > NOISY else "good"
    advice = "" if level == "good" else "; use a quieter machine" if good else "; the node is quarantined"
    speeds = ", ".join(f"{name} {rate / 1e9:.1f} GB/s" for name, rate in sorted(calibrated.ceilings.items()))
    return [
        ("noise", level, says + advice),
        ("dispatch", "good", f"an empty call costs {calibrated.dispatch_ns:.0f} ns"),
        ("ceilings", "good", speeds or "not probed"),
    ]
