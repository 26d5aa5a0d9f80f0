"""Predictions, scores and sets that come with a table: how they are read, what is refused, whom they put where."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.base.errors import InputError
from core.datasets import suggest_roles
from core.datasets.splits import split
from tests.unit.datasets.bad_tables import GOOD_ROLES, N, built, table_of

PREDICTED = np.arange(N) % 5 < 2


def of(column, role="prediction", **more):
    return replace(GOOD_ROLES, **{role: column}, **more)


SPELLINGS = (("0", "1"), ("false", "true"), ("no", "yes"))
LABELS = (*SPELLINGS, ("<=50K", ">50K"), ("bad", "Good one"), ("2", "1"))
CASES = (str, str.upper, str.capitalize)


@settings(max_examples=30)
@given(
    label=st.sampled_from(LABELS),
    positive=st.sampled_from((0, 1)),
    spelling=st.one_of(st.none(), st.sampled_from(SPELLINGS)),
    case=st.sampled_from(CASES),
    decisions=st.lists(st.booleans(), min_size=N, max_size=N),
)
def test_however_a_prediction_is_written(label, positive, spelling, case, decisions):
    label_cells = [label[positive] if i % 3 else label[1 - positive] for i in range(N)]
    written = [label[positive] if decision else label[1 - positive] for decision in decisions]
    if spelling and label in SPELLINGS:  # the words mean the same in both columns
        written = [spelling[label.index(value)] for value in written]
    elif spelling:
        written = [spelling[int(decision)] for decision in decisions]
    written = [case(value) for value in written]
    roles = replace(GOOD_ROLES, label="own", positive=label[positive], favourable=label[positive], prediction="p")
    if (spelling, label) == (("0", "1"), ("2", "1")):  # 1 is the label's other value, and says yes
        if positive == 0 and set(written) == {"0", "1"}:
            with pytest.raises(InputError, match="one thing there and another here"):
                built(roles, own=label_cells, p=written)
            return
        if set(written) == {"1"}:  # written as the label is
            return
    data = built(roles, own=label_cells, p=written)
    assert data.predictions.dtype == np.uint8
    assert data.predictions.tolist() == [int(decision) for decision in decisions]
    assert data.feature_names == ("age", "hired") and data.scores is None and data.sets is None


def test_records_without_an_answer_stay_and_are_counted():
    p = ["yes" if answer else "no" for answer in PREDICTED]
    p[3] = p[4] = None
    scores = np.where(PREDICTED, 0.75, 0.25)
    scores[[4, 10, 100]] = np.nan
    label = table_of().frame["hired"].copy()
    label[100] = None  # left out for this
    data = built(of("p", score="s"), p=p, s=scores, hired=label)
    remaining = np.setdiff1d(np.arange(N), [100])
    assert data.n == N - 1
    assert remaining[~data.answered].tolist() == [3, 4]
    assert np.array_equal(data.predictions[data.answered], PREDICTED[np.setdiff1d(remaining, [3, 4])])
    assert data.notes[0] == "1 record without hired or sex is left out."
    assert any("gives 2 of 119 people no answer" in note for note in data.notes)
    # a score that is withheld is no answer of its own where there is a label: the label stands in its place
    assert remaining[data.withheld].tolist() == [4, 10]


def test_a_score_at_the_threshold_predicts_the_label():
    assert built(replace(GOOD_ROLES, score="s"), s=[0.25, 0.5, 0.75]).predictions[:3].tolist() == [0, 1, 1]


def test_a_split_is_what_the_table_says():
    part = np.array(["Train", "ATTACK", "validation", "holdout", "testing"])[np.arange(N) % 5]
    data = built(of("part", "sets"), part=part)
    first, second = (split(data, train_share=0.8, seed=seed) for seed in (0, 1))
    for splits in (first, second):
        assert set(part[splits.train]) == {"Train"} and set(part[splits.test]) == {"holdout", "testing"}
        assert set(part[splits.attacker_rows]) == {"ATTACK", "validation"}
        assert sorted([*splits.train, *splits.attacker_rows, *splits.test]) == [*range(N)]
        assert splits.validation.size == 15  # 30% of 48, rounded up
    assert not np.array_equal(first.attack, second.attack)


def test_the_order_of_the_table_tells_nothing_of_the_records_of_a_named_set():
    """Which of equally dear guesses are changed follows the order, and a table may be sorted by the attribute."""
    data = built(of("part", "sets"), part=np.array(["train", "attack", "attack", "test", "test"])[np.arange(N) % 5])
    for splits in (split(data, seed=0), split(data, seed=1)):
        for rows in (splits.train, splits.test):
            assert abs(np.corrcoef(rows, np.arange(rows.size))[0, 1]) < 0.5


def test_without_attack_records_half_of_the_test_records_are_the_attackers():
    data = built(of("part", "sets"), part=np.where(np.arange(N) % 5 == 0, "train", "test"))
    assert any("names no attack records" in note for note in data.notes)
    first, second = split(data, seed=1), split(data, seed=2)
    for splits in (first, second):
        assert np.array_equal(np.sort(splits.train), np.arange(0, N, 5))
        assert splits.test.size == splits.attacker_rows.size == 2 * N // 5
        assert np.array_equal(np.sort(np.concatenate([splits.train, splits.attacker_rows, splits.test])), np.arange(N))
    assert not np.array_equal(first.test, second.test)


@given(
    scores=st.lists(st.integers(0, 4), min_size=25, max_size=40),
    decisions=st.lists(st.booleans(), min_size=40, max_size=40),
    ordered=st.booleans(),
)
@settings(max_examples=30)
def test_the_order_of_scores_against_all_pairs(scores, decisions, ordered):
    answers = decisions[: len(scores)]
    if ordered:  # at the threshold both answers are given
        answers = [score > 2 or (score == 2 and word) for score, word in zip(scores, decisions, strict=False)]
    said_x = ["a" if answer else "b" for answer in answers]
    labels = [i % 2 for i in range(len(scores))]
    frame = pd.DataFrame({"score": np.array(scores) / 10 + 0.05, "x": said_x, "label": labels})
    positive_scores = [score for score, answer in zip(scores, answers, strict=True) if answer]
    negative_scores = [score for score, answer in zip(scores, answers, strict=True) if not answer]
    below = all(a <= b for a in positive_scores for b in negative_scores)
    above = all(a >= b for a in positive_scores for b in negative_scores)
    enough = min(len(positive_scores), len(negative_scores)) >= 10 and np.median(positive_scores) != np.median(
        negative_scores
    )
    assert suggest_roles(frame).roles.prediction == ("x" if enough and (below or above) else "")
