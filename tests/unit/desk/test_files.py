"""Test sets and predictions from files: read whole, matched by identifier, or refused with one sentence."""

from __future__ import annotations

import numpy as np
import pytest

from core.desk import Columns, TestSet, predictions_of
from core.desk import test_set_of as made_of
from core.desk.noise import amount_text, epsilon_of, millionths
from core.errors import InputError

PEOPLE = "id,sex,ok,town\nb,F,yes,x\na,M,no,y\nc,M,yes,z\n"
COLUMNS = Columns(attribute="sex", advantaged="M", label="ok", positive="yes")


def people(text: str = PEOPLE, columns: Columns = COLUMNS) -> TestSet:
    return made_of(text.encode(), "people.csv", columns)


def scores(text: str, ids: tuple[str, ...] = ("b", "a", "c"), **more: str) -> list[float]:
    return predictions_of(text.encode(), "model.csv", ids, **more).tolist()


def test_a_test_set_is_read():
    found = people()
    assert found.ids == ("b", "a", "c") and found.attribute.tolist() == [0, 1, 1]
    assert found.labels is not None and found.labels.tolist() == [1, 0, 1] and found.n_positive == 2
    assert found.order().tolist() == [1, 0, 2] and found.n == 3
    bare = people("id;sex\n1;1\n2;0\n", Columns(attribute="sex"))
    assert bare.ids == ("1", "2") and bare.attribute.tolist() == [1, 0] and bare.labels is None


def test_predictions_are_matched_by_identifier():
    assert scores("id,score\nc,0.3\na,0.1\nb,0.2\n") == [0.2, 0.1, 0.3]
    assert scores("who;p;q\na;0,5;1\nb;0,25;1\nc;1;1\n", id_column="who", score="p") == [0.25, 0.5, 1.0]


@pytest.mark.parametrize(
    "text, columns, words",
    [
        (PEOPLE, Columns(attribute="race"), "must have a column 'race', its columns are id, sex, ok, town"),
        (
            PEOPLE,
            Columns(attribute="sex"),
            "must hold only 0 and 1, or the advantaged value must be named, got 'F', 'M'",
        ),
        (PEOPLE, Columns(attribute="sex", advantaged="X"), "must hold the advantaged value 'X', got only 'F', 'M'"),
        (PEOPLE, Columns(attribute="sex", advantaged="M", label="ok"), "the positive label must be named"),
        ("id,sex\na,1\n", Columns(attribute="sex"), "A test set must have two people at least, got 1"),
        ("id,sex\na,1\na ,0\n", Columns(attribute="sex"), "identifier of her own, 'a' stands twice"),
        ("id,sex\na,1\n,0\n", Columns(attribute="sex"), "'id' of 'people.csv' must have no empty cell, record 2"),
        ("id,sex\na,1,2\n", Columns(attribute="sex"), "line 2 has 3"),
    ],
)
def test_bad_test_sets(text: str, columns: Columns, words: str):
    with pytest.raises(InputError, match=words) as error:
        people(text, columns)
    assert "\n" not in str(error.value) and str(error.value).endswith(".")


@pytest.mark.parametrize(
    "text, words",
    [
        ("id,score\na,0.1\nb,0.2\n", "must have a line for each of 3 people, got 2"),
        ("id,score\na,0.1\nb,0.2\nd,0.3\n", "must have the test set's people only, got 'd'"),
        ("id,score\na,0.1\nb,0.2\nb,0.3\n", "must have each person once, 'b' stands twice"),
        ("id,score\na,0.1\nb,0.2\nc,1.3\n", r"must hold scores in \[0, 1\], got '1.3'"),
        ("id,score\na,0.1\nb,much\nc,1\n", r"must hold scores in \[0, 1\], got 'much'"),
        ("id,score\na,0.1\nb,\nc,1\n", "must have no empty cell, record 2"),
        ("who,score\na,0.1\nb,0.2\nc,1\n", "must have a column 'id'"),
        ("id,p,q\na,0.1,1\nb,0.2,1\nc,1,1\n", "one column of scores besides 'id', or be told which it is, got 2"),
    ],
)
def test_bad_predictions(text: str, words: str):
    with pytest.raises(InputError, match=words) as error:
        scores(text)
    assert "\n" not in str(error.value) and str(error.value).endswith(".")


def test_seals_depend_on_the_key_and_on_what_they_seal_but_not_on_the_order():
    one = people()
    order = np.array([2, 0, 1])
    shuffled = TestSet(
        ids=tuple(one.ids[k] for k in order),
        attribute=one.attribute[order],
        labels=one.labels[order],  # type: ignore[index]
    )
    swapped = TestSet(ids=one.ids, attribute=1 - one.attribute, labels=one.labels)
    joined = TestSet(ids=("ba", "", "c"), attribute=one.attribute, labels=one.labels)  # the same letters in a row
    for seal in ("seal", "seal_of_people"):
        made = getattr(one, seal)(b"key")
        assert made == getattr(shuffled, seal)(b"key") != getattr(one, seal)(b"other")
        assert made != getattr(joined, seal)(b"key")
    assert one.seal_of_people(b"key") == swapped.seal_of_people(b"key")
    assert one.seal(b"key") != swapped.seal(b"key")


def test_amounts_are_whole_millionths():
    for value, amount in ((0.1, 100_000), ("0.25", 250_000), (1, 1_000_000), ("1e-6", 1), (1000.0, 10**9)):
        assert millionths(value, name="epsilon") == amount
        assert millionths(amount_text(amount), name="epsilon") == amount
        assert epsilon_of(amount) == float(value)
    assert [amount_text(a) for a in (0, 1, 1_500_000, 10_000_000)] == ["0", "0.000001", "1.5", "10"]
