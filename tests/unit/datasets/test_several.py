"""Several prediction columns in one table: read about the same people, refused in one sentence."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from core.datasets import Table, several_predictions
from core.errors import InputError
from tests.unit.datasets.bad_tables import assert_one_sentence
from tests.unit.datasets.test_given import ROLES, N, table

FIRST = np.arange(N) % 4 == 0
SECOND = np.arange(N) % 7 < 3


def both(**more: object) -> Table:
    """Return a table with two models' predictions, written in two ways."""
    words = np.where(SECOND, "Yes", "No")
    return table(**({"one": FIRST.astype(int), "two": words} | more))


def test_each_column_is_read_and_none_is_a_feature():
    found = several_predictions(both(), ROLES, ["two", "one"])
    assert found.names == ("two", "one")
    assert np.array_equal(found.predictions, [SECOND, FIRST])
    assert found.dataset.feature_names == ("age",)
    assert found.dataset.predictions is not None and np.array_equal(found.dataset.predictions, SECOND)


def test_roles_that_name_a_prediction_or_score_already():
    scores = FIRST * 0.5
    own = replace(ROLES, prediction="one", score="rated")
    found = several_predictions(both(rated=scores), own, ["two"])
    assert found.dataset.feature_names == ("age",) and found.dataset.scores is None
    assert np.array_equal(found.predictions, [SECOND])


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        ((), "from 1 to 200 prediction columns, got 0"),
        (("one", "three"), "must be a column of the table, got 'three'"),
        (("one", "one"), "named once, got 'one' 2 times"),
        (("one", "hired"), "no other role, got 'hired'"),
        (("one", "sex"), "no other role, got 'sex'"),
        (("one", "age"), "must be written as"),
    ],
)
def test_what_is_no_prediction_is_refused(columns: tuple[str, ...], words: str):
    with pytest.raises(InputError) as caught:
        several_predictions(both(), ROLES, columns)
    assert_one_sentence(str(caught.value))
    assert words.replace("'", "") in str(caught.value).replace("“", "").replace("”", "").replace('"', "").replace(
        "'", ""
    )


def test_a_model_that_skips_people_is_refused():
    holes = pd.array([None if i < 3 else int(i % 2) for i in range(N)], dtype="Int64")
    with pytest.raises(InputError, match=r"must predict for the same people: .*three.* lacks 3 of 240 records"):
        several_predictions(both(three=holes), ROLES, ["one", "three"])
    found = several_predictions(both(three=holes), ROLES, ["three", "one"])  # the first one says who counts
    assert found.dataset.n == N - 3 and np.array_equal(found.predictions[1], FIRST[3:])
