"""One attacker on one model: trained where the attribute is known, asked about the people the model was trained on."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from core.adversaries import ADVERSARIES, STRONG, Adversary, calibrate, train_adversary, train_strong
from core.config import AuditConfig
from core.correction import AttackedRecords
from core.datasets.dataset import AuditDataset
from core.datasets.splits import Splits
from core.estimates import Estimate, accuracy
from core.results import Result
from core.validation import choice

__all__ = ["ATTACKERS", "PROTOCOLS", "AttackFindings", "attack_model", "protocols_of"]

ATTACKERS = (*ADVERSARIES, *STRONG)
"""The paper's A and A′, then the strong adversary without and with the predictions."""

PROTOCOLS = ("held_out", "as_published")
"""Where the attacker chooses the confidence exponent: on own held-out records, or on the test records as published."""


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
    strong adversaries always guess from calibrated probabilities.
    """
    choice(kind, ATTACKERS, name="adversary")
    choice(protocol, PROTOCOLS, name="protocol")
    x, y, s = dataset.features, dataset.labels, dataset.sensitive
    learn, tune = (splits.attack, splits.validation) if protocol == "held_out" else (splits.known, splits.test)
    adversary = _trained(kind, dataset, learn, predictions, config)
    raw = {
        name: adversary.probability(x[rows], y[rows], predictions[rows])
        for name, rows in (("attacked", splits.train), ("held_out", tune))
    }
    scale = calibrate(raw["held_out"], s[tune])

    def records(name: str, rows: npt.NDArray[np.intp]) -> AttackedRecords:
        calibrated = scale.apply(raw[name])
        return AttackedRecords(
            probability=calibrated if kind in STRONG else raw[name],
            calibrated=calibrated,
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
