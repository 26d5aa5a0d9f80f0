"""Splits: disjoint sets of the sizes asked for, the same for the same seed."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import InputError
from core.membership import MembershipSplit, judging_everybody, member_split, split_between


def check(split: MembershipSplit) -> None:
    """Nobody is in two sets that must not share people, and every set lies where it must."""
    known, judged = split.known[0], split.judged[0]
    for rows in (split.members, split.outsiders, known, judged):
        assert np.unique(rows).size == rows.size
    assert not np.isin(split.members, split.outsiders).any() and not np.isin(known, judged).any()
    for rows, member in (split.known, split.judged):
        assert np.isin(rows[member == 1], split.members).all() and np.isin(rows[member == 0], split.outsiders).all()


@given(n=st.integers(200, 2000), seed=st.integers(0, 2**32 - 1), known=st.floats(0.1, 0.4), judged=st.floats(0.1, 0.6))
def test_sets_are_disjoint_and_sized(n, seed, known, judged):
    split = member_split(n, seed=seed, known_share=known, judged_share=judged)
    check(split)
    assert split.members.size == split.outsiders.size == n // 2
    for (_, member), share in ((split.known, known), (split.judged, judged)):
        assert (member == 1).sum() == (member == 0).sum() == int(share * (n // 2))


@given(seed=st.integers(0, 1000), inside=st.integers(100, 300), outside=st.integers(100, 300))
def test_given_sides_stay(seed, inside, outside):
    rows = np.random.default_rng(seed).permutation(1000)
    members, outsiders = rows[:inside], rows[500 : 500 + outside]
    split = split_between(members, outsiders, seed=seed)
    check(split)
    assert set(split.members) == set(members) and set(split.outsiders) == set(outsiders)
    assert split.judged[1].sum() == split.judged_rows.size / 2 == int(0.2 * min(inside, outside))


@given(seed=st.integers(0, 1000), shares=st.tuples(st.floats(0.3, 1.0), st.floats(0.3, 1.0)))
def test_deleted_members_and_outsiders_left_aside_are_nowhere(seed, shares):
    split = member_split(1000, seed=seed)
    rng = np.random.default_rng(seed)
    sides = (split.members, split.outsiders)
    kept, outside = (
        rng.choice(rows, int(share * rows.size), replace=False) for rows, share in zip(sides, shares, strict=True)
    )
    left = split.keeping(kept, outsiders=outside)
    check(left)
    gone = np.setdiff1d(np.concatenate(sides), np.concatenate([kept, outside]))
    assert set(left.members) == set(kept) and set(left.outsiders) == set(outside)
    assert not np.isin(gone, np.concatenate([left.members, left.outsiders, left.known[0], left.judged[0]])).any()
    assert np.array_equal(left.unseen, split.outsiders) and np.array_equal(split.unseen, split.outsiders)


def test_everybody_judged():
    split = judging_everybody(np.arange(10, 30), np.arange(10))
    rows, member = split.judged
    assert (
        sorted(rows) == list(range(30)) and member.sum() == 20 and not np.isin(rows[member == 0], split.members).any()
    )
    with pytest.raises(InputError, match="needs at least 10 non-members, got 9"):
        judging_everybody(np.arange(20), np.arange(20, 29))


def test_too_few_are_refused():
    split = member_split(1000, seed=0)
    known, judged = split.known_rows, split.judged_rows
    for words, make in (
        ("must know at least 10 members, got 7", lambda: member_split(100, seed=0)),
        ("must judge at least 10 members, got 5", lambda: member_split(1000, seed=0, judged_share=0.01)),
        ("must know at least 10 members, got 0", lambda: split.keeping(judged[:100], outsiders=split.outsiders)),
        ("must judge at least 10 outsiders, got 0", lambda: split.keeping(split.members, outsiders=known[75:])),
    ):
        with pytest.raises(InputError, match=words):
            make()
