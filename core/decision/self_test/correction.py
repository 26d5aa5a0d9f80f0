"""The attribute recovered from a fairness promise: guesses before and after the audit's correction."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from core.attack import AttackFindings
from core.correction import AttackedRecords
from core.decision.attacks.inference import CORRECTED
from core.decision.audited import Audited
from core.decision.measures.correction_gain import correction_gain
from core.decision.self_test.audited import audit_of
from core.decision.self_test.people import draw_people, posterior
from core.decision.self_test.trial import Run, Trial, called, each
from core.estimates import accuracy

_CORRECTED_SETS = (400, 400, 100)
_MISLED = 0.5
"""Chance that an answer which is not what the attacker expects of a group misleads her."""


def _promise_leaks(run: Run) -> bool:
    rng = run.rng
    people = draw_people(sum(_CORRECTED_SETS), rng)
    predictions = (rng.random(sum(_CORRECTED_SETS)) < 0.5).astype(np.uint8)
    audited = audit_of(people, predictions, _CORRECTED_SETS, seed=run.seed)
    for kind in CORRECTED:
        p = posterior(people, noise=0.3 * rng.standard_normal(sum(_CORRECTED_SETS)))
        if run.planted:
            p = _misled(people.sensitive, predictions, rng)
        _tell(audited, kind, p)
    return called(correction_gain(audited), 0.0)


def _misled(
    sensitive: npt.NDArray[np.uint8], predictions: npt.NDArray[np.uint8], rng: np.random.Generator
) -> npt.NDArray[np.float64]:
    """Return P(group 1) of an attacker who takes some for group 1 because they were accepted, and is unsure of them.

    The model is fair, so whoever is told so can find them all: about a quarter of the people.
    """
    p = np.where(sensitive == 1, 0.9, 0.1)
    wrong = (predictions != sensitive) & (rng.random(sensitive.size) < _MISLED)
    return np.where(wrong, np.where(predictions == 1, 0.6, 0.4), p)


def _tell(audited: Audited, kind: str, p: npt.NDArray[np.float64]) -> None:
    """Let an attacker of the audit say these probabilities."""
    both = np.column_stack([1.0 - p, p])

    def records(rows: npt.NDArray[np.intp]) -> AttackedRecords:
        return AttackedRecords(
            probability=both[rows],
            calibrated=both[rows],
            predictions=audited.model.predictions[rows],
            labels=audited.dataset.labels[rows],
            truth=audited.dataset.sensitive[rows],
        )

    held_out = records(audited.splits.validation)
    found = AttackFindings(
        held_out_accuracy=accuracy(held_out.truth, held_out.guess),
        attacked=records(audited.splits.train),
        held_out=held_out,
    )
    audited.once(f"attack {kind}", lambda: found)


CORRECTION_TRIALS = (
    Trial(
        attack="Attribute recovered from the fairness promise",
        told="Null: the promise is about answers dealt out by chance. Planted: a fair model, and attackers who take "
        "accepted people for one group.",
        leaks=each("correction", _promise_leaks),
        share=0.5,
    ),
)
