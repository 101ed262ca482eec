"""The check of one candidate: screen, compile, run the hidden cases. Target calls run in a thread."""

import asyncio
import time
from datetime import UTC, datetime

from kernelmill.bus import (
    Bus,
    CandidateWork,
    Delivery,
    RetryLaterError,
    StreamAddress,
    adopted_policy,
    read_sources,
    registered_files,
)
from kernelmill.events import (
    CandidateEvent,
    CandidateProposed,
    CandidateScreened,
    CompileFailed,
    CompileSucceeded,
    CorrectnessMeasured,
    EvidenceDisputed,
    MeasurementFailed,
    Policy,
)
from kernelmill.folds import CampaignFold, CampaignViews, CandidateState, fold_candidate
from kernelmill.identity import command_id
from kernelmill.problems import Problem, ProblemShelf
from kernelmill.targets.port import Artifact, CheckRules, CompileFailure, Limits, Program, Target, program_of, run_cases
from kernelmill_verifier.domain.duplicates import DuplicateIndex
from kernelmill_verifier.domain.secrets import secret_names
from kernelmill_verifier.domain.steps import next_step
from kernelmill_verifier.settings import VerifierSettings

SEARCH_ROUND = 0
"""Round of the cases that the search is judged by."""
DISPUTE_ROUND = 1_000_000
"""Round of the first dispute's cases; confirmations count from 1 under another secret."""

_MEBIBYTE = 1 << 20
_DIAGNOSTICS = 6000


class Checker:
    """Checks candidates of one target."""

    def __init__(self, bus: Bus, target: Target, node: str, settings: VerifierSettings) -> None:
        self._bus = bus
        self._target = target
        self._work = CandidateWork(bus.log, node)
        self._settings = settings
        self._views = CampaignViews(lambda campaign, after: bus.log.read_campaign(campaign, after=after))
        self._shelf = ProblemShelf(lambda digest: registered_files(bus.log, bus.blobs, digest))
        self._policies: dict[str, Policy] = {}
        self._secrets: dict[str, bytes] = {}
        self._duplicates: dict[str, DuplicateIndex] = {}
        self._built: dict[str, Artifact] = {}

    async def check(self, delivery: Delivery) -> None:
        """CandidateProposed: do what is missing until the candidate is checked."""
        event = delivery.event
        if not isinstance(event, CandidateProposed):
            return
        fold = await self._views.look(event.campaign)
        objective = fold.objective
        if objective is None:
            raise RetryLaterError(0.5, "the campaign has not been opened as far as this reader sees")
        policy = await self._policy(fold)
        problem = await self._shelf.get(objective.problem_digest)
        program = program_of(event, await read_sources(self._bus.blobs, event.files))
        state = await self._state(event)
        if fold.status in {"closing", "closed"} and not state.started and not state.terminal:
            because = "the campaign is closing and nothing was spent on checking it"
            await self._work.abandon(event, because, state.last_sequence)
            return
        started = False
        while True:
            step = next_step(state, policy, started_here=started)
            if step == "done":
                self._built.pop(event.candidate, None)
                return
            if step == "start":
                await self._work.begin(event, "check", state.starts["check", ""] + 1, state.last_sequence)
                started = True
            else:
                try:
                    done = await self._do(step, event, state, fold, problem, program)
                except OSError as error:
                    done = self._work.failure(event, "check", "sandbox", f"the sandbox could not be used: {error}")
                await self._work.append(done, state.last_sequence)
            state = await self._state(event)

    async def check_again(self, delivery: Delivery) -> None:
        """EvidenceDisputed: run new hidden cases; a failing one makes the judge take the verdict back."""
        event = delivery.event
        if not isinstance(event, EvidenceDisputed):
            return
        state = await self._state(event)
        numbers = [dispute.event_id for dispute in state.disputes]
        case_round = DISPUTE_ROUND + numbers.index(event.event_id)
        proposed = state.proposed
        measured = [record.event for record in await self._bus.log.read_stream(StreamAddress.of(event))]
        done = any(isinstance(item, CorrectnessMeasured) and item.case_round == case_round for item in measured)
        if proposed is None or state.compile_failed is not None or done:
            return
        fold = await self._views.look(event.campaign)
        if fold.objective is None:
            raise RetryLaterError(0.5, "the campaign has not been opened as far as this reader sees")
        problem = await self._shelf.get(fold.objective.problem_digest)
        program = program_of(proposed, await read_sources(self._bus.blobs, proposed.files))
        try:
            outcome = await self._run_cases(proposed, fold, problem, program, case_round)
        except OSError as error:
            raise RetryLaterError(5.0, f"the sandbox could not be used: {error}") from error
        await self._work.append(outcome, (await self._state(event)).last_sequence)

    async def _do(  # noqa: PLR0913, PLR0917 - a step needs all of these
        self,
        step: str,
        event: CandidateProposed,
        state: CandidateState,
        fold: CampaignFold,
        problem: Problem,
        program: Program,
    ) -> CandidateEvent:
        if step == "screen":
            return await self._screen(event, problem, program)
        if step == "compile":
            return await self._compile(event, program)
        if step == "run-cases":
            return await self._run_cases(event, fold, problem, program)
        attempts = state.starts["check", ""]
        return self._work.failure(
            event, "check", "lost-worker", f"the check was started {attempts} times and never gave a result"
        )

    async def _screen(self, event: CandidateProposed, problem: Problem, program: Program) -> CandidateScreened:
        found = await asyncio.to_thread(self._target.screen, program, finite_inputs=problem.settings.finite_inputs)
        accepted = found.accepted or (found.construct and not self._settings.refuse_constructs)
        twin = None
        if accepted and self._settings.refuse_near_duplicates:
            index = await self._index(event.campaign)
            twin = index.twin(event.candidate, found.shape_fingerprint, event.build)
        outcome = "near-duplicate" if twin else "passed" if accepted else "refused"
        reason = f"the same program as {twin[:12]} but for names and spacing" if twin else found.reason
        return CandidateScreened.model_validate(
            self._address(event, "CandidateScreened")
            | {
                "outcome": outcome,
                "reason": reason,
                "traits": found.traits,
                "shape_fingerprint": found.shape_fingerprint,
                "extractor": found.extractor,
                "near_twin": twin,
            }
        )

    async def _compile(self, event: CandidateProposed, program: Program) -> CompileSucceeded | CompileFailed:
        built = await asyncio.to_thread(self._target.compile, program)
        if isinstance(built, Artifact):
            self._built[event.candidate] = built
            blob = await self._bus.blobs.put(await asyncio.to_thread(built.path.read_bytes), "artifact")
            return CompileSucceeded.model_validate(
                self._address(event, "CompileSucceeded")
                | {
                    "artifact": blob,
                    "toolchain": built.toolchain,
                    "seconds": built.seconds,
                    "resources": built.resources,
                }
            )
        text = built.diagnostics
        whole = await self._bus.blobs.put(text.encode(), "log") if len(text) > _DIAGNOSTICS else None
        return CompileFailed.model_validate(
            self._address(event, "CompileFailed")
            | {
                "stage": built.stage,
                "diagnostics": text[:_DIAGNOSTICS],
                "diagnostics_blob": whole,
                "timed_out": built.timed_out,
                "seconds": built.seconds,
            }
        )

    async def _run_cases(
        self,
        event: CandidateProposed,
        fold: CampaignFold,
        problem: Problem,
        program: Program,
        case_round: int = SEARCH_ROUND,
    ) -> CorrectnessMeasured | MeasurementFailed:
        objective = fold.objective
        if objective is None:
            raise RetryLaterError(0.5, "the campaign has not been opened as far as this reader sees")
        artifact: Artifact | CompileFailure | None = self._built.get(event.candidate)
        if artifact is None:
            artifact = await asyncio.to_thread(self._target.compile, program)
        if not isinstance(artifact, Artifact):
            return self._work.failure(
                event, "check", "sandbox", f"a program that was built before does not build: {artifact.diagnostics}"
            )
        secret = await self._secret(event.campaign)
        constraints = objective.constraints
        limits = Limits(memory_bytes=constraints.memory_mib * _MEBIBYTE, threads=constraints.threads)
        rules = CheckRules(constraints.error_scale, constraints.bitwise_deterministic)
        cases = problem.cases(secret, event.candidate, case_round)
        began = time.monotonic()
        checked = await asyncio.to_thread(run_cases, self._target, artifact, problem, cases, limits, rules)
        return CorrectnessMeasured.model_validate(
            self._address(event, "CorrectnessMeasured" if case_round == SEARCH_ROUND else f"dispute-{case_round}")
            | {
                "outcome": "device-passed" if checked.passed else "failed",
                "case_round": case_round,
                "error_scale": constraints.error_scale,
                "cases": checked.outcomes,
                "bitwise_repeatable": checked.bitwise_repeatable,
                "sandboxing": self._target.sandboxing(),
                "seconds": time.monotonic() - began,
            }
        )

    # --- small parts ------------------------------------------------------------------------------------------------

    def _address(self, event: CandidateEvent, kind: str) -> dict[str, object]:
        return {
            "event_id": command_id(event.candidate, event.campaign, "check", kind),
            "recorded_at": datetime.now(UTC),
            "target": event.target,
            "campaign": event.campaign,
            "candidate": event.candidate,
        }

    async def _state(self, event: CandidateEvent) -> CandidateState:
        return fold_candidate(await self._bus.log.read_stream(StreamAddress.of(event)))

    async def _policy(self, fold: CampaignFold) -> Policy:
        digest = fold.policy_digest
        if digest not in self._policies:
            self._policies[digest] = await adopted_policy(self._bus.log, digest)
        return self._policies[digest]

    async def _secret(self, campaign: str) -> bytes:
        if campaign not in self._secrets:
            self._secrets[campaign] = await self._bus.secrets.read(secret_names(campaign).search)
        return self._secrets[campaign]

    async def _index(self, campaign: str) -> DuplicateIndex:
        index = self._duplicates.setdefault(campaign, DuplicateIndex())
        for record in await self._bus.log.read_campaign(campaign, after=index.last_sequence):
            index.apply(record.sequence, record.event)
        return index
