"""Commands about judging: adopt a policy, list them, dispute evidence."""

import getpass
import tomllib
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

from cyclopts import App
from pydantic import BaseModel, ValidationError

from kernelmill.bus import Bus, ConflictError
from kernelmill.events import (
    CampaignOpened,
    CampaignPolicyChanged,
    EvidenceDisputed,
    Policy,
    PolicyAdopted,
    policy_digest,
)
from kernelmill.evidence import JUDGES
from kernelmill.folds import CampaignFold
from kernelmill.identity import command_id, new_id
from kernelmill_console.commands.running import Json
from kernelmill_console.domain.ids import resolve
from kernelmill_console.errors import ConsoleError
from kernelmill_console.output import PEOPLE, print_rows
from kernelmill_console.reach import DEFAULT_DATA, reach_log, run_to_end

app = App(name="policy", help="Policies: how evidence becomes a verdict.")


class PolicyRow(BaseModel):
    """One row of `policy list`."""

    policy: str
    judge: str
    campaigns: int
    adopted_by: str
    because: str


def register(main: App) -> None:
    """Add the commands to the command line."""
    app.command(adopt)
    app.command(show_policies, name="list")
    main.command(app)
    main.command(dispute)


def adopt(file: Path, /, *, because: str, campaign: tuple[str, ...] = (), data: Path = DEFAULT_DATA) -> int:
    """Adopt the policy of a TOML file; the verifier judges all past candidates again from what is recorded.

    Parameters
    ----------
    file
        Fields of the policy that differ from the defaults, for example `accept_speedup = 1.02`.
    because
        The reason; it goes onto the log.
    campaign
        Campaigns that it judges from now on, by id; default all.
    data
        Data folder.
    """
    return run_to_end(lambda: _adopt(data, file, because, campaign))


def show_policies(*, data: Path = DEFAULT_DATA, as_json: Json = False) -> int:
    """List the adopted policies, the newest last."""

    async def work() -> int:
        async with reach_log(data) as bus:
            adopted, folds = await _history(bus)
        rows = [
            PolicyRow(
                policy=digest[:12],
                judge=event.body.judge,
                campaigns=sum(fold.policy_digest == digest for fold in folds.values()),
                adopted_by=event.adopted_by,
                because=event.because,
            )
            for digest, event in adopted.items()
        ]
        columns = [(name, name.replace("_", " ")) for name in PolicyRow.model_fields]
        print_rows(rows, columns, as_json=as_json, empty="no policy was adopted yet")
        return 0

    return run_to_end(work)


def dispute(candidate: str, /, *, because: str, data: Path = DEFAULT_DATA) -> int:
    """Doubt the evidence about a candidate: the verifier runs new hidden cases, and alone takes verdicts back.

    Parameters
    ----------
    candidate
        Its id, or the beginning of it.
    because
        What is wrong with the evidence.
    data
        Data folder.
    """
    return run_to_end(lambda: _dispute(data, candidate, because))


async def _adopt(data: Path, file: Path, because: str, wanted: tuple[str, ...]) -> int:
    policy = _read(file)
    digest, now = policy_digest(policy), datetime.now(UTC)
    async with reach_log(data) as bus:
        event = PolicyAdopted(
            event_id=command_id("PolicyAdopted", digest),
            recorded_at=now,
            policy_digest=digest,
            body=policy,
            adopted_by=getpass.getuser(),
            because=because,
        )
        with suppress(ConflictError):
            await bus.log.append(event, expected=0)
        _, folds = await _history(bus)
        chosen = [resolve(name, folds, "campaign") for name in wanted] or list(folds)
        changed = 0
        for campaign in chosen:
            fold = folds[campaign]
            if fold.policy_digest == digest:
                continue
            change = CampaignPolicyChanged(
                event_id=command_id("CampaignPolicyChanged", campaign, digest, str(fold.stream_sequence)),
                recorded_at=now,
                target=fold.target,
                campaign=campaign,
                policy_digest=digest,
                because=because,
            )
            await bus.log.append(change, expected=None)
            changed += 1
    PEOPLE.print(
        f"policy {digest[:12]} judges {changed} campaigns from now on; the verifier judges their candidates again",
        soft_wrap=True,
    )
    return 0


async def _dispute(data: Path, wanted: str, because: str) -> int:
    async with reach_log(data) as bus:
        _, folds = await _history(bus)
        owners = {candidate: fold for fold in folds.values() for candidate in fold.candidates}
        candidate = resolve(wanted, owners, "candidate")
        fold = owners[candidate]
        event = EvidenceDisputed(
            event_id=new_id("dispute"),
            recorded_at=datetime.now(UTC),
            target=fold.target,
            campaign=fold.campaign,
            candidate=candidate,
            because=because,
            disputed_by=getpass.getuser(),
        )
        await bus.log.append(event, expected=None)
    PEOPLE.print(f"disputed; see `kernelmill explain {candidate[:12]}` for what the verifier finds", soft_wrap=True)
    return 0


def _read(file: Path) -> Policy:
    try:
        content = tomllib.loads(file.read_text())
    except OSError as error:
        raise ConsoleError(f"{file} cannot be read: {error.strerror}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConsoleError(f"{file} is not TOML: {error}") from error
    try:
        policy = Policy.model_validate(content)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        raise ConsoleError(f"{file}: {where}: {first['msg']}; see PolicyAdopted in docs/events.md") from error
    if policy.judge not in JUDGES:
        raise ConsoleError(f"{file}: judge: this version has {', '.join(sorted(JUDGES))}, not '{policy.judge}'")
    return policy


async def _history(bus: Bus) -> tuple[dict[str, PolicyAdopted], dict[str, CampaignFold]]:
    """Return adopted policies by digest and campaigns by id, in the order of the log."""
    adopted: dict[str, PolicyAdopted] = {}
    folds: dict[str, CampaignFold] = {}
    async for record in bus.log.replay():
        event = record.event
        if isinstance(event, PolicyAdopted):
            adopted.setdefault(event.policy_digest, event)
        elif isinstance(event, CampaignOpened):
            folds.setdefault(event.campaign, CampaignFold(event.campaign, lean=True))
        campaign = getattr(event, "campaign", None)
        if campaign in folds:
            folds[campaign].apply(record.sequence, event)
    return adopted, folds
