"""Test sets and predictions from files, matched by identifiers in one normal form, or refused with one sentence."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from core.desk import Columns, TestSet, predictions_of
from core.desk import test_set_of as made_of
from core.desk.noise import amount_text, epsilon_of, millionths
from core.desk.registration import normal_form
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
    assert found.order.tolist() == [1, 0, 2] and found.n == 3
    bare = people("id;sex\n1;1\n2;0\n", Columns(attribute="sex"))
    assert bare.ids == ("1", "2") and bare.attribute.tolist() == [1, 0] and bare.labels is None


def test_predictions_are_matched_by_identifier():
    assert scores("id,score\nc,0.3\na,0.1\nb,0.2\n") == [0.2, 0.1, 0.3]
    assert scores("who;p;q\na;0,5;1\nb;0,25;1\nc;1;1\n", id_column="who", score="p") == [0.25, 0.5, 1.0]


@pytest.mark.parametrize(
    "text, words",
    [
        ("id,sex\na,1\n,0\n", "'id' of 'people.csv' must have no empty cell, record 2"),
        ("id,sex\na,1,2\n", "line 2 has 3"),
    ],
)
def test_bad_test_sets(text: str, words: str):
    with pytest.raises(InputError, match=words):
        people(text, Columns(attribute="sex"))


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
        ("id,p,q\na,0.1,1\nb,0.2,1\nc,1,1\n", "one column of scores besides 'id', or an option .* got 2"),
    ],
)
def test_bad_predictions(text: str, words: str):
    with pytest.raises(InputError, match=words):
        scores(text)


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


ALIKE = {
    "Ada Lovelace": [
        "ada lovelace",
        "ADA LOVELACE",
        "AdaLovelace",
        "Ada\N{NO-BREAK SPACE}Lovelace",
        "Ada\N{BRAILLE PATTERN BLANK}Lovelace",
        "Ada\N{ZERO WIDTH SPACE} Lovelace",
        "A\N{ZERO WIDTH JOINER}da Lovelace",
        "A\N{SOFT HYPHEN}da Lovelace",
        "\N{ZERO WIDTH NO-BREAK SPACE}Ada Lovelace",
        "\N{LEFT-TO-RIGHT ISOLATE}Ada Lovelace\N{POP DIRECTIONAL ISOLATE}",
        "Ada\N{VARIATION SELECTOR-1} Lovelace",
        "Ada\N{COMBINING GRAPHEME JOINER} Lovelace",
        "Ada Lovelace\0",
        "Ada\N{INVISIBLE SEPARATOR} Lovelace\U000e0041\U000e0fff",
        "Ad\N{CYRILLIC SMALL LETTER A} Lovelace",
        "Ada L\N{GREEK SMALL LETTER OMICRON}velace",
        "\N{GREEK CAPITAL LETTER ALPHA}da Lo\N{GREEK SMALL LETTER NU}elace",
        "Àdá Lövelacè",
        "A\N{COMBINING ENCLOSING CIRCLE}da Lovelace",
        "Ａｄａ　Ｌｏｖｅｌａｃｅ",
        "𝐀da 𝓛ovelace",
    ],
    "1": [
        "001",
        "1.0",
        "#1",
        "+1",
        "1e0",
        "1,000e-3",
        "①",
        "١",
        "١٫٠",
        "१",
    ],
    "1234": ["1,234", "1 234", "1,234.00", "1 234,0", "1.234e3", "١٬٢٣٤", "01234"],
    "-1.5": ["-1,5", "\N{MINUS SIGN}1.50", "\N{EN DASH}1.5", "-01.5", "-15e-1"],
    "P-7": ["p-007", "P\N{NON-BREAKING HYPHEN}7", "p-7.0", "p - ٧"],
    "person 1": ["person #1", "person 001", "Person1", "person 1,0"],
    "Istanbul": ["İstanbul", "ıstanbul", "ISTANBUL", "istanbul"],
    "Νίκος": ["ΝΙΚΟΣ", "νικοσ"],
    "O'Neil": ["O’Neil", "o‘neil"],
}
"""Spellings of one person."""

DIFFERENT = [
    ["0", "1", "-1", "1.5", "-1.5", "15", "105", "1.05", "0.15", "1000", "100", "10", "1e9", "1e-9", "0,123", "123"],
    ["12345678901234567890123456789012", "12345678901234567890123456789013", "1234567890123456789012345678901"],
    ["1.2.10", "1.2.1", "10.0.0.1", "10.0.0.10", "A1", "A-1", "A_1", "A.1", "A11", "A10", "B1", "c/1", "c1"],
    ["ivan", "inan", "x.05", "x=.05", "x=.5", "p1.5", "p15", "p-15", "p 15 1", "p 1 51", "p151"],
    ["1 11", "11 1", "111", "1, 11", "1,11", "1 000 000", "1 000 00", "1#2", "12"],
]
"""Sets of people of whom no two are one."""


@pytest.mark.parametrize("plain", ALIKE)
def test_spellings_of_one_person(plain: str):
    assert {normal_form(one) for one in ALIKE[plain]} == {normal_form(plain)}


@pytest.mark.parametrize("people", DIFFERENT)
def test_different_people(people: list[str]):
    assert len({normal_form(one) for one in people}) == len(people)


PIECES = st.lists(
    st.one_of(
        st.text(max_size=3),
        st.sampled_from(["0", "1", "5", "00", ",", ".", "#", " ", "e", "-", "+", "000", "a", "ν", "̈", "\u200b"]),
    ),
    max_size=9,
).map("".join)


@given(PIECES)
@example("0001,234,567")
@example("1. 5")
@example("1000e999999999")
def test_the_form_of_a_form_is_itself(text: str):
    assert normal_form(normal_form(text)) == normal_form(text)


def test_the_form_of_every_characters_form_is_itself():
    for k in range(0, 0x20000, 11):
        text = f"A1{chr(k)}0.1"
        assert normal_form(normal_form(text)) == normal_form(text), hex(k)


NUMBERS = st.tuples(st.integers(-(10**20), 10**20), st.integers(-12, 12))


@given(NUMBERS, NUMBERS, st.integers(0, 3))
@example((1, 3), (1000, 0), 0)
@example((10, 0), (1, 0), 0)
def test_numbers_are_one_where_their_values_are(one: tuple[int, int], other: tuple[int, int], zeros: int):
    spelled = [f"{digits:0{zeros + 5}}e{power}" for digits, power in (one, other)]
    values = [Fraction(digits) * Fraction(10) ** power for digits, power in (one, other)]
    assert (normal_form(spelled[0]) == normal_form(spelled[1])) == (values[0] == values[1])
