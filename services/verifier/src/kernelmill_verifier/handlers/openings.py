"""The verifier's part in a campaign's beginning and end: validate the problem, commit to secrets, reveal them."""

import asyncio
import secrets
from contextlib import suppress
from datetime import UTC, datetime

from kernelmill.bus import ABSENT, Bus, ConflictError, Delivery, RetryLaterError, StreamAddress, registered_files
from kernelmill.events import (
    CampaignClosing,
    CampaignOpened,
    CasesCommitted,
    CasesRevealed,
    ProblemRefuted,
    ProblemValidated,
)
from kernelmill.events.problem import RefutedBy
from kernelmill.folds import CampaignViews
from kernelmill.identity import command_id
from kernelmill.problems import ProblemError, ProblemShelf, validate
from kernelmill_verifier.domain.secrets import commitment, secret_names

_CAP = 1e9
_SECRET_BYTES = 32
_SALT_BYTES = 16


class Openings:
    """Validates problems and keeps the secrets of campaigns."""

    def __init__(self, bus: Bus) -> None:
        self._bus = bus
        self._shelf = ProblemShelf(lambda digest: registered_files(bus.log, bus.blobs, digest))
        self._views = CampaignViews(lambda campaign, after: bus.log.read_campaign(campaign, after=after))

    async def open(self, delivery: Delivery) -> None:
        """CampaignOpened: validate the problem unless that was done, draw the secrets, commit to them."""
        event = delivery.event
        if not isinstance(event, CampaignOpened):
            return
        await self._validate(event.objective.problem_digest)
        await self._commit(event)

    async def _validate(self, digest: str) -> None:
        address = StreamAddress(ABSENT, ABSENT, "problem", digest)
        records = await self._bus.log.read_stream(address)
        if any(isinstance(record.event, ProblemValidated | ProblemRefuted) for record in records):
            return
        identity = {"recorded_at": datetime.now(UTC), "problem_digest": digest}
        verdict: ProblemValidated | ProblemRefuted
        try:
            problem = await self._shelf.get(digest)
            report = await asyncio.to_thread(validate, problem)
        except ProblemError as error:
            verdict = ProblemRefuted.model_validate(
                identity | {"event_id": command_id("ProblemRefuted", digest), "by": (), "detail": str(error)}
            )
        else:
            if report.valid:
                verdict = ProblemValidated.model_validate(
                    identity
                    | {
                        "event_id": command_id("ProblemValidated", digest),
                        "failed": {name: min(worst, _CAP) for name, worst in report.failed.items()},
                        "passed": {name: min(worst, _CAP) for name, worst in report.passed.items()},
                    }
                )
            else:
                by = [RefutedBy(name=item.name, worst_error=item.worst_error) for item in report.refuted_by]
                verdict = ProblemRefuted.model_validate(
                    identity
                    | {"event_id": command_id("ProblemRefuted", digest), "by": tuple(by), "detail": report.detail}
                )
        with suppress(ConflictError):
            await self._bus.log.append(verdict, expected=records[-1].sequence if records else 0)

    async def _commit(self, event: CampaignOpened) -> None:
        """Draw the secrets, and commit to what is really stored: another instance may have been faster."""
        records = await self._bus.log.read_stream(StreamAddress.of(event))
        if any(isinstance(record.event, CasesCommitted) for record in records):
            return
        names = secret_names(event.campaign)
        search = await self._bus.secrets.create(names.search, secrets.token_bytes(_SECRET_BYTES))
        confirmation = await self._bus.secrets.create(names.confirmation, secrets.token_bytes(_SECRET_BYTES))
        salt = secrets.token_bytes(_SALT_BYTES)
        committed = CasesCommitted(
            event_id=command_id(event.event_id, "CasesCommitted"),
            recorded_at=datetime.now(UTC),
            target=event.target,
            campaign=event.campaign,
            salt=salt.hex(),
            search_commitment=commitment(salt, search),
            confirmation_commitment=commitment(salt, confirmation),
        )
        await self._bus.log.append(committed, expected=None)

    async def reveal(self, delivery: Delivery) -> None:
        """CampaignClosing: reveal the secrets once nothing is open any more."""
        event = delivery.event
        if not isinstance(event, CampaignClosing):
            return
        fold = await self._views.look(event.campaign)
        if fold.revealed is not None or fold.cases is None:
            return
        if not fold.settled:
            raise RetryLaterError(0.3, "work of the campaign is still open")
        names = secret_names(event.campaign)
        revealed = CasesRevealed(
            event_id=command_id(event.event_id, "CasesRevealed"),
            recorded_at=datetime.now(UTC),
            target=event.target,
            campaign=event.campaign,
            search_secret=(await self._bus.secrets.read(names.search)).hex(),
            confirmation_secret=(await self._bus.secrets.read(names.confirmation)).hex(),
        )
        try:
            await self._bus.log.append(revealed, expected=fold.stream_sequence)
        except ConflictError as error:
            raise RetryLaterError(0.1, str(error)) from error
