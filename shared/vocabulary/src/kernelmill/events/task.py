"""Events of a task: who took it, what was tried, how it ended."""

from typing import ClassVar, Literal

from kernelmill.events.base import Count, Declaration, EventBase, NonNegative, Timestamp, declare
from kernelmill.events.values import BuildOptions, CaseOutcome, SourceFile, Spending
from kernelmill.identity import CampaignId, CandidateId, TaskId, Token


class TaskEvent(EventBase):
    """The address of a task's stream."""

    target: Token
    """Target of the campaign."""
    campaign: CampaignId
    """The campaign."""
    task: TaskId
    """The task."""


class TaskClaimed(TaskEvent):
    """An agent has taken the task until its lease ends."""

    declaration: ClassVar[Declaration] = declare("task", "task", "agent-runner", "console")
    kind: Literal["TaskClaimed"] = "TaskClaimed"

    holder: Token
    """Who holds it: an instance of the agent-runner, or an outside agent."""
    attempt: int
    """1 for the first claim; attempts are counted by events, never by deliveries."""
    lease_until: Timestamp
    """The holder has to finish or renew before this."""


class TaskReleased(TaskEvent):
    """The holder gives the task back unfinished."""

    declaration: ClassVar[Declaration] = declare("task", "task", "agent-runner", "console")
    kind: Literal["TaskReleased"] = "TaskReleased"

    holder: Token
    """Who held it."""
    because: str
    """The reason."""


class TrialRequested(TaskEvent):
    """An agent asks before it submits: does a draft compile, is it right on public cases, about how fast is it?"""

    declaration: ClassVar[Declaration] = declare("task", "task", "agent-runner", "console")
    kind: Literal["TrialRequested"] = "TrialRequested"

    trial: Token
    """Id of the trial."""
    files: tuple[SourceFile, ...]
    """The draft."""
    entry: str
    """Exported function."""
    build: BuildOptions
    """How to compile it."""


class TrialMeasured(TaskEvent):
    """The answer to a trial: public cases and a coarse timing. Never part of a verdict."""

    declaration: ClassVar[Declaration] = declare("task", "task", "verifier", "gpu-bench", facet="stage")
    kind: Literal["TrialMeasured"] = "TrialMeasured"

    trial: Token
    """Id of the trial."""
    stage: Literal["checked", "timed"]
    """`checked` from the verifier, `timed` from the bench."""
    compiled: bool
    """Whether it compiles."""
    diagnostics: str
    """The compiler's words, shortened."""
    cases: tuple[CaseOutcome, ...]
    """Public cases."""
    coarse_ns: dict[str, NonNegative]
    """Median nanoseconds per call by workload; empty at stage `checked`."""


class DuplicateSubmitted(TaskEvent):
    """A proposal was refused because its exact content is already a candidate of the campaign."""

    declaration: ClassVar[Declaration] = declare("task", "task", "agent-runner", "console", must_understand=False)
    kind: Literal["DuplicateSubmitted"] = "DuplicateSubmitted"

    candidate: CandidateId
    """The candidate that holds the claim."""
    attempt: int
    """Attempt of the task."""


class TaskFinished(TaskEvent):
    """The agent is done."""

    declaration: ClassVar[Declaration] = declare("task", "task", "agent-runner", "console")
    kind: Literal["TaskFinished"] = "TaskFinished"

    attempt: int
    """Attempt of the task."""
    submitted: tuple[CandidateId, ...]
    """Candidates that it proposed."""
    duplicates: Count = 0
    """Proposals that were refused as duplicates."""
    spent: Spending
    """What the agent itself spent (models); device time is settled with the candidates."""


class TaskFailed(TaskEvent):
    """The task ended without the agent's own end."""

    declaration: ClassVar[Declaration] = declare("task", "task", "agent-runner", "console", facet="fault")
    kind: Literal["TaskFailed"] = "TaskFailed"

    attempt: int
    """Attempt of the task."""
    fault: Literal["infrastructure", "agent", "budget"]
    """Whose fault it was; an infrastructure fault never counts against an agent."""
    detail: str
    """For people: what happened, where, what to do."""
    submitted: tuple[CandidateId, ...] = ()
    """Candidates proposed before it failed."""
    spent: Spending
    """What the agent itself spent."""
