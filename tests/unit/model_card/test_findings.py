"""What is said of a card: whose attribute is disclosed, in which draw, what chance explains, what was typed wrongly."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from core.model_card import (
    Advice,
    Draws,
    Published,
    Release,
    ReleaseSettings,
    ReleaseStudy,
    Tried,
    measure_card,
    release_of,
)
from core.model_card import findings as said
from core.model_card.release import Disputed, PublishedNumber, disputed
from core.study import Finding
from tests.release_samples import card, people


def words(*found: Finding) -> str:
    return " ".join(" ".join((f.point, f.evidence, f.so_what, f.to_do, *f.caveats)) for f in found)


def with_disclosed(
    study: ReleaseStudy, said_of: list[int], *, right: float = 1.0, share: float = 0.5, **names: Any
) -> ReleaseStudy:
    """Return a card that discloses so many people, where so many are in the group."""
    some = replace(
        study.pinned,
        people=np.arange(len(said_of)),
        count=len(said_of),
        said=np.array(said_of, dtype=np.uint8),
        right=replace(study.measured.majority, value=right) if said_of else None,
    )
    sensitive = (np.arange(study.n) < study.n * share).astype(np.uint8)
    return replace(study, pinned=some, people=replace(study.people, codes=sensitive, **names))


def noisy(count: int, worst: int, *, draws: int = 20, known: bool = True) -> ReleaseStudy:
    """Return a card with noise of which one draw discloses so many and the worst so many."""
    found = with_disclosed(card(12, epsilon=10.0), [i % 2 for i in range(count)])
    return replace(found, draws=Draws(count=draws, pinned=worst, known=known))


@pytest.mark.parametrize(
    ("study", "point"),
    [
        (noisy(0, 0), "reveal nobody's origin with near certainty in any of 20 draws of the noise."),
        (noisy(0, 1, draws=4), "certainty in this draw of the noise, but that of one person in the worst of 4 draws."),
        (
            noisy(2, 5, draws=3),
            "of 2 of 300 people with near certainty (both correct). In the worst of 3 draws it is 5.",
        ),
        (noisy(2, 2, draws=3), "reveal the origin of 2 of 300 people with near certainty (both correct)."),
        (noisy(0, 0, known=False), "near-certain inference could not be computed in all of 20 draws of the noise."),
        (
            with_disclosed(card(2), []),
            "Exact fairness numbers for 2 models reveal nobody's origin with near certainty.",
        ),
        (
            with_disclosed(card(1), [0, 1, 1], right=2 / 3),
            "for one model reveal the origin of 3 of 300 people with",
        ),
        (with_disclosed(card(1), [0, 1, 1], right=2 / 3), "(2 correct)."),
        (with_disclosed(card(2, decimals=1), [1], right=0.0), "Fairness numbers rounded to 1 decimal for 2 models"),
        (with_disclosed(card(2), [1], right=0.0), "(not correct)."),
    ],
)
def test_the_headline_goes_by_the_worst_draw(study: ReleaseStudy, point: str):
    found = said.headline(study)
    assert point in found.point
    assert found.estimate == study.measured.bits and found.baseline == study.measured.majority
    certain = said.near_certain(study)
    assert (
        (f"In the worst of {study.draws.count} draws: " in certain.evidence)
        == (study.draws.known or study.most_pinned > 0)
        if study.draws
        else "draw" not in certain.point + certain.evidence
    )
    assert "nobody" not in found.point or not study.pinned.count


def test_all_disclosed_as_what_most_people_are():
    def told(said_of: list[int], share: float, *more: str) -> str:
        names = ("south", "north", *more)
        return words(*said.findings(with_disclosed(card(12), said_of, share=share, group_names=names)))

    assert "All are inferred as “everybody else”, as 90% of people are." in told([0, 0], 0.1, "west")
    assert "All are inferred as “north”, as 80% of people are." in told([1], 0.8)
    for said_of, share in (([0, 1], 0.1), ([1, 1], 0.1), ([0], 0.5)):
        assert "All are inferred" not in told(said_of, share)
    assert "baseline (never guess “north”): " in told([0], 0.1, "west")
    assert "baseline (always guess “south”): " in told([0], 0.1) and "(always guess “north”): " in told([0], 0.9)


def test_whether_chance_explains_the_difference_is_said_by_where_the_prediction_lies():
    study = card(4)
    predicted = study.prediction.bits.value

    def with_bits(low: float, high: float, **more: Any) -> ReleaseStudy:
        bits = replace(study.measured.bits, low=low, high=high)
        return replace(study, measured=replace(study.measured, bits=bits), **more)

    above = with_bits(predicted + 1, predicted + 9)
    assert above.unpredicted == 1 and "More was gained than chance explains" in said.information_gain(above).so_what
    assert "(95% CI: 1.0 to 9.0)" in said.information_gain(above).so_what
    below = with_bits(predicted - 9, predicted - 1)
    assert below.unpredicted == -1 and "Less was gained" in said.information_gain(below).so_what
    inside = said.information_gain(with_bits(predicted - 1, predicted + 1))
    assert inside.so_what.startswith("Chance explains the difference")
    low, high = study.prediction.low, study.prediction.high
    assert f"95% of such cards give {low:.1f} to {high:.1f} bits." in inside.evidence
    wrong = disputed_card(0.5)
    for one in (with_bits(math.nan, math.nan), replace(above, disputed=wrong.disputed)):
        assert not said.information_gain(one).so_what


def test_a_guess_that_was_too_sure_gains_more_than_predicted():
    """The attacker's odds are twice too long: group sizes alone repair that, and more than predicted is gained."""
    q = people().posterior
    sure = np.clip(q**2 / (q**2 + 3 * (1 - q) ** 2), 0.01, 0.99)
    wrong = replace(people(), posteriors=np.column_stack([1 - sure, sure]))
    study = measure_card(wrong, ReleaseSettings(count=1, decimals=None))
    assert study.unpredicted == 1 and "the numbers correct it" in said.information_gain(study).so_what


@pytest.mark.parametrize(
    ("decimals", "epsilon", "point", "caveat"),
    [
        (2, 10.0, "Publish at most 2 decimals or DP noise with ε ≤ 10: then nobody's origin is disclosed", "20 draws"),
        (1, None, "Publish at most 1 decimal: then", "No noise tried is enough."),
        (None, 0.3, "Publish DP noise with ε ≤ 0.3: then", "Rounding to one decimal is not enough."),
        (None, None, "Publish fewer models", "these models only"),
    ],
)
def test_the_advice(decimals: int | None, epsilon: float | None, point: str, caveat: str):
    tried = (Tried(decimals=None, epsilon=10.0, pinned=int(epsilon != 10.0), df_bits=1.0),)
    found = said.advice(Advice(exact=False, decimals=decimals, epsilon=epsilon, tried=tried), card(2))
    assert found.point.startswith(point) and caveat in " ".join(found.caveats)


def test_what_to_publish_instead_is_less_than_this_card():
    nothing = Advice(exact=False, decimals=None, epsilon=None, tried=())
    one = replace(card(1, decimals=1), n_numbers=1)
    for study, fewer in (
        (card(2, decimals=1), "fewer models"),
        (card(1, decimals=1), "fewer numbers"),
        (one, "no number"),
    ):
        assert said.advice(nothing, study).point.startswith(f"Publish {fewer}: not even one decimal prevents")
        assert said.headline(with_disclosed(study, [0])).to_do == f"Add DP noise, or publish {fewer}."
    assert said.headline(with_disclosed(card(1), [0])).to_do == "Publish fewer decimals or add DP noise."
    assert said.headline(noisy(1, 1)).to_do == "Publish with a smaller ε, or fewer models."
    for study, what in (
        (with_disclosed(card(2), []), "these numbers"),
        (noisy(0, 0), "a draw of this noise with a secret"),
    ):
        assert said.headline(study).to_do.startswith(f"Publish {what}")


@pytest.mark.parametrize("decimals", [1, None])
def test_the_advice_on_a_card_without_sizes_says_nothing_of_noise(decimals: int | None):
    found = said.advice(Advice(exact=False, decimals=decimals, epsilon=None, tried=()), card(2))
    assert "noise tried" not in found.text and "DP noise was not tried" in found.caveats[-1]


# Typed numbers against their table

H = np.array([1, 1, 1, 0, 1, 0, 0, 0])
S = np.array([1, 1, 1, 1, 0, 0, 0, 0])
Y = np.array([1, 1, 0, 1, 1, 0, 0, 0])


def typed(values: dict, **told: Any) -> Published:
    return Published.from_values(Release(H, labels=Y, names=["m"], **told), values)


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
    (found,) = disputed(typed({key: 2 if key[0] == "" else (0.9, 1.0)}), S)
    assert (found.number.model, found.number.statistic) == key and found.table == pytest.approx(true)
    assert not found.turned and not found.rounded


def test_what_a_rounded_number_or_an_interval_holds_is_not_disputed():
    rate = ("m", "sp_rate_1")
    assert disputed(typed({rate: 0.8}, decimals=1), S) == ()  # 0.75 to 0.85
    (found,) = disputed(typed({rate: 0.67}, decimals=2), S)
    assert found.number.low == pytest.approx(0.665) and found.table == 0.75
    assert disputed(typed({rate: (0.6, 0.76)}), S) == () and len(disputed(typed({rate: 2 / 3}), S)) == 1
    (nobody,) = disputed(typed({("m", "sp_gap"): 0.5}), np.ones(8, dtype=int))
    assert math.isnan(nobody.table)
    assert "all in one group" in said.disputes(replace(card(2), disputed=(nobody,))).evidence


@pytest.mark.parametrize(
    ("name", "value", "ends"),
    [("sp_rate_1", 0.0, (0.0, 0.05)), ("sp_rate_1", 1.0, (0.95, 1.0)), ("sp_gap", -1.0, (-1.0, -0.95))],
)
def test_a_rounded_number_lies_within_what_its_statistic_can_be(name: str, value: float, ends: tuple[float, float]):
    (number,) = typed({("m", name): value}, decimals=1).numbers
    assert (number.low, number.high) == pytest.approx(ends, abs=1e-9)


def disputed_card(value: float) -> ReleaseStudy:
    settings = ReleaseSettings(count=2, decimals=3)
    published = Published.from_values(release_of(people(), settings), {("model 1", "tpr_gap"): value})
    return measure_card(people(), settings, published=published)


def tpr_gap(decimals: int | None) -> PublishedNumber:
    return next(number for number in card(1, decimals=decimals).published.numbers if number.statistic == "tpr_gap")


def test_untrue_numbers_are_said_with_what_a_gap_is_and_rounded_ones_told_apart():
    true = tpr_gap(3).value
    assert abs(true) > 0.01 and disputed_card(true).disputed == ()
    wrong = disputed_card(0.5)
    found = said.disputes(wrong)
    assert found.point == "One typed number is not what this table gives."
    assert found.evidence == (
        f"tpr_gap of model 1: typed 0.5, the table gives {tpr_gap(None).value:.6g}; a gap is the rate of north minus "
        "that of south."
    )
    assert said.headline(wrong).point.endswith(" This assumes that the typed numbers are true.")
    assert "with the other sign it would be right" in said.disputes(disputed_card(-true)).evidence
    many = said.disputes(replace(wrong, disputed=wrong.disputed * 7))
    assert many.point.startswith("7 typed numbers are not") and many.evidence.endswith("2 more typed numbers.")
    true = tpr_gap(None)
    value = round(true.value, 2)
    one = Disputed(number=replace(true, value=value, low=value, high=value), table=true.value)
    assert one.rounded
    assert "set publish.decimals if numbers are rounded" in said.disputes(replace(card(2), disputed=(one,))).evidence
    assert not replace(one, table=true.value + 0.01).rounded
    assert not replace(one, number=replace(one.number, low=value - 0.005)).rounded
