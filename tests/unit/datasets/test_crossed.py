"""Two columns crossed: a group for each pair of their values."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from core.auditing import commented_plan, read_plan, suggested_plan
from core.base.errors import InputError
from core.datasets import build_dataset, cautions
from core.datasets.dataset import Table
from core.datasets.roles import Roles

ROLES = Roles(label="hired", positive="yes", favourable="yes", sensitive="sex × race")


def people(cells: dict[tuple[str | None, str | None], int]) -> Table:
    """Return a table with so many people of each sex and race, in random order."""
    rows = [pair for pair, size in cells.items() for _ in range(size)]
    order = np.random.default_rng(1).permutation(len(rows))
    frame = pd.DataFrame([rows[i] for i in order], columns=["sex", "race"])
    frame["age"] = 20 + np.arange(len(frame)) % 41
    frame["hired"] = np.where(np.arange(len(frame)) % 3 == 0, "yes", "no")
    return Table(name="upload", title="T", frame=frame, source="Made up.")


FULL = {("F", "a"): 40, ("F", "b"): 31, ("F", "c"): 33, ("M", "a"): 60, ("M", "b"): 30, ("M", "c"): 50}


def test_groups_are_the_pairs_counted_by_hand():
    table = people({**FULL, ("F", None): 5, (None, "a"): 4})
    data = build_dataset(table, ROLES)
    pairs = [
        f"{s} × {r}"
        for s, r in zip(table.frame["sex"], table.frame["race"], strict=True)
        if {type(s), type(r)} == {str}
    ]
    assert [data.group_names[code] for code in data.sensitive] == pairs
    assert data.group_names == tuple(name for name, _ in Counter(pairs).most_common())
    assert (data.n, data.feature_names) == (244, ("age",))
    assert cautions(table.frame, ROLES) == ()


@pytest.mark.parametrize(
    ("cells", "message"),
    [
        (FULL | {("M", "b"): 29}, "Every cell of 'sex × race' must have at least 30 people, got 29 in 'M × b'."),
        (FULL | {("F", "c"): 0}, "got 0 in 'F × c'"),
        (dict.fromkeys(FULL, 5) | {("F", "a"): 100}, "and fewer than 30 in 2 more"),
    ],
)
def test_too_small_cells_are_named_with_their_people(cells: dict[tuple[str | None, str | None], int], message: str):
    with pytest.raises(InputError, match=message):
        build_dataset(people(cells), replace(ROLES, each=True))


@pytest.mark.parametrize(
    ("sensitive", "sentence"),
    [
        ("sex × age", "'sex × age' must have 2 to 20 cells, got 82; cross columns of fewer values."),
        ("sex × hired", "Sensitive attribute and label must be two different columns, got 'hired' twice."),
        ("sex × town", "The sensitive attribute must be a column of the table, got 'sex × town'."),
        ("sex × sex", "The sensitive attribute must be a column of the table, got 'sex × sex'."),
        ("sex × race × age", "The sensitive attribute must be a column of the table, got 'sex × race × age'."),
    ],
)
def test_what_cannot_be_crossed_is_said_in_a_sentence(sensitive: str, sentence: str):
    with pytest.raises(InputError) as refused:
        build_dataset(people(FULL), replace(ROLES, sensitive=sensitive))
    assert str(refused.value) == sentence


def test_a_plan_of_a_file_is_suggested_with_two_columns():
    table = people(FULL)
    suggestion = suggested_plan(table, "people.csv", attribute="sex × race")
    plan, reasons = suggestion.plan, suggestion.reasons
    assert plan.config.roles is not None and plan.config.roles.sensitive == "sex × race"
    assert reasons["group"] == "a group for each pair of values"
    assert read_plan(commented_plan(plan)).config == plan.config
    assert plan.config.roles.favourable == ""  # which is never guessed
    assert build_dataset(table, replace(plan.config.roles, favourable="yes")).n_groups == 6
