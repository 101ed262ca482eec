"""Events of a campaign: its life, its plans, its money, its champions."""

from typing import ClassVar, Literal

from pydantic import Field

from kernelmill.events.base import Count, Declaration, EventBase, NonNegative, Timestamp, Value, declare
from kernelmill.events.values import Direction, EffectEstimate, MemoryUse, Objective, Reservation, Spending
from kernelmill.identity import CampaignId, CandidateId, Digest, EventId, NodeId, TaskId, Token


class CampaignEvent(EventBase):
    """The address of a campaign's stream."""

    target: Token
    """Target of the campaign."""
    campaign: CampaignId
    """The campaign."""


class CampaignOpened(CampaignEvent):
    """Somebody wants a faster kernel; pending until its problem is validated and its baselines are tuned."""

    declaration: ClassVar[Declaration] = declare("campaign", "campaign", "console", "planner")
    kind: Literal["CampaignOpened"] = "CampaignOpened"

    objective: Objective
    """What is wanted, under which constraints, for how much."""
    title: str = Field(max_length=200)
    """A name for people."""
    opened_by: str = Field(max_length=200)
    """Who opened it."""
    parent_campaign: CampaignId | None = None
    """The campaign of which this one is a part."""


class CasesCommitted(CampaignEvent):
    """The verifier has drawn the secrets from which hidden cases are derived, and commits to them."""

    declaration: ClassVar[Declaration] = declare("campaign", "campaign", "verifier")
    kind: Literal["CasesCommitted"] = "CasesCommitted"

    salt: str = Field(pattern=r"^[0-9a-f]{32}$")
    """Salt of both commitments, hexadecimal."""
    search_commitment: Digest
    """sha256 over the framed (salt, secret) of the search rounds, read back from where it is stored."""
    confirmation_commitment: Digest
    """The same for the confirmation rounds, whose outcomes never feed back into the search."""


class CampaignStarted(CampaignEvent):
    """Problem validated, cases committed, baselines tuned: plans may be made."""

    declaration: ClassVar[Declaration] = declare("campaign", "campaign", "planner")
    kind: Literal["CampaignStarted"] = "CampaignStarted"

    node: NodeId
    """The node on whose baselines and fingerprint the campaign rests."""
    fingerprint: Digest
    """Fingerprint of that node."""
    baselines: tuple[EventId, ...]
    """Ids of the BaselineTuned events."""


class LessonAdvice(Value):
    """What the swarm's memory says about one technique, as the brief carries it."""

    lesson: str
    """Key of the lesson."""
    technique: str
    """The technique it is about."""
    tried: Count
    """How often it was tried in comparable campaigns."""
    gain: float
    """Median log ratio child against parent where it was accepted."""


class TaskPlanned(CampaignEvent):
    """The planner wants somebody to try something, and has reserved what it may cost."""

    declaration: ClassVar[Declaration] = declare("campaign", "campaign", "planner", facet="agent")
    kind: Literal["TaskPlanned"] = "TaskPlanned"

    task: TaskId
    """Id of the task; its own stream follows."""
    slot: Count
    """Ordinal of the plan within the campaign; seeds the agent's choices together with the objective's seed."""
    role: Token
    """Specialist: `generalist` for the search agent."""
    agent: Token
    """Agent kind that should claim it."""
    island: Count
    """Island of the archive that the task works for."""
    parents: tuple[CandidateId, ...]
    """Candidates to start from, best first; empty: from the problem's seeds."""
    direction: Direction
    """What to try."""
    candidate_cap: Count
    """Most candidates that may be proposed."""
    trial_cap: Count
    """Most `try` requests."""
    advice: tuple[LessonAdvice, ...] = ()
    """Lessons that the brief contains."""
    memory: MemoryUse
    """Which lessons were used and the position up to which they had been folded."""
    reservation: Reservation
    """What the task may spend."""
    deadline: Timestamp
    """After this the planner expires the task."""


class TaskExpired(CampaignEvent):
    """A task went past its deadline, or its campaign is closing; its reservation is charged by a settlement."""

    declaration: ClassVar[Declaration] = declare("campaign", "campaign", "planner")
    kind: Literal["TaskExpired"] = "TaskExpired"

    task: TaskId
    """The task."""
    reason: Literal["deadline", "closing", "lost-worker"]
    """Why."""


class ReservationSettled(CampaignEvent):
    """What a reservation really cost; the rest is free again."""

    declaration: ClassVar[Declaration] = declare("campaign", "campaign", "planner")
    kind: Literal["ReservationSettled"] = "ReservationSettled"

    reservation: Token
    """The reservation."""
    spent: Spending
    """What was spent; at most what was reserved."""


class ConfirmationRequested(CampaignEvent):
    """A would-be champion is to be measured once more: fresh processes, new cases, head to head."""

    declaration: ClassVar[Declaration] = declare("campaign", "campaign", "planner", "console", facet="node")
    kind: Literal["ConfirmationRequested"] = "ConfirmationRequested"

    confirmation: Token
    """Id of the request."""
    candidate: CandidateId
    """The would-be champion."""
    verdict: EventId
    """The accepted verdict that made it one."""
    opponent: CandidateId | None
    """The reigning champion, or None for the first crown, which is won against the best baseline."""
    case_round: Count
    """Round of confirmation cases."""
    ordinal: int = Field(ge=1)
    """This is the k-th confirmation of the campaign; its level is 0.001 * 6 / (pi^2 k^2)."""
    pairs: int = Field(ge=1)
    """Process pairs per row, preset."""
    level: float = Field(gt=0.0, lt=1.0)
    """Significance level at which it is tested."""
    node: NodeId
    """The node that measures."""
    reservation: Reservation
    """What it may cost."""
    deadline: Timestamp
    """After this the request is void."""


class ConfirmationExpired(CampaignEvent):
    """A confirmation was not measured before its deadline, or cannot be measured at all."""

    declaration: ClassVar[Declaration] = declare("campaign", "campaign", "planner")
    kind: Literal["ConfirmationExpired"] = "ConfirmationExpired"

    confirmation: Token
    """The request."""
    reason: Literal["deadline", "closing", "measurement-failed", "verdict-retracted"]
    """Why."""


class ChampionCrowned(CampaignEvent):
    """A candidate is the champion: its confirmation held against the opponent that was reigning."""

    declaration: ClassVar[Declaration] = declare("campaign", "campaign", "planner")
    kind: Literal["ChampionCrowned"] = "ChampionCrowned"

    candidate: CandidateId
    """The champion."""
    opponent: CandidateId | None
    """The champion that it beat; None for the first."""
    verdict: EventId
    """The verdict that it rests on; the crown is void when that is retracted."""
    confirmation: EventId
    """The ConfirmationMeasured event."""
    effects: tuple[EffectEstimate, ...]
    """Confirmed speed-ups; the only figures that are ever reported for a champion."""
    specialised: bool = False
    """Whether a hidden shape fell behind, so that the export guards its shapes."""


class CampaignSteered(CampaignEvent):
    """A person steered: a direction, a pinned parent, a banned technique, a bigger budget."""

    declaration: ClassVar[Declaration] = declare("campaign", "campaign", "console")
    kind: Literal["CampaignSteered"] = "CampaignSteered"

    directions: tuple[Direction, ...] = ()
    """Directions to try next."""
    pinned: tuple[CandidateId, ...] = ()
    """Parents to work from."""
    banned: tuple[str, ...] = ()
    """Techniques that are out."""
    extra_evaluations: Count = 0
    """Evaluations added to the budget."""
    extra_wall_seconds: NonNegative = 0.0
    """Wall seconds added to the budget."""
    because: str = ""
    """The reason."""


class CampaignPolicyChanged(CampaignEvent):
    """From here on another policy judges, past candidates included."""

    declaration: ClassVar[Declaration] = declare("campaign", "campaign", "console")
    kind: Literal["CampaignPolicyChanged"] = "CampaignPolicyChanged"

    policy_digest: Digest
    """The new policy."""
    because: str
    """The reason."""


class CampaignPaused(CampaignEvent):
    """No new plans until it is resumed; what is in hand is finished."""

    declaration: ClassVar[Declaration] = declare("campaign", "campaign", "console", "planner")
    kind: Literal["CampaignPaused"] = "CampaignPaused"

    because: str
    """The reason."""


class CampaignResumed(CampaignEvent):
    """Plans may be made again."""

    declaration: ClassVar[Declaration] = declare("campaign", "campaign", "console", "planner")
    kind: Literal["CampaignResumed"] = "CampaignResumed"


CloseReason = Literal["goal", "budget", "stall", "stopped", "refuted", "void", "no-baseline"]


class CampaignClosing(CampaignEvent):
    """No new plans; what has not started is abandoned, what has started is finished."""

    declaration: ClassVar[Declaration] = declare("campaign", "campaign", "planner", "console")
    kind: Literal["CampaignClosing"] = "CampaignClosing"

    reason: CloseReason
    """Why it ends."""
    detail: str = ""
    """In words."""


class CasesRevealed(CampaignEvent):
    """The secrets, so that anyone can regenerate every hidden case. Correctness evidence after this is inadmissible."""

    declaration: ClassVar[Declaration] = declare("campaign", "campaign", "verifier")
    kind: Literal["CasesRevealed"] = "CasesRevealed"

    search_secret: str = Field(pattern=r"^[0-9a-f]{64}$")
    """Secret of the search rounds, hexadecimal."""
    confirmation_secret: str = Field(pattern=r"^[0-9a-f]{64}$")
    """Secret of the confirmation rounds, hexadecimal."""


class CampaignClosed(CampaignEvent):
    """Everything is terminal and settled."""

    declaration: ClassVar[Declaration] = declare("campaign", "campaign", "planner")
    kind: Literal["CampaignClosed"] = "CampaignClosed"

    reason: CloseReason
    """Why it ended."""
    champion: CandidateId | None
    """The champion at the end."""
    merkle_root: Digest
    """Merkle root over the ids of all events of the campaign that the planner had folded, in sequence order."""
    events: Count
    """How many events the root covers."""
    candidates: Count
    """Candidates proposed."""
    verdicts: dict[str, int]
    """Effective verdicts by decision."""


class CampaignReopened(CampaignEvent):
    """Something changed (compiler, driver, workload): the campaign goes on under new secrets."""

    declaration: ClassVar[Declaration] = declare("campaign", "campaign", "console", "planner")
    kind: Literal["CampaignReopened"] = "CampaignReopened"

    because: str
    """What changed."""
