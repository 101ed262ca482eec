"""The bus: the log port, the log on JetStream and in memory, blobs, secrets, and how a service starts."""

from kernelmill.bus.candidate_work import CandidateWork
from kernelmill.bus.chains import BrokenLink, ChainReport, verify_chains
from kernelmill.bus.connection import Bus, connect
from kernelmill.bus.dead_letters import DeadLetter, dead_letters, deliver_again
from kernelmill.bus.errors import (
    BlobCorruptError,
    BlobMissingError,
    BusError,
    ChainBrokenError,
    CommandReusedError,
    ConflictError,
    HaltedError,
    LauncherError,
    LogUnavailableError,
    MalformedMessageError,
    NoAnswerError,
    NotProvisionedError,
    OversizedEventError,
    SecretMissingError,
    ServerStartError,
)
from kernelmill.bus.log import ABSENT, Blobs, Log, Recorded, Secrets, StreamAddress
from kernelmill.bus.lookups import (
    NotOnLogError,
    adopted_policy,
    proposed_candidate,
    read_sources,
    registered_files,
    tuned_baseline,
)
from kernelmill.bus.service import run_service, serve
from kernelmill.bus.settings import ServiceSettings
from kernelmill.bus.work import Answer, Delivery, Handler, RetryLaterError, ServicePlan, Worker, WorkFilter

__all__ = [
    "ABSENT",
    "Answer",
    "BlobCorruptError",
    "BlobMissingError",
    "Blobs",
    "BrokenLink",
    "Bus",
    "BusError",
    "CandidateWork",
    "ChainBrokenError",
    "ChainReport",
    "CommandReusedError",
    "ConflictError",
    "DeadLetter",
    "Delivery",
    "HaltedError",
    "Handler",
    "LauncherError",
    "Log",
    "LogUnavailableError",
    "MalformedMessageError",
    "NoAnswerError",
    "NotOnLogError",
    "NotProvisionedError",
    "OversizedEventError",
    "Recorded",
    "RetryLaterError",
    "SecretMissingError",
    "Secrets",
    "ServerStartError",
    "ServicePlan",
    "ServiceSettings",
    "StreamAddress",
    "WorkFilter",
    "Worker",
    "adopted_policy",
    "connect",
    "dead_letters",
    "deliver_again",
    "proposed_candidate",
    "read_sources",
    "registered_files",
    "run_service",
    "serve",
    "tuned_baseline",
    "verify_chains",
]
