"""What holds for gaps of whatever verdicts hypothesis finds."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.membership import recall_by_range, vulnerability_disparity
from core.membership.disparity import Tally, permuted
from tests.unit.membership.samples import judged

FEW = {"bootstraps": 100, "permutations": 100}


@st.composite
def tallies(draw) -> Tally:
    """Draw counts of groups that are large enough."""
    people = np.array([[draw(st.integers(10, 60)) for _ in "01"] for _ in "01"])
    flagged = np.array([[draw(st.integers(0, int(people[side, kind]))) for kind in (0, 1)] for side in (0, 1)])
    return Tally(flagged=flagged, people=people)


@given(tallies(), st.randoms(use_true_random=False))
def test_the_order_of_people_does_not_matter(counts: Tally, random) -> None:
    people = list(zip(*judged(counts), strict=True))
    before = vulnerability_disparity(*np.array(people).T, **FEW)
    random.shuffle(people)
    assert vulnerability_disparity(*np.array(people).T, **FEW) == before


@given(tallies())
def test_intervals_hold_their_value_and_have_a_width(counts: Tally) -> None:
    found = vulnerability_disparity(*judged(counts), **FEW)
    for name, reach in (("vd", 1), ("fpr_gap", 1), ("advantage_gap", 2)):
        gap = getattr(found, name)
        assert -reach <= gap.low <= gap.value <= gap.high <= reach and gap.low < gap.high
        assert 0 < found.tests[name].p_value <= 1


@given(tallies(), st.data())
def test_ranges_add_up_to_the_vulnerability_disparity(counts: Tally, data) -> None:
    verdict, group, member = judged(counts)
    chance = st.one_of(st.floats(0, 1), st.sampled_from([j / 10 for j in range(11)]))
    # few numbers, each many times: one for each person would be too much to draw
    few = data.draw(st.lists(chance, min_size=1, max_size=8))
    probability = np.resize(few, verdict.size)
    found = recall_by_range(probability, verdict, group, member)
    k, n = counts.flagged.tolist(), counts.people.tolist()
    exact = Fraction(k[1][1], n[1][1]) - Fraction(k[0][1], n[0][1])
    assert found.vd == pytest.approx(float(exact), abs=1e-15)
    in_full = sum((Fraction(row.group) - Fraction(row.others) for row in found.rows), Fraction())
    assert float(in_full) == pytest.approx(float(exact), abs=1e-15)
    assert found.vd == pytest.approx(vulnerability_disparity(verdict, group, member, **FEW).vd.value, abs=1e-15)


@given(tallies())
def test_permutations_keep_who_is_flagged(counts: Tally) -> None:
    drawn = permuted(counts, 50, np.random.default_rng(0))
    assert (drawn.sum(axis=1) == counts.flagged.sum(axis=0)).all()
    assert (drawn >= 0).all() and (drawn <= counts.people).all()
