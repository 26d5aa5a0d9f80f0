"""What is said of a card: whose attribute is disclosed, in which draw, what chance explains."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from core.studies.model_card import (
    Draws,
    ModelCardSettings,
    measure_card,
)
from core.studies.model_card import findings as card_findings
from core.studies.model_card.meter import Ceiling
from tests.release_samples import card, people


@pytest.mark.parametrize(
    ("draws", "point"),
    [
        (Draws(count=20, pinned=0, converged=True), "In the worst of 20 draws of the noise: 0."),
        (Draws(count=4, pinned=1, converged=True), "In the worst of 4 draws of the noise: 1."),
        (Draws(count=20, pinned=0, converged=False), "could not be computed in all of 20 draws of "),
    ],
)
def test_where_one_draw_discloses_nobody_the_headline_goes_by_the_worst(draws: Draws, point: str):
    study = card(12, epsilon=10.0)
    nobody = replace(study.pinned, people=np.arange(0), inferred=np.zeros(0, dtype=np.uint8), right=None)
    assert point in card_findings.headline(replace(study, pinned=nobody, draws=draws)).point


@pytest.mark.parametrize(
    ("low", "high", "unpredicted", "so_what"),
    [
        (1, 9, 1, "More was gained than chance explains"),
        (-9, -1, -1, "Less was gained"),
        (-1, 1, 0, "Chance explains the difference"),
    ],
)
def test_chance_explains_a_gain_whose_interval_holds_the_prediction(low, high, unpredicted, so_what):
    study = card(4)
    predicted = study.prediction.bits.value
    bits = replace(study.measured.bits, low=predicted + low, high=predicted + high)
    study = replace(study, measured=replace(study.measured, bits=bits))
    assert study.unpredicted == unpredicted
    assert so_what in card_findings.information_gain(study).so_what


def test_a_guess_that_was_too_sure_gains_more_than_predicted():
    """The attacker's odds are twice too long: group sizes alone repair that, and more than predicted is gained."""
    q = people().posterior
    sure = np.clip(q**2 / (q**2 + 3 * (1 - q) ** 2), 0.01, 0.99)
    wrong = replace(people(), posteriors=np.column_stack([1 - sure, sure]))
    study = measure_card(wrong, ModelCardSettings(decimals=None))
    assert study.unpredicted == 1
    assert "the numbers correct it" in card_findings.information_gain(study).so_what


@pytest.mark.parametrize(
    ("certain", "accuracy", "everybody"), [(-1, None, False), (0, None, True), (0, 1.0, True), (0, 0.858, False)]
)
def test_everybody_is_determined_where_all_are_near_certain_and_no_ceiling_forbids_it(certain, accuracy, everybody):
    study = card(12)
    pinned = replace(study.pinned, people=np.arange(study.pinned.n_unsure + certain))
    meter = replace(study.meter, joint_bits=study.meter.prior_bits + 1)
    ceiling = None if accuracy is None else Ceiling(accuracy=accuracy, exact=True)
    point = card_findings.uncertainty_resolved(replace(study, meter=meter, pinned=pinned, ceiling=ceiling)).point
    assert (point == "The numbers could determine everybody's attribute.") == everybody
    assert ("not everybody's attribute is near certain" in point) != everybody
