"""What is said of a card: whose attribute is disclosed, in which draw, what chance explains, what was typed wrongly."""

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
    Published,
    Release,
    measure_card,
    release_of,
)
from core.studies.model_card import findings as card_findings
from core.studies.model_card.ceiling import Ceiling
from core.studies.model_card.release import Disputed, PublishedNumber, disputed
from tests.release_samples import card, people


@pytest.mark.parametrize(
    ("draws", "point"),
    [
        (Draws(count=20, pinned=0, known=True), " people. In the worst of 20 draws of the noise: 0."),
        (Draws(count=4, pinned=1, known=True), " people. In the worst of 4 draws of the noise: 1."),
        (Draws(count=20, pinned=0, known=False), "near-certain inference could not be computed in all of 20 draws of "),
    ],
)
def test_where_one_draw_discloses_nobody_the_headline_goes_by_the_worst(draws: Draws, point: str):
    study = card(12, epsilon=10.0)
    nobody = replace(study.pinned, people=np.arange(0), count=0, said=np.zeros(0, dtype=np.uint8), right=None)
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
    wrong = disputed_card(0.5)
    for variant in (with_bits(math.nan, math.nan), replace(above, disputed=wrong.disputed)):
        assert not card_findings.information_gain(variant).so_what


def test_a_guess_that_was_too_sure_gains_more_than_predicted():
    """The attacker's odds are twice too long: group sizes alone repair that, and more than predicted is gained."""
    q = people().posterior
    sure = np.clip(q**2 / (q**2 + 3 * (1 - q) ** 2), 0.01, 0.99)
    wrong = replace(people(), posteriors=np.column_stack([1 - sure, sure]))
    study = measure_card(wrong, ModelCardSettings(count=1, decimals=None))
    assert study.unpredicted == 1 and "the numbers correct it" in card_findings.information_gain(study).so_what


def test_numbers_that_hold_all_bits_are_not_said_to_determine_whom_nobody_can_be_certain_of():
    study = card(12)
    n = study.pinned.n_unsure
    full = replace(study, meter=replace(study.meter, joint_bits=study.meter.prior_bits + 1), ceiling=None)
    everybody, nearly_all = (replace(study.pinned, count=count) for count in (n, n - 1))
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
        pinned = replace(study.pinned, count=count)
        inferred = replace(study, pinned=pinned, measured=replace(study.measured, accuracy_gain=still), draws=None)
        assert ("The average hardly moves." in card_findings.headline(inferred).so_what) == hardly_moves


# Typed numbers against their table

H = np.array([1, 1, 1, 0, 1, 0, 0, 0])
S = np.array([1, 1, 1, 1, 0, 0, 0, 0])
Y = np.array([1, 1, 0, 1, 1, 0, 0, 0])


def typed(values: dict, **options: Any) -> Published:
    return Published.from_values(Release(H, labels=Y, names=["m"], **options), values)


@pytest.mark.parametrize(
    ("key", "value", "true"),
    [
        (("m", "sp_gap"), 0.5, 3 / 4 - 1 / 4),
        (("m", "sp_rate_1"), 0.75, 3 / 4),
        (("m", "sp_rate_0"), 0.25, 1 / 4),
        (("m", "tpr_gap"), -1 / 3, 2 / 3 - 1),
        (("m", "fpr_rate_0"), 0.0, 0 / 3),
        (("", "size"), 4, 4),
        (("", "size_label_1"), 3, 3),
        (("", "size_label_0"), 1, 1),
    ],
)
def test_each_number_by_hand(key: tuple[str, str], value: float, true: float):
    assert disputed(typed({key: value}), S) == ()
    (dispute,) = disputed(typed({key: 2 if key[0] == "" else (0.9, 1.0)}), S)
    assert (dispute.number.model, dispute.number.statistic) == key and dispute.table == pytest.approx(true)
    assert not dispute.turned and not dispute.rounded


def test_what_a_rounded_number_or_an_interval_holds_is_not_disputed():
    rate = ("m", "sp_rate_1")
    assert disputed(typed({rate: 0.8}, decimals=1), S) == ()  # 0.75 to 0.85
    (dispute,) = disputed(typed({rate: 0.67}, decimals=2), S)
    assert dispute.number.low == pytest.approx(0.665) and dispute.table == 0.75
    assert disputed(typed({rate: (0.6, 0.76)}), S) == () and len(disputed(typed({rate: 2 / 3}), S)) == 1
    (nobody,) = disputed(typed({("m", "sp_gap"): 0.5}), np.ones(8, dtype=int))
    assert math.isnan(nobody.table)
    assert "all in one group" in card_findings.disputes(replace(card(2), disputed=(nobody,))).evidence


def disputed_card(value: float) -> ModelCardResult:
    settings = ModelCardSettings(count=2, decimals=3)
    published = Published.from_values(release_of(people(), settings), {("model 1", "tpr_gap"): value})
    return measure_card(people(), settings, published=published)


def tpr_gap(decimals: int | None) -> PublishedNumber:
    return next(number for number in card(1, decimals=decimals).published.numbers if number.statistic == "tpr_gap")


def test_untrue_and_rounded_numbers():
    true = tpr_gap(3).value
    assert abs(true) > 0.01 and disputed_card(true).disputed == ()
    wrong = disputed_card(0.5)
    finding = card_findings.disputes(wrong)
    assert finding.point == "Typed numbers that this table does not give: 1."
    assert finding.evidence == (
        f"tpr_gap of model 1: typed 0.5, the table gives {tpr_gap(None).value:.6g}; a gap is the rate of north minus "
        "that of south."
    )
    assert card_findings.headline(wrong).point.endswith(" This assumes that the typed numbers are true.")
    assert "with the other sign it would be right" in card_findings.disputes(disputed_card(-true)).evidence
    many = card_findings.disputes(replace(wrong, disputed=wrong.disputed * 7))
    assert many.point.endswith(" give: 7.") and many.evidence.endswith("More typed numbers: 2.")
    true = tpr_gap(None)
    value = round(true.value, 2)
    rounded = Disputed(number=replace(true, value=value, low=value, high=value), table=true.value)
    assert rounded.rounded
    assert (
        "set publish.decimals if numbers are rounded"
        in card_findings.disputes(replace(card(2), disputed=(rounded,))).evidence
    )
    assert not replace(rounded, table=true.value + 0.01).rounded
    assert not replace(rounded, number=replace(rounded.number, low=value - 0.005)).rounded
