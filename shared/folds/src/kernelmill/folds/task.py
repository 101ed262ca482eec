"""One task as a fold of its plan and its own stream."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from kernelmill.events import (
    DuplicateSubmitted,
    EventBase,
    Spending,
    TaskClaimed,
    TaskExpired,
    TaskFailed,
    TaskFinished,
    TaskPlanned,
    TaskReleased,
)

TaskStatus = Literal["planned", "claimed", "finished", "failed", "expired"]


@dataclass
class TaskState:
    """What is known about one task."""

    plan: TaskPlanned
    sequence: int
    """Sequence of the plan."""
    status: TaskStatus = "planned"
    holder: str | None = None
    attempts: int = 0
    """Claims so far; counted by events, never by deliveries."""
    lease_until: datetime | None = None
    candidates: list[str] = field(default_factory=list)
    """Candidates that name this task, in the order of their proposals."""
    duplicates: int = 0
    spent: Spending = field(default_factory=Spending)
    """What the agent itself spent, summed over failed and finished attempts."""
    ended: TaskFinished | TaskFailed | TaskExpired | None = None
    settled: Spending | None = None
    """What the task and its candidates were charged; None while its reservation is open."""
    last_sequence: int = 0
    """Sequence of the newest event of the task's own stream, 0 before the first: what a claim has to expect."""

    @property
    def task(self) -> str:
        """The id."""
        return self.plan.task

    @property
    def terminal(self) -> bool:
        """Whether nobody owes it any work."""
        return self.ended is not None

    @property
    def lost(self) -> bool:
        """Whether an attempt was made and vanished: such a task is charged its whole reservation."""
        return isinstance(self.ended, TaskExpired) and self.ended.reason != "closing" and self.attempts > 0

    def apply(self, sequence: int, event: EventBase) -> None:
        """Take the next event about the task. What comes after its end changes nothing but counts."""
        if event.declaration.stream == "task":
            self.last_sequence = sequence
        match event:
            case TaskClaimed():
                self.attempts = max(self.attempts + 1, event.attempt)
                if not self.terminal:
                    self.status, self.holder, self.lease_until = "claimed", event.holder, event.lease_until
            case TaskReleased():
                if not self.terminal:
                    self.status, self.holder, self.lease_until = "planned", None, None
            case DuplicateSubmitted():
                self.duplicates += 1
            case TaskFinished() if not self.terminal:
                self._end("finished", event)
                self.spent = event.spent
            case TaskFailed() if not self.terminal:
                self._end("failed", event)
                self.spent = event.spent
            case TaskExpired() if not self.terminal:
                self._end("expired", event)

    def _end(self, status: TaskStatus, event: TaskFinished | TaskFailed | TaskExpired) -> None:
        self.status, self.ended, self.holder, self.lease_until = status, event, None, None
