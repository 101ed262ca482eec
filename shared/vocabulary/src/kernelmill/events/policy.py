"""The policy: every threshold of judging, adopted as an event."""

from typing import ClassVar, Literal

from pydantic import Field

from kernelmill.events.base import Declaration, EventBase, Value, declare
from kernelmill.identity import Digest


class Policy(Value):
    """How evidence becomes a verdict. Its digest is the sha256 of its canonical JSON."""

    judge: str = "judge-v1"
    """Name of the judging function; old versions stay in the code."""
    interval_level: float = Field(default=0.9, gt=0.0, lt=1.0)
    """Confidence level of the reported intervals."""
    race_pairs_min: int = Field(default=4, ge=2)
    """Process pairs after which a race may drop a candidate."""
    race_pairs_max: int = Field(default=8, ge=2)
    """Process pairs of a race at most."""
    race_drop_level: float = Field(default=0.10, gt=0.0, lt=1.0)
    """A race drops a candidate that is slower than its opponent at this one-sided level."""
    race_hopeless: float = Field(default=0.75, ge=0.0, lt=1.0)
    """A race drops a candidate whose first two pairs are both under this speed-up; 0 never does."""
    rows_hopeless: float = Field(default=1.0, ge=0.0, le=1.0)
    """A measurement ends when, from two rounds on, the geometric mean over all rows was under this speed-up in every
    round of pairs: what is not ahead then is not measured until it is. 0 never does."""
    baseline_pairs: int = Field(default=4, ge=2)
    """Process pairs against the best baseline on each row after the race."""
    accept_speedup: float = Field(default=1.0, gt=0.0)
    """The lower bound of the geometric mean over rows has to exceed this."""
    worst_row: float = Field(default=0.0, ge=0.0)
    """The upper bound of the worst row has to reach this; 0 asks nothing at the verdict."""
    confirm_alpha: float = Field(default=0.001, gt=0.0, lt=1.0)
    """Error budget of a campaign; the k-th confirmation is tested at alpha * 6 / (pi^2 k^2)."""
    confirm_pairs: int = Field(default=26, ge=6)
    """Process pairs of a confirmation on each row, where fewer than four rows are averaged."""
    confirm_pairs_several: int = Field(default=16, ge=6)
    """The same where four rows or more are averaged, which takes out most of the noise of a single one."""
    non_inferior: float = Field(default=0.98, gt=0.0, le=1.0)
    """A row is non-inferior unless its upper bound is under this."""
    specialised_below: float = Field(default=0.9, gt=0.0, le=1.0)
    """A hidden shape whose lower bound is under this makes the champion specialised."""
    headline_dispatch_share: float = Field(default=0.10, gt=0.0, lt=1.0)
    """A row whose dispatch overhead is this share or more stands outside the headline mean."""
    floor_factor: float = Field(default=0.8, gt=0.0, le=1.0)
    """A time below this share of the node's own probe is inconclusive until re-checked."""
    trim_row_gap: float = Field(default=0.15, gt=0.0)
    """By how much the plain mean log ratio of a pair's duels may be below the trimmed one, in the median over a row's
    pairs; beyond it a gain has to show in the plain means as well."""
    trim_gap: float = Field(default=0.02, gt=0.0)
    """The same in the median over the pairs of all rows, where it is no accident of the machine."""
    trim_level: float = Field(default=0.01, gt=0.0, lt=0.5)
    """One-sided level at which the gaps of all rows' pairs are no accident: the machine disturbs both sides alike."""
    max_steal: float = Field(default=0.25, ge=0.0, le=1.0)
    """Evidence measured under more steal than this is inconclusive."""
    attempts: int = Field(default=2, ge=1)
    """Starts of the same work without a result after which the candidate is inconclusive."""


class PolicyAdopted(EventBase):
    """A policy may be named by campaigns from now on."""

    declaration: ClassVar[Declaration] = declare("policy", "policy_digest", "console")
    kind: Literal["PolicyAdopted"] = "PolicyAdopted"

    policy_digest: Digest
    """sha256 of the canonical JSON of the body."""
    body: Policy
    """Every threshold."""
    adopted_by: str
    """Who."""
    because: str
    """Why."""
