"""Campaigns through real services: processes, a real server, real compilers, the real sandbox."""

import asyncio
import math
from pathlib import Path

import pytest
from support.factory import KERNELS, Assassin, begin, factory, until

from kernelmill.events import BuildOptions, ChampionCrowned, VerdictReached
from kernelmill.folds import WorldFold, headline
from kernelmill_console.audit import audit_log
from kernelmill_console.export import export_champion
from kernelmill_console.hand import HandCampaign, HandProgram
from kernelmill_console.memory import rebuild_lessons
from kernelmill_console.problems import find_problem
from kernelmill_console.run import pause_campaign, resume_campaign

pytestmark = pytest.mark.timeout(280)


async def test_a_campaign_ends_with_an_exported_champion_that_an_audit_confirms(tmp_path: Path) -> None:
    async with factory(tmp_path / "data") as (bus, _):
        opened = await begin(bus, evaluations=24, minutes=2.0)
        fold = await until(bus, opened.campaign, lambda fold: fold.closed is not None, 200)
        records = await bus.log.read_campaign(opened.campaign)
        crowns = [record.event for record in records if isinstance(record.event, ChampionCrowned)]
        assert fold.champion is not None
        assert crowns
        best = headline(crowns[-1].effects)
        assert best is not None
        assert best.speedup.low > 1.0
        report = await audit_log(bus, None)
        assert report.sound, report.disagreements
        assert report.verdicts == len(fold.candidates) == 24
        assert report.cases > 24
        world = WorldFold()
        async for record in bus.log.replay():
            world.apply(record.sequence, record.event)
        folder = await export_champion(bus, opened.campaign, records, world, tmp_path / "champion")
        assert {"champion.py", "kernel.json", "fallback.py", "REPORT.md", "speedup.svg"} <= {
            path.name for path in folder.iterdir()
        }
        assert await rebuild_lessons(bus, compare=True, as_json=True) == 0


async def test_a_campaign_survives_being_killed_again_and_again(tmp_path: Path) -> None:
    async with factory(tmp_path, {"verifier": 2, "planner": 2}) as (bus, supervisor):
        opened = await begin(bus, evaluations=16, minutes=2.5)
        assassin = Assassin(supervisor, seed=11)
        killing = asyncio.create_task(assassin.work(10, (0.5, 3.0)))
        fold = await until(bus, opened.campaign, lambda fold: fold.closed is not None, 260)
        killing.cancel()
        await asyncio.gather(killing, return_exceptions=True)
        assert assassin.kills >= 5
        assert fold.budget.violations == []
        records = await bus.log.read_campaign(opened.campaign)
        judged = [record.event.candidate for record in records if isinstance(record.event, VerdictReached)]
        assert len(judged) == len(set(judged))
        report = await audit_log(bus, None)
        assert report.sound, report.disagreements


async def test_a_campaign_by_hand_tells_right_from_wrong_and_fast_from_slow(tmp_path: Path) -> None:
    problem = find_problem(str(KERNELS / "rmsnorm"), Path.cwd())
    naive = problem.seeds["naive"].files["naive.c"]
    build = BuildOptions(flags=("-O3", "-march=native"))
    wrong = HandProgram({"k.c": naive.replace(b"1e-6f", b"1e-3f")}, build)
    crash = HandProgram(
        {"k.c": naive.replace(b"float sum = 0.0f;", b"float sum = 0.0f; *(volatile int *)8 = 1;")}, build
    )
    broken = HandProgram({"k.c": naive.replace(b"float sum", b"flout sum")}, build)
    escape = HandProgram({"k.c": b'#include "/etc/passwd"\n' + naive}, build)
    slow = HandProgram({"k.c": naive}, BuildOptions(flags=("-O2",)))
    fast = HandProgram(problem.seeds["structured"].files, build)
    async with factory(tmp_path) as (bus, _):
        campaign = await HandCampaign.open(bus, problem, "by hand", 10.0)
        reasons = {}
        for name, program in (("wrong", wrong), ("crash", crash), ("broken", broken), ("escape", escape)):
            _, verdict = await campaign.judge(program)
            reasons[name] = (verdict.decision, verdict.reason)
        assert reasons == {
            "wrong": ("rejected", "incorrect"),
            "crash": ("rejected", "incorrect"),
            "broken": ("rejected", "compile-failed"),
            "escape": ("rejected", "screened-out"),
        }
        first = await campaign.judge(fast)
        second = await campaign.judge(slow)
        measured = await campaign.head_to_head(*first, second[0])
        mean = math.fsum(pair.log_ratio for row in measured.head_to_head for pair in row.pairs)
        assert mean / sum(len(row.pairs) for row in measured.head_to_head) > math.log(1.5)
        await campaign.close()
        assert campaign.fold.champion is None
        assert (await audit_log(bus, None)).sound


async def test_a_paused_campaign_goes_on_after_a_restart_of_everything(tmp_path: Path) -> None:
    async with factory(tmp_path) as (bus, _):
        opened = await begin(bus, evaluations=12, minutes=2.0)
        await until(bus, opened.campaign, lambda fold: fold.verdicts.judged >= 3, 100)
        await pause_campaign(bus, opened, "test")
    async with factory(tmp_path) as (bus, _):
        assert (await resume_campaign(bus)).campaign == opened.campaign
        fold = await until(bus, opened.campaign, lambda fold: fold.closed is not None, 150)
        assert fold.verdicts.judged == len(fold.candidates) == 12
        assert fold.budget.violations == []
