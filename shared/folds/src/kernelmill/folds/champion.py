"""The champion as a fold: the newest crown that is not void."""

from dataclasses import dataclass, field

from kernelmill.events import ChampionCrowned


@dataclass(frozen=True)
class Crown:
    """One coronation."""

    sequence: int
    event: ChampionCrowned


@dataclass
class ChampionFold:
    """All crowns of a campaign, the void ones included.

    A crown is void while the verdict that it cites is retracted, whether the retraction came before the crown or after
    it, and when it rests on a confirmation that came after the reveal of the cases. Then the previous valid crown
    reigns again.
    """

    crowns: list[Crown] = field(default_factory=list)
    """Every crown in sequence order."""
    retracted: set[str] = field(default_factory=set)
    """Ids of verdicts that are retracted now."""
    inadmissible: set[str] = field(default_factory=set)
    """Ids of confirmations that nobody may rest a crown on."""
    crowns_per_candidate: dict[str, int] = field(default_factory=dict)

    def crown(self, sequence: int, event: ChampionCrowned) -> None:
        """Take a crown."""
        self.crowns.append(Crown(sequence, event))
        self.crowns_per_candidate[event.candidate] = self.crowns_per_candidate.get(event.candidate, 0) + 1

    def valid(self, crown: Crown) -> bool:
        """Return whether a crown counts now."""
        return crown.event.verdict not in self.retracted and crown.event.confirmation not in self.inadmissible

    @property
    def reigning(self) -> Crown | None:
        """The newest valid crown."""
        return next((crown for crown in reversed(self.crowns) if self.valid(crown)), None)

    @property
    def history(self) -> list[Crown]:
        """Valid crowns in the order of coronation."""
        return [crown for crown in self.crowns if self.valid(crown)]
