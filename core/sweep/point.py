"""One configuration of a sweep: train, attack, and tell each adversary the tolerance trained for."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

from core.attack import ATTACKERS, PROTOCOLS, attack_model, protocols_of
from core.config import AuditConfig
from core.correction import COSTS, Disclosure, disclose
from core.datasets.dataset import AuditDataset
from core.datasets.splits import split
from core.estimates import Estimate
from core.results import Result
from core.sweep.configurations import SWEPT_METHODS
from core.training import train_model


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepPoint(Result):
    """One trained model and what every adversary makes of its tolerance. Equality ignores the seconds.

    Attributes
    ----------
    config : AuditConfig
        Method, metric, seed, and the tolerance trained for and told to the attacker.
    achieved : float
        Unfairness on the training records: a fact about them.
    unfairness_test : Estimate
        The same on the test records.
    difference_test : Estimate
        Difference between groups on either.
    accuracy_train, accuracy_test : Estimate
        Of the audited model.
    majority_test : Estimate
        Control: accuracy of predicting the more frequent label for everybody.
    disclosures : dict
        (adversary, protocol, cost) -> Disclosure.
    seconds, seconds_model : float
        Wall time in all, and of it the training and asking of the audited model, which is fairlearn's share.
    """

    config: AuditConfig
    achieved: float
    unfairness_test: Estimate
    difference_train: float
    difference_test: Estimate
    accuracy_train: Estimate
    accuracy_test: Estimate
    majority_test: Estimate
    disclosures: dict[tuple[str, str, str], Disclosure]
    seconds: float = field(default=0.0, compare=False)
    seconds_model: float = field(default=0.0, compare=False)

    @property
    def tolerance(self) -> float:
        """Trained for, and told to the attacker."""
        return self.config.tolerance


def measure(config: AuditConfig, dataset: AuditDataset) -> SweepPoint:
    """Train at one tolerance, attack, and tell each adversary that tolerance.

    A method that cannot be asked for a tolerance promises none: the attacker is then told the smallest true one, in
    steps of 0.001, under either protocol.
    """
    started = time.perf_counter()
    splits = split(dataset, train_share=config.train_share, seed=config.seed)
    begun = time.perf_counter()
    model = train_model(config, dataset, splits)
    seconds_model = time.perf_counter() - begun
    disclosures: dict[tuple[str, str, str], Disclosure] = {}
    for kind in ATTACKERS:
        attacks = {
            protocol: attack_model(kind, protocol, dataset, splits, model.predictions, config=config)
            for protocol in protocols_of(kind)
        }
        for protocol in PROTOCOLS:
            found = attacks.get(protocol, attacks[PROTOCOLS[0]])
            for cost in COSTS:
                disclosures[kind, protocol, cost] = disclose(
                    found.attacked,
                    found.held_out,
                    tolerance=config.tolerance,
                    metric=config.metric,
                    cost=cost,
                    raise_until_true=protocol == "as_published" or config.method not in SWEPT_METHODS,
                )
    return SweepPoint(
        config=config,
        achieved=model.unfairness_train,
        unfairness_test=model.unfairness_test,
        difference_train=model.difference_train,
        difference_test=model.difference_test,
        accuracy_train=model.accuracy_train,
        accuracy_test=model.accuracy_test,
        majority_test=model.majority_test,
        disclosures=disclosures,
        seconds=time.perf_counter() - started,
        seconds_model=seconds_model,
    )
