"""Typed numbers against their table, what differs from the prediction, and what everybody pinned is settled as."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from core.model_card import (
    Published,
    Release,
    ReleaseSettings,
    ReleaseStudy,
    dispute,
    release_of,
    settled_as_most,
    study,
    unpredicted,
)
from core.model_card.release import Disputed, PublishedNumber, disputed
from tests.release_samples import card, people

H = np.array([1, 1, 1, 0, 1, 0, 0, 0])
S = np.array([1, 1, 1, 1, 0, 0, 0, 0])
Y = np.array([1, 1, 0, 1, 1, 0, 0, 0])


def release(**told: object) -> Release:
    return Release(H, labels=Y, names=["m"], **told)  # type: ignore[arg-type]


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
    told = Published.from_values(release(), {key: value})
    assert disputed(told, S) == ()
    off = Published.from_values(release(), {key: 2 if key[0] == "" else (0.9, 1.0)})
    (found,) = disputed(off, S)
    assert (found.number.model, found.number.statistic) == key and found.table == pytest.approx(true)
    assert not found.turned and not found.rounded


def test_what_a_rounded_number_or_an_interval_holds_is_not_disputed():
    assert disputed(Published.from_values(release(decimals=1), {("m", "sp_rate_1"): 0.8}), S) == ()  # 0.75 to 0.85
    (found,) = disputed(Published.from_values(release(decimals=2), {("m", "sp_rate_1"): 0.67}), S)
    assert found.number.low == pytest.approx(0.665) and found.table == 0.75
    assert disputed(Published.from_values(release(), {("m", "sp_rate_1"): (0.6, 0.76)}), S) == ()
    assert len(disputed(Published.from_values(release(), {("m", "sp_rate_1"): 2 / 3}), S)) == 1


def test_a_group_that_has_nobody_gives_no_number():
    (found,) = disputed(Published.from_values(release(), {("m", "sp_gap"): 0.5}), np.ones(8, dtype=int))
    assert math.isnan(found.table)


def typed(value: float, *, decimals: int | None = 3) -> ReleaseStudy:
    settings = ReleaseSettings(count=2, decimals=decimals)
    published = Published.from_values(release_of(people(), settings), {("model 1", "tpr_gap"): value})
    return study(people(), settings, published=published)


def tpr_gap(decimals: int | None) -> PublishedNumber:
    numbers = study(people(), ReleaseSettings(count=1, decimals=decimals)).published.numbers
    return next(number for number in numbers if number.statistic == "tpr_gap")


def test_a_study_of_untrue_numbers_says_so_and_what_a_gap_is():
    true = tpr_gap(3).value
    assert abs(true) > 0.01 and typed(true).disputed == ()
    wrong = typed(0.5)
    told = dispute(wrong.disputed[0], wrong)
    assert told.startswith(f"typed as 0.5, but the table gives {tpr_gap(None).value:.6g};")
    assert told.endswith("; a gap is the rate of north minus that of south")
    turned = typed(-true)
    assert turned.disputed[0].turned and "with the other sign it would be right" in dispute(turned.disputed[0], turned)
    assert wrong.to_dict()["disputed"][0]["number"]["value"] == 0.5


def test_a_rounded_number_that_counts_as_exact_is_told_apart():
    true = tpr_gap(None)
    value = round(true.value, 2)
    one = Disputed(number=replace(true, value=value, low=value, high=value), table=true.value)
    assert one.rounded and "tell publish.decimals where numbers are rounded" in dispute(one, card(2))
    assert not replace(one, table=true.value + 0.01).rounded
    assert not replace(one, number=replace(one.number, low=value - 0.005)).rounded


def with_bits(low: float, high: float) -> ReleaseStudy:
    found = card(4)
    bits = replace(found.measured.bits, low=low, high=high)
    return replace(found, measured=replace(found.measured, bits=bits))


def test_whether_chance_explains_the_difference_is_said_by_where_the_prediction_lies():
    prediction = card(4).prediction
    predicted = prediction.bits.value
    above, below = with_bits(predicted + 1, predicted + 9), with_bits(predicted - 9, predicted - 1)
    assert above.unpredicted == 1 and "More was gained than chance gives: " in unpredicted(above)
    assert "(95% CI: 1.0 to 9.0)" in unpredicted(above) and "the numbers repair it" in unpredicted(above)
    assert below.unpredicted == -1 and "Less was gained than chance gives: " in unpredicted(below)
    inside = unpredicted(with_bits(predicted - 1, predicted + 1))
    assert inside.startswith("Measured and predicted bits differ by no more than chance gives: ")
    for sentence in (unpredicted(above), unpredicted(below), inside):
        assert f"95% of such cards give {prediction.low:.1f} to {prediction.high:.1f} bits" in sentence
    assert unpredicted(with_bits(math.nan, math.nan)) == ""
    assert unpredicted(replace(above, status="infeasible")) == ""
    assert unpredicted(replace(above, disputed=typed(0.5).disputed)) == ""


def test_a_guess_that_was_too_sure_gains_more_than_predicted():
    """The attacker's odds are twice too long: group sizes alone repair that, and more than predicted is gained."""
    q = people().posterior
    wrong = replace(people(), posterior=np.clip(q**2 / (q**2 + 3 * (1 - q) ** 2), 0.01, 0.99))
    found = study(wrong, ReleaseSettings(count=1, decimals=None))
    assert found.unpredicted == 1 and "repair" in unpredicted(found)


def settled(said: list[int], share: float) -> tuple[str, float] | None:
    sensitive = (np.arange(300) < 300 * share).astype(np.uint8)
    found = card(2)
    return settled_as_most(
        replace(found, pinned=replace(found.pinned, said=np.array(said, dtype=np.uint8))),
        replace(people(), sensitive=sensitive),
    )


def test_everybody_settled_as_what_most_people_are():
    assert settled([0, 0], 0.1) == ("south", 0.9) and settled([1], 0.75) == ("north", 0.75)
    assert settled([0, 1], 0.1) is None and settled([1, 1], 0.1) is None and settled([], 0.1) is None
    assert settled([0], 0.5) is None
