"""One audit: a model, attacked by every adversary.

`run` trains and attacks; what the attacker gains from a disclosed tolerance is then asked of the findings with
`AuditFindings.disclose`, which is fast enough to follow a slider.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from core.adversaries import ADVERSARIES, STRONG, Adversary, AttackedRecords, calibrate, train_adversary, train_strong
from core.arrays import Codes, Floats
from core.config import AuditConfig
from core.correction import Disclosure, MoreDisclosed, disclose, disclose_more, permuted_records
from core.datasets.build import build_dataset
from core.datasets.dataset import AuditDataset, GroupRow
from core.datasets.demo import demo_table
from core.datasets.splits import Splits, known_shares, shared_records, split, taught
from core.errors import InputError
from core.estimates import Estimate, accuracy, balanced_accuracy
from core.fingerprint import fingerprint
from core.serialize import Result
from core.subject import ModelFindings, train_model
from core.validation import choice

ATTACKERS = (*ADVERSARIES, *STRONG)
"""The paper's A and A′, then the strong adversary without and with the predictions."""

PROTOCOLS = ("held_out", "as_published")
"""Where the attacker chooses the confidence exponent: on own held-out records, or on the test records as published."""

_Said = tuple[Floats, Floats]
"""An attacker's probabilities for the attacked and for the held-out records."""

_BLIND = ("features", "strong")
"""Those that do not see the model: asked once for all models on the same records."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AttackFindings(Result):
    """One adversary on the training records (`attacked`), and on those its exponent and calibration come from.

    These are the attacker's own held-out records, as published the test records; its accuracy is on them.
    """

    held_out_accuracy: Estimate
    attacked: AttackedRecords = field(repr=False)
    held_out: AttackedRecords = field(repr=False)


def protocols_of(kind: str) -> tuple[str, ...]:
    """Return the protocols an attacker is trained under: the strong ones are not in the paper and keep to the first."""
    return PROTOCOLS if kind in ADVERSARIES else PROTOCOLS[:1]


def attack_model(
    kind: str,
    protocol: str,
    dataset: AuditDataset,
    splits: Splits,
    predictions: Codes,
    *,
    config: AuditConfig,
) -> AttackFindings:
    """Train one adversary under one protocol and let it guess the training records' sensitive attribute.

    Under "held_out" the attacker learns from the attack records and keeps the validation records apart; under
    "as_published" it learns from both and tunes on the model owner's test records, as Ferry et al.'s code does. The
    strong adversaries always guess from calibrated probabilities. Those that do not see the predictions are trained
    once for all models on the same records.
    """
    choice(kind, ATTACKERS, name="adversary")
    choice(protocol, PROTOCOLS, name="protocol")
    y, s = dataset.labels, dataset.sensitive
    learn, tune = (splits.attack, splits.validation) if protocol == "held_out" else (splits.known, splits.test)
    learn = taught(learn, config.seed)

    def ask() -> _Said:
        adversary = _trained_adversary(kind, dataset, learn, predictions, config)
        x = dataset.features
        about_attacked, about_tuned = (
            adversary.probability(x[rows], y[rows], predictions[rows]) for rows in (splits.train, tune)
        )
        return about_attacked, about_tuned

    if kind in _BLIND:
        key = fingerprint(kind, learn, splits.train, tune, config.seed, config.forest)
        attacked, held_out = dataset.once(("attacker", key), ask)
    else:
        attacked, held_out = ask()
    scale = calibrate(held_out, s[tune])

    def records(said: Floats, rows: npt.NDArray[np.intp]) -> AttackedRecords:
        calibrated = scale.apply(said)
        return AttackedRecords(
            probability=calibrated if kind in STRONG else said,
            calibrated=calibrated,
            predictions=predictions[rows],
            labels=y[rows],
            truth=s[rows],
        )

    tuned = records(held_out, tune)
    return AttackFindings(
        held_out_accuracy=accuracy(tuned.truth, tuned.guess),
        attacked=records(attacked, splits.train),
        held_out=tuned,
    )


def _trained_adversary(
    kind: str,
    dataset: AuditDataset,
    learn: npt.NDArray[np.intp],
    predictions: Codes,
    config: AuditConfig,
) -> Adversary:
    x, y, s = dataset.features[learn], dataset.labels[learn], dataset.sensitive[learn]
    if kind in STRONG:
        answers = predictions[learn] if kind == "strong_predictions" else None
        return train_strong(x, y, s, answers, categorical=dataset.categorical, seed=config.seed)
    parameters = None if config.forest is None else dict(config.forest)
    return train_adversary(kind, x, y, s, predictions[learn], seed=config.seed, parameters=parameters)


Report = Callable[[int, int], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditFindings(Result):
    """What an audit found."""

    config: AuditConfig
    title: str
    source: str
    synthetic: bool
    group_names: tuple[str, ...]
    groups: tuple[GroupRow, ...]
    """First group first."""
    n_features: int
    sizes: dict[str, int]
    """Records by set: train, attack, validation, test."""
    model: ModelFindings
    attacks: dict[tuple[str, str], AttackFindings]
    """(attacker, protocol) -> AttackFindings, attackers from `ATTACKERS`."""
    known_shares: tuple[float, ...]
    """Shares of the groups among the records whose attribute the attacker knows."""
    strong: Estimate
    strong_balanced: Estimate
    """Accuracy and balanced accuracy of the strong adversary on the training records: calibrated, told nothing, trained
    on the same records as the held-out forest."""
    shared: dict[str, int] = field(default_factory=dict)
    """How many of a set equal a training record in every column used."""

    def disclose(
        self,
        tolerance: float,
        *,
        adversary: str = "features",
        cost: str = "published",
        as_published: bool = False,
        permuted: bool = False,
        solver: str = "exact",
    ) -> Disclosure:
        """Tell one adversary the tolerance; see `core.correction.disclose`.

        `as_published` chooses the exponent on the test records (the strong adversaries keep to their own) and raises
        the tolerance until it is true. `permuted` is the control: the same guess, told the tolerance as it is, with
        permuted predictions, of its held-out records too (`core.correction.permuted_control`).
        """
        found, metric = self._attack(adversary, as_published), self.config.metric
        attacked, held_out = found.attacked, found.held_out
        if permuted:
            attacked = permuted_records(attacked, metric=metric, seed=self.config.seed, name="attacked")
            held_out = permuted_records(held_out, metric=metric, seed=self.config.seed, name="held out")
        return disclose(
            attacked,
            held_out,
            tolerance=tolerance,
            metric=metric,
            cost=cost,
            raise_until_true=as_published and not permuted,
            solver=solver,
        )

    def _attack(self, adversary: str, as_published: bool) -> AttackFindings:
        choice(adversary, ATTACKERS, name="adversary")
        return self.attacks[adversary, protocols_of(adversary)[-1] if as_published else PROTOCOLS[0]]

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
    """Run a whole audit; the data may be left out only for the built-in demo.

    `report` is called with (steps done, steps in all); it may raise `core.errors.Cancelled` to stop. Raises
    `InputError` if the configuration or the data break a rule.
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
    if dataset is None:
        if config.dataset != "demo":
            raise InputError(f"The dataset {config.dataset!r} must be passed in; only 'demo' is built in.")
        table = demo_table()
        dataset = build_dataset(table, config.roles or table.roles[0])
    splits = split(dataset, train_share=config.train_share, seed=config.seed)
    tick()
    model = train_model(config, dataset, splits)
    tick()
    attacks = {}
    for kind, protocol in pairs:
        attacks[kind, protocol] = attack_model(kind, protocol, dataset, splits, model.predictions, config=config)
        tick()
    told_nothing = attacks["strong", "held_out"].attacked
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
        known_shares=known_shares(dataset, splits),
        strong=accuracy(told_nothing.truth, told_nothing.guess),
        strong_balanced=balanced_accuracy(told_nothing.truth, told_nothing.guess),
    )
