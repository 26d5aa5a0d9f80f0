"""The sentences and the card of AttriGuard that depend on how things turn out."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from core.attriguard import Guesses, Study, TableSettings
from core.estimates import Estimate
from pages.common import attriguard_sections as sections
from pages.common import attriguard_words as words
from pages.common.attriguard_controls import Defence

DEFENCE = Defence(settings=TableSettings())
"""Any settings: the sentences follow the numbers."""


def study(*, read: int, trained: int, clean: int = 95) -> Study:
    """Return 100 people, 80 of value 0: classifier and trained attacker read the truth of so many under all noise."""
    truth = np.repeat([0, 1], [80, 20])
    size = np.tile([0, 1], (100, 1))
    size[80:] = [1, 0]

    def guesses(name: str, right: int) -> Guesses:
        named = np.where(np.arange(100) < right, truth, 1 - truth)
        without = np.where(np.arange(100) < clean, truth, 1 - truth)
        return Guesses(attacker=name, clean=without, noisy=np.column_stack([named, named]))

    return Study(
        title="people",
        attribute="town",
        unit="columns",
        values=("Ulm", "Bonn"),
        truth=truth,
        predicted=truth,
        size=size,
        found=np.ones((100, 2), dtype=bool),
        target=np.array([0.5, 0.5]),
        shares=np.array([0.8, 0.2]),
        guesses=(guesses("logistic", read), guesses("adversarial", trained)),
    )


def told(read: int, trained: int, budget: float = 0.5, clean: int = 95) -> tuple[str, str]:
    found = study(read=read, trained=trained, clean=clean)
    return words.finding(found, found.at(budget), DEFENCE, state="finished", learning="")


def test_an_attacker_above_the_majority_guess_is_compared_with_herself():
    point, grey = told(read=90, trained=93)
    assert "of 90% of people correctly instead of" in point
    assert point.endswith("the best attacker (adversarial training) still reaches 93%.")
    assert "Without noise" not in grey and "Baseline: always naming “Ulm” reaches 80%" in grey


def test_an_attacker_below_the_majority_guess_is_no_success_of_the_noise():
    point, grey = told(read=40, trained=70)
    assert "of 40% of people correctly, below the baseline (80%);" in point and "instead of" not in point
    assert point.endswith("reaches 70%, no more than the baseline.")
    assert "Without noise:" in grey


def test_the_budget_is_a_most_and_what_was_used_stands_below():
    point, grey = told(read=90, trained=93)
    assert point.startswith("With up to 0.5 columns changed per person, logistic regression infers")
    assert "0.50 columns used on average" in grey


def test_without_noise_nobody_still_knows_and_nobody_is_named_twice():
    point, grey = told(read=90, trained=93, budget=0.0)
    assert point.startswith("Without noise, logistic regression") and "still" not in point
    assert "used" not in grey


@pytest.mark.parametrize(("clean", "little"), [(95, False), (83, True)])
def test_where_nobody_beats_the_majority_guess_there_is_little_to_hide(clean: int, little: bool):
    _, grey = told(read=70, trained=75, clean=clean)
    assert ("Little to hide: even without noise the best attacker reaches only 83%." in grey) == little


def test_a_card_of_many_values_has_a_row_a_value():
    cells = {"item": ["app 1", "app 2"], "now": ["–", "0.4"], "Ulm": ["1", ""], "Bonn": ["", ""], "Kiel": ["1", "–"]}
    listed = sections._by_value(pd.DataFrame(cells))
    assert listed["to be read as"].tolist() == ["Ulm", "Bonn", "Kiel"]
    assert listed["what changes"].tolist() == ["app 1: – → 1", "nothing", "app 1: – → 1, app 2: 0.4 → –"]


@pytest.mark.parametrize("value", ["to be read as men", "men"])
def test_a_card_of_a_table_names_its_values_plainly(value: str):
    cells = {"column": ["age"], "without noise": ["40"], value: ["41"]}
    assert sections._by_value(pd.DataFrame(cells)).iloc[0].tolist() == ["men", "age: 40 → 41"]


def test_what_is_there_of_a_study_is_not_worded_as_its_result():
    whole = study(read=40, trained=70)
    fooled = np.array([0.5, 0.4])
    assert sections._least(whole, fooled[:1], False) == "“Logistic” is fooled by 50% of this noise"
    assert sections._least(whole, fooled, False).endswith("is fooled least so far: by 40% of this noise")
    assert sections._least(whole, fooled, True).endswith("is fooled least: by 40% of this noise")


def test_where_there_is_no_noise_no_share_is_told():
    assert sections._margin_helps(np.nan, np.nan) == "No noise was found against logistic regression"
    assert sections._margin_helps(0.5, np.nan).endswith("with a margin no noise was found")
    assert sections._margin_helps(0.5, 0.75).startswith("50% of") and sections._margin_helps(0.5, 0.75).endswith("75%")


def estimate(value: float, half: float) -> Estimate:
    return Estimate(value=value, low=value - half, high=value + half, n=400)


def test_a_change_within_the_interval_is_no_change():
    told = sections.unfairness_told
    assert told(estimate(0.068, 0.02), estimate(0.042, 0.03)).startswith(
        "shows no statistically significant change: 0.042 (95% 0.012"
    )
    assert told(estimate(0.05, 0.02), estimate(0.05, 0.0)).startswith("shows no statistically significant change")
    assert told(estimate(0.09, 0.02), estimate(0.04, 0.01)) == "changes from 0.090 to 0.040 (95% 0.030 to 0.050)"
    said = sections.recommended_told(estimate(0.12, 0.02), estimate(0.1, 0.01), 10)
    assert said == "10.0% of the ten items recommended are right (95% 9.0 to 11.0%), instead of 12.0%"
    assert "no statistically significant change from 10.0%" in sections.recommended_told(
        estimate(0.1, 0.01), estimate(0.1, 0.01), 10
    )


def test_the_guide_names_the_attackers_that_are_there_and_no_others():
    explained = words.guide(study(read=90, trained=93), DEFENCE)
    assert "*Logistic* learned on clean records" in explained and "*noise-trained* learned" in explained
    assert not any(name in explained.lower() for name in ("boosting", "distilled", "region", "low rank", "one-vs-rest"))
    assert "each person's noise is one draw" in explained and "kinks" not in explained
    twice = study(read=90, trained=93)
    first = twice.guesses[1]
    trained = (replace(first, trained_at=0.25), replace(first, trained_at=0.5))
    explained = words.guide(replace(twice, guesses=(twice.guesses[0], *trained)), DEFENCE)
    assert "at a budget of 0.25, 0.5;" in explained and "kinks" in explained


def test_values_that_cannot_be_reached_are_named():
    whole = study(read=90, trained=93)
    assert words.missing(whole) == ""
    found = whole.found.copy()
    found[:20, 1] = False  # of the 80 who are read as Ulm
    assert "to be read as “Bonn” for 25% of the people who are read otherwise" in words.missing(
        replace(whole, found=found)
    ).replace(".0%", "%")


def test_pairs_without_noise_are_told_only_where_there_are_some():
    assert sections.unreached(0) == "" and "1 time no noise" in sections.unreached(1)
    assert "1,200 times no noise was found" in sections.unreached(1200)
