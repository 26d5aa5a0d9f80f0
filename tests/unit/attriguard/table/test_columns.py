"""What may change: kinds, domains, frozen columns."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from core.attriguard.table_people import TablePeople, table_columns
from core.errors import InputError
from tests.table_people import people


@pytest.fixture(scope="module")
def village() -> TablePeople:
    return people(n=500)


def with_column(village: TablePeople, j: int, values: np.ndarray) -> TablePeople:
    known = village.known.copy()
    known[:, j] = values
    return replace(village, known=known)


def test_kinds(village: TablePeople) -> None:
    assert [c.kind for c in table_columns(village)] == ["category", "category", "category", "integer", "number"]
    assert not any(c.frozen for c in table_columns(village))


def test_a_category_needs_its_share(village: TablePeople) -> None:
    rare = with_column(village, 0, np.repeat([0.0, 1.0, 2.0, 3.0], [4, 5, 200, 291]))
    job = table_columns(rare, share=0.01)[0]
    assert job.domain.tolist() == [1, 2, 3] and job.listed.tolist() == [0, 1, 2, 3]
    assert table_columns(rare, share=0.0)[0].domain.tolist() == [0, 1, 2, 3]
    assert table_columns(rare, share=0.5)[0].domain.tolist() == [3]


def test_numbers_stay_in_the_middle_98_percent_on_values_seen(village: TablePeople) -> None:
    known = np.arange(500) * 0.5
    pay = table_columns(with_column(village, 4, known))[4]
    assert pay.domain[0] == np.quantile(known, 0.01, method="inverted_cdf") == 2.0
    assert pay.domain[-1] == np.quantile(known, 0.99, method="inverted_cdf") == 247.0
    assert np.isin(pay.domain, known).all() and pay.domain.size == 11 and not pay.listed.size


def test_few_whole_numbers_are_taken_value_by_value(village: TablePeople) -> None:
    rooms = table_columns(with_column(village, 3, np.repeat([-5.0, 1.0, 2.0, 7.0, 90.0], [3, 200, 94, 200, 3])))[3]
    assert rooms.kind == "integer" and rooms.domain.tolist() == [1, 2, 7] and rooms.listed.tolist() == [-5, 1, 2, 7, 90]


def test_many_whole_numbers_stay_whole(village: TablePeople) -> None:
    rooms = table_columns(with_column(village, 3, np.arange(500.0)))[3]
    assert rooms.kind == "integer" and (rooms.domain % 1 == 0).all() and not rooms.listed.size


def test_frozen_by_choice_or_constant(village: TablePeople) -> None:
    columns = table_columns(with_column(village, 2, np.zeros(500)), frozen=("pay",))
    assert [c.name for c in columns if c.frozen] == ["club", "pay"]


def test_values_read_as_their_text_and_back(village: TablePeople) -> None:
    job, _, _, rooms, pay = table_columns(with_column(village, 0, np.arange(500) % 3 - 1.0))
    assert [job.text(v) for v in job.listed] == ["missing", "cook", "nurse"]
    assert [job.value(job.text(v)) for v in job.listed] == job.listed.tolist()
    assert rooms.value("3") == 3 and pay.text(0.25) == "0.25"
    assert job.text(7.0) == "7"


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"frozen": ("age",)}, "Frozen columns must be columns of the table, got 'age'."),
        ({"frozen": ("job", "home", "club", "rooms", "pay")}, "all 5 are frozen or constant"),
        ({"share": 1.0}, r"in \[0, 1\), got 1.0"),
        ({"share": float("nan")}, r"in \[0, 1\), got nan"),
    ],
)
def test_bad_choices(village: TablePeople, settings: dict[str, object], told: str) -> None:
    with pytest.raises(InputError, match=told):
        table_columns(village, **settings)  # type: ignore[arg-type]


def test_too_few_columns_values_or_people(village: TablePeople) -> None:
    with pytest.raises(InputError, match="records of at least two columns, those of Village have 1"):
        replace(village, names=("job",), known=village.known[:, :1], public=village.public[:, :1])
    for names in (("all",), tuple(map(str, range(21)))):
        with pytest.raises(InputError, match=f"2 to 20 values, creed has {len(names)}"):
            replace(village, values=names)
    with pytest.raises(InputError, match="every value of creed, got nobody with creed 2"):
        replace(village, values=(*village.values, "creed 2"))
