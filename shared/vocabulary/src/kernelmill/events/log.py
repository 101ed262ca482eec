"""Events about the log itself."""

from typing import ClassVar, Literal

from pydantic import Field

from kernelmill.events.base import Declaration, EventBase, declare
from kernelmill.identity import Digest, EventId, Token


class LogSealed(EventBase):
    """A signed Merkle root over a global range of sequences."""

    declaration: ClassVar[Declaration] = declare("log", "log_id", "sealer", must_understand=False)
    kind: Literal["LogSealed"] = "LogSealed"

    log_id: Token
    """The log; a restored log has a new id."""
    first_sequence: int = Field(ge=1)
    """First sequence that the root covers."""
    last_sequence: int = Field(ge=1)
    """Last one."""
    merkle_root: Digest
    """Root over the digests of subject, headers and body of each message."""
    previous_root: Digest | None
    """Root of the seal before."""
    public_key: str
    """ed25519 public key, hexadecimal."""
    signature: str
    """ed25519 signature over the framed (log id, first, last, root, previous root), hexadecimal."""


class EventVoided(EventBase):
    """A person declares that an event cannot be understood and must be passed over by folds."""

    declaration: ClassVar[Declaration] = declare("log", "log_id", "console")
    kind: Literal["EventVoided"] = "EventVoided"

    log_id: Token
    """The log."""
    voided_sequence: int = Field(ge=1)
    """Sequence of the message."""
    voided_event: EventId | None
    """Its id, where it has a readable one."""
    because: str
    """The reason."""
