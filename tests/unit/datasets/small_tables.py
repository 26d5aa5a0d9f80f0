"""Small tables made of columns, and datasets built of them."""

import numpy as np
import pandas as pd

from core.datasets import Table, build_dataset
from tests.unit.datasets.bad_tables import GOOD_ROLES

N = 120


def table_of(**columns):
    """Return a table of N people with sex, hired, age, and the given columns (repeated to length N)."""
    base = {"age": [20 + i % 37 for i in range(N)], "sex": list("FM") * 60, "hired": ["yes", "yes", "no", "no"] * 30}
    frame = pd.DataFrame(base)
    for name, cells in columns.items():
        series = pd.Series(cells)
        frame[name] = series.iloc[[i % len(series) for i in range(N)]].reset_index(drop=True)
    return Table(name="t", title="T", frame=frame, source="Made up.")


def built(roles=GOOD_ROLES, **columns):
    """Build a dataset and check what holds of every dataset."""
    table = table_of(**columns)
    before = table.frame.copy(deep=True)
    data = build_dataset(table, roles)
    pd.testing.assert_frame_equal(table.frame, before)
    assert data.features.dtype == np.float64 and data.features.shape == (data.n, len(data.feature_names))
    assert np.isfinite(data.features).all() and data.categorical.shape == (len(data.feature_names),)
    assert data.labels.dtype == data.sensitive.dtype == np.uint8
    assert data.labels.shape == data.sensitive.shape == (data.n,) and data.rows_read == N
    assert {roles.label, roles.sensitive, *roles.excluded}.isdisjoint(data.feature_names)
    assert all(note.endswith(".") for note in data.notes)
    return data
