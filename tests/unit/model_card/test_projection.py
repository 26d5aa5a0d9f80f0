"""The posterior after publication: by enumeration of every vector, by identities, by the twin-model attack."""

from __future__ import annotations

import numpy as np
import pytest

from core.errors import InputError
from core.model_card import Release, pinned, project
from tests.oracles.exact_posterior import exact_posterior
from tests.release_cases import impossible, large_case


def test_gaps_without_sizes_are_met():
    """In each part the projected gap, with sizes and counts in expectation, is the published one."""
    case = large_case(7, n=2000, k=4, sizes=False)
    after = project(case.posterior, case.published).probability
    for number in case.published.numbers:
        part = {"sp": "all", "tpr": "label 1", "fpr": "label 0"}[number.statistic.partition("_")[0]]
        mask = case.release.mask(part)
        h = case.release.predictions[case.release.names.index(number.model)]
        p = after * mask
        gap = p @ h / p.sum() - (mask - p) @ h / (mask - p).sum()
        assert gap == pytest.approx(number.value, abs=2e-4)


def test_twin_models_name_the_person_they_differ_in():
    case = large_case(9, n=400, k=1)
    unsure = np.flatnonzero((case.posterior > 0.3) & (case.posterior < 0.7))
    for person in unsure[:6]:
        twin = case.release.predictions[0].copy()
        twin[person] = 1 - twin[person]
        release = Release(np.vstack([case.release.predictions, twin]), labels=case.release.labels)
        after = project(case.posterior, release.publish(case.sensitive)).probability
        found = pinned(case.posterior, after, sensitive=case.sensitive)
        assert found.people.tolist() == [person]
        assert found.said.tolist() == [case.sensitive[person]]
        assert found.right is not None and found.right.value == 1.0
        assert after[person] == pytest.approx(case.sensitive[person], abs=1e-6)


def test_impossible_numbers_are_told_and_move_nothing():
    published = impossible()
    q = np.full(6, 0.4)
    found = project(q, published)
    assert found.status == "infeasible" and found.reason and (found.probability == q).all()
    with pytest.raises(InputError, match="No memberships agree"):
        exact_posterior(q, published)


@pytest.mark.parametrize(
    ("posterior", "told"),
    [(np.full(3, 0.5), "one probability for each of 8 people"), (np.full(8, 1.5), r"must be in \[0, 1\], got 1.5")],
)
def test_a_posterior_that_does_not_fit(posterior: np.ndarray, told: str):
    release = Release(np.eye(8, dtype=int)[:2], statistics=("sp_gap",))
    with pytest.raises(InputError, match=told):
        project(posterior, release.publish(np.array([1, 0] * 4)))
