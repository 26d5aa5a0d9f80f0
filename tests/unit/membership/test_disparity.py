"""Gaps between groups: values by hand, resampling beside plain loops over people, tests that keep their level."""

import itertools
import math
from functools import cache

import numpy as np
import pytest
from scipy.stats import chi2, ks_2samp
from sklearn.cluster import KMeans

from core.base.validation import child_seed
from core.datasets.splits import split
from core.stats.estimates import holm
from core.studies.membership import attacks, disparities, recall_by_range, roc, vulnerability_disparity
from core.studies.membership.attack import Evidence, judging_everybody
from core.studies.membership.curves import thinned
from core.studies.membership.disparity import GAPS, gap_estimate, gap_p_value, permuted, smallest_detectable, variances
from core.studies.membership.fairpick import FEWEST, MOST, clusters, random_deletion
from core.studies.membership.findings import CurvePoint, fairpick_differences
from core.studies.membership.tpr_gaps import ComparedSide, _places, permuted_sides, tpr_gaps
from core.studies.study import synthetic_people
from tests.unit.membership.samples import verdict_arrays

FEW = {"bootstraps": 200, "permutations": 200}


def test_vulnerability_disparity_by_hand():
    flagged, people = np.array([[2, 3], [6, 9]]), np.array([[20, 30], [12, 10]])
    disparity = vulnerability_disparity(*verdict_arrays(flagged, people))
    assert (disparity.vd.value, disparity.vd.n) == (pytest.approx(9 / 10 - 3 / 30), 40)
    assert (disparity.fpr_gap.value, disparity.fpr_gap.n) == (pytest.approx(6 / 12 - 2 / 20), 32)
    assert disparity.advantage_gap.value == pytest.approx(disparity.vd.value - disparity.fpr_gap.value)


@pytest.mark.long
@pytest.mark.parametrize("name", GAPS)
def test_p_values_are_those_of_all_divisions_of_few_people(name):
    flagged, people = np.array([[1, 1], [2, 4]]), np.array([[4, 5], [3, 4]])
    verdict, group, member = verdict_arrays(flagged, people)

    def statistic(sides):
        gap, variance = 0.0, 0.0
        for side, kind in np.ndindex(2, 2):
            weight = GAPS[name][side][kind]
            called = verdict[(sides == side) & (member == kind)]
            p = (called.sum() + 1) / (called.size + 2)
            gap += weight * called.mean()
            variance += weight**2 * p * (1 - p) / (called.size + 2)
        return abs(gap) / math.sqrt(variance)

    extreme = []
    for outside, inside in itertools.product(itertools.combinations(range(7), 3), itertools.combinations(range(9), 4)):
        sides = np.zeros(16, dtype=int)
        sides[np.flatnonzero(member == 0)[[*outside]]] = 1
        sides[np.flatnonzero(member == 1)[[*inside]]] = 1
        extreme.append(statistic(sides) >= statistic(group) - 1e-9)
    exact = np.mean(extreme)
    drawn = permuted(flagged, people, 40_000, np.random.default_rng(1))
    p_value = gap_p_value(GAPS[name], flagged, people, drawn)
    assert p_value == pytest.approx(exact, abs=4 * math.sqrt(exact * (1 - exact) / 40_000))


@pytest.mark.parametrize("comparisons", [1, 5])
def test_the_smallest_detectable_gap_is_found_in_four_of_five_cases(comparisons):
    people, base, runs = np.full((2, 2), 250), 0.4, 400
    error = math.sqrt(float(variances(np.full(2, base * 250), np.full(2, 250)).sum()))
    gap = smallest_detectable(error, comparisons=comparisons)
    rng, detected = np.random.default_rng(4), 0
    for _ in range(runs):
        flagged = rng.binomial(people, [[base, base], [base, base + gap]])
        drawn = permuted(flagged, people, 999, rng)
        detected += gap_p_value(GAPS["vd"], flagged, people, drawn) < 0.05 / comparisons
    assert detected / runs == pytest.approx(0.8, abs=0.07)


def test_disparities_compare_each_group_with_the_rest():
    rng = np.random.default_rng(2)
    n = 900
    groups, member, verdict = rng.choice(3, n, p=[0.5, 0.3, 0.2]), rng.integers(0, 2, n), rng.integers(0, 2, n)
    results, _ = disparities(verdict, groups, member, names=("a", "b", "c"), **FEW)
    for code, result in enumerate(results):
        alone = vulnerability_disparity(verdict, groups == code, member, names=("abc"[code], "all others"), **FEW)
        assert (result.group, result.reference, result.vd) == (alone.group, alone.reference, alone.vd)
        assert result.tests["vd"].smallest_detectable > alone.tests["vd"].smallest_detectable
    for name in GAPS:
        raw = [result.tests[name].p_value for result in results]
        assert tuple(result.tests[name].p_adjusted for result in results) == holm(raw)


@pytest.mark.parametrize(("p", "index"), [(0.0, 0), (0.1, 1), (1 - 0.8, 2), (0.3, 3), (0.7, 7), (0.9, 9), (1.0, 9)])
def test_recall_by_range_counts_a_border_above_it(p, index):
    by_range = recall_by_range([p, p, p], [1, 1, 0], [0, 1, 1], [1, 1, 1], names=("women", "men"))
    assert by_range.group_shares == tuple(0.5 * (j == index) for j in range(10))
    assert by_range.reference_shares == tuple(float(j == index) for j in range(10))


def scored(n, *, ties, seed=0):
    """Return scores, of which members of group 0 have higher ones, with groups and membership."""
    rng = np.random.default_rng(seed)
    group, member = (rng.random(n) < 0.45).astype(int), rng.integers(0, 2, n)
    score = rng.normal(size=n) + 1.5 * member * (1 - group)
    return np.round(score, 0 if ties else 9), group, member


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("fpr", [0.05, 0.3])
def test_tpr_gaps_are_between_the_rates_of_each_group_by_itself(ties, fpr):
    score, group, member = scored(1500, ties=ties)
    (gap,) = tpr_gaps(score, group.astype(np.uint8), member, fpr=fpr, names=("men", "women"), **FEW)
    expected = [roc(score[group == g], member[group == g]).tpr_at(fpr).value for g in (1, 0)]
    assert [rate.value for rate in gap.rates] == pytest.approx(expected)
    assert gap.estimate.value == pytest.approx(expected[0] - expected[1])
    assert (gap.group, gap.reference) == ("women", "men")


@pytest.mark.parametrize("ties", [False, True])
def test_groups_are_permuted_as_in_a_plain_loop(ties):
    score, group, member = scored(300, ties=ties)
    rng, plain = np.random.default_rng(1), []
    for _ in range(1500):
        again = group.copy()
        for kind in (0, 1):
            again[member == kind] = rng.permutation(group[member == kind])
        ordered = score + 1e-10 * rng.random(score.size)
        sides = [ComparedSide.of(ordered, again == code, member, 0.1) for code in (1, 0)]
        rates = [float(s.above(math.floor(s.rank + rng.random()))) / s.members for s in sides]
        plain.append(rates[0] - rates[1])
    sides = [ComparedSide.of(score, group == code, member, 0.1) for code in (1, 0)]
    everybody = ComparedSide.of(score, np.ones(300, dtype=bool), member, 0.1)
    drawn = permuted_sides(sides, everybody, 1500, np.random.default_rng(2))
    assert ks_2samp(plain, drawn).pvalue > 0.01


def test_gap_estimate_of_few_is_no_narrower_than_the_wilson_intervals():
    """Nobody of either side is flagged: no resample differs, and each rate alone may be as high as z² / (n + z²)."""
    gap = gap_estimate([-1, 1], [0, 0], [30, 40], np.zeros(200))
    z2 = chi2.isf(0.05, 1)
    assert gap.value == 0.0
    assert (gap.low, gap.high) == pytest.approx((-z2 / (30 + z2), z2 / (40 + z2)))


def test_permuted_places_are_those_of_different_people():
    """One non-member a side, each the highest of its side: one of them is first of both, and the other second."""
    side = ComparedSide.of(np.array([0.2, 0.9]), np.ones(2, dtype=bool), np.array([0, 1], dtype=np.uint8), 0.5)
    places = _places([side, side], 50, np.random.default_rng(3))
    assert np.sort(places, axis=0).tolist() == [[1] * 50, [2] * 50]
    assert set(places[0].tolist()) == {1, 2}


def test_clusters_are_as_many_as_can_be():
    rng, n = np.random.default_rng(0), 900
    women = (rng.random(n) < 0.4).astype(int)
    codes = np.column_stack([rng.integers(0, 5, n) + 2 * women, rng.integers(0, 3, n), rng.integers(0, 9, n)])
    labels = (rng.random(n) < 0.3 + 0.05 * codes[:, 1]).astype(int)
    clustering = clusters(synthetic_people(codes, labels, women), np.arange(n), seed=3)
    features = (codes - codes.mean(axis=0)) / codes.std(axis=0)

    def tally(cluster, groups, k):
        return [[((cluster == c) & (groups == g)).sum() for g in (0, 1)] for c in range(k)]

    for label, counts in clustering.counts.items():
        of_label = label == labels
        assert counts.tolist() == tally(clustering.cluster[of_label], women[of_label], len(counts))
        assert 1 < len(counts) <= MOST
        assert counts.min() >= FEWEST
        for k in range(len(counts) + 1, MOST + 1):
            more = KMeans(k, n_init=1, random_state=child_seed(3, f"clusters of label {label}"))
            assert np.min(tally(more.fit_predict(features[of_label]), women[of_label], k)) < FEWEST


def test_random_deletion_takes_as_many_whoever_they_are():
    rng, n = np.random.default_rng(0), 60
    is_woman, members = rng.random(900) < 0.4, rng.permutation(900)[:700]
    share = is_woman[members].mean()
    gone = [np.setdiff1d(members, random_deletion(members, n, seed=seed)) for seed in range(60)]
    assert {deleted.size for deleted in gone} == {n}
    assert len({tuple(deleted) for deleted in gone}) == 60
    women = np.mean([is_woman[deleted].sum() for deleted in gone])
    assert women == pytest.approx(share * n, abs=3 * math.sqrt(share * (1 - share) * n / 60))


@cache
def people():
    """Return people of two groups, each with a trade of its own and a common one; labels follow nothing."""
    rng, n = np.random.default_rng(0), 4000
    groups = (rng.random(n) < 0.4).astype(np.uint8)
    trade = rng.choice(3, n, p=[0.1, 0.4, 0.5])
    features = np.column_stack([np.where(groups == 1, trade, 2 - trade), rng.integers(0, 2, n)])
    return synthetic_people(features, rng.integers(0, 2, n).astype(np.uint8), groups)


def cells(sides, clustering, rows):
    """Return the number of everybody's label, nearest cluster and group."""
    return 200 * sides.labels[rows].astype(int) + 2 * clustering.nearest(sides, rows) + sides.sensitive[rows]


def test_as_large_a_share_of_each_cell_stays_in_the_test_records_as_in_training():
    sides, splits = people(), split(people(), train_share=0.4, seed=3)
    clustering = clusters(sides, splits.train, seed=3)
    picked, left = thinned(sides, splits, clustering, theta=0.2, seed=3)
    inside, outside = (cells(sides, clustering, rows) for rows in (splits.train, splits.test))
    trained, tested = np.isin(splits.train, left.train), np.isin(splits.test, left.test)
    for cell in np.unique(outside):
        share = trained[inside == cell].mean()
        assert abs(tested[outside == cell].sum() - share * (outside == cell).sum()) < 1
    assert np.array_equal(left.train, picked.retained) and left.test.size < splits.test.size


@pytest.mark.long
def test_people_who_differ_in_the_test_records_are_not_told_apart_where_nothing_leaks():
    """A model that answers by trade alone, whoever was trained on: the published attack is at chance."""
    sides, areas = people(), []
    answers = np.array([0.6, 0.9, 0.7])[sides.features[:, 0].astype(int)]
    for seed in range(6):
        splits = split(sides, train_share=0.4, seed=seed)
        _, left = thinned(sides, splits, clusters(sides, splits.train, seed=seed), theta=0.2, seed=seed)
        everybody = judging_everybody(left.train, left.test)
        evidence = Evidence(labels=sides.labels, split=everybody, released=answers, seed=seed)
        score, _ = attacks.REGISTRY["network"].scores(evidence)
        areas.append(roc(score, everybody.judged_records[1]).auc.value)
    assert abs(np.mean(areas) - 0.5) <= 3 * np.std(areas, ddof=1) / math.sqrt(len(areas)) + 0.005


def test_fairpick_differences_are_taken_within_repeats():
    splits = [0.3, -0.1, 0.2, -0.3, 0.0]  # what the splits of the repeats do to both
    more = [0.011, 0.009, 0.01, 0.012, 0.008]
    points = [CurvePoint(at=0.2, repeat=i, variant="random", vd=vd) for i, vd in enumerate(splits)]
    picked = np.add(splits, more)
    points += [CurvePoint(at=0.2, repeat=i, variant="fairpick", vd=vd) for i, vd in enumerate(picked)]
    alone = CurvePoint(at=0.2, repeat=9, variant="fairpick", vd=7.0)
    (band,) = fairpick_differences([*reversed(points), alone])
    assert (band.at, band.variant, band.repeats) == (0.2, "fairpick - random", 5)
    assert band.values["vd"].value == pytest.approx(0.01)
    assert band.values["vd"].low > 0
    assert fairpick_differences([alone]) == ()
