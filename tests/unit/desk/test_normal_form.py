"""The normal form: one person's spellings have one, other people and other numbers have another."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from core.desk.registration import normal_form

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


def test_no_two_kinds_of_identifiers_meet():
    assert len({normal_form(plain) for plain in ALIKE}) == len(ALIKE)


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


@given(st.integers(0, 10**9), st.integers(0, 10**9), st.sampled_from(["", "person ", "A-", "#"]))
def test_numbered_people_are_different(one: int, other: int, before: str):
    assert (normal_form(f"{before}{one}") == normal_form(f"{before}{other:,}")) == (one == other)
