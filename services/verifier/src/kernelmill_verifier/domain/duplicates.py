"""Near duplicates: candidates of one campaign with the same normalised sources and the same flags."""

from dataclasses import dataclass, field

from kernelmill.events import BuildOptions, CandidateProposed, CandidateScreened, EventBase
from kernelmill.identity import digest_json


def twin_key(shape_fingerprint: str, build: BuildOptions) -> str:
    """Return the key that near twins share: sources that differ in nothing the extractor sees, built alike."""
    return digest_json([shape_fingerprint, build.model_dump(mode="json")])


@dataclass
class DuplicateIndex:
    """The first candidate of each key, folded from one campaign's events."""

    first: dict[str, str] = field(default_factory=dict)
    _builds: dict[str, BuildOptions] = field(default_factory=dict)
    last_sequence: int = 0

    def apply(self, sequence: int, event: EventBase) -> None:
        """Take the next event of the campaign."""
        self.last_sequence = max(self.last_sequence, sequence)
        match event:
            case CandidateProposed():
                self._builds[event.candidate] = event.build
            case CandidateScreened(outcome="passed"):
                build = self._builds.pop(event.candidate, None)
                if build is not None:
                    self.first.setdefault(twin_key(event.shape_fingerprint, build), event.candidate)
            case _:
                pass

    def twin(self, candidate: str, shape_fingerprint: str, build: BuildOptions) -> str | None:
        """Return an earlier candidate that is a near twin, or None."""
        found = self.first.get(twin_key(shape_fingerprint, build))
        return None if found == candidate else found
