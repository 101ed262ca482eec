"""What a story says: names whole, digests short, nothing twice."""

import pytest
from support.events import POLICY, address, candidate_id

from kernelmill.events import EffectEstimate, Interval, VerdictReached, policy_digest
from kernelmill_console.domain.ids import opponent_name, shorten
from kernelmill_console.domain.story import effect_text, tell

CHAMPION = candidate_id("champion")
MEAN = EffectEstimate(
    workload="geometric-mean",
    opponent="best-baseline",
    speedup=Interval(estimate=1.1, low=1.05, high=1.2, level=0.875),
)


def verdict(detail: str, *effects: EffectEstimate) -> VerdictReached:
    return VerdictReached(
        **address("a", "VerdictReached"),
        decision="rejected",
        reason="not-faster",
        detail=detail,
        effects=effects,
        policy_digest=policy_digest(POLICY),
        judge="judge-1",
        evidence=(),
    )


def test_digests_are_cut_and_names_are_not() -> None:
    assert shorten(f"1.1x against {CHAMPION}, best-baseline") == f"1.1x against {CHAMPION[:12]}, best-baseline"
    assert opponent_name("best-baseline") == "best-baseline"
    assert opponent_name(CHAMPION) == f"champion {CHAMPION[:12]}"


@pytest.mark.parametrize(
    ("detail", "effects", "told"),
    [
        (
            "geometric-mean: 1.100x against best-baseline",
            (MEAN,),
            "rejected, not-faster: geometric-mean: 1.100x against best-baseline",
        ),
        (
            f"small: 0.9x against {CHAMPION}",
            (MEAN,),
            f"rejected, not-faster: small: 0.9x against {CHAMPION[:12]} ({effect_text(MEAN)})",
        ),
        (
            "small: 0.9x against c",
            (MEAN.model_copy(update={"workload": "small"}),),
            "rejected, not-faster: small: 0.9x against c",
        ),
    ],
    ids=["told already", "told after a row", "no mean"],
)
def test_a_verdict_tells_the_mean_over_rows_once(detail: str, effects: tuple[EffectEstimate, ...], told: str) -> None:
    assert tell(verdict(detail, *effects)) == told
