"""One audit: a dataset with roles, a fair model, and the adversaries that attack the people it was trained on.

`run` trains and attacks; what the attacker gains from a disclosed tolerance is then asked of the findings with
`AuditFindings.disclose`, which is fast enough to follow a slider.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from core.adversaries import ADVERSARIES, calibrate, train_adversary, train_strong
from core.correction import AttackedRecords, Disclosure, disclose
from core.datasets.dataset import AuditDataset, GroupRow, Roles
from core.datasets.splits import Splits, split
from core.errors import InputError
from core.estimates import Estimate, accuracy, balanced_accuracy, proportion
from core.fairness import (
    METRIC_TITLES,
    METRICS,
    GroupRate,
    group_rates,
    row_sets,
    unfairness,
    unfairness_estimate,
)
from core.fingerprint import fingerprint
from core.models import METHODS, fit_model
from core.results import Result
from core.validation import choice, seed_value, unit_interval

__all__ = [
    "PROTOCOLS",
    "AttackFindings",
    "AuditConfig",
    "AuditFindings",
    "ModelFindings",
    "attack_model",
    "audit_key",
    "run",
    "train_model",
]

PROTOCOLS = ("held_out", "as_published")
"""Where the attacker chooses the confidence exponent: on own held-out records, or on the test records as published."""

Report = Callable[[int, int], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditConfig(Result):
    """Everything that defines an audit, besides the table itself.

    Attributes
    ----------
    dataset : str
        Name of the table.
    roles : Roles or None
        Roles of its columns; None for the table's own default.
    method, metric : str
        Fair learning method (`core.models.METHODS`) and fairness metric (`core.fairness.METRICS`).
    tolerance : float in [0, 1]
        Tolerance the model is trained for.
    train_share : float in [0.1, 0.8]
        Share of the records that trains the model; the rest is halved between attacker and test.
    seed : int
        Fixes splits, training, the one draw of predictions, and the adversaries.
    """

    dataset: str = "demo"
    roles: Roles | None = None
    method: str = "exponentiated_gradient"
    metric: str = "statistical_parity"
    tolerance: float = 0.001
    train_share: float = 0.34
    seed: int = 42

    def __post_init__(self) -> None:
        choice(self.method, METHODS, name="method")
        choice(self.metric, METRICS, name="metric")
        unit_interval(self.tolerance, name="tolerance")
        seed_value(self.seed)


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelFindings(Result):
    """How accurate and how fair the audited model is.

    Attributes
    ----------
    accuracy_train, accuracy_test : Estimate
        Share of right predictions on the training and on unseen test records.
    majority_test : Estimate
        Control: accuracy of predicting the more frequent label for everybody.
    unfairness_train : float
        Distance of a group's rate from everybody's on the training records: a fact about them, not an estimate.
    unfairness_test : Estimate
        The same on the test records, as an estimate for unseen people.
    rates_train, rates_test : tuple of GroupRate
        The rates behind these distances.
    needs_sensitive, randomised : bool
        See `core.models.FairModel`.
    predictions : ndarray of shape (n,), uint8
        The one draw of predictions for all records of the dataset.
    """

    accuracy_train: Estimate
    accuracy_test: Estimate
    majority_test: Estimate
    unfairness_train: float
    unfairness_test: Estimate
    rates_train: tuple[GroupRate, ...]
    rates_test: tuple[GroupRate, ...]
    needs_sensitive: bool
    randomised: bool
    predictions: npt.NDArray[np.uint8] = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class AttackFindings(Result):
    """One adversary on the training records.

    Attributes
    ----------
    held_out_accuracy : Estimate
        Accuracy on the records it was tuned on: the attacker's own held-out ones, as published the test records.
    attacked, held_out : AttackedRecords
        What it says of the training records, and of the records its exponent is chosen on.
    """

    held_out_accuracy: Estimate
    attacked: AttackedRecords = field(repr=False)
    held_out: AttackedRecords = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditFindings(Result):
    """What an audit found.

    Attributes
    ----------
    config : AuditConfig
    title, source : str
        Of the dataset.
    synthetic : bool
    group_names : (str, str)
        Names of group 0 and group 1.
    groups : tuple of GroupRow
        Size and label rate of the groups, first group first.
    n_features : int
    sizes : dict
        Records by set: train, attack, validation, test.
    model : ModelFindings
    attacks : dict
        (adversary, protocol) -> AttackFindings.
    strong, strong_balanced : Estimate
        Accuracy and balanced accuracy of the strong adversary on the training records: calibrated, told nothing,
        trained on the same records as the held-out forest.
    """

    config: AuditConfig
    title: str
    source: str
    synthetic: bool
    group_names: tuple[str, str]
    groups: tuple[GroupRow, GroupRow]
    n_features: int
    sizes: dict[str, int]
    model: ModelFindings
    attacks: dict[tuple[str, str], AttackFindings]
    strong: Estimate
    strong_balanced: Estimate

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

        `as_published` chooses the exponent on the test records and raises the tolerance until it is true.
        """
        found = self.attacks[adversary, PROTOCOLS[as_published]]
        return disclose(
            found.attacked,
            found.held_out,
            tolerance=tolerance,
            metric=self.config.metric,
            cost=cost,
            raise_until_true=as_published,
            solver=solver,
        )


def audit_key(config: AuditConfig, dataset: AuditDataset) -> str:
    """Return the fingerprint of an audit: data, settings, version."""
    return fingerprint("audit", dataset.fingerprint, config)


def train_model(config: AuditConfig, dataset: AuditDataset, splits: Splits) -> ModelFindings:
    """Train the audited model, draw its predictions once, and measure it."""
    x, y, s = dataset.features, dataset.labels, dataset.sensitive
    train, test = splits.train, splits.test
    _check_cells(config.metric, dataset, splits)
    model = fit_model(
        config.method,
        x[train],
        y[train],
        s[train],
        metric=config.metric,
        tolerance=config.tolerance,
        seed=config.seed,
    )
    drawn = model.predict(x, s, seed=config.seed)
    return ModelFindings(
        accuracy_train=accuracy(y[train], drawn[train]),
        accuracy_test=accuracy(y[test], drawn[test]),
        majority_test=proportion(int(np.bincount(y[test], minlength=2).max()), test.size),
        unfairness_train=unfairness(drawn[train], s[train], metric=config.metric, labels=y[train]),
        unfairness_test=unfairness_estimate(drawn[test], s[test], metric=config.metric, labels=y[test]),
        rates_train=group_rates(drawn[train], s[train], metric=config.metric, labels=y[train]),
        rates_test=group_rates(drawn[test], s[test], metric=config.metric, labels=y[test]),
        needs_sensitive=model.needs_sensitive,
        randomised=model.randomised,
        predictions=drawn,
    )


def _check_cells(metric: str, dataset: AuditDataset, splits: Splits) -> None:
    """Refuse data in which a set of records lacks a group among the labels the metric compares."""
    for name in ("train", "validation", "test"):
        rows = getattr(splits, name)
        for part, mask in row_sets(metric, dataset.labels[rows], rows.size):
            inside = dataset.sensitive[rows] if mask is None else dataset.sensitive[rows][mask]
            counts = np.bincount(inside, minlength=2)
            if counts.min() < 3:
                group = dataset.group_names[int(counts.argmin())]
                raise InputError(
                    f"{METRIC_TITLES[metric]} needs at least 3 people of each group with {part} among the {name} "
                    f"records, got {int(counts.min())} of {group}; choose statistical parity, other groups or another "
                    "seed."
                )


def attack_model(
    kind: str,
    protocol: str,
    dataset: AuditDataset,
    splits: Splits,
    predictions: npt.NDArray[np.uint8],
    *,
    seed: int,
) -> AttackFindings:
    """Train one adversary under one protocol and let it guess the training records' sensitive attribute.

    Under "held_out" the attacker learns from the attack records and keeps the validation records apart; under
    "as_published" it learns from both and tunes on the model owner's test records, as Ferry et al.'s code does.
    """
    choice(protocol, PROTOCOLS, name="protocol")
    x, y, s = dataset.features, dataset.labels, dataset.sensitive
    learn, tune = (splits.attack, splits.validation) if protocol == "held_out" else (splits.known, splits.test)
    adversary = train_adversary(kind, x[learn], y[learn], s[learn], predictions[learn], seed=seed)
    raw = {
        name: adversary.probability(x[rows], y[rows], predictions[rows])
        for name, rows in (("attacked", splits.train), ("held_out", tune))
    }
    scale = calibrate(raw["held_out"], s[tune])

    def records(name: str, rows: npt.NDArray[np.intp]) -> AttackedRecords:
        return AttackedRecords(
            probability=raw[name],
            calibrated=scale.apply(raw[name]),
            predictions=predictions[rows],
            labels=y[rows],
            truth=s[rows],
        )

    held_out = records("held_out", tune)
    return AttackFindings(
        held_out_accuracy=accuracy(held_out.truth, held_out.guess),
        attacked=records("attacked", splits.train),
        held_out=held_out,
    )


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
    steps = len(ADVERSARIES) * len(PROTOCOLS) + 3
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
    for kind in ADVERSARIES:
        for protocol in PROTOCOLS:
            attacks[kind, protocol] = attack_model(kind, protocol, dataset, splits, model.predictions, seed=config.seed)
            tick()
    strong, strong_balanced = _strong(dataset, splits, config.seed)
    tick()
    return AuditFindings(
        config=config,
        title=dataset.title,
        source=dataset.source,
        synthetic=dataset.synthetic,
        group_names=dataset.group_names,
        groups=dataset.groups(),
        n_features=len(dataset.feature_names),
        sizes={name: int(getattr(splits, name).size) for name in ("train", "attack", "validation", "test")},
        model=model,
        attacks=attacks,
        strong=strong,
        strong_balanced=strong_balanced,
    )


def _demo(config: AuditConfig) -> AuditDataset:
    from core.datasets.dataset import build_dataset
    from core.datasets.demo import demo_table

    if config.dataset != "demo":
        raise InputError(f"The dataset {config.dataset!r} must be passed in; only 'demo' is built in.")
    table = demo_table()
    return build_dataset(table, config.roles or table.roles[0])


def _strong(dataset: AuditDataset, splits: Splits, seed: int) -> tuple[Estimate, Estimate]:
    x, y, s = dataset.features, dataset.labels, dataset.sensitive
    learn, tune, train = splits.attack, splits.validation, splits.train
    adversary = train_strong(x[learn], y[learn], s[learn], categorical=dataset.categorical, seed=seed)
    scale = calibrate(adversary.probability(x[tune], y[tune]), s[tune])
    guess = scale.apply(adversary.probability(x[train], y[train])) > 0.5
    return accuracy(s[train], guess), balanced_accuracy(s[train], guess)
