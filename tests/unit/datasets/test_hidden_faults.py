"""Faults of a table that no column shows: each is named where it is planted, and nothing where it is not."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier

from core.datasets import Roles, cautions
from core.datasets.checked_table import Severity
from core.datasets.input_check import check_input

N = 4_000
ROLES = Roles(
    label="repaid",
    positive="yes",
    favourable="yes",
    sensitive="sex",
    group=("female",),
    score="score",
    sets="split",
)
DECIDED = {"prediction": "predicted", "score": ""}


class Borrowers(NamedTuple):
    """A table, and what made it: who is a man, who repaid, who trained the model, and the log-odds of repaying."""

    frame: pd.DataFrame
    is_man: np.ndarray
    repaid: np.ndarray
    trained: np.ndarray
    log_odds: np.ndarray


def borrowers(intercept: float = 0.4, seed: int = 0) -> Borrowers:
    """Return borrowers with the calibrated score of a model that was trained on nobody."""
    rng = np.random.default_rng(seed)
    is_man = rng.random(N) < 0.55
    income = np.exp(rng.normal(10.2, 0.5, N) + 0.15 * is_man).round()
    debt = rng.gamma(2, 4_000, N).round()
    tenure = rng.integers(0, 30, N)
    log_odds = 1.3 * (np.log(income) - 10.2) / 0.5 - 0.9 * (debt - 8_000) / 5_700 + 0.03 * (tenure - 15) + intercept
    repaid = rng.random(N) < probability(log_odds)
    trained = rng.random(N) < 0.5
    columns = {
        "sex": np.where(is_man, "male", "female"),
        "income": income,
        "debt": debt,
        "tenure": tenure,
        "kids": rng.integers(0, 4, N),
        "region": rng.choice(["north", "south", "east", "west"], N),
        "repaid": np.where(repaid, "yes", "no"),
        "split": np.where(trained, "train", "test"),
        "score": probability(log_odds).round(4),
    }
    return Borrowers(pd.DataFrame(columns), is_man, repaid, trained, log_odds)


def probability(log_odds: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-log_odds))


def forest_scores(people: Borrowers, rows: np.ndarray, leaf: int = 1) -> np.ndarray:
    """Return the scores of a forest that was trained on some of the rows."""
    features = people.frame[["income", "debt", "tenure", "kids"]].to_numpy()
    forest = RandomForestClassifier(40, min_samples_leaf=leaf, random_state=0)
    return forest.fit(features[rows], people.repaid[rows]).predict_proba(features)[:, 1].round(4)


def of_a_rare_outcome() -> pd.DataFrame:
    return borrowers(intercept=-4.0).frame


def refitted_on_everybody() -> pd.DataFrame:
    people = borrowers()
    return people.frame.assign(score=forest_scores(people, np.arange(N), leaf=3))


def judged_on_training_records() -> pd.DataFrame:
    people = borrowers()
    frame = people.frame.assign(score=forest_scores(people, np.flatnonzero(people.trained)))
    again = frame[people.trained].sample(1_000, random_state=0).assign(split="test")
    again["debt"] += np.random.default_rng(1).integers(1, 9, len(again))
    return pd.concat([frame, again], ignore_index=True)


def turned_round_in_the_north() -> pd.DataFrame:
    frame = borrowers().frame
    return frame.assign(score=frame["score"].mask(frame["region"] == "north", 1 - frame["score"]))


def of_two_columns_that_tell_the_sex() -> pd.DataFrame:
    people = borrowers()
    many = people.frame["kids"] > 1
    return people.frame.assign(code=(people.is_man ^ many).astype(int), many=many.astype(int))


def of_the_decision_as_label() -> pd.DataFrame:
    frame = borrowers().frame
    decided = frame["score"] >= 0.5
    changed = np.random.default_rng(5).random(N) < 0.03
    return frame.assign(predicted=np.where(decided, "yes", "no"), repaid=np.where(decided ^ changed, "yes", "no")).drop(
        columns="score"
    )


PLANTED: dict[str, tuple[Callable[[], pd.DataFrame], dict[str, str], str]] = {
    "threshold": (of_a_rare_outcome, {}, "score"),
    "trained_on_test": (refitted_on_everybody, {}, "score"),
    "near_repeated": (judged_on_training_records, {}, "debt"),
    "reversed_part": (turned_round_in_the_north, {}, "north"),
    "attribute_in_features": (of_two_columns_that_tell_the_sex, {}, "code"),
    "label_near_prediction": (of_the_decision_as_label, DECIDED, "predicted"),
}


def roles_with(changes: dict[str, str]) -> Roles:
    return replace(ROLES, **changes)


@pytest.mark.parametrize("kind", PLANTED)
def test_hidden_facts_name_a_planted_fault(kind: str):
    make, changes, word = PLANTED[kind]
    (fact,) = (fact for fact in cautions(make(), roles_with(changes)) if fact.kind == kind)
    assert fact.severity is Severity.CAUTION
    assert word in fact.text


@pytest.mark.parametrize("has_identifier", [False, True])
def test_near_repeated_is_silent_of_equal_records_and_of_people_who_have_an_identifier(has_identifier: bool):
    frame = judged_on_training_records()
    if has_identifier:
        frame = frame.assign(number=np.arange(len(frame)))
        roles = roles_with({"person": "number"})
    else:
        roles = ROLES
        frame = pd.concat([frame[:N], frame[:1_000].assign(split="test"), frame[:1_000].assign(split="train")])
    assert "near_repeated" not in {fact.kind for fact in cautions(frame, roles)}


@pytest.mark.parametrize("is_overfit", [False, True])
def test_hidden_facts_are_silent_of_honest_tables(is_overfit: bool):
    """Also of a forest that knows its training records by heart: that is no fault of the table."""
    people = borrowers(seed=3)
    frame = people.frame
    if is_overfit:
        frame = frame.assign(score=forest_scores(people, np.flatnonzero(people.trained)))
    assert not PLANTED.keys() & {fact.kind for fact in cautions(frame, ROLES)}


def test_check_input_finds_copies_that_are_empty_for_some_or_beside_labels_alone():
    frame = borrowers().frame
    present = np.random.default_rng(3).random(N) < 0.6
    partly = check_input(frame.assign(points=frame["score"].where(present)), ROLES)
    assert "copy" in {fact.kind for fact in partly}
    noise = np.random.default_rng(3).normal(0, 0.5, N)
    decided = frame.assign(
        predicted=np.where(frame["score"] >= 0.5, "yes", "no"),
        points=np.log(frame["score"] / (1 - frame["score"])) + noise,
    )
    labels_alone = check_input(decided.drop(columns="score"), roles_with(DECIDED))
    assert [fact.columns for fact in labels_alone if fact.kind == "near_score"] == [("points",)]
