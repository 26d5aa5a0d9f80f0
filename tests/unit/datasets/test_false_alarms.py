"""False alarms of the input check: real tables with honest answers of a model, their columns named in five ways."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from core.datasets import Roles, Table, build_dataset, load, read_table, suggest_roles
from core.datasets.checked_table import Severity
from core.datasets.input_check import check_input

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


@cache
def table_of(name: str) -> Table:
    """Return a table of the catalogue, or skip."""
    folder = Path(os.environ.get("FAIRLEAK_DATA", "/nowhere"))
    if NEEDS[name] and not (folder / NEEDS[name]).is_dir():
        pytest.skip(f"set FAIRLEAK_DATA to a folder that holds {NEEDS[name]}")
    return load(name, data_folder=folder)


def open_questions(frame: pd.DataFrame, roles: Roles, guesses: tuple[str, ...] = ()) -> list[str]:
    """Return what is asked of a table, about which nothing may block."""
    facts = check_input(frame, roles, guesses=guesses)
    assert [fact.text for fact in facts if fact.severity is Severity.BLOCKING] == []
    return [fact.kind for fact in facts if fact.severity is Severity.QUESTION]


@pytest.mark.long
@pytest.mark.parametrize("name", NEEDS)
def test_built_in_tables_raise_no_alarm(name):
    table = table_of(name)
    assert all(len(open_questions(table.frame, roles)) <= 2 for roles in table.roles)


@pytest.mark.long
@pytest.mark.parametrize("model", ["", *MODELS])
@pytest.mark.parametrize("names", NAMES)
@pytest.mark.parametrize("name", NEEDS)
def test_real_tables_under_other_names_are_stopped_by_nothing_false(name, names, model):
    table = table_of(name)
    roles, data = table.roles[0], build_dataset(table, table.roles[0])
    label, person, prediction, score = NAMES[names]
    columns = [roles.label, roles.sensitive, *data.feature_names]
    complete = table.frame[[c for c in columns if c in table.frame]].notna().all(axis=1)
    frame = table.frame[complete if data.n < len(table.frame) else slice(None)]
    frame = frame.rename(columns={roles.label: label}).reset_index(drop=True)
    frame.insert(0, person, np.arange(100_000, 100_000 + len(frame)))
    if model:
        fitted = MODELS[model].fit(data.features[::2], data.labels[::2])
        of_positive = int(data.label_names[1] == roles.positive)
        frame[score] = fitted.predict_proba(data.features)[:, of_positive].round(4)
        negative = next(value for value in frame[label].astype(str).unique() if value != roles.positive)
        frame[prediction] = np.where(frame[score] >= 0.5, roles.positive, negative)
    frame = frame.sample(min(6_000, len(frame)), random_state=1)
    read = read_table(frame.to_csv(index=False).encode(), "people.csv").frame
    guess = suggest_roles(read)
    assert guess.roles.label == label
    questions = open_questions(read, guess.roles, guess.questions)
    assert "favourable" in questions and len(questions) <= 3, questions  # it is open indeed
