"""One confirmation as a fold: requested, then measured or failed, then crowned, refused or expired."""

from dataclasses import dataclass
from typing import Literal

from kernelmill.events import ConfirmationExpired, ConfirmationMeasured, ConfirmationRequested, MeasurementFailed

ConfirmationStatus = Literal["requested", "measured", "failed", "crowned", "refused", "expired"]


@dataclass
class ConfirmationState:
    """What is known about one confirmation."""

    request: ConfirmationRequested
    sequence: int
    """Sequence of the request."""
    status: ConfirmationStatus = "requested"
    """`refused`: measured and settled without a crown, which is final for the candidate."""
    measured: ConfirmationMeasured | None = None
    failure: MeasurementFailed | None = None
    expired: ConfirmationExpired | None = None
    settled: bool = False

    @property
    def confirmation(self) -> str:
        """The id of the request."""
        return self.request.confirmation

    @property
    def outstanding(self) -> bool:
        """Whether it is still undecided."""
        return self.status in {"requested", "measured", "failed"}

    def measure(self, event: ConfirmationMeasured) -> None:
        """Take the measurement, unless it comes after the end."""
        if self.status in {"requested", "failed"}:
            self.status, self.measured = "measured", event

    def fail(self, event: MeasurementFailed) -> None:
        """Take the failure of the machinery, unless there is a measurement already."""
        if self.status == "requested":
            self.status, self.failure = "failed", event

    def expire(self, event: ConfirmationExpired) -> None:
        """Take the end without a decision."""
        if self.outstanding:
            self.status, self.expired = "expired", event

    def settle(self) -> None:
        """Take the settlement: a measurement that led to no crown is refused by it."""
        self.settled = True
        if self.status == "measured":
            self.status = "refused"
