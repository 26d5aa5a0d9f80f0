"""Equal records, and numbers that name people: counted, told, set aside."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.datasets.build import build_dataset
from core.datasets.columns import identifier_reason
from core.datasets.dataset import AuditDataset, Table
from core.datasets.roles import Roles
from core.datasets.splits import kinds_of_records, repeated_note, shared_note, shared_records, split
from core.fingerprint import fingerprint_frame

ROLES = Roles(label="y", positive="1", sensitive="s", group=("a",))


def built(**columns: object) -> AuditDataset:
    frame = pd.DataFrame(columns)
    return build_dataset(
        Table(name="t", title="T", frame=frame, source="", fingerprint=fingerprint_frame(frame)), ROLES
    )


@settings(max_examples=100)
@given(st.lists(st.tuples(*[st.sampled_from([0.0, -0.0, 1.5])] * 2, st.integers(0, 1), st.integers(0, 2)), min_size=1))
def test_kinds_by_brute_force(records: list[tuple[float, float, int, int]]) -> None:
    table = np.array(records)
    kinds = kinds_of_records(table[:, :2], table[:, 2].astype(np.uint8), table[:, 3].astype(np.uint8))
    for i, one in enumerate(records):
        assert [bool(kinds[i] == k) for k in kinds] == [one == other for other in records]
    sizes = Counter(tuple(value + 0.0 for value in record) for record in records)
    repeated = sum(size for size in sizes.values() if size > 1)
    note = repeated_note(kinds)
    assert note.startswith(f"{repeated} of {len(records)} records are equal") if repeated else note == ""


def test_repeated_records_are_noted_and_counted_between_the_sets() -> None:
    n = 300
    data = built(f=[*range(n), *range(0, n, 10)], g=[0.5, 7.0] * 165, s=["a", "b", "a"] * 110, y=["1", "0"] * 165)
    assert data.n == 330
    equal = [i for i in range(0, n, 10) if i % 3 == (n + i // 10) % 3 and i % 2 == (n + i // 10) % 2]
    pairs = [(i, n + i // 10) for i in equal]
    records = [tuple(row) for row in np.column_stack([data.features, data.labels, data.sensitive])]
    counted = Counter(records)
    repeated = sum(c for c in counted.values() if c > 1)
    assert repeated > len(pairs) > 0
    assert data.notes[-1].startswith(f"{repeated} of 330 records are equal to another one in every column used")
    splits = split(data, seed=1)
    trained = {records[i] for i in splits.train}
    expected = {
        name: sum(records[i] in trained for i in getattr(splits, name)) for name in ("attack", "validation", "test")
    }
    assert shared_records(data, splits) == expected and sum(expected.values()) > 0
    known = expected["attack"] + expected["validation"]
    assert shared_note(data, splits) == (
        f"{expected['test']} of {splits.test.size} test records and {known} of {splits.known.size} records the "
        "attacker knows equal a training record in every column used."
    )


@pytest.mark.parametrize(
    ("name", "taken"),
    [
        ("id", True),
        ("person_id", True),
        ("customerId", True),
        ("id of case", True),
        ("Kundennummer", True),
        ("case number", True),
        ("number of steps", False),
        ("no_of_visits", False),
        ("salary", False),
        ("paid", False),
        ("Idaho", False),
    ],
)
def test_whole_numbers_that_all_differ_are_identifiers_by_name_only(name: str, taken: bool) -> None:
    values = np.array([1000.0 + 7 * i for i in range(120)])
    assert bool(identifier_reason(values, 120, name)) == taken
    assert not identifier_reason(values + 0.5, 120, name)
    assert not identifier_reason(np.tile(values[:20], 6), 120, name)
    assert identifier_reason(np.arange(120.0), 120, name) == "numbers the records"


def test_an_identifier_of_repeated_people_is_one_but_a_number_is_not() -> None:
    values = np.array([1000.0 + 7 * (i - i % 5 // 4) for i in range(120)])
    assert identifier_reason(values, 120, "patient id") and not identifier_reason(values, 120, "case number")


def test_an_identifier_is_set_aside_with_a_note_and_can_be_taken_back() -> None:
    columns = {"s": ["a", "b"] * 60, "y": ["1", "1", "0", "0"] * 30, "f": [i % 7 for i in range(120)]}
    numbers = [5000 + 13 * i for i in range(120)]
    data = built(**columns, person_id=numbers, pay=numbers)
    assert data.feature_names == ("f", "pay")
    assert data.notes[0] == (
        "Column person_id is called like an identifier and holds a different whole number in most records (rename it "
        "to keep it) and is left out."
    )
    assert built(**columns, person=numbers).feature_names == ("f", "person")
