"""What is said of a card: whose attribute is disclosed, in which draw, what chance explains."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from core.studies.model_card import (
    Draws,
    ModelCardResult,
    ModelCardSettings,
    measure_card,
)
from core.studies.model_card import findings as card_findings
from core.studies.model_card.meter import Ceiling
from tests.release_samples import card, people


@pytest.mark.parametrize(
    ("draws", "point"),
    [
        (Draws(count=20, pinned=0, converged=True), " people. In the worst of 20 draws of the noise: 0."),
        (Draws(count=4, pinned=1, converged=True), " people. In the worst of 4 draws of the noise: 1."),
        (
            Draws(count=20, pinned=0, converged=False),
            "near-certain inference could not be computed in all of 20 draws of ",
        ),
    ],
)
def test_where_one_draw_discloses_nobody_the_headline_goes_by_the_worst(draws: Draws, point: str):
    study = card(12, epsilon=10.0)
    nobody = replace(study.pinned, people=np.arange(0), inferred=np.zeros(0, dtype=np.uint8), right=None)
    finding = card_findings.headline(replace(study, pinned=nobody, draws=draws))
    assert point in finding.point
    assert finding.estimate == study.measured.bits and finding.baseline == study.measured.majority


def test_whether_chance_explains_the_difference_is_said_by_where_the_prediction_lies():
    study = card(4)
    predicted = study.prediction.bits.value

    def with_bits(low: float, high: float, **more: Any) -> ModelCardResult:
        bits = replace(study.measured.bits, low=low, high=high)
        return replace(study, measured=replace(study.measured, bits=bits), **more)

    above = with_bits(predicted + 1, predicted + 9)
    assert (
        above.unpredicted == 1
        and "More was gained than chance explains" in card_findings.information_gain(above).so_what
    )
    assert "(95% CI: 1.0 to 9.0)" in card_findings.information_gain(above).so_what
    below = with_bits(predicted - 9, predicted - 1)
    assert below.unpredicted == -1 and "Less was gained" in card_findings.information_gain(below).so_what
    inside = card_findings.information_gain(with_bits(predicted - 1, predicted + 1))
    assert inside.so_what.startswith("Chance explains the difference")
    low, high = study.prediction.low, study.prediction.high
    assert f"95% of such cards give {low:.1f} to {high:.1f} bits." in inside.evidence
    assert not card_findings.information_gain(with_bits(math.nan, math.nan)).so_what


def test_a_guess_that_was_too_sure_gains_more_than_predicted():
    """The attacker's odds are twice too long: group sizes alone repair that, and more than predicted is gained."""
    q = people().posterior
    sure = np.clip(q**2 / (q**2 + 3 * (1 - q) ** 2), 0.01, 0.99)
    wrong = replace(people(), posteriors=np.column_stack([1 - sure, sure]))
    study = measure_card(wrong, ModelCardSettings(decimals=None))
    assert study.unpredicted == 1 and "the numbers correct it" in card_findings.information_gain(study).so_what


def test_numbers_that_hold_all_bits_are_not_said_to_determine_whom_nobody_can_be_certain_of():
    study = card(12)
    n = study.pinned.n_unsure
    full = replace(study, meter=replace(study.meter, joint_bits=study.meter.prior_bits + 1), ceiling=None)
    everybody, nearly_all = (replace(study.pinned, people=np.arange(count)) for count in (n, n - 1))
    unsure = "not everybody's attribute is near certain"
    assert unsure in card_findings.uncertainty_resolved(replace(full, pinned=nearly_all)).point
    sure = replace(full, pinned=everybody)
    assert card_findings.uncertainty_resolved(sure).point == "The numbers could determine everybody's attribute."
    for accuracy, expected in ((1.0, "could determine"), (0.858, unsure)):
        below = replace(sure, ceiling=Ceiling(accuracy=accuracy, exact=True))
        assert expected in card_findings.uncertainty_resolved(below).point


def test_the_average_is_said_to_hardly_move_where_few_are_inferred():
    study = card(12)
    still = replace(study.measured.accuracy_gain, value=0.0, low=-0.01, high=0.01)
    for count, hardly_moves in ((1, True), (study.n, False)):
        pinned = replace(study.pinned, people=np.arange(count))
        inferred = replace(study, pinned=pinned, measured=replace(study.measured, accuracy_gain=still), draws=None)
        assert ("The average hardly moves." in card_findings.headline(inferred).so_what) == hardly_moves
