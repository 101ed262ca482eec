"""The fingerprint: everything a timing on this machine depends on besides the code."""

import os
from pathlib import Path

import numpy as np

from kernelmill.events import Fingerprint
from kernelmill.identity import digest_bytes, digest_json
from kernelmill.targets.cpu.cores import Cores, last_level_cache_bytes
from kernelmill.targets.cpu.harness import HARNESS_VERSION
from kernelmill.targets.cpu.toolchain import installed

_NAMES = {"model name": "model", "microcode": "microcode"}
_FEATURES = ("flags", "Features")


def processor_facts(cpuinfo: str) -> dict[str, str]:
    """Return model, microcode and the digest of the feature flags of the first core, from /proc/cpuinfo's text."""
    facts = {"model": os.uname().machine}
    for line in cpuinfo.partition("\n\n")[0].splitlines():
        name, _, value = (part.strip() for part in line.partition(":"))
        if name in _NAMES:
            facts[_NAMES[name]] = value
        elif name in _FEATURES:
            facts["features"] = digest_bytes(" ".join(sorted(value.split())).encode())[:16]
    return facts


def _governor(core: int) -> str:
    try:
        return Path(f"/sys/devices/system/cpu/cpu{core}/cpufreq/scaling_governor").read_text().strip()
    except OSError:
        return "unknown"


def fingerprint(cores: Cores, freeze: str) -> Fingerprint:
    """Return the fingerprint of this machine.

    Args:
        cores: How its cores are divided.
        freeze: What keeps processes still.
    """
    facts = {
        **processor_facts(Path("/proc/cpuinfo").read_text()),
        "target": "cpu",
        "cores": str(len({*cores.bench, cores.parent, *cores.others})),
        "bench-cores": ",".join(str(core) for core in cores.bench),
        "reserved": str(cores.reserved).lower(),
        "cache-bytes": str(last_level_cache_bytes()),
        "governor": _governor(cores.bench[0]),
        "kernel": os.uname().release,
        "libc": os.confstr("CS_GNU_LIBC_VERSION") or "unknown",
        "numpy": np.__version__,
        "freeze": freeze,
        "harness": HARNESS_VERSION,
        **{f"compiler-{name}": toolchain.version for name, toolchain in installed().items()},
    }
    return Fingerprint(digest=digest_json(facts), facts=facts)
