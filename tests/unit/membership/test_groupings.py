"""Other groups of a subject's people: by roles, by a column, by pairs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from core.datasets import build_dataset
from core.studies.membership.result import column_grouping, grouping_columns, table_grouping
from tests import samples
from tests.samples import ROLES

FRAME = samples.frame(400).assign(guild=np.random.default_rng(0).choice(["smith", "cook", None], 400))
TABLE = replace(samples.table(400), frame=FRAME)


@pytest.mark.parametrize("missing", ["keep", "drop"])
def test_table_grouping_by_other_roles_is_of_the_same_records(missing):
    roles = replace(ROLES, missing=missing)
    dataset = build_dataset(TABLE, roles)
    grouping = table_grouping(TABLE, roles, roles)
    assert np.array_equal(grouping.codes, dataset.sensitive)
    assert grouping.names == dataset.group_names
    town = table_grouping(TABLE, roles, replace(ROLES, sensitive="town", group=(), each=True))
    index = dataset.feature_names.index("town")
    cells = np.array(dataset.categories[index])[dataset.features[:, index].astype(int)]
    assert np.array_equal(cells, np.array(town.names)[town.codes])


def test_column_grouping_makes_a_group_a_value_and_one_of_missing_cells():
    dataset = build_dataset(TABLE, ROLES)
    assert grouping_columns(dataset) == ("town", "guild")
    grouping = column_grouping(dataset, "guild")
    assert grouping.names == ("cook", "smith", "missing")
    assert np.array_equal(np.array(grouping.names)[grouping.codes], FRAME["guild"].fillna("missing").to_numpy())
