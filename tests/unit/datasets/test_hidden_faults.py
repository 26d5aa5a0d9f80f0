"""Faults of a table that no column shows: each is named where it is planted, and nothing in real and honest tables."""

import os
from dataclasses import replace
from functools import cache
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier

from core.datasets import Roles, build_dataset, cautions, load, read_table, suggest_roles
from core.datasets.checked_table import Severity
from core.datasets.input_check import check_input

N = 4_000
ROLES = Roles(
    label="repaid", positive="yes", favourable="yes", sensitive="sex", group=("female",), score="score", sets="split"
)


def borrowers(intercept=0.4, seed=0):
    """Return borrowers with the calibrated score of a model that was trained on nobody, and what made them."""
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
    frame = pd.DataFrame(columns)
    return SimpleNamespace(frame=frame, is_man=is_man, repaid=repaid, trained=trained, log_odds=log_odds)


def probability(log_odds):
    return 1 / (1 + np.exp(-log_odds))


def forest_scores(people, rows, leaf=1):
    features = people.frame[["income", "debt", "tenure", "kids"]].to_numpy()
    forest = RandomForestClassifier(40, min_samples_leaf=leaf, random_state=0)
    return forest.fit(features[rows], people.repaid[rows]).predict_proba(features)[:, 1].round(4)


def refitted_on_everybody(people):
    return people.frame.assign(score=forest_scores(people, np.arange(N), leaf=3))


def judged_on_training_records(people):
    frame = people.frame.assign(score=forest_scores(people, np.flatnonzero(people.trained)))
    again = frame[people.trained].sample(1_000, random_state=0).assign(split="test")
    again["debt"] += np.random.default_rng(1).integers(1, 9, len(again))
    again["income"] = (1.002 * again["income"]).round()
    return pd.concat([frame, again], ignore_index=True)


def with_training_records_among_the_test(people):
    trained = people.frame[people.trained][:200]
    return pd.concat([people.frame, trained.assign(split="test")], ignore_index=True)


def of_sets_turned_round(people):
    frame = people.frame.assign(score=forest_scores(people, np.flatnonzero(people.trained), leaf=3))
    return frame.assign(split=frame["split"].map({"train": "test", "test": "train"}))


def turned_round_in_the_north(people):
    score = people.frame["score"]
    return people.frame.assign(score=score.mask(people.frame["region"] == "north", 1 - score))


def of_two_columns_that_tell_the_sex(people):
    many = people.frame["kids"] > 1
    return people.frame.assign(code=(people.is_man ^ many).astype(int), many=many.astype(int))


def with_the_sex_as_a_difference(people):
    first = np.random.default_rng(6).integers(10_000, 99_999, N)
    return people.frame.assign(first=first, second=first + people.is_man)


def with_points_that_add_up_to_the_score(people):
    base = np.random.default_rng(7).integers(0, 500, N)
    return people.frame.assign(base=base, more=(100 * people.log_odds).round().astype(int) - base)


def of_the_decision_as_label(people):
    decided = people.frame["score"] >= 0.5
    changed = np.random.default_rng(5).random(N) < 0.03
    answers = {"predicted": decided, "repaid": decided ^ changed}
    texts = {name: np.where(answer, "yes", "no") for name, answer in answers.items()}
    return people.frame.drop(columns="score").assign(**texts)


PLANTED = {
    "threshold": (lambda people: borrowers(intercept=-4.0).frame, {}, "score"),
    "trained_on_test": (refitted_on_everybody, {}, "score"),
    "sets_reversed": (of_sets_turned_round, {}, "split"),
    "repeated": (with_training_records_among_the_test, {}, "200 of"),
    "repeated, no attribute yet": (with_training_records_among_the_test, {"sensitive": "", "group": ()}, "200 of"),
    "near_repeated": (judged_on_training_records, {}, "7 columns"),
    "near_repeated, no attribute yet": (judged_on_training_records, {"sensitive": "", "group": ()}, "7 columns"),
    "reversed_part": (turned_round_in_the_north, {}, "north"),
    "attribute_in_features": (of_two_columns_that_tell_the_sex, {}, "code"),
    "attribute_in_features, a difference": (with_the_sex_as_a_difference, {}, "second"),
    "score_parts": (with_points_that_add_up_to_the_score, {}, "base and more"),
    "label_near_prediction": (of_the_decision_as_label, {"prediction": "predicted", "score": ""}, "predicted"),
}


@pytest.mark.parametrize("kind", PLANTED)
def test_hidden_facts_name_a_planted_fault(kind):
    make, changes, word = PLANTED[kind]
    facts = cautions(make(borrowers()), replace(ROLES, **changes))
    (fact,) = (fact for fact in facts if fact.kind == kind.partition(",")[0])
    assert fact.severity is Severity.CAUTION
    assert word in fact.text


@pytest.mark.parametrize("has_identifier", [False, True])
def test_near_repeated_is_silent_of_equal_records_and_of_people_who_have_an_identifier(has_identifier):
    frame = judged_on_training_records(borrowers())
    if has_identifier:
        frame = frame.assign(number=np.arange(len(frame)))
        roles = replace(ROLES, person="number")
    else:
        roles = ROLES
        frame = pd.concat([frame[:N], frame[:1_000].assign(split="test"), frame[:1_000].assign(split="train")])
    assert "near_repeated" not in {fact.kind for fact in cautions(frame, roles)}


@pytest.mark.parametrize("is_overfit", [False, True])
def test_hidden_facts_are_silent_of_honest_tables(is_overfit):
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
    labels_alone = check_input(decided.drop(columns="score"), replace(ROLES, prediction="predicted", score=""))
    assert [fact.columns for fact in labels_alone if fact.kind == "near_score"] == [("points",)]


TABLES = ("demo", "adult", "compas")

NAMES = {
    "plain": ("label", "id", "prediction", "score"),
    "true": ("y_true", "person_id", "y_pred", "y_prob"),
    "outcome": ("outcome", "customer_no", "predicted_outcome", "probability"),
    "target": ("target", "uuid", "target_pred", "target_proba"),
    "class": ("actual_class", "row", "predicted_class", "risk_score"),
}
"""Names of label, identifier, prediction and score."""


@cache
def table_of(name):
    """Return a table of the catalogue, or skip."""
    folder = Path(os.environ.get("FAIRLEAK_DATA", "/nowhere"))
    if name != "demo" and not (folder / name).is_dir():
        pytest.skip(f"set FAIRLEAK_DATA to a folder that holds {name}")
    return load(name, data_folder=folder)


def open_questions(frame, roles, guesses=()):
    """Return what is asked of a table, about which nothing may block."""
    facts = check_input(frame, roles, guesses=guesses)
    assert [fact.text for fact in facts if fact.severity is Severity.BLOCKING] == []
    return [fact.kind for fact in facts if fact.severity is Severity.QUESTION]


@pytest.mark.long
@pytest.mark.parametrize("name", TABLES)
def test_built_in_tables_raise_no_alarm(name):
    table = table_of(name)
    assert all(len(open_questions(table.frame, roles)) <= 2 for roles in table.roles)


@pytest.mark.long
@pytest.mark.parametrize("has_model", [False, True])
@pytest.mark.parametrize("names", NAMES)
@pytest.mark.parametrize("name", TABLES)
def test_real_tables_under_other_names_are_stopped_by_nothing_false(name, names, has_model):
    table = table_of(name)
    roles, data = table.roles[0], build_dataset(table, table.roles[0])
    label, person, prediction, score = NAMES[names]
    columns = [roles.label, roles.sensitive, *data.feature_names]
    complete = table.frame[[c for c in columns if c in table.frame]].notna().all(axis=1)
    frame = table.frame[complete if data.n < len(table.frame) else slice(None)]
    frame = frame.rename(columns={roles.label: label}).reset_index(drop=True)
    frame.insert(0, person, np.arange(100_000, 100_000 + len(frame)))
    if has_model:
        fitted = HistGradientBoostingClassifier(max_iter=50).fit(data.features[::2], data.labels[::2])
        of_positive = int(data.label_names[1] == roles.positive)
        frame[score] = fitted.predict_proba(data.features)[:, of_positive].round(4)
        negative = next(value for value in frame[label].astype(str).unique() if value != roles.positive)
        frame[prediction] = np.where(frame[score] >= 0.5, roles.positive, negative)
    frame = frame.sample(min(6_000, len(frame)), random_state=1)
    read = read_table(frame.to_csv(index=False).encode(), "people.csv").frame
    guess = suggest_roles(read)
    assert guess.roles.label == label
    questions = set(open_questions(read, guess.roles, guess.questions))
    # anything else would be false of a table that is right
    assert {"favourable"} <= questions <= {"favourable", "outcome", "attribute", "possible_answers"}
