"""One audit: a dataset with roles, a fair model, and the adversaries that attack the people it was trained on.

`run` trains and attacks; what the attacker gains from a disclosed tolerance is then asked of the findings with
`AuditFindings.disclose`, which is fast enough to follow a slider.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from core.attack import ATTACKERS, PROTOCOLS, AttackFindings, attack_model, protocols_of
from core.config import AuditConfig
from core.correction import Disclosure, MoreDisclosed, disclose, disclose_more, permuted_records
from core.datasets.dataset import AuditDataset, GroupRow
from core.datasets.duplicates import shared_records
from core.datasets.splits import split
from core.errors import InputError
from core.estimates import Estimate, accuracy, balanced_accuracy
from core.fingerprint import fingerprint
from core.results import Result
from core.training import ModelFindings, train_model
from core.validation import choice

Report = Callable[[int, int], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditFindings(Result):
    """What an audit found.

    Attributes
    ----------
    config : AuditConfig
    title, source : str
        Of the dataset.
    synthetic : bool
    group_names : tuple of str
        Names by group; of two, group 1 is the first group.
    groups : tuple of GroupRow
        Size and label rate of the groups, first group first.
    n_features : int
    sizes : dict
        Records by set: train, attack, validation, test.
    shared : dict
        How many records of the other sets equal a training record in every column used.
    model : ModelFindings
    attacks : dict
        (attacker, protocol) -> AttackFindings, attackers from `ATTACKERS`.
    known_shares : tuple of float
        Shares of the groups among the records whose attribute the attacker knows.
    strong, strong_balanced : Estimate
        Accuracy and balanced accuracy of the strong adversary on the training records: calibrated, told nothing,
        trained on the same records as the held-out forest.
    """

    config: AuditConfig
    title: str
    source: str
    synthetic: bool
    group_names: tuple[str, ...]
    groups: tuple[GroupRow, ...]
    n_features: int
    sizes: dict[str, int]
    model: ModelFindings
    attacks: dict[tuple[str, str], AttackFindings]
    known_shares: tuple[float, ...]
    strong: Estimate
    strong_balanced: Estimate
    shared: dict[str, int] = field(default_factory=dict)

    def disclose(
        self,
        tolerance: float,
        *,
        adversary: str = "features",
        cost: str = "published",
        as_published: bool = False,
        solver: str = "exact",
    ) -> Disclosure:
        """Tell one adversary the tolerance; see `core.correction.disclose`.

        `as_published` chooses the exponent on the test records (the strong adversaries keep to their own) and raises
        the tolerance until it is true.
        """
        found = self._attack(adversary, as_published)
        return disclose(
            found.attacked,
            found.held_out,
            tolerance=tolerance,
            metric=self.config.metric,
            cost=cost,
            raise_until_true=as_published,
            solver=solver,
        )

    def _attack(self, adversary: str, as_published: bool) -> AttackFindings:
        choice(adversary, ATTACKERS, name="adversary")
        return self.attacks[adversary, protocols_of(adversary)[-1] if as_published else PROTOCOLS[0]]

    def disclose_permuted(
        self,
        tolerance: float,
        *,
        adversary: str = "features",
        cost: str = "published",
        as_published: bool = False,
    ) -> Disclosure:
        """Return the control of `disclose`: the same guess, told `tolerance` as it is, with permuted predictions.

        See `core.correction.permuted_control`, which chooses its exponent on permuted held-out records as well.
        """
        found = self._attack(adversary, as_published)
        metric, seed = self.config.metric, self.config.seed
        return disclose(
            permuted_records(found.attacked, metric=metric, seed=seed, name="attacked"),
            permuted_records(found.held_out, metric=metric, seed=seed, name="held out"),
            tolerance=tolerance,
            metric=metric,
            cost=cost,
        )

    def disclose_more(
        self,
        tolerance: float,
        *,
        adversary: str = "features",
        cost: str = "published",
        as_published: bool = False,
    ) -> tuple[MoreDisclosed, ...]:
        """Tell one adversary more than a bound; see `core.correction.disclose_more`."""
        found = self._attack(adversary, as_published)
        return disclose_more(found.attacked, found.held_out, tolerance=tolerance, metric=self.config.metric, cost=cost)


def audit_key(config: AuditConfig, dataset: AuditDataset) -> str:
    """Return the fingerprint of an audit: data, settings, version."""
    return fingerprint("audit", dataset.fingerprint, config)


def run(config: AuditConfig, report: Report | None = None, *, dataset: AuditDataset | None = None) -> AuditFindings:
    """Run a whole audit.

    Parameters
    ----------
    config : AuditConfig
    report : callable, optional
        Called with (steps done, steps in all); may raise `core.errors.Cancelled` to stop.
    dataset : AuditDataset, optional
        The data; may be left out only for the built-in demo.

    Raises
    ------
    InputError
        If the configuration or the data break a rule.
    """
    pairs = [(kind, protocol) for kind in ATTACKERS for protocol in protocols_of(kind)]
    steps = len(pairs) + 2
    done = -1

    def tick() -> None:
        nonlocal done
        done += 1
        if report is not None:
            report(done, steps)

    tick()
    dataset = _demo(config) if dataset is None else dataset
    splits = split(dataset, train_share=config.train_share, seed=config.seed)
    tick()
    model = train_model(config, dataset, splits)
    tick()
    attacks = {}
    for kind, protocol in pairs:
        attacks[kind, protocol] = attack_model(kind, protocol, dataset, splits, model.predictions, config=config)
        tick()
    told_nothing = attacks["strong", "held_out"].attacked
    known = np.bincount(dataset.sensitive[splits.known], minlength=dataset.n_groups)
    return AuditFindings(
        config=config,
        title=dataset.title,
        source=dataset.source,
        synthetic=dataset.synthetic,
        group_names=dataset.group_names,
        groups=dataset.groups(),
        n_features=len(dataset.feature_names),
        sizes={name: int(getattr(splits, name).size) for name in ("train", "attack", "validation", "test")},
        shared=shared_records(dataset, splits),
        model=model,
        attacks=attacks,
        known_shares=tuple((known / known.sum()).tolist()),
        strong=accuracy(told_nothing.truth, told_nothing.guess),
        strong_balanced=balanced_accuracy(told_nothing.truth, told_nothing.guess),
    )


def _demo(config: AuditConfig) -> AuditDataset:
    from core.datasets.build import build_dataset
    from core.datasets.demo import demo_table

    if config.dataset != "demo":
        raise InputError(f"The dataset {config.dataset!r} must be passed in; only 'demo' is built in.")
    table = demo_table()
    return build_dataset(table, config.roles or table.roles[0])
