"""Normal form of what the desk compares: what is one text, what is refused since it only looks equal."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from core.base.errors import InputError
from core.desk import TestSet, desk_roles, example_ledger
from core.desk.registration import normal_form, same_text

EQUAL = {
    "ada lovelace": [
        "ADA LOVELACE",
        " Ada  Lovelace ",
        "Ada\N{NO-BREAK SPACE}Lovelace",
        "A\N{ZERO WIDTH JOINER}da Lovelace",
        "A\N{SOFT HYPHEN}da Lovelace",
        "\N{LEFT-TO-RIGHT ISOLATE}Ada Lovelace\N{POP DIRECTIONAL ISOLATE}",
        "Ada\tLovelace\0",
        "Ａｄａ　Ｌｏｖｅｌａｃｅ",
        "𝐀da 𝓛ovelace",
    ],
    "zoë": ["ZOË", "Zoe\N{COMBINING DIAERESIS}", "Zo\N{ZERO WIDTH SPACE}e\N{COMBINING DIAERESIS}"],
    "strasse 1": ["STRASSE 1", "straße ①"],
    "νίκοσ": ["ΝΊΚΟΣ", "Νίκος"],
    "анна": ["АННА", "Анна"],
}
"""Normal form -> other spellings of it."""

DIFFERENT = ["zoe", "zoë", "1", "01", "1.0", "-1", "a1", "a 1", "a-1", "a_1", "o'neil", "oneil", "ı", "i"]
"""Texts of which no two are one."""

LOOK_ALIKES = [
    "Ad\N{CYRILLIC SMALL LETTER A}",
    "\N{GREEK CAPITAL LETTER ALPHA}da",
    "P\N{NON-BREAKING HYPHEN}7",
    "\N{EN DASH}1",
    "\N{MINUS SIGN}1",
    "O\N{RIGHT SINGLE QUOTATION MARK}Neil",
    "p\N{BENGALI DIGIT ZERO}",
    "\N{LATIN SMALL LETTER ALPHA}da",
    "wow\N{LATIN LETTER RETROFLEX CLICK}",
    "İ",
    "Ada\N{VARIATION SELECTOR-1}",
    "A\N{COMBINING GRAPHEME JOINER}da",
    "Ada\N{BRAILLE PATTERN BLANK}",
    "\N{HANGUL SYLLABLE GA}\N{HANGUL FILLER}",
    "\ud800",
]


@pytest.mark.parametrize("form", EQUAL)
def test_spellings_of_one_text_have_one_form(form: str):
    assert {normal_form(spelling, noun="It") for spelling in (form, *EQUAL[form])} == {form}


def test_texts_that_differ_have_different_forms():
    assert len({normal_form(text, noun="It") for text in DIFFERENT}) == len(DIFFERENT)


@pytest.mark.parametrize("text", LOOK_ALIKES)
def test_look_alikes_are_refused_in_one_sentence(text: str):
    with pytest.raises(InputError, match=r"^The name must hold letters of one script and plain signs, .*\.$"):
        normal_form(text, noun="The name")


@given(st.text(max_size=12))
def test_form_of_a_form_is_itself(text: str):
    try:
        form = normal_form(text, noun="It")
    except InputError:
        assume(False)
    assert normal_form(form, noun="It") == form and same_text(text, form)


NAMES = st.text(st.sampled_from("abzABZéÉ019 -'"), min_size=1, max_size=8).filter(lambda name: name.strip() != "")


def respelled(text: str, choices: list[int]) -> str:
    """Another spelling with the same normal form: another case, an invisible character, full width, decomposed."""
    pieces = []
    for position, character in enumerate(text):
        changes = [
            character,
            character.swapcase(),
            f"{character}\N{ZERO WIDTH SPACE}",
            unicodedata.normalize("NFD", character),
        ]
        pieces.append(changes[choices[position % len(choices)]])
    return f" {''.join(pieces)}\N{SOFT HYPHEN}"


@settings(max_examples=50)
@given(
    names=st.lists(NAMES, min_size=2, max_size=6, unique_by=lambda name: normal_form(name, noun="It")),
    choices=st.lists(st.integers(0, 3), min_size=1, max_size=9),
)
def test_spellings_share_one_registration_and_one_budget(names: list[str], choices: list[int]):
    ledger, scores = example_ledger(1), [position / len(names) for position in range(len(names))]
    attribute = [position % 2 for position in range(len(names))]
    people = TestSet(ids=tuple(names), attribute=attribute)
    ledger.register("Loans", people, budget=2, roles=desk_roles("sex"))
    first = ledger.ask("Loans", people, scores, epsilon=0.5, asker="x")
    spellings = TestSet(ids=tuple(respelled(name, choices) for name in names), attribute=attribute)
    again = ledger.ask("LO\N{ZERO WIDTH SPACE}ANS ", spellings, scores, epsilon=0.5, asker="x")
    assert (again.number, again.charged, again.remaining) == (first.number, 0, first.remaining)
    for another_attribute in (False, True):
        roles = desk_roles("ＳＥＸ")
        with pytest.raises(InputError, match="have a budget for this attribute already, under the name 'Loans'"):
            ledger.register("other", spellings, budget=2, roles=roles, another_attribute=another_attribute)


@settings(max_examples=30)
@given(st.lists(st.sampled_from("aceopxy"), min_size=2, max_size=6, unique=True))
def test_people_in_letters_that_look_equal_are_refused(letters: list[str]):
    """Each of these Latin letters has a Cyrillic twin, so every identifier could be spelled in one script."""
    twins = str.maketrans("aceopxy", "асеорху")
    ledger = example_ledger(1)
    attribute = [position % 2 for position in range(len(letters))]
    ledger.register("loans", TestSet(ids=tuple(letters), attribute=attribute), budget=2, roles=desk_roles("sex"))
    cyrillic = TestSet(ids=tuple(letter.translate(twins) for letter in letters), attribute=attribute)
    with pytest.raises(InputError, match="in the script of those of 'loans', LATIN"):
        ledger.register("other", cyrillic, budget=2, roles=desk_roles("sex"))
    mixed = (letters[0].translate(twins), *letters[1:])
    with pytest.raises(InputError, match="The identifiers must be written in one script"):
        TestSet(ids=mixed, attribute=attribute)
