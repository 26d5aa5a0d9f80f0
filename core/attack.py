"""One attacker on one model: trained where the attribute is known, asked about the people the model was trained on."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from core.adversaries import ADVERSARIES, STRONG, Adversary, calibrate, train_adversary, train_strong
from core.config import AuditConfig
from core.correction import AttackedRecords
from core.datasets.dataset import AuditDataset
from core.datasets.splits import Splits, taught
from core.estimates import Estimate, accuracy
from core.fingerprint import fingerprint
from core.results import Result
from core.validation import choice

ATTACKERS = (*ADVERSARIES, *STRONG)
"""The paper's A and A′, then the strong adversary without and with the predictions."""

PROTOCOLS = ("held_out", "as_published")
"""Where the attacker chooses the confidence exponent: on own held-out records, or on the test records as published."""

_Said = tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]
"""An attacker's probabilities for the attacked and for the held-out records."""

_BLIND = ("features", "strong")
"""Those that do not see the model: asked once for all models on the same records."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AttackFindings(Result):
    """One adversary on the training records.

    Attributes
    ----------
    held_out_accuracy : Estimate
        Accuracy on the records its exponent and calibration come from: the attacker's own held-out ones, as published
        the test records.
    attacked, held_out : AttackedRecords
        What it says of the training records, and of the records its exponent is chosen on.
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
    predictions: npt.NDArray[np.uint8],
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
        adversary = _trained(kind, dataset, learn, predictions, config)
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

    def records(said: npt.NDArray[np.float64], rows: npt.NDArray[np.intp]) -> AttackedRecords:
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


def _trained(
    kind: str,
    dataset: AuditDataset,
    learn: npt.NDArray[np.intp],
    predictions: npt.NDArray[np.uint8],
    config: AuditConfig,
) -> Adversary:
    x, y, s = dataset.features[learn], dataset.labels[learn], dataset.sensitive[learn]
    if kind in STRONG:
        answers = predictions[learn] if kind == "strong_predictions" else None
        return train_strong(x, y, s, answers, categorical=dataset.categorical, seed=config.seed)
    parameters = None if config.forest is None else dict(config.forest)
    return train_adversary(kind, x, y, s, predictions[learn], seed=config.seed, parameters=parameters)
