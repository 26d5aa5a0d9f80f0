"""What holds for gaps of whatever verdicts, and what FairPick promises on whatever counts, beside a solver."""

from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from core.base.solvers import solve
from core.studies.membership import fairpick_counts, recall_by_range, vulnerability_disparity
from core.studies.membership.fairpick import clusters, differences, fairpick, rounded_deletions
from tests.unit.membership.samples import verdict_arrays

FEW = {"bootstraps": 100, "permutations": 100}


@st.composite
def tallies(draw):
    """Draw those flagged, and all, of groups that are large enough."""
    people = np.array([[draw(st.integers(10, 60)) for _ in "01"] for _ in "01"])
    flagged = np.array([[draw(st.integers(0, int(people[side, kind]))) for kind in (0, 1)] for side in (0, 1)])
    return flagged, people


@given(tallies(), st.randoms(use_true_random=False))
def test_the_order_of_people_does_not_matter(counts, random):
    people = list(zip(*verdict_arrays(*counts), strict=True))
    before = vulnerability_disparity(*np.array(people).T, **FEW)
    random.shuffle(people)
    assert vulnerability_disparity(*np.array(people).T, **FEW) == before


@given(tallies())
def test_intervals_hold_their_value_and_have_a_width(counts):
    disparity = vulnerability_disparity(*verdict_arrays(*counts), **FEW)
    for name, reach in (("vd", 1), ("fpr_gap", 1), ("advantage_gap", 2)):
        gap = getattr(disparity, name)
        assert -reach <= gap.low <= gap.value <= gap.high <= reach and gap.low < gap.high
        assert 0 < disparity.tests[name].p_value <= 1


@given(tallies(), st.data())
def test_ranges_add_up_to_the_vulnerability_disparity(counts, data):
    verdict, group, member = verdict_arrays(*counts)
    chance = st.one_of(st.floats(0, 1), st.sampled_from([j / 10 for j in range(11)]))
    # few numbers, each many times: one for each person would be too much to draw
    few = data.draw(st.lists(chance, min_size=1, max_size=8))
    probability = np.resize(few, verdict.size)
    by_range = recall_by_range(probability, verdict, group, member)
    k, n = (cells.tolist() for cells in counts)
    exact = Fraction(k[1][1], n[1][1]) - Fraction(k[0][1], n[0][1])
    assert by_range.vd == pytest.approx(float(exact), abs=1e-15)
    shares = zip(by_range.group_shares, by_range.reference_shares, strict=True)
    in_full = sum((Fraction(group) - Fraction(reference) for group, reference in shares), Fraction())
    assert float(in_full) == pytest.approx(float(exact), abs=1e-15)
    assert by_range.vd == pytest.approx(vulnerability_disparity(verdict, group, member, **FEW).vd.value, abs=1e-15)


THETA = st.one_of(st.floats(0.01, 1), st.sampled_from([0.4, 0.6, 0.8, 1.0]))


@st.composite
def counts_of_clusters(draw):
    """Draw counts of groups that share a cluster."""
    rows = draw(st.lists(st.tuples(st.integers(0, 400), st.integers(0, 400)), min_size=0, max_size=9))
    shared = draw(st.tuples(st.integers(1, 400), st.integers(1, 400)))
    rows.insert(draw(st.integers(0, len(rows))), shared)
    return np.array(rows)


def exact_differences(counts):
    """Return every cluster's share of group 1 minus its share of group 0."""
    sums = [sum(Fraction(row[g]) for row in counts) for g in (0, 1)]
    return [Fraction(row[1]) / sums[1] - Fraction(row[0]) / sums[0] for row in counts]


@given(counts_of_clusters(), THETA)
def test_every_difference_shrinks_to_its_share_and_nobody_is_deleted_twice(counts, theta):
    x = fairpick_counts(counts, theta)
    assert x.shape == counts.shape and (x >= 0).all() and (x <= counts).all()
    assert not (x.min(axis=1) > 0).any()  # never from both groups of a cluster
    left = [
        [Fraction(int(n)) - Fraction(float(d)) for n, d in zip(*rows, strict=True)]
        for rows in zip(counts, x, strict=True)
    ]
    before, after = exact_differences(counts.tolist()), exact_differences(left)
    # as little of both groups is left as these are shares of
    tight = 1e-12 * float(counts.sum() / max(1e-9, min(counts.sum(axis=0) - x.sum(axis=0))))
    for was, now in zip(before, after, strict=True):
        assert float(now) == pytest.approx(theta * float(was), abs=tight)
    shares = x.sum(axis=0) / counts.sum(axis=0)
    assert shares[0] == pytest.approx(shares[1], abs=1e-12)


@settings(max_examples=60)
@given(counts_of_clusters(), st.floats(0.05, 0.99))
@example(np.array([[4, 1], [0, 0], [6, 1]]), 0.984375)
def test_the_closed_form_is_the_solvers_minimum(counts, theta):
    x, solved = fairpick_counts(counts, theta), fairpick_program(counts, theta)
    assert solved == pytest.approx(x, rel=1e-6, abs=1e-6 * max(float(x.max()), 1e-3))


@given(counts_of_clusters(), THETA)
def test_whole_deletions_keep_the_sums_and_never_exceed_the_people(counts, theta):
    x = fairpick_counts(counts, theta)
    rounded = rounded_deletions(x, counts)
    assert rounded.dtype.kind == "i" and (rounded >= 0).all() and (rounded <= counts).all()
    assert (np.abs(rounded - x) < 1).all()
    assert (np.abs(rounded.sum(axis=0) - x.sum(axis=0)) <= 0.5 + 1e-6).all()


@settings(max_examples=40)
@given(st.integers(0, 2**32 - 1), THETA)
def test_who_is_deleted_is_a_member_and_the_rest_stays(seed, theta):
    rng, n = np.random.default_rng(seed), 300
    codes, labels, groups = rng.integers(0, 4, (n, 3)), rng.integers(0, 2, n), rng.integers(0, 2, n)
    codes[:, 0] += 2 * groups
    members = rng.permutation(n)[:240]
    rows = np.sort(members)
    names = ("others", "group")
    sides = SimpleNamespace(features=codes.astype(float), labels=labels, sensitive=groups, group_names=names)
    clustering = clusters(sides, members, seed=seed)
    picked = fairpick(sides, members, clustering, theta=theta, seed=seed)
    assert sorted([*picked.retained, *picked.deleted]) == rows.tolist()
    assert sum(picked.deleted_by_group.values()) == picked.deleted.size and (picked.deleted.size == 0 or theta < 1)
    largest = []
    for label, counts in clustering.counts.items():
        inside = np.isin(rows, picked.retained) & (labels[rows] == label)
        cells = 2 * clustering.cluster[inside] + groups[rows][inside]
        left = np.bincount(cells, minlength=counts.size).reshape(counts.shape)
        largest.append([np.abs(differences(table)).max() for table in (counts, left)])
        # each group's rounding moves a share by at most two people of those that stay
        assert np.abs(differences(left) - theta * differences(counts)).max() <= (2 / left.sum(axis=0)).sum()
    assert (picked.largest_before, picked.largest_after) == pytest.approx(tuple(np.max(largest, axis=0)))


def fairpick_program(counts, theta):
    """Return the deletions, of shape (k, 2), by the solver; the arguments are those of `fairpick_counts`."""
    import cvxpy

    n = np.asarray(counts, dtype=np.float64)
    sizes, dd = n.sum(axis=0), differences(n)
    if theta == 1.0 or not dd.any():
        return np.zeros_like(n)
    x, s = cvxpy.Variable(n.shape), cvxpy.Variable()
    reached = x[:, 1] / sizes[1] - x[:, 0] / sizes[0] - theta * dd * s == (1.0 - theta) * dd
    rules = [reached, cvxpy.sum(x[:, 1]) == s * sizes[1], x >= 0, x <= n]
    problem = cvxpy.Problem(cvxpy.Minimize(cvxpy.sum_squares(x)), rules)
    solve(problem, tol_gap_abs=1e-12, tol_gap_rel=1e-12, tol_feas=1e-12)
    return np.clip(np.asarray(x.value, dtype=np.float64), 0.0, n)
