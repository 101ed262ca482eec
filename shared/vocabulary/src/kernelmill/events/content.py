"""Identities of content: candidates, baselines, policies."""

from collections.abc import Mapping

from kernelmill.events.policy import Policy
from kernelmill.events.values import BuildOptions
from kernelmill.identity import canonical_json, digest_framed, digest_json


def normalise_line_ends(data: bytes) -> bytes:
    """Return the bytes with CRLF and CR replaced by LF."""
    return data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")


def candidate_digest(
    problem_digest: str, target: str, files: Mapping[str, bytes], entry: str, build: BuildOptions
) -> str:
    """Return a candidate's id: the digest of its exact content after normalisation of line ends.

    `build` must have `native` resolved already: the same words mean different programs on different machines.
    """
    sources = [part for path in sorted(files) for part in (path.encode(), normalise_line_ends(files[path]))]
    options = canonical_json(build.model_dump(mode="json"))
    return digest_framed([problem_digest.encode(), target.encode(), entry.encode(), options, *sources])


def baseline_key(problem_digest: str, workload: str, baseline: str, fingerprint: str) -> str:
    """Return the id of a baseline's stream: it is tuned once per problem, row and fingerprint of a node."""
    return digest_framed(part.encode() for part in (problem_digest, workload, baseline, fingerprint))


def policy_digest(policy: Policy) -> str:
    """Return the digest by which campaigns and verdicts name a policy."""
    return digest_json(policy.model_dump(mode="json"))
