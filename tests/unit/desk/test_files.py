"""Test sets and predictions from tables, matched by the normal form of identifiers, or refused with one sentence."""

import unicodedata
from functools import partial

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from core.base.errors import InputError
from core.desk import TestSet, desk_roles, example_ledger, input_facts, people_table, predictions_of, suggested_roles
from core.desk import test_set_of as read_test_set
from core.desk.noise import amount_text, epsilon_amount, epsilon_of, millionths
from core.desk.registration import normal_form, same_text
from tests import desk_files

PEOPLE = "id,sex,ok,town\nb,F,yes,x\na,M,no,y\nc,M,yes,z\n"
ROLES = desk_roles("sex", group=("M",), label="ok", positive="yes")


def people(text=PEOPLE, roles=ROLES):
    return read_test_set(people_table(text.encode(), "people.csv"), roles)


def scores(text, **more):
    return predictions_of(people_table(text.encode(), "model.csv"), people(), **more).tolist()


def test_a_test_set_is_read():
    test_set = people()
    assert test_set.ids == ("b", "a", "c") and test_set.attribute.tolist() == [0, 1, 1]
    assert test_set.labels.tolist() == [1, 0, 1] and test_set.n_positive == 2
    assert test_set.order.tolist() == [1, 0, 2]
    bare = people("id;sex\n1;1\n2;0\n", desk_roles("sex"))
    assert bare.ids == ("1", "2") and bare.attribute.tolist() == [1, 0] and bare.labels is None


def test_predictions_are_matched_by_identifier_whatever_its_spelling():
    assert scores("id,score\nc,0.3\na,0.1\nb,0.2\n") == [0.2, 0.1, 0.3]
    assert scores("who;p;q\na;0,5;1\nb;0,25;1\nc;1;1\n", person="who", score="p") == [0.25, 0.5, 1.0]
    test_set = people("id,sex\nAda L 1,0\nbob,1\n17,0\n", desk_roles("sex"))
    spelled = "id,score\n１７,0.3\n\u202eBOB\u202c,0.2\nA\u200bda  L 1,0.1\n"
    assert predictions_of(people_table(spelled.encode(), "model.csv"), test_set).tolist() == [0.1, 0.2, 0.3]


@pytest.mark.parametrize(
    "text, message",
    [
        ("id,score\na,0.1\nb,0.2\n", "must have a line for each of 3 people, got 2"),
        ("id,score\na,0.1\nb,0.2\nd,0.3\n", "must have the test set's people only, got 'd'"),
        ("id,score\na,0.1\nb,0.2\nb,0.3\n", "must have each person once, 'b' stands twice"),
        ("id,score\na,0.1\nb,0.2\nc,1.3\n", r"must be in \[0, 1\], got 1.3"),
        ("id,score\na,0.1\nb,much\nc,1\n", r"must be a column of numbers in \[0, 1\], got 'much'"),
        ("id,score\na,0.1\nb,\nc,1\n", "must have no empty cell, record 2"),
        ("who,score\na,0.1\nb,0.2\nc,1\n", "must have one column 'id'"),
        ("id,p,q\na,0.1,1\nb,0.2,1\nc,1,1\n", "one column of scores besides 'id', or an option .* got 2"),
    ],
)
def test_bad_predictions(text, message):
    with pytest.raises(InputError, match=message):
        scores(text)


def test_seals_depend_on_the_key_and_on_what_they_seal_but_not_on_the_order():
    original = people()
    attribute, labels = original.attribute, original.labels
    order = [2, 0, 1]
    shuffled = TestSet(ids=tuple(original.ids[k] for k in order), attribute=attribute[order], labels=labels[order])
    swapped = TestSet(ids=original.ids, attribute=1 - attribute, labels=labels)
    joined = TestSet(ids=("ba", "", "c"), attribute=attribute, labels=labels)  # the same letters in a row
    for seal in ("seal", "seal_of_people"):
        digest = getattr(original, seal)(b"key")
        assert digest == getattr(shuffled, seal)(b"key") != getattr(original, seal)(b"other")
        assert digest != getattr(joined, seal)(b"key")
    assert original.seal_of_people(b"key") == swapped.seal_of_people(b"key")
    assert original.seal(b"key") != swapped.seal(b"key")


def test_amounts_are_whole_millionths():
    for value, amount in ((0.1, 100_000), ("0.25", 250_000), (1, 1_000_000), ("1e-6", 1), (1000.0, 10**9)):
        assert millionths(value, name="epsilon") == millionths(amount_text(amount), name="epsilon") == amount
        assert epsilon_of(amount) == float(value)
    assert [epsilon_amount(epsilon) for epsilon in (0.1 + 0.2, 1000.0, 123.456789)] == ["0.3", "1000", "123.456789"]
    assert [amount_text(a) for a in (0, 1, 1_500_000, 10_000_000)] == ["0", "0.000001", "1.5", "10"]


@pytest.mark.parametrize(
    ("text", "roles", "message"),
    [
        ("id,sex\na,1\n,0\n", desk_roles("sex"), "'id' of 'people.csv' must have no empty cell, record 2"),
        ("id,sex\na,1,2\n", desk_roles("sex"), "line 2 has 3"),
        ("id,sex\na,x\nb,y\n", desk_roles("sex"), "'sex' must hold only 0 and 1, or the advantaged value must be"),
        (PEOPLE, desk_roles("sex", group=("X",)), "'sex' must hold the advantaged value 'X', got only 'F', 'M'"),
        (PEOPLE, desk_roles("sex", group=("M",), label="SEX"), "must be another column than the sensitive attribute"),
        ("id,Sex,sex\na,1,1\nb,0,1\n", desk_roles("SEX"), "must have one column 'SEX', its columns are Sex, sex"),
        ("id,grade\na,a\nb,A\n", desk_roles("grade", group=("a",)), "each value in one way, got 'A' and 'a'"),
        (PEOPLE.replace("M", "Ж"), ROLES, "The values of 'sex' must be written in one script"),
        (PEOPLE.replace("yes", "уеs"), ROLES, "A value of 'ok' must hold letters of one script"),
    ],
)
def test_roles_that_do_not_fit_the_table(text, roles, message):
    with pytest.raises(InputError, match=message):
        people(text, roles)


def test_roles_are_suggested_as_for_an_audit():
    roles = suggested_roles(people_table(desk_files.test_set(), "people.csv"))
    assert (roles.person, roles.sensitive, roles.label, roles.positive) == ("person", "sex", "repaid", "yes")
    few = suggested_roles(people_table(b"sex,code\n1,x1\n0,x2\n", "people.csv"))
    assert (few.person, few.sensitive) == ("code", "sex")


def test_the_input_check_is_that_of_an_audit():
    roles = desk_roles("sex", person="person", group=("Male",), label="repaid", positive="no")
    table = people_table(desk_files.test_set(), "people.csv")
    assert input_facts(table, roles) == ()
    copied = people_table(desk_files.test_set().replace(b",yes", b",no"), "people.csv")
    with pytest.raises(InputError, match="repaid is no in all 400 records; an audit needs two outcomes"):
        input_facts(copied, roles)


EQUAL = {
    "ada lovelace": [
        "ADA LOVELACE",
        " Ada  Lovelace ",
        "Ada\N{NO-BREAK SPACE}Lovelace",
        "A\N{SOFT HYPHEN}da Lovelace",
        "\N{LEFT-TO-RIGHT ISOLATE}Ada Lovelace\N{POP DIRECTIONAL ISOLATE}",
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


def test_spellings_of_one_text_have_one_form_and_different_texts_several():
    for form, spellings in EQUAL.items():
        assert {normal_form(spelling, noun="It") for spelling in (form, *spellings)} == {form}
    assert len({normal_form(text, noun="It") for text in DIFFERENT}) == len(DIFFERENT)


LOOK_ALIKES = [
    "Ad\N{CYRILLIC SMALL LETTER A}",
    "P\N{NON-BREAKING HYPHEN}7",
    "\N{MINUS SIGN}1",
    "O\N{RIGHT SINGLE QUOTATION MARK}Neil",
    "p\N{BENGALI DIGIT ZERO}",
    "wow\N{LATIN LETTER RETROFLEX CLICK}",
    "İ",
    "Ada\N{VARIATION SELECTOR-1}",
    "Ada\N{BRAILLE PATTERN BLANK}",
    "\N{HANGUL SYLLABLE GA}\N{HANGUL FILLER}",
    "\ud800",
]


@pytest.mark.parametrize("text", LOOK_ALIKES)
def test_look_alikes_are_refused_in_one_sentence(text):
    with pytest.raises(InputError, match=r"^The name must hold letters of one script and plain signs, .*\.$"):
        normal_form(text, noun="The name")


@given(st.text(max_size=12))
def test_form_of_a_form_is_itself(text):
    try:
        form = normal_form(text, noun="It")
    except InputError:
        assume(False)
    assert normal_form(form, noun="It") == form and same_text(text, form)


NAMES = st.text(st.sampled_from("abzABZéÉ019 -'"), min_size=1, max_size=8).filter(lambda name: name.strip() != "")


def respelled(text, choices):
    """Another spelling with the same normal form: another case, an invisible character, full width, decomposed."""
    ways = (str, str.swapcase, "{}\N{ZERO WIDTH SPACE}".format, partial(unicodedata.normalize, "NFD"))
    letters = [ways[choices[position % len(choices)]](letter) for position, letter in enumerate(text)]
    return f" {''.join(letters)}\N{SOFT HYPHEN}"


@settings(max_examples=50)
@given(
    names=st.lists(NAMES, min_size=2, max_size=6, unique_by=lambda name: normal_form(name, noun="It")),
    choices=st.lists(st.integers(0, 3), min_size=1, max_size=9),
)
def test_spellings_share_one_registration_and_one_budget(names, choices):
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


def test_people_in_letters_that_look_equal_are_refused():
    """Each of these Latin letters has a Cyrillic twin, so every identifier could be spelled in one script."""
    latin, cyrillic, attribute = "aceopxy", "асеорху", [0, 1, 0, 1, 0, 1, 0]
    ledger = example_ledger(1)
    ledger.register("loans", TestSet(ids=tuple(latin), attribute=attribute), budget=2, roles=desk_roles("sex"))
    with pytest.raises(InputError, match="in the script of those of 'loans', LATIN"):
        twins = TestSet(ids=tuple(cyrillic), attribute=attribute)
        ledger.register("other", twins, budget=2, roles=desk_roles("sex"))
    with pytest.raises(InputError, match="The identifiers must be written in one script"):
        TestSet(ids=(cyrillic[0], *latin[1:]), attribute=attribute)
