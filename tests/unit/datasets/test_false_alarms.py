"""False alarms of the input check: real tables with honest answers of a model, their columns named in five ways."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from core.datasets import Table, build_dataset, load, read_table
from core.datasets.checked_table import Severity
from core.datasets.input_check import check_input
from core.datasets.role_suggestion import suggest_roles

NEEDS = {"demo": "", "adult": "adult", "compas": "compas"}

NAMES = {
    "plain": ("label", "id", "prediction", "score"),
    "true": ("y_true", "person_id", "y_pred", "y_prob"),
    "outcome": ("outcome", "customer_no", "predicted_outcome", "probability"),
    "target": ("target", "uuid", "target_pred", "target_proba"),
    "class": ("actual_class", "row", "predicted_class", "risk_score"),
}
"""Names of label, identifier, prediction and score."""

MODELS = {
    "regression": make_pipeline(StandardScaler(), LogisticRegression(max_iter=500)),
    "boosting": HistGradientBoostingClassifier(max_iter=50, random_state=0),
}

MOST_ROWS = 6_000


@cache
def table_of(name: str) -> Table:
    """Return a table of the catalogue, or skip."""
    folder = Path(os.environ.get("FAIRLEAK_DATA", "/nowhere"))
    if NEEDS[name] and not (folder / NEEDS[name]).is_dir():
        pytest.skip(f"set FAIRLEAK_DATA to a folder that holds {NEEDS[name]}")
    return load(name, data_folder=folder)


@cache
def scores_of(name: str, model: str) -> np.ndarray:
    """Return the probabilities of the positive label for everybody, by a model trained on half of the table."""
    table = table_of(name)
    data = build_dataset(table, table.roles[0])
    fitted = MODELS[model].fit(data.features[::2], data.labels[::2])
    return fitted.predict_proba(data.features)[:, 1]


@pytest.mark.long
@pytest.mark.parametrize("name", NEEDS)
def test_built_in_tables_raise_no_alarm(name: str):
    table = table_of(name)
    for roles in table.roles:
        facts = check_input(table.frame, roles)
        assert not [fact for fact in facts if fact.severity == Severity.BLOCKING]
        assert len([fact for fact in facts if fact.severity == Severity.QUESTION]) <= 2


@pytest.mark.long
@pytest.mark.parametrize("model", ["", *MODELS])
@pytest.mark.parametrize("names", NAMES)
@pytest.mark.parametrize("name", NEEDS)
def test_real_tables_under_other_names_are_stopped_by_nothing_false(name: str, names: str, model: str):
    table = table_of(name)
    roles = table.roles[0]
    label, person, prediction, score = NAMES[names]
    data = build_dataset(table, roles)
    if data.n < len(table.frame):  # records with a missing feature are left out of both
        columns = [roles.label, roles.sensitive, *data.feature_names]
        frame = table.frame[table.frame[[c for c in columns if c in table.frame]].notna().all(axis=1)]
    else:
        frame = table.frame
    frame = frame.rename(columns={roles.label: label}).reset_index(drop=True)
    frame.insert(0, person, np.arange(100_000, 100_000 + len(frame)))
    if model:
        scores = scores_of(name, model)
        assert scores.size == len(frame)
        frame[score] = scores.round(4) if data.label_names[1] == roles.positive else (1 - scores).round(4)
        is_positive = frame[score] >= 0.5
        negative = next(value for value in frame[label].astype(str).unique() if value != roles.positive)
        frame[prediction] = np.where(is_positive, roles.positive, negative)
    frame = frame.sample(min(MOST_ROWS, len(frame)), random_state=1)
    read = read_table(frame.to_csv(index=False).encode(), "people.csv").frame
    guess = suggest_roles(read)
    assert guess.roles.label == label
    facts = check_input(read, guess.roles, guesses=guess.questions)
    assert not [fact.text for fact in facts if fact.severity == Severity.BLOCKING]
    questions = {fact.kind: fact.text for fact in facts if fact.severity == Severity.QUESTION}
    assert "favourable" in questions and len(questions) <= 3, questions  # it is open indeed
