"""What holds of every release: the log-loss identities, sound intervals, and the distance from the exact posterior."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.studies.model_card import DISTANCE_MEDIAN, DISTANCE_WORST, Release, measured, meter, project
from tests.oracles.exact_posterior import exact_posterior
from tests.release_samples import large_case, moved_bits, part_mask, small_case

seeds = st.integers(min_value=0, max_value=2**31)


@settings(max_examples=70)
@given(seed=seeds, k=st.integers(1, 12), n=st.integers(30, 400), decimals=st.none() | st.integers(0, 3))
def test_exact_numbers_gain_exactly_what_they_move_and_rounded_ones_at_least(seed, k, n, decimals):
    statistics = ("sp_gap",) if n < 100 else ("sp_gap", "tpr_gap", "fpr_gap")
    case = large_case(seed, n=n, k=k, decimals=decimals, statistics=statistics)
    projection = project(case.posterior, case.published)
    measurement = measured(case.posterior, projection.probability, case.sensitive)
    assert projection.converged
    moved = moved_bits(case.posterior, projection.probability)
    assert measurement.bits.value >= moved - 1e-6
    assert decimals is not None or measurement.bits.value == pytest.approx(moved, abs=1e-6)


@settings(max_examples=60)
@given(seed=seeds, decimals=st.integers(0, 4), sizes=st.booleans())
def test_the_truth_lies_in_every_published_interval(seed, decimals, sizes):
    case = small_case(seed, precision="exact", sizes=sizes)
    rounded = replace(case.release, decimals=decimals, epsilon=None).publish(case.sensitive)
    for number, true in zip(rounded.numbers, case.published.numbers, strict=True):
        assert number.low <= true.value <= number.high
    for part, limits in rounded.counts.items():
        inside = case.sensitive * part_mask(case.release, part)
        true_counts = case.release.predictions @ inside
        assert (limits[:, 0] <= true_counts).all() and (true_counts <= limits[:, 1]).all()


@settings(max_examples=30)
@given(seed=seeds, copies=st.integers(2, 4))
def test_saying_it_again_says_nothing_more(seed, copies):
    case = small_case(seed, precision="exact")
    again = Release(
        np.tile(case.release.predictions, (copies, 1)), labels=case.release.labels, statistics=case.release.statistics
    )
    once, more = project(case.posterior, case.published), project(case.posterior, again.publish(case.sensitive))
    assert more.probability == pytest.approx(once.probability, abs=1e-6)
    assert meter(case.posterior, again).df_bits == pytest.approx(meter(case.posterior, case.release).df_bits, abs=1e-9)


def test_how_far_the_projection_is_from_the_exact_posterior():
    distances = []

    @settings(max_examples=120)
    @given(seed=seeds, precision=st.sampled_from(["exact", "rounded", "noisy"]))
    def visit(seed, precision):
        case = small_case(seed, precision=precision)
        projection = project(case.posterior, case.published)
        assert projection.converged
        distances.append(float(np.abs(projection.probability - exact_posterior(case.posterior, case.published)).mean()))

    visit()
    assert len(distances) >= 100
    assert np.median(distances) == pytest.approx(DISTANCE_MEDIAN, abs=0.01)
    assert max(distances) <= DISTANCE_WORST
