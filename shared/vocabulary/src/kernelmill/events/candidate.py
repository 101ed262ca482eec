"""Events of a candidate: from proposal through evidence to verdict."""

from typing import ClassVar, Literal

from pydantic import Field

from kernelmill.events.base import Count, Declaration, EventBase, NonNegative, declare
from kernelmill.events.values import (
    BlobRef,
    BuildOptions,
    CaseOutcome,
    EffectEstimate,
    Prediction,
    RowEffect,
    Sandboxing,
    SourceFile,
    Telemetry,
    Traits,
)
from kernelmill.identity import CampaignId, CandidateId, Digest, EventId, NodeId, TaskId, Token

Stage = Literal["check", "measure", "confirm"]
"""A kind of work on a candidate that is announced by WorkStarted."""

MachineFault = Literal["lost-worker", "sandbox", "device", "deadline", "node-quarantined"]
"""How the machinery failed a candidate; never the candidate's own doing."""

Decision = Literal["accepted", "rejected", "inconclusive"]
"""What a verdict says."""

ReasonCode = Literal[
    "faster",
    "not-faster",
    "eliminated-in-race",
    "slower-on-a-row",
    "screened-out",
    "near-duplicate",
    "compile-failed",
    "compile-timed-out",
    "incorrect",
    "misbehaved",
    "below-floor",
    "no-baseline",
    "too-few-pairs",
    "lost-worker",
    "infrastructure",
]
"""Why a verdict says it, as one word from this list."""


class CandidateEvent(EventBase):
    """The address of a candidate's stream. The claim on a content holds within its campaign."""

    target: Token
    """Target of the campaign."""
    campaign: CampaignId
    """The campaign."""
    candidate: CandidateId
    """Digest of the candidate's exact content."""


class CandidateProposed(CandidateEvent):
    """Somebody proposes a program. Must be the first event of its stream: two agents with one idea collide here."""

    declaration: ClassVar[Declaration] = declare("candidate", "candidate", "agent-runner", "console")
    kind: Literal["CandidateProposed"] = "CandidateProposed"

    task: TaskId | None
    """The task it answers; None for an entry by hand."""
    attempt: int
    """Attempt of the task."""
    parents: tuple[CandidateId, ...]
    """Candidates that it was made from; the first is the one its effect is measured against."""
    problem_digest: Digest
    """The problem."""
    files: tuple[SourceFile, ...] = Field(min_length=1)
    """Sources in path order."""
    entry: str
    """Exported function."""
    build: BuildOptions
    """How it is compiled, `native` resolved."""
    configuration: dict[str, str] = Field(default_factory=dict)
    """Values of the tunables from which the search agent rendered the sources; empty for free-form code."""
    origin: str = ""
    """Name of the seed or operator chain from which it comes."""
    hypothesis: str = Field(default="", max_length=4000)
    """What the author thinks it does better and why."""
    prediction: Prediction | None = None
    """Predicted effect."""
    techniques: tuple[str, ...] = ()
    """Technique tags of the author, sorted."""
    author: str = Field(max_length=200)
    """Agent kind and version, model, or person."""


class CandidateScreened(CandidateEvent):
    """What the sources show. Screening saves money; no later gate relies on it."""

    declaration: ClassVar[Declaration] = declare("candidate", "candidate", "verifier", facet="outcome")
    kind: Literal["CandidateScreened"] = "CandidateScreened"

    outcome: Literal["passed", "refused", "near-duplicate"]
    """Whether it goes on."""
    reason: str
    """Empty when it passed."""
    traits: Traits
    """Behaviour that the sources show."""
    shape_fingerprint: str
    """Versioned fingerprint for near duplicates."""
    extractor: str
    """Name and version of the extractor."""
    near_twin: CandidateId | None = None
    """An earlier candidate with the same fingerprint and flags."""


class WorkStarted(CandidateEvent):
    """A worker is about to spend; two starts without a result make the candidate inconclusive."""

    declaration: ClassVar[Declaration] = declare("candidate", "candidate", "verifier", "gpu-bench", facet="stage")
    kind: Literal["WorkStarted"] = "WorkStarted"

    stage: Stage
    """Which work."""
    node: NodeId
    """On which node."""
    attempt: int
    """1 for the first start of this work; counted by events."""
    work: str = ""
    """The confirmation's id at stage `confirm`, else empty."""


class CompileSucceeded(CandidateEvent):
    """The program compiles."""

    declaration: ClassVar[Declaration] = declare("candidate", "candidate", "verifier")
    kind: Literal["CompileSucceeded"] = "CompileSucceeded"

    artifact: BlobRef
    """The built artifact."""
    toolchain: str
    """Compiler and version, harness version."""
    seconds: NonNegative
    """Build time."""
    resources: dict[str, float]
    """Target-specific figures, for example bytes of text."""


class CompileFailed(CandidateEvent):
    """The program does not compile within its limits."""

    declaration: ClassVar[Declaration] = declare("candidate", "candidate", "verifier", facet="stage")
    kind: Literal["CompileFailed"] = "CompileFailed"

    stage: Literal["compile", "link", "load"]
    """Where."""
    diagnostics: str = Field(max_length=8000)
    """The compiler's words, shortened."""
    diagnostics_blob: BlobRef | None = None
    """All of them, when they were shortened."""
    timed_out: bool
    """Whether a limit ended it."""
    seconds: NonNegative
    """Time spent."""


class CorrectnessMeasured(CandidateEvent):
    """What the candidate did on the hidden cases of its round."""

    declaration: ClassVar[Declaration] = declare("candidate", "candidate", "verifier", facet="outcome")
    kind: Literal["CorrectnessMeasured"] = "CorrectnessMeasured"

    outcome: Literal["sim-passed", "device-passed", "failed"]
    """Summary for consumers; `sim-passed` is checked on a simulator and not yet on the device."""
    case_round: Count
    """Round of the cases."""
    error_scale: float
    """Factor on the problem's bound that the campaign demands."""
    cases: tuple[CaseOutcome, ...]
    """One per case."""
    bitwise_repeatable: bool | None
    """Whether repeated runs agreed to the bit; None when none completed."""
    sandboxing: Sandboxing
    """How strongly it was isolated."""
    seconds: NonNegative
    """Time spent."""


class BenchmarkMeasured(CandidateEvent):
    """The race and the comparison with the baselines: sufficient statistics, pair by pair."""

    declaration: ClassVar[Declaration] = declare("candidate", "candidate", "gpu-bench")
    kind: Literal["BenchmarkMeasured"] = "BenchmarkMeasured"

    node: NodeId
    """Where."""
    fingerprint: Digest
    """The node's fingerprint; figures under different fingerprints are never ranked."""
    race: tuple[RowEffect, ...]
    """Rows raced against the reigning champion; empty where there was none."""
    rows: tuple[RowEffect, ...]
    """Rows against baselines."""
    unsupported: tuple[str, ...] = ()
    """`workload/baseline` pairs that have no baseline; never a win."""
    misbehaviour: str = ""
    """What a check of timed outputs or of the frozen process found; empty: nothing."""
    calls_checked: Count
    """Timed calls whose outputs were compared with the reference."""
    worst_error: NonNegative | None
    """Largest scaled error among them."""
    dispatch_ns: NonNegative
    """Nanoseconds of an empty call on this node."""
    telemetry: Telemetry
    """The machine around it."""
    sandboxing: Sandboxing
    """How strongly it was isolated."""
    device_seconds: NonNegative
    """Exclusive device time."""


class ConfirmationMeasured(CandidateEvent):
    """A would-be champion measured in fresh processes with new cases, head to head and against the baselines."""

    declaration: ClassVar[Declaration] = declare("candidate", "candidate", "gpu-bench")
    kind: Literal["ConfirmationMeasured"] = "ConfirmationMeasured"

    confirmation: Token
    """The request."""
    opponent: CandidateId | None
    """The champion that was challenged."""
    node: NodeId
    """Where."""
    fingerprint: Digest
    """The node's fingerprint."""
    cases: tuple[CaseOutcome, ...]
    """New cases from the confirmation secret."""
    head_to_head: tuple[RowEffect, ...]
    """Against the champion; empty where there was none."""
    rows: tuple[RowEffect, ...]
    """Against the best baseline of each row."""
    misbehaviour: str = ""
    """As in BenchmarkMeasured."""
    dispatch_ns: NonNegative = 0.0
    """Nanoseconds of an empty call on this node."""
    telemetry: Telemetry
    """The machine around it."""
    sandboxing: Sandboxing
    """How strongly it was isolated."""
    device_seconds: NonNegative
    """Exclusive device time."""


class MeasurementFailed(CandidateEvent):
    """The machinery failed; it says nothing against the candidate."""

    declaration: ClassVar[Declaration] = declare(
        "candidate", "candidate", "verifier", "gpu-bench", "planner", facet="fault"
    )
    kind: Literal["MeasurementFailed"] = "MeasurementFailed"

    stage: Stage
    """Which work failed."""
    fault: MachineFault
    """What failed."""
    detail: str
    """For people: what happened, where, what to do."""
    node: NodeId | None
    """Where, if known."""
    work: str = ""
    """The confirmation's id at stage `confirm`, else empty."""


class VerdictReached(CandidateEvent):
    """A pure function of recorded evidence under a policy: anyone can recompute it."""

    declaration: ClassVar[Declaration] = declare("candidate", "candidate", "verifier", facet="decision")
    kind: Literal["VerdictReached"] = "VerdictReached"

    decision: Decision
    """What it says."""
    reason: ReasonCode
    """Why, as a code."""
    detail: str
    """Why, in words."""
    effects: tuple[EffectEstimate, ...]
    """Speed-ups against the baselines by row and over rows; biased by selection, never a champion's figure."""
    policy_digest: Digest
    """The policy under which it was judged."""
    judge: str
    """Name and version of the judging function that the policy names."""
    evidence: tuple[EventId, ...]
    """Ids of the events it rests on, in stream order."""


class EvidenceDisputed(CandidateEvent):
    """Somebody doubts the evidence and says why."""

    declaration: ClassVar[Declaration] = declare("candidate", "candidate", "console")
    kind: Literal["EvidenceDisputed"] = "EvidenceDisputed"

    because: str
    """The reason."""
    disputed_by: str
    """Who."""


class VerdictRetracted(CandidateEvent):
    """A verdict no longer holds; crowns and lessons that cite it follow."""

    declaration: ClassVar[Declaration] = declare("candidate", "candidate", "verifier")
    kind: Literal["VerdictRetracted"] = "VerdictRetracted"

    verdict: EventId
    """The verdict."""
    because: str
    """The reason."""


class VerdictReinstated(CandidateEvent):
    """A retracted verdict holds again."""

    declaration: ClassVar[Declaration] = declare("candidate", "candidate", "verifier")
    kind: Literal["VerdictReinstated"] = "VerdictReinstated"

    verdict: EventId
    """The verdict."""
    because: str
    """The reason."""


class CandidateAbandoned(CandidateEvent):
    """The candidate will not be judged: its campaign closed before its work was started."""

    declaration: ClassVar[Declaration] = declare("candidate", "candidate", "planner", "verifier", "gpu-bench")
    kind: Literal["CandidateAbandoned"] = "CandidateAbandoned"

    because: str
    """The reason."""
