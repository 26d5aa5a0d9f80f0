"""Other groups of a subject's people: by roles, by a column, by pairs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from core.datasets import build_dataset
from core.studies.membership.result import column_grouping, grouping_columns, table_grouping
from tests.unit.membership.samples import ROLES, frame, table


@pytest.mark.parametrize("missing", ["keep", "drop"])
def test_groups_by_other_roles_are_those_of_the_same_records(missing):
    roles = replace(ROLES, missing=missing)
    dataset = build_dataset(table(), roles)
    grouping = table_grouping(table(), roles, roles)
    assert np.array_equal(grouping.codes, dataset.sensitive) and grouping.names == dataset.group_names
    town = table_grouping(table(), roles, replace(ROLES, sensitive="town", group=(), each=True))
    index = dataset.feature_names.index("town")
    cells = np.array(dataset.categories[index])[dataset.features[:, index].astype(int)]
    assert np.array_equal(cells, np.array(town.names)[town.codes])


def test_a_column_of_categories_makes_a_group_a_value_and_one_of_missing_cells():
    dataset = build_dataset(table(), ROLES)
    assert grouping_columns(dataset) == ("town", "guild")
    grouping, cells = column_grouping(dataset, "guild"), frame()["guild"]
    assert grouping.names == ("cook", "smith", "missing")
    texts = np.array(grouping.names)[grouping.codes]
    assert np.array_equal(texts, cells.fillna("missing").to_numpy())
