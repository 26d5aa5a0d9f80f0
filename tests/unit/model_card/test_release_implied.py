"""Group sizes nobody published: found where the numbers fit one size alone, and never a wrong one."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from core.errors import InputError
from core.model_card import Published, Release, pinned, project
from core.model_card.equations import equations
from tests.release_cases import large_case, small_case


def sizes_of(release: Release, vectors: np.ndarray, part: str) -> set[int]:
    return set((vectors * release.mask(part)).sum(axis=1).tolist())


@pytest.mark.parametrize("precision", ["exact", "rounded"])
def test_a_size_is_known_only_where_all_vectors_that_agree_have_it(precision: str):
    found = 0
    for seed in range(40):
        case = small_case(seed, precision=precision, sizes=False)
        if case.release.n > 8:
            continue
        numbers = [number.value for number in case.published.numbers]
        agreeing = []
        for vector in product((0, 1), repeat=case.release.n):
            try:
                told = case.release.publish(np.array(vector)).numbers
            except InputError:
                continue  # a group would be empty
            if np.allclose([number.value for number in told], numbers, atol=1e-9):
                agreeing.append(vector)
        assert case.published.counts is not None
        for part, size in case.published.counts.sizes.items():
            found += 1
            assert sizes_of(case.release, np.array(agreeing), part) == {size}
    assert found >= (5 if precision == "exact" else 1)


@pytest.mark.parametrize("decimals", [None, 3, 2])
def test_leaving_the_sizes_out_hides_nobody_in_a_small_table(decimals: int | None):
    """Twenty models about 200 people: their numbers fit one size of each group, so the same people are pinned down."""
    case = large_case(3, n=200, k=20, decimals=decimals)
    release = Release(case.release.predictions, labels=case.release.labels, sizes=False, decimals=decimals)
    without = release.publish(case.sensitive)
    assert without.counts is not None and case.published.counts is not None
    assert without.counts.sizes == case.published.counts.sizes
    found, known = (pinned(case.posterior, project(case.posterior, p).probability) for p in (without, case.published))
    assert known.count > 10 and found.people.tolist() == known.people.tolist()


def test_coarse_numbers_leave_many_sizes():
    case = large_case(3, n=1000, k=3, sizes=False, decimals=1, statistics=("sp_gap",))
    assert case.published.counts is not None and not case.published.counts.sizes


@pytest.mark.parametrize("n", [200, 1000])
@pytest.mark.parametrize("statistics", [("sp_gap",), ("sp_rate", "tpr_gap")])
def test_the_truth_meets_the_equations_of_groups_of_unknown_size(statistics: tuple[str, ...], n: int):
    """At the truth a gap's line is no approximation: it touches the curve there."""
    for seed in range(6):
        case = large_case(seed, n=n, k=3, sizes=False, decimals=1, statistics=statistics)
        assert case.published.counts is not None and not case.published.counts.sizes
        told = equations(case.published, case.sensitive.astype(float))
        sums = told.features @ case.release.cells.expected(case.sensitive.astype(float))
        assert told.curved and told.low.size >= 3
        assert (told.low - 1e-9 <= sums).all() and (sums <= told.high + 1e-9).all()


def test_numbers_that_no_size_fits():
    release = Release(np.array([[1, 1, 1, 0, 0, 0, 0]]), statistics=("sp_rate",), names=["a"])
    with pytest.raises(InputError, match="contradict each other: no sizes of the groups make whole people") as caught:
        Published.from_values(release, {("a", "sp_rate_1"): 0.123})
    assert str(caught.value).count(". ") == 0


def test_a_group_size_among_nobody_is_nothing():
    release = Release(np.array([[1, 1, 0, 0]]), labels=np.zeros(4, dtype=int), statistics=("sp_gap",))
    published = Published.from_values(release, {("", "size_label_1"): 0, ("", "size"): 2, ("model 1", "sp_gap"): 0.0})
    assert published.counts is not None and published.counts.sizes["label 0"] == 2
    assert project(np.array([0.3, 0.6, 0.3, 0.6]), published).converged
