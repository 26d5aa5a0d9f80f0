"""The constraint an attacker measures for herself: by hand, against direct computation, and over seeds."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.correction import EstimatedConstraint, estimate_constraint, identification_rate
from core.correction.knowledge import IDENTIFIABLE
from core.errors import InputError
from core.fairness import METRICS


def _people(cells: dict[tuple[object, int], tuple[int, int]]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return predictions, groups, labels of people given as (group, label) -> (people, accepted)."""
    rows = [(int(i < accepted), group, label) for (group, label), (n, accepted) in cells.items() for i in range(n)]
    predictions, groups, labels = zip(*rows, strict=True)
    return np.array(predictions), np.array(groups), np.array(labels)


def _direct(predictions: np.ndarray, groups: np.ndarray, labels: np.ndarray) -> dict[str, Fraction | None]:
    """Return the metrics in exact fractions, person by person; None where fewer than two groups can be compared."""
    people = list(zip(predictions.tolist(), groups.tolist(), labels.tolist(), strict=True))

    def worst(keep: tuple[int, ...]) -> Fraction | None:
        rows = [(p, g) for p, g, y in people if y in keep]
        present = sorted({g for _, g in rows})
        if len(present) < 2:
            return None
        overall = Fraction(sum(p for p, _ in rows), len(rows))
        answers = {g: [p for p, h in rows if h == g] for g in present}
        return max(abs(overall - Fraction(sum(a), len(a))) for a in answers.values())

    pe, eo = worst((0,)), worst((1,))
    both = None if pe is None or eo is None else max(pe, eo)
    return dict(zip(METRICS, (worst((0, 1)), pe, eo, both), strict=True))


def test_ten_people_by_hand() -> None:
    """Label 0: 1 of 3 and 1 of 2 accepted, 2 of 5 in all; label 1: 2 of 2 and 1 of 3, 3 of 5 in all.

    Predictive equality max(|2/5 - 1/3|, |2/5 - 1/2|) = 1/10; equal opportunity max(2/5, 3/5 - 1/3) = 2/5; groups
    3 of 5 and 2 of 5, statistical parity |1/2 - 3/5| = 1/10 as well: a tie, which goes to the one named first.
    """
    answers = _people({(0, 0): (3, 1), (1, 0): (2, 1), (0, 1): (2, 2), (1, 1): (3, 1)})
    found = estimate_constraint(*answers)
    assert found.unfairness == pytest.approx(
        {
            "statistical_parity": 0.1,
            "predictive_equality": 0.1,
            "equal_opportunity": 0.4,
            "equalized_odds": 0.4,
        }
    )
    assert found.n == 10
    assert found.metric == "statistical_parity" and found.tolerance == pytest.approx(0.1)


CASES = {
    # both groups accepted as often, differently within the labels
    "statistical_parity": {(0, 0): (10, 1), (1, 0): (10, 5), (0, 1): (10, 8), (1, 1): (10, 4)},
    "predictive_equality": {(0, 0): (10, 3), (1, 0): (20, 6), (0, 1): (10, 9), (1, 1): (10, 5)},
    "equal_opportunity": {(0, 0): (10, 1), (1, 0): (10, 4), (0, 1): (10, 7), (1, 1): (10, 7)},
}


@pytest.mark.parametrize("metric", IDENTIFIABLE)
def test_each_metric_that_can_be_named_is_named(metric: str) -> None:
    found = estimate_constraint(*_people(CASES[metric]))
    assert found.metric == metric and found.tolerance == 0.0
    assert min(value for name, value in found.unfairness.items() if name not in (metric, "equalized_odds")) > 0.04


@pytest.mark.parametrize("metric", IDENTIFIABLE)
def test_each_metric_is_named_among_four_groups_with_names(metric: str) -> None:
    """Doubling every group under another name changes no overall rate, and so nothing of the estimate."""
    names = {0: ("a", "b"), 1: ("c", "d")}
    cells = {(name, y): cell for (g, y), cell in CASES[metric].items() for name in names[int(str(g))]}
    found = estimate_constraint(*_people(cells))
    assert found.metric == metric and found.tolerance == pytest.approx(0.0, abs=1e-15)
    assert found.unfairness == pytest.approx(estimate_constraint(*_people(CASES[metric])).unfairness)


def test_a_third_group_can_change_the_name() -> None:
    cells: dict[tuple[object, int], tuple[int, int]] = dict(CASES["statistical_parity"])
    cells |= {(2, 0): (10, 3), (2, 1): (10, 10)}
    found = estimate_constraint(*_people(cells))
    # Rates 9/20, 9/20, 13/20 of 31/60 in all: |31/60 - 13/20| = 2/15. Label 0: 1, 5, 3 of 10, so 1/5.
    assert found.metric == "statistical_parity" and found.tolerance == pytest.approx(2 / 15)
    assert found.unfairness["predictive_equality"] == pytest.approx(0.2)


def test_ties_go_to_the_metric_named_first_and_never_to_equalized_odds() -> None:
    four = estimate_constraint(*_people({(0, 0): (10, 2), (1, 0): (10, 4), (0, 1): (10, 6), (1, 1): (10, 8)}))
    assert list(four.unfairness.values()) == pytest.approx([0.1] * 4)
    assert four.metric == "statistical_parity"
    three = estimate_constraint(*_people({(0, 0): (30, 6), (1, 0): (10, 4), (0, 1): (10, 6), (1, 1): (30, 24)}))
    assert list(three.unfairness.values()) == pytest.approx([0.2, 0.15, 0.15, 0.15])
    assert three.metric == "predictive_equality"
    perfect = _people({(0, 0): (10, 0), (1, 0): (10, 0), (0, 1): (10, 10), (1, 1): (10, 10)})
    assert estimate_constraint(*perfect).metric == "statistical_parity"  # all four are 0


people = st.lists(st.tuples(st.integers(0, 1), st.integers(0, 4), st.integers(0, 1)), min_size=2, max_size=40)


@given(people)
def test_agrees_with_direct_computation_for_any_number_of_groups(rows: list[tuple[int, int, int]]) -> None:
    predictions, groups, labels = (np.array(column) for column in zip(*rows, strict=True))
    expected = _direct(predictions, groups, labels)
    if expected["statistical_parity"] is None:
        with pytest.raises(InputError, match="at least two groups, got 1"):
            estimate_constraint(predictions, groups, labels)
        return
    found = estimate_constraint(predictions, groups, labels)
    for metric, value in expected.items():
        assert (value is None) == math.isnan(found.unfairness[metric])
        if value is not None:
            assert found.unfairness[metric] == pytest.approx(float(value), abs=1e-12)
    known = {metric: value for metric, value in expected.items() if value is not None}
    assert found.tolerance == pytest.approx(float(min(known.values())), abs=1e-12)
    assert found.metric == next(metric for metric, value in known.items() if value == min(known.values()))
    assert found.metric != "equalized_odds"


def test_what_cannot_be_measured_is_not_mistaken_for_perfect_fairness() -> None:
    """Only one group among the people with label 1: no metric that looks there has anything to compare."""
    found = estimate_constraint(*_people({(0, 0): (10, 1), (1, 0): (10, 4), (1, 1): (10, 7)}))
    assert math.isnan(found.unfairness["equal_opportunity"]) and math.isnan(found.unfairness["equalized_odds"])
    assert found.metric == "predictive_equality" and found.tolerance == pytest.approx(0.15)
    nobody = estimate_constraint(*_people({(0, 1): (10, 1), (1, 1): (10, 4)}))
    assert nobody.metric == "statistical_parity" and math.isnan(nobody.unfairness["predictive_equality"])


@pytest.mark.parametrize(
    ("predictions", "sensitive", "labels", "words"),
    [
        ([0, 2], [0, 1], [0, 1], "predictions must hold only 0 and 1, got 2"),
        ([0, 1], [0, 1], [0, 3], "labels must hold only 0 and 1, got 3"),
        ([0, 1], [0, 1, 1], [0, 1], "same length"),
        ([0, 1], [1, 1], [0, 1], "at least two groups, got 1"),
        ([0, 1], [[1], [0]], [0, 1], "sensitive must be one-dimensional, got 2"),
        ([0, 1], np.array(["a", 1], dtype=object), [0, 1], "got a mix that cannot be ordered"),
        ([], [], [], "at least two groups, got 0"),
    ],
)
def test_bad_records_are_told(predictions: object, sensitive: object, labels: object, words: str) -> None:
    with pytest.raises(InputError, match=words):
        estimate_constraint(predictions, sensitive, labels)  # type: ignore[arg-type]


def _named(metric: str, tolerance: float = 0.01) -> EstimatedConstraint:
    return EstimatedConstraint(metric=metric, tolerance=tolerance, unfairness=dict.fromkeys(METRICS, 0.5), n=9)


def test_identification_over_four_seeds_by_hand() -> None:
    sp, pe = "statistical_parity", "predictive_equality"
    estimates = [_named(sp, 0.01), _named(sp, 0.03), _named(pe, 0.02), _named(sp, 0.02)]
    found = identification_rate(estimates, trained=sp, unmitigated=[_named(pe)] * 3 + [_named(sp)])
    assert found.rate is not None and found.unmitigated is not None
    # Wilson (1927) for 3 of 4 with z = 1.95996: centre .6225, half width .3219.
    assert (found.rate.value, found.rate.low, found.rate.high) == pytest.approx((0.75, 0.3006, 0.9544), abs=5e-5)
    assert found.rate.n == found.n == 4
    assert found.unmitigated.value == 0.25
    assert found.control_of_three == 1 / 3
    assert [found.shares[metric].value for metric in METRICS] == [0.75, 0.25, 0.0, 0.0]


def test_equalized_odds_is_never_identified_and_its_control_says_so() -> None:
    found = identification_rate([_named("predictive_equality")] * 5, trained="equalized_odds")
    assert found.rate is not None and found.rate.value == 0.0 and found.rate.high < 0.5
    assert found.control_of_three == 0.0


def test_a_method_trained_for_no_metric_has_shares_only() -> None:
    found = identification_rate([_named("equal_opportunity")], trained=None)
    assert found.rate is None and found.control_of_three is None
    assert found.shares["equal_opportunity"].value == 1.0


def test_bad_rates_are_told() -> None:
    with pytest.raises(InputError, match="at least one seed, got none"):
        identification_rate([], trained=None)
    with pytest.raises(InputError, match="trained must be one of"):
        identification_rate([_named("equal_opportunity")], trained="magic")
