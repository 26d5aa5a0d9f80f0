"""What holds of every attack on bias answers, whoever is asked about and whatever the models."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from core.queries import recover_flips, statistical_parity_gap
from core.queries.gaps import design_scores
from core.queries.reveal import recover_compressed

attributes = st.lists(st.integers(0, 1), min_size=2, max_size=24).filter(lambda a: 0 < sum(a) < len(a)).map(np.array)
seeds = st.integers(0, 2**32 - 1)
designs = st.sampled_from(["jitter", "random_binary"])
methods = st.sampled_from(["l1", "nonnegative", "box", "sizes_unknown"])
several = settings(max_examples=60, deadline=None, derandomize=True)


def sizes(a: np.ndarray) -> dict[str, int]:
    return {"n_advantaged": int(a.sum()), "n_disadvantaged": int(a.size - a.sum())}


def questions(a: np.ndarray, m: int, design: str, seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    scores = design_scores(design, rng.random(a.size), m, rng=rng)
    return scores, statistical_parity_gap(scores, a)


def meets(scores: np.ndarray, answers: np.ndarray, found, a: np.ndarray, slack: float = 0.0) -> bool:
    """Say whether a recovered vector explains the answers: |H s - (H r - SP)| <= slack."""
    explained = scores.sum(axis=1) / a.sum() - answers
    return bool((np.abs(scores @ found.values - explained) <= slack + 1e-5).all())


@several
@given(a=attributes, m=st.integers(1, 12), design=designs, seed=seeds)
def test_weaker_assumptions_never_cost_more(a, m, design, seed):
    """The truth fits every program, so each optimum is at most its value, and adding constraints raises it."""
    scores, answers = questions(a, m, design, seed)
    total = {}
    for method in ("l1", "nonnegative", "box"):
        found = recover_compressed(scores, answers, method=method, **sizes(a))
        assert found.status == "recovered" and meets(scores, answers, found, a)
        x = found.values / (2 * found.threshold)
        sparse = x if sizes(a)["n_disadvantaged"] <= sizes(a)["n_advantaged"] else 1 - x
        total[method] = np.abs(sparse).sum()
        if method != "l1":
            assert sparse.min() >= -1e-6
    assert total["l1"] <= total["nonnegative"] + 1e-5 <= total["box"] + 2e-5
    assert total["box"] == pytest.approx(min(sizes(a).values()), abs=1e-5)
    assert x.min() >= -1e-6 and x.max() <= 1 + 1e-6


@several
@given(a=attributes, design=designs, method=methods, seed=seeds)
def test_full_rank_leaves_one_vector(a, design, method, seed):
    scores, answers = questions(a, a.size + 3, design, seed)
    centred = scores - scores.mean(axis=1, keepdims=True)
    assume(np.linalg.cond(scores) < 1e4 and np.linalg.svd(centred)[1][a.size - 2] > 1e-2)
    if method == "sizes_unknown":
        assume(2 * a.sum() >= a.size)
    found = recover_compressed(scores, answers, method=method, **sizes(a))
    assert (found.recovered == a).all()


@several
@given(a=attributes, m=st.integers(1, 30), design=designs, seed=seeds, decimals=st.integers(1, 4))
def test_slack_of_half_a_step_always_holds_the_truth(a, m, design, seed, decimals):
    scores, answers = questions(a, m, design, seed)
    slack = 0.5 * 10.0**-decimals + 1e-9
    found = recover_compressed(scores, np.round(answers, decimals), method="box", slack=slack, **sizes(a))
    assert found.status == "recovered"
    assert meets(scores, np.round(answers, decimals), found, a, slack)


@several
@given(a=attributes, seed=seeds, kind=st.sampled_from(["scores", "binary", "halves"]))
def test_flips_reveal_everybody_they_do_not_hide(a, seed, kind):
    rng = np.random.default_rng(seed)
    base = {
        "scores": rng.random(a.size),
        "binary": rng.integers(0, 2, a.size).astype(float),
        "halves": rng.choice([0.0, 0.5, 0.9], a.size),
    }[kind]
    assume(a.size > 2)
    answers = statistical_parity_gap(design_scores("targeted", base, a.size + 1, rng=rng), a)
    found = recover_flips(base, answers[1:])
    hidden = base == 0.5
    if found.status == "undetermined":
        assert hidden.all()
        return
    assert (found.recovered[~hidden] == a[~hidden]).all()
    if hidden.sum() <= 1 or len(set(a[hidden])) == 1:
        assert (found.recovered == a).all()
    shown = ~np.isnan(found.values)
    assert shown.sum() == a.size - (hidden.sum() if hidden.sum() > 1 else 0)
    assert (1 / a.sum() - found.values[shown]) == pytest.approx(
        np.where(a == 1, 1 / a.sum(), -1 / (a.size - a.sum()))[shown], abs=1e-6
    )
