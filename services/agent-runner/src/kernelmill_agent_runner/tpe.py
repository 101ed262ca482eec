"""Optuna's tree-structured Parzen estimator behind the search agent's ask/tell port."""

from collections.abc import Sequence

import optuna

from kernelmill_agent_runner.domain.space import SEED, Genome, Space

_REMEMBERED = 200
"""Newest trials that the estimator is told: asking stays fast however long a campaign gets."""


class TpeSampler:
    """Rebuilds a study from what the log says and asks it once; nothing is kept between calls."""

    def __init__(self) -> None:
        optuna.logging.set_verbosity(optuna.logging.ERROR)

    def ask(self, space: Space, told: Sequence[tuple[Genome, float]], seed: int) -> dict[str, str]:
        """Return a promising genome; see `Sampler.ask`."""
        sampler = optuna.samplers.TPESampler(seed=seed, n_startup_trials=8, multivariate=False)
        study = optuna.create_study(direction="maximize", sampler=sampler)
        distributions: dict[str, optuna.distributions.BaseDistribution] = {
            item.name: optuna.distributions.CategoricalDistribution(item.values) for item in space.free
        }
        for genome, value in told[-_REMEMBERED:]:
            parameters = {name: genome[name] for name in distributions}
            study.add_trial(optuna.trial.create_trial(params=parameters, distributions=distributions, value=value))
        trial = study.ask(distributions)
        return (
            space.defaults() | {str(name): str(value) for name, value in trial.params.items()} | {SEED: space.seed.name}
        )
