"""Every event class: the discriminated union `Event` and the table for docs, permissions and checks."""

from typing import Annotated

from pydantic import Field, TypeAdapter

from kernelmill.events.base import EventBase
from kernelmill.events.baseline import BaselineTuned
from kernelmill.events.campaign import (
    CampaignClosed,
    CampaignClosing,
    CampaignOpened,
    CampaignPaused,
    CampaignPolicyChanged,
    CampaignReopened,
    CampaignResumed,
    CampaignStarted,
    CampaignSteered,
    CasesCommitted,
    CasesRevealed,
    ChampionCrowned,
    ConfirmationExpired,
    ConfirmationRequested,
    ReservationSettled,
    TaskExpired,
    TaskPlanned,
)
from kernelmill.events.candidate import (
    BenchmarkMeasured,
    CandidateAbandoned,
    CandidateProposed,
    CandidateScreened,
    CompileFailed,
    CompileSucceeded,
    ConfirmationMeasured,
    CorrectnessMeasured,
    EvidenceDisputed,
    MeasurementFailed,
    VerdictReached,
    VerdictReinstated,
    VerdictRetracted,
    WorkStarted,
)
from kernelmill.events.lesson import LessonRetired, LessonStated
from kernelmill.events.log import EventVoided, LogSealed
from kernelmill.events.node import NodeCalibrated, NodeJoined, NodeLeft, NodeQuarantined
from kernelmill.events.policy import PolicyAdopted
from kernelmill.events.problem import ProblemRefuted, ProblemRegistered, ProblemValidated
from kernelmill.events.task import (
    DuplicateSubmitted,
    TaskClaimed,
    TaskFailed,
    TaskFinished,
    TaskReleased,
    TrialMeasured,
    TrialRequested,
)

Event = Annotated[
    CampaignOpened
    | CasesCommitted
    | CampaignStarted
    | TaskPlanned
    | TaskExpired
    | ReservationSettled
    | ConfirmationRequested
    | ConfirmationExpired
    | ChampionCrowned
    | CampaignSteered
    | CampaignPolicyChanged
    | CampaignPaused
    | CampaignResumed
    | CampaignClosing
    | CasesRevealed
    | CampaignClosed
    | CampaignReopened
    | TaskClaimed
    | TaskReleased
    | TrialRequested
    | TrialMeasured
    | DuplicateSubmitted
    | TaskFinished
    | TaskFailed
    | CandidateProposed
    | CandidateScreened
    | WorkStarted
    | CompileSucceeded
    | CompileFailed
    | CorrectnessMeasured
    | BenchmarkMeasured
    | ConfirmationMeasured
    | MeasurementFailed
    | VerdictReached
    | EvidenceDisputed
    | VerdictRetracted
    | VerdictReinstated
    | CandidateAbandoned
    | ProblemRegistered
    | ProblemValidated
    | ProblemRefuted
    | BaselineTuned
    | NodeJoined
    | NodeCalibrated
    | NodeQuarantined
    | NodeLeft
    | PolicyAdopted
    | LessonStated
    | LessonRetired
    | LogSealed
    | EventVoided,
    Field(discriminator="kind"),
]
"""One immutable fact; `kind` tells which."""

EVENT_ADAPTER: TypeAdapter[Event] = TypeAdapter(Event)
"""Validates JSON or Python data into the event class that `kind` names."""

EVENT_TYPES: dict[str, type[EventBase]] = {
    "CampaignOpened": CampaignOpened,
    "CasesCommitted": CasesCommitted,
    "CampaignStarted": CampaignStarted,
    "TaskPlanned": TaskPlanned,
    "TaskExpired": TaskExpired,
    "ReservationSettled": ReservationSettled,
    "ConfirmationRequested": ConfirmationRequested,
    "ConfirmationExpired": ConfirmationExpired,
    "ChampionCrowned": ChampionCrowned,
    "CampaignSteered": CampaignSteered,
    "CampaignPolicyChanged": CampaignPolicyChanged,
    "CampaignPaused": CampaignPaused,
    "CampaignResumed": CampaignResumed,
    "CampaignClosing": CampaignClosing,
    "CasesRevealed": CasesRevealed,
    "CampaignClosed": CampaignClosed,
    "CampaignReopened": CampaignReopened,
    "TaskClaimed": TaskClaimed,
    "TaskReleased": TaskReleased,
    "TrialRequested": TrialRequested,
    "TrialMeasured": TrialMeasured,
    "DuplicateSubmitted": DuplicateSubmitted,
    "TaskFinished": TaskFinished,
    "TaskFailed": TaskFailed,
    "CandidateProposed": CandidateProposed,
    "CandidateScreened": CandidateScreened,
    "WorkStarted": WorkStarted,
    "CompileSucceeded": CompileSucceeded,
    "CompileFailed": CompileFailed,
    "CorrectnessMeasured": CorrectnessMeasured,
    "BenchmarkMeasured": BenchmarkMeasured,
    "ConfirmationMeasured": ConfirmationMeasured,
    "MeasurementFailed": MeasurementFailed,
    "VerdictReached": VerdictReached,
    "EvidenceDisputed": EvidenceDisputed,
    "VerdictRetracted": VerdictRetracted,
    "VerdictReinstated": VerdictReinstated,
    "CandidateAbandoned": CandidateAbandoned,
    "ProblemRegistered": ProblemRegistered,
    "ProblemValidated": ProblemValidated,
    "ProblemRefuted": ProblemRefuted,
    "BaselineTuned": BaselineTuned,
    "NodeJoined": NodeJoined,
    "NodeCalibrated": NodeCalibrated,
    "NodeQuarantined": NodeQuarantined,
    "NodeLeft": NodeLeft,
    "PolicyAdopted": PolicyAdopted,
    "LessonStated": LessonStated,
    "LessonRetired": LessonRetired,
    "LogSealed": LogSealed,
    "EventVoided": EventVoided,
}
"""Event classes by kind, in the order of the documentation."""
