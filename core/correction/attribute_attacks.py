"""The attackers of one model, and what each makes of a disclosed tolerance.

The published A and A′ (Ferry et al. 2023), and gradient boosting without and with the model's predictions, guess the
attribute of the training records; that takes seconds. What they make of a tolerance is then asked of the result, which
is fast enough to follow a slider.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from core.adversaries import ADVERSARIES, STRONG, Adversary, AttackedRecords, calibrate, train_adversary, train_strong
from core.arrays import Codes, Floats
from core.config import AuditConfig
from core.correction.attribution import Attribution, attribute_leak
from core.correction.disclosure import Disclosure, disclose, permuted_records
from core.correction.knowledge import MoreDisclosed, disclose_more
from core.datasets.dataset import AuditDataset
from core.datasets.splits import Splits, known_shares, taught
from core.estimates import Estimate, accuracy
from core.fingerprint import fingerprint
from core.serialize import Result
from core.subject import ModelFindings, Subject
from core.validation import choice

ATTACKERS = {
    "features": "the published attack (A)",
    "predictions": "the published attack with the predictions (A′)",
    "strong": "gradient boosting",
    "strong_predictions": "gradient boosting with the predictions",
}
"""Ferry et al.'s A and A′, then the strong adversary without and with the predictions, and what sentences call them."""

KINDS = {"paper's": ("features", "predictions"), "strong": ("strong", "strong_predictions")}
"""Attacker -> its two kinds, without and with the audited model's predictions."""

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


def attack_saying(subject: Subject, probability: Floats) -> AttackFindings:
    """Return an attacker with these calibrated probabilities, (n, K), whose own records are the validation set."""

    def records(rows: npt.NDArray[np.intp]) -> AttackedRecords:
        return AttackedRecords(
            probability=probability[rows],
            calibrated=probability[rows],
            predictions=subject.model.predictions[rows],
            labels=subject.dataset.labels[rows],
            truth=subject.dataset.sensitive[rows],
        )

    held_out = records(subject.splits.validation)
    return AttackFindings(
        held_out_accuracy=accuracy(held_out.truth, held_out.guess),
        attacked=records(subject.splits.train),
        held_out=held_out,
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


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CorrectionResult:
    """What the attackers guess about the training records of a subject; a tolerance is told to them afterwards."""

    subject: Subject
    attacks: dict[tuple[str, str], AttackFindings]
    """(attacker, protocol) -> AttackFindings, attackers from `ATTACKERS`."""

    @property
    def config(self) -> AuditConfig:
        """The settings of the audit."""
        return self.subject.config

    @property
    def model(self) -> ModelFindings:
        """How accurate and how fair the audited model is."""
        return self.subject.model

    @property
    def group_names(self) -> tuple[str, ...]:
        """Names of the groups by code."""
        return self.subject.dataset.group_names

    @property
    def strong(self) -> Estimate:
        """Accuracy of imputation: gradient boosting from features and label, calibrated, without the model."""
        records = self.attacks["strong", "held_out"].attacked
        return accuracy(records.truth, records.guess)

    def attack(self, adversary: str, *, as_published: bool = False) -> AttackFindings:
        """Return one attacker; the strong ones are not in the paper and keep to records of their own."""
        choice(adversary, ATTACKERS, name="adversary")
        return self.attacks[adversary, protocols_of(adversary)[-1] if as_published else PROTOCOLS[0]]

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
        """Tell one attacker the tolerance, once; see `core.correction.disclose`.

        `as_published` chooses the exponent on the test records and raises the tolerance until it holds. `permuted` is
        the control: the same guess, told the tolerance as it is, with permuted predictions, of its held-out records too
        (`core.correction.permuted_control`).
        """
        found, metric = self.attack(adversary, as_published=as_published), self.config.metric

        def make() -> Disclosure:
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

        return self.subject.once(f"told {(tolerance, adversary, cost, as_published, permuted, solver)}", make)

    def disclose_more(
        self,
        tolerance: float,
        *,
        adversary: str = "features",
        cost: str = "published",
        as_published: bool = False,
    ) -> tuple[MoreDisclosed, ...]:
        """Tell one attacker more than a bound; see `core.correction.disclose_more`."""
        found = self.attack(adversary, as_published=as_published)
        return disclose_more(found.attacked, found.held_out, tolerance=tolerance, metric=self.config.metric, cost=cost)

    def explained(self, adversary: str, tolerance: float) -> Attribution:
        """Return the attribution of the published or the strong attacker, whichever an adversary is of; made once."""
        name = next(name for name, kinds in KINDS.items() if adversary in kinds)
        return self.subject.once(f"attribution {name} {tolerance!r}", lambda: self.attribution(name, tolerance))

    def attribution(self, name: str, tolerance: float, *, permuted: AttackFindings | None = None) -> Attribution:
        """Return what each piece of knowledge adds for one of `KINDS`, the tolerance told as it is."""
        without, with_predictions = (self.attacks[kind, "held_out"].attacked for kind in KINDS[name])
        return attribute_leak(
            name,
            without,
            with_predictions,
            prior=known_shares(self.subject.dataset, self.subject.splits),
            metric=self.config.metric,
            tolerance=tolerance,
            permuted=None if permuted is None else permuted.attacked,
        )
