"""The people a ledger answers questions about: their roles in a table, identifiers, seals.

A table is read, and its values are taken, as in an audit (`core.datasets`): the roles of its columns say who is who
(`person`), whose attribute it is (`sensitive`), who is advantaged (`group`) and, if it is asked about, the true outcome
(`label`, `positive`). Unlike an audit the desk leaves nobody out: a missing cell or an identifier that stands twice is
refused, as who was left out would tell something. A group may be small or empty, as a refusal would tell that, too.

Two identifiers with one normal form are one person, so spellings share one budget. So it is with all texts that the
desk compares: names, columns, values. The normal form is NFKC, case folded, without control and format characters, one
blank between words. Nothing else is made equal. What may only *look* equal is refused: a text holds letters of one
script, and beside them plain ASCII signs and digits. So there is no table of look-alikes, and none that a later edition
could change under people who are registered.

A script is the first word of a letter's Unicode name. Digits and signs are Latin. Latin letters are those of
European languages, with or without accents; phonetic ones (a script g, an alpha) look like others.

Seals are keyed hashes of what is sorted by the identifiers' normal form, so that the order of people in a file does not
matter. A plain hash of few people's attributes could be undone by trying all of them.
"""

from __future__ import annotations

import hashlib
import hmac
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt

from ..base.errors import InputError
from ..base.validation import Codes, Floats, binary_array, one_length
from ..datasets.build import score_values
from ..datasets.checked_table import Fact, Severity
from ..datasets.columns import as_text, names_records, parse_bool, quoted
from ..datasets.dataset import Table
from ..datasets.input_check import check_input
from ..datasets.read_table import read_table
from ..datasets.role_suggestion import suggest_roles
from ..datasets.roles import Roles, check_values

if TYPE_CHECKING:
    import pandas

LATIN = "LATIN"

_INVISIBLE = ("Cc", "Cf")
"""Unicode categories of control and format characters."""

_EUROPEAN = "\u0180"
"""First character after Latin-1 and Latin Extended-A."""


# Normal form ----------------------------------------------------------------------------------------------------------


def visible_text(text: object) -> str:
    """Text in NFKC, trimmed, without control and format characters, one blank between words."""
    plain = str(text)
    if not (plain.isascii() and plain.isprintable()):
        letters = []
        for character in plain:
            if character.isspace():
                letters.append(" ")
            elif unicodedata.category(character) not in _INVISIBLE:
                letters.append(character)
        plain = unicodedata.normalize("NFKC", "".join(letters))
    return " ".join(plain.split())


def normal_form(text: object, *, noun: str) -> str:
    """Return the normal form of a text; the form of a form is itself.

    Raises `InputError` if the text holds letters of two scripts, or a character that may only look like another one.

    Parameters
    ----------
    noun : str
        What the text is, for the sentence: "The name".
    """
    form = _folded(text)
    script_of(form, noun=noun)
    return form


def same_text(*texts: object) -> bool:
    """Whether texts are one by their normal form, where none of them need be refused."""
    return len(set(map(_folded, texts))) == 1


def _folded(text: object) -> str:
    return visible_text(visible_text(text).casefold())


def script_of(form: str, *, noun: str) -> str:
    """Script of a normal form's letters, `LATIN` without any; refuses two, and what only looks like a plain sign."""
    if form.isascii():
        return LATIN
    script = ""
    for character in form:
        if character.isascii() and not character.isalpha():
            continue
        letter_script = _letter_script(character)
        if not letter_script or letter_script != (script or letter_script):
            name = unicodedata.name(character, f"U+{ord(character):04X}")
            raise InputError(
                f"{noun} must hold letters of one script and plain signs, as others only look equal, got "
                f"{quoted(form, 80)} with {name}."
            )
        script = letter_script
    return script or LATIN


def _letter_script(character: str) -> str:
    """Script of a letter; "" for what is no letter, is not seen, or is a Latin letter that looks like another one."""
    name = unicodedata.name(character, "")
    category = unicodedata.category(character)
    if category[0] != "L" or category == "Lm" or name.endswith("FILLER"):
        return ""
    script = name.partition(" ")[0]
    is_plain_latin = character < _EUROPEAN or unicodedata.normalize("NFD", character)[0].isascii()
    if script == LATIN and not is_plain_latin:
        return ""
    return script


_MOST_NAMES = 8
"""Columns that a sentence names."""

_MOST_VALUES = 6
"""Values that a sentence names."""


# Roles ----------------------------------------------------------------------------------------------------------------

_STORED = ("person", "sensitive", "label", "positive")
"""Roles that a ledger keeps, besides the advantaged group."""


def desk_roles(
    sensitive: str,
    *,
    person: str = "id",
    group: Sequence[str] = (),
    label: str = "",
    positive: str = "",
) -> Roles:
    """Roles of a table of people at the desk.

    Parameters
    ----------
    sensitive, person, label : str
        Columns of the attribute, of the identifiers and of the true outcome, "" without one.
    group : sequence of str
        Values of the advantaged group; everybody else is the other one. Empty for a column of 1 and 0.
    positive : str
        Positive value of the true outcome, which is the favourable one; "" for a column of 1 and 0.
    """
    return Roles(
        person=person,
        sensitive=sensitive,
        group=tuple(group),
        label=label,
        positive=positive,
        favourable=positive,
    )


def roles_entry(roles: Roles) -> dict[str, Any]:
    """Roles as a ledger's entry keeps them."""
    return {"group": list(roles.group), **{name: getattr(roles, name) for name in _STORED}}


def roles_of_entry(entry: Mapping[str, Any]) -> Roles:
    """Roles that a ledger's entry keeps."""
    return desk_roles(
        group=[str(value) for value in entry["group"]],
        **{name: str(entry[name]) for name in _STORED},
    )


def suggested_roles(table: Table) -> Roles:
    """Roles as guessed for an audit of the table; the person is, without a better guess, a column without repeats."""
    roles = suggest_roles(table.frame).roles
    columns = [str(name) for name in table.frame.columns if name != roles.sensitive]
    identifiers = [name for name in columns if names_records(table.frame[name], name)]
    unique = [name for name in columns if table.frame[name].is_unique]
    return replace(
        roles, person=next(filter(None, (roles.person, *identifiers, *unique, *columns)))
    )


def roles_in(table: Table, roles: Roles) -> Roles:
    """Roles with columns and values as the table writes them, by their normal form.

    Raises `InputError` if a column or a value is not there, stands in it in two spellings, or looks like another one.
    """
    person = _column_name(table, roles.person)
    sensitive = _column_name(table, roles.sensitive)
    check_values(table.frame, desk_roles(sensitive))
    group = _values_of_role(table, sensitive, roles.group, noun="the advantaged value")
    if not roles.label:
        return desk_roles(sensitive, person=person, group=group)
    label = _column_name(table, roles.label)
    if label == sensitive:
        raise InputError(
            f"The true outcome must be another column than the sensitive attribute, got {quoted(roles.label)} for "
            "both: how many have the outcome is public."
        )
    check_values(table.frame, desk_roles(sensitive, label=label))
    positives = _values_of_role(
        table, label, tuple(filter(None, [roles.positive])), noun="the positive label"
    )
    return desk_roles(sensitive, person=person, group=group, label=label, positive=positives[0])


def input_facts(table: Table, roles: Roles) -> tuple[Fact, ...]:
    """Facts of the input check about the columns of a registration (`roles_in`), to be looked at before it.

    Raises `InputError` if the check would block an audit: the outcome is the attribute, or the same for everybody.
    """
    columns = [column for column in (roles.person, roles.sensitive, roles.label) if column]
    facts = [fact for fact in check_input(table.frame[columns], roles) if fact.columns]
    for fact in facts:
        if fact.severity is Severity.BLOCKING:
            raise InputError(fact.text)
    return tuple(facts)


def _column_name(table: Table, column: str) -> str:
    """Column of the table with the normal form of a name."""
    names = [str(name) for name in table.frame.columns]
    matches = [name for name in names if same_text(name, column)]
    if len(matches) != 1:
        listed = ", ".join(matches or names[:_MOST_NAMES])
        raise InputError(
            f"The file {quoted(table.title)} must have one column {quoted(column)}, its columns are {listed}."
        )
    return matches[0]


def _values_of_role(
    table: Table, column: str, values: Sequence[str], *, noun: str
) -> tuple[str, ...]:
    """Values as a column writes them; without any, those that say yes in a column of 1 and 0, true and false.

    Such a column may lack the value that says yes, as that nobody has it is no reason for a refusal.
    """
    spellings = _spellings(table.frame[column], column)
    present = list(spellings.values())
    is_boolean = all(parse_bool(value, present) is not None for value in present)
    listed = ", ".join(quoted(value) for value in present[:_MOST_VALUES]) or "nothing"
    if len(present) > _MOST_VALUES:
        listed += ", …"
    if not values:
        affirmative = tuple(value for value in present if parse_bool(value, present))
        if not is_boolean or len(affirmative) > 1:
            raise InputError(
                f"The column {quoted(column)} must hold only 0 and 1, or {noun} must be named, got {listed}."
            )
        return affirmative or ("1",)
    written = []
    for value in values:
        form = normal_form(value, noun="A value")
        if form not in spellings and not (is_boolean and parse_bool(value, present)):
            raise InputError(
                f"The column {quoted(column)} must hold {noun} {quoted(value)}, got only {listed}."
            )
        written.append(spellings.get(form, value))
    return tuple(written)


def _spellings(column: pandas.Series, name: str) -> dict[str, str]:
    """Return the values of a column by their normal form, sorted; refuse two spellings of one."""
    spellings: dict[str, str] = {}
    for value in sorted(str(value) for value in as_text(column).dropna().unique()):
        form = normal_form(value, noun=f"A value of {quoted(name)}")
        if form in spellings:
            raise InputError(
                f"The column {quoted(name)} must write each value in one way, got {quoted(spellings[form])} and "
                f"{quoted(value)}."
            )
        spellings[form] = value
    _one_script(spellings, noun=f"The values of {quoted(name)}")
    return spellings


# People ---------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TestSet:
    """The people asked about.

    Raises `InputError` if the lengths differ, two identifiers have one normal form or different scripts, a value is not
    0 or 1, or there are less than two people.

    Parameters
    ----------
    ids : sequence of n strings, n at least 2
    attribute : array-like of shape (n,), 0 or 1
        1 = advantaged. That a group is empty is no reason to refuse it: a refusal would tell. There is no gap then, and
        what is answered is noise.
    labels : array-like of shape (n,), 0 or 1, or None
    """

    __test__: ClassVar[bool] = False  # not a test, whatever pytest makes of the name

    ids: tuple[str, ...]
    attribute: Codes
    labels: Codes | None = None
    forms: tuple[str, ...] = field(init=False, repr=False)
    """Normal forms of the identifiers."""
    script: str = field(init=False)
    """Script of the identifiers."""
    order: npt.NDArray[np.intp] = field(init=False, repr=False)
    """Positions of the people, sorted by their identifiers' normal form."""

    def __post_init__(self) -> None:
        ids = tuple(str(identifier) for identifier in self.ids)
        labels = None
        if self.labels is not None:
            labels = binary_array(self.labels, name="labels")
        attribute = binary_array(self.attribute, name="attribute")
        one_length(ids=ids, attribute=attribute, labels=labels)
        if len(ids) < 2:
            raise InputError(f"A test set must have two people at least, got {len(ids)}.")
        forms = identifier_forms(ids, rule="Every person must have an identifier of their own")
        fields = {
            "ids": ids,
            "attribute": attribute,
            "labels": labels,
            "forms": tuple(forms),
            "script": _one_script(forms, noun="The identifiers"),
            "order": np.array(sorted(range(len(forms)), key=forms.__getitem__)),
        }
        for name, value in fields.items():
            object.__setattr__(self, name, value)

    @property
    def n(self) -> int:
        """Number of people."""
        return len(self.ids)

    @property
    def n_positive(self) -> int | None:
        """Number of people with label 1, which counts as public; None without labels."""
        if self.labels is None:
            return None
        return int(self.labels.sum())

    @property
    def labels_tell_attribute(self) -> bool:
        """Whether labels of both values are the attribute for everybody, or the other value of it."""
        if self.labels is None or self.labels.min() == self.labels.max():
            return False
        return np.array_equal(self.labels, self.attribute) or np.array_equal(
            self.labels, 1 - self.attribute
        )

    def seal(self, key: bytes) -> str:
        """Keyed hash (64 hex digits) of identifiers, attribute and labels."""
        labels = b""
        if self.labels is not None:
            labels = self.labels[self.order].tobytes()
        return _hash(
            key, b"whole", self.attribute[self.order].tobytes(), labels, *self._sorted_ids()
        )

    def seal_of_people(self, key: bytes) -> str:
        """Keyed hash of the identifiers alone."""
        return _hash(key, b"people", *self._sorted_ids())

    def _sorted_ids(self) -> Iterator[bytes]:
        return (self.forms[position].encode() for position in self.order)


def identifier_forms(ids: Sequence[str], *, rule: str) -> list[str]:
    """Return the normal forms of identifiers; refuse two that have one form, and name both spellings."""
    forms = [normal_form(identifier, noun="An identifier") for identifier in ids]
    spellings: dict[str, str] = {}
    for identifier, form in zip(ids, forms, strict=True):
        if form in spellings:
            earlier = spellings[form]
            if earlier == identifier:
                raise InputError(f"{rule}, {quoted(identifier)} stands twice.")
            raise InputError(
                f"{rule}, {quoted(earlier)} and {quoted(identifier)} are taken for one person."
            )
        spellings[form] = identifier
    return forms


def _one_script(forms: Iterable[str], *, noun: str) -> str:
    """Script of several normal forms; refuses two."""
    scripts = sorted({script_of(form, noun=noun) for form in forms})
    if len(scripts) > 1:
        raise InputError(
            f"{noun} must be written in one script, as letters of two may look equal, got {scripts[0]} and "
            f"{scripts[1]}."
        )
    return scripts[0]


def _hash(key: bytes, *parts: bytes) -> str:
    digest = hmac.new(key, digestmod=hashlib.sha256)
    for part in parts:
        digest.update(len(part).to_bytes(8, "big") + part)
    return digest.hexdigest()


# Files ----------------------------------------------------------------------------------------------------------------


def people_table(content: bytes, name: str) -> Table:
    """Table of people or predictions, read as an audit's is, however few the people are."""
    return read_table(content, name, min_records=0)


def test_set_of(table: Table, roles: Roles) -> TestSet:
    """Test set of a table's people.

    Raises `InputError` if a column or a value of the roles is not there, a cell of them is empty, or an identifier
    stands twice.
    """
    roles = roles_in(table, roles)
    ids = tuple(_filled_cells(table, roles.person))
    attribute = _filled_cells(table, roles.sensitive).isin(roles.group).to_numpy(dtype=np.uint8)
    labels = None
    if roles.label:
        labels = (_filled_cells(table, roles.label) == roles.positive).to_numpy(dtype=np.uint8)
    return TestSet(ids=ids, attribute=attribute, labels=labels)


def predictions_of(
    table: Table, test_set: TestSet, *, person: str = "id", score: str | None = None
) -> Floats:
    """One score a person, shape (n,), in the order of the test set.

    Raises `InputError` if the table lacks a column, or its people or scores are not as they must be.

    Parameters
    ----------
    table : Table
        Each person of the test set once and nobody else, in any order, in any spelling of the same normal form.
    person : str
        Column of the identifiers.
    score : str or None
        Column of the scores in [0, 1]; when None, the table's only other column.
    """
    person = _column_name(table, person)
    if score is None:
        column = _only_other_column(table, person)
    else:
        column = _column_name(table, score)
    ids = list(_filled_cells(table, person))
    name = quoted(table.title)
    if len(ids) != test_set.n:
        raise InputError(
            f"The file {name} must have a line for each of {test_set.n:,} people, got {len(ids):,}."
        )
    forms = identifier_forms(ids, rule=f"The file {name} must have each person once")
    positions = {form: position for position, form in enumerate(forms)}
    strangers = sorted(positions[form] for form in positions.keys() - set(test_set.forms))
    if strangers:
        raise InputError(
            f"The file {name} must have the test set's people only, got {quoted(ids[strangers[0]])}."
        )
    _filled_cells(table, column)
    scores = score_values(table.frame[column], column)
    return scores[[positions[form] for form in test_set.forms]]


def _only_other_column(table: Table, person: str) -> str:
    column_names = [str(column) for column in table.frame.columns if column != person]
    if len(column_names) != 1:
        raise InputError(
            f"The file {quoted(table.title)} must have one column of scores besides {quoted(person)}, or an option "
            f"must say which it is, got {len(column_names)}."
        )
    return column_names[0]


def _filled_cells(table: Table, column: str) -> pandas.Series:
    """Cells of a column as text, none of which may be missing."""
    text = as_text(table.frame[column])
    if text.isna().any():
        record = int(np.flatnonzero(text.isna())[0]) + 1
        raise InputError(
            f"The column {quoted(column)} of {quoted(table.title)} must have no empty cell, record {record} has one."
        )
    return text
