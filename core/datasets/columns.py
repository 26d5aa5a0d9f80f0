"""Columns of a table: kinds, identifiers, which can be features, their cells as numbers, spellings of a value.

Numbers alone do not say whether they identify people or measure them: an amount in cents may differ in every record
too. A column is taken for an identifier only if its numbers count the records (as many whole numbers as records, one
after the other), or if they are whole, nearly all differ, and the column's name says so. A name with "id" or "key" says
so anywhere; "number", "nr" or "no" only at its end ("case number", not "number of visits"), and only where every number
is another one; "index" and what pandas calls one only as the whole name.

One spelling counts for one value: "Yes", "YES" and "yes " in a column of categories are the same answer. Taken as one
are spellings that differ only in capitals, in blanks inside, in a period at the end, or in how an accent is coded (one
character or two).
Capitals count where a value is one or two letters long and no usual answer, as they may carry meaning there (genotypes,
grades). Only columns of few values are touched, never names or identifiers.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Container, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..base.caveats import Caveat, CaveatKind
from ..base.errors import InputError
from ..base.validation import Floats

if TYPE_CHECKING:
    import pandas

ID_TERMS = {"id", "ids", "uid", "uuid", "guid", "key", "pk", "identifier", "identifiant", "kennung"}
"""Words of a name that surely say an identifier."""

_ALONE = {
    "index",
    "unnamed",
    "index level",
}  # "Unnamed: 0", "__index_level_0__": what pandas calls a kept index
_AT_THE_END = {"nr", "no", "num", "number", "nummer", "numero", "número", "numéro", "#"}
_ENDINGS = ("nummer", "kennzeichen", "kennziffer")
_PARTS = re.compile(r"[A-ZÄÖÜ]?[a-zà-ÿß]+|[A-ZÄÖÜ]+(?![a-z])|#")
_FEW_VALUES = 20  # up to this many distinct texts, or numbers among text, are taken for categories
_NUMBERING = "numbers the records"
_IDENTIFIER = "has a different text in most records (a name, a date or an identifier)"
_NUMBER_BEGINS = r"\s*[+-]?(\.?[0-9]|[iI])"
_MOSTLY_NUMBERS = 0.8  # a text column with this share of numbers is a number column with stray text


def _parted(name: object) -> str:
    """Return a column's name without accents, a blank before each capital that follows a small letter."""
    letters = unicodedata.normalize("NFKD", re.sub(r"(?<=[a-z])(?=[A-Z])", " ", str(name)))
    return "".join(letter for letter in letters if not unicodedata.combining(letter))


def bare_name(name: object) -> str:
    """Return a column's name in small letters, without accents and brackets, its parts with a blank between them."""
    without_brackets = re.sub(r"(?<=\S)\s*[(\[][^)\]]*[)\]]", "", _parted(name))
    return re.sub(r"[\s_.-]+", " ", without_brackets).strip().casefold()


def plain_name(name: object) -> str:
    """Plain form of a column's name: small letters without accents, a blank for all but letters, digits and $."""
    return re.sub(r"(?:[^\w$]|_)+", " ", _parted(name)).strip().casefold()


def identifier_reason(values: npt.NDArray[np.float64], records: int, name: str) -> str:
    """Return why a column of finite numbers in a table of so many records is no feature, or ""."""
    if not (values == np.round(values)).all():
        return ""
    distinct = np.unique(values).size
    if distinct == records and values.max() - values.min() == distinct - 1:
        return _NUMBERING
    if distinct <= _FEW_VALUES or not _names_identifier(
        name, all_distinct=distinct == values.size, mostly_distinct=distinct > values.size / 2
    ):
        return ""
    return "is called like an identifier and holds a different whole number in most records (rename it to keep it)"


def _names_identifier(name: str, *, all_distinct: bool, mostly_distinct: bool) -> bool:
    parts = [part.casefold() for part in _PARTS.findall(name)]
    if mostly_distinct and ((ID_TERMS | {"ssn"}).intersection(parts) or " ".join(parts) in _ALONE):
        return True
    return (
        all_distinct and bool(parts) and (parts[-1] in _AT_THE_END or parts[-1].endswith(_ENDINGS))
    )


def is_numeric(column: pandas.Series) -> bool:
    """Return whether a column holds numbers (true/false columns count as categories)."""
    import pandas as pd

    return bool(pd.api.types.is_numeric_dtype(column) and not pd.api.types.is_bool_dtype(column))


def numbers_of(column: pandas.Series) -> Floats:
    """Return a column's cells as numbers, nan where one is missing."""
    return column.to_numpy(dtype=np.float64, na_value=np.nan)


def finite_numbers(column: pandas.Series) -> Floats:
    """Return a column's cells as numbers, nan where one is missing or infinite."""
    numbers = numbers_of(column)
    return np.where(np.isfinite(numbers), numbers, np.nan)


def is_number(text: str) -> bool:
    """Return whether a text is a number as Python writes it."""
    try:
        float(text)
    except ValueError:
        return False
    return True


def canonical_value(text: str) -> str:
    """Return what all ways of writing a number (1, 1.0, 01) or a word (yes, YES, yes.) have in common."""
    if is_number(text):
        return repr(float(text))
    return text.casefold().removesuffix(".") or text


_YES = ("1.0", "true", "yes", "ja", "oui", "wahr", "vrai")
_NO = ("0.0", "false", "no", "nein", "non", "falsch", "faux")
_LETTERS = {"t": True, "f": False, "y": True, "n": False}
_PARTNERS = {"t": "f", "f": "t", "y": "n", "n": "y"}


def parse_bool(text: str, values: Iterable[str] = ()) -> bool | None:
    """Return what 1 and 0, true and false, yes and no say, however they are written; None for another text.

    Parameters
    ----------
    values : iterable of str
        All values that a column takes: among them t and f, or y and n, say it too, each beside its partner alone, as
        one letter may stand for anything.
    """
    word = canonical_value(text)
    if word in _LETTERS:
        partner = _PARTNERS[word]
        if any(value.casefold() == partner for value in values):
            return _LETTERS[word]
        return None
    if word in _YES:
        return True
    if word in _NO:
        return False
    return None


def label_codes(
    values: Sequence[str], label_values: Sequence[str], positive: str, *, meaning: str = ""
) -> dict[str, int | None]:
    """Codes of predicted labels: 1 where a value means the positive one, 0 where another, None where nothing known.

    A prediction is written as the label is; else as 0 and 1, false and true, no and yes, t and f. These words mean the
    same in label and prediction where the label is made of them, whichever of them is called positive. Where somebody
    has said which value means the positive one, `meaning`, all others mean another.
    """
    if meaning in values:
        return {value: int(value == meaning) for value in values}
    codes = codes_as_label(values, label_values, positive)
    if None not in codes.values():
        return codes
    return codes_in_general(values, label_values, positive)


def is_written_as_label(values: Sequence[str], label_values: Sequence[str]) -> bool:
    """Whether all of some values are values of the label, or a no and a yes."""
    codes = label_codes(values, label_values, next(iter(label_values), ""))
    return None not in codes.values()


def is_unreadable(values: Sequence[str], label_values: Sequence[str], positive: str) -> bool:
    """Whether predicted labels are not written as the label is, nor all as 0 and 1, or could mean two things."""
    if None in label_codes(values, label_values, positive).values():
        return True
    specific = codes_as_label(values, label_values, positive)
    general = codes_in_general(values, label_values, positive)
    label_spellings = [value for value in values if specific[value] is not None]
    return len(label_spellings) < len(values) and any(
        specific[value] != general[value] for value in label_spellings
    )


def codes_as_label(
    values: Sequence[str], label_values: Sequence[str], positive: str
) -> dict[str, int | None]:
    """Whether each value is the label's positive one, as 0 or 1; None if the label does not take it."""
    spellings: dict[str, list[str]] = {}
    for label_value in label_values:
        spellings.setdefault(canonical_value(label_value), []).append(label_value)
    exact = set(label_values)
    codes: dict[str, int | None] = {}
    for value in values:
        if value in exact:
            candidates = [value]
        else:
            candidates = spellings.get(canonical_value(value), [])
        codes[value] = int(candidates[0] == positive) if len(candidates) == 1 else None
    return codes


def codes_in_general(
    values: Sequence[str], label_values: Sequence[str], positive: str
) -> dict[str, int | None]:
    """Return what 0 and 1, false and true, no and yes say, as 0 or 1; None for other values.

    They say whether the label is positive, unless the label is made of these words itself: then they mean the same
    there and here, whichever of them was called positive.
    """
    vocabulary = (*values, *label_values)
    is_boolean_label = all(parse_bool(value, vocabulary) is not None for value in label_values)
    if is_boolean_label:
        positive_truth = parse_bool(positive, vocabulary)
    else:
        positive_truth = True
    truths = {value: parse_bool(value, vocabulary) for value in values}
    return {
        value: None if value_truth is None else int(value_truth == positive_truth)
        for value, value_truth in truths.items()
    }


BLANKS = " \u00a0\u2007\u2009\u202f"
"""Blanks that may stand between thousands."""

_SOME_NUMBER = re.compile(
    r"[+-]?(?:(?:\d+[.,]?\d*|[.,]\d+)(?:[eE][+-]?\d+)?|(?i:inf|infinity)"
    rf"|[1-9]\d{{0,2}}([,.'\u2019{BLANKS}])\d{{3}}(?:\1\d{{3}})*(?:[.,]\d+)?)"
)


def could_be_number(text: str) -> bool:
    """Return whether a text is a number in some way of writing: 1,234.5, 1.234,5, 1 234, 1e3."""
    return _SOME_NUMBER.fullmatch(text) is not None


def as_text(column: pandas.Series) -> pandas.Series:
    """Return the cells as text, whole numbers without ".0" whatever the others are; missing cells stay missing."""
    import pandas as pd

    if isinstance(column.dtype, pd.CategoricalDtype):
        column = column.astype(object)
    column = column.infer_objects()
    if pd.api.types.is_float_dtype(column):
        present = column.dropna()
        # beyond 2**53 a float is no longer one whole number
        if (present.abs() > 2**53).any() or (present != present.round()).any():
            return (column + 0.0).astype("string").str.removesuffix(".0")  # -0.0 is 0, too
        column = column.astype("Int64")
    return column.astype("string").str.strip()


def quoted(value: object, most: int = 40) -> str:
    """Return the value in quotation marks, cut after `most` characters, for use in a sentence."""
    text = repr(str(value))
    if len(text) <= most:
        return text
    return f"{text[: most - 2]}…{text[-1]}"


def text_of(name: object, most: int = 60) -> str:
    """Return a column's name for use in a note: as it is if that is short and printable, quoted otherwise."""
    text = str(name)
    if len(text) <= most and text.isprintable():
        return text
    return quoted(text, most)


_MOST_LISTED = 4
"""Columns that a note names."""


def listed(names: Sequence[str]) -> str:
    """Return names of columns for use in a note, the first few of them."""
    return first_few([text_of(name) for name in names])


def first_few(texts: Sequence[str]) -> str:
    """Return the first few of a list in a row, and how many more there are."""
    text = ", ".join(texts[:_MOST_LISTED])
    if len(texts) > _MOST_LISTED:
        return f"{text} and {len(texts) - _MOST_LISTED} more"
    return text


def check_distinct(column: pandas.Series, role: str, most: int, *, remedy: str = "") -> None:
    """Refuse a column of more distinct values than its role can have, before anything goes through them one by one."""
    distinct = column.nunique()
    if distinct > most:
        raise InputError(
            f"The {role} {quoted(column.name)} must have at most {most:,} distinct values, got {distinct:,}{remedy}."
        )


def describe_columns(frame: pandas.DataFrame) -> pandas.DataFrame:
    """Return one row a column: name, kind, missing cells, distinct values and the most frequent value."""
    import pandas as pd

    rows = []
    for name in frame.columns:
        column = frame[name]
        counts = as_text(column).value_counts()
        kind = "number" if is_numeric(column) else "category"
        most_frequent = str(counts.index[0]) if len(counts) else ""
        rows.append(
            {
                "column": str(name),
                "kind": kind,
                "missing": int(column.isna().sum()),
                "distinct": len(counts),
                "most frequent": most_frequent,
            }
        )
    return pd.DataFrame(rows)


def names_records(column: pandas.Series, name: str) -> bool:
    """Whether a column names the records rather than measures them: an identifier, or a text for most of them."""
    if column.dtype.kind in "mM":
        return False
    if not is_numeric(column):
        text = as_text(column)
        return _is_identifier(text) and not len(_stray(text))
    values = column.dropna().to_numpy(dtype=np.float64)
    return bool(
        values.size and np.isfinite(values).all() and identifier_reason(values, len(column), name)
    )


def usable_columns(
    frame: pandas.DataFrame, selected: npt.NDArray[np.bool_]
) -> tuple[list[str], list[str]]:
    """Return the columns to predict from, given which records are used, and a note for each of the others."""
    usable = []
    notes = []
    for name in frame.columns:
        # a running number of all records does not run on among those used
        if reason := set_aside(
            frame.loc[selected, name], str(name)
        ) or _NUMBERING * _numbers_records(frame[name]):
            notes.append(f"Column {text_of(name)} {reason} and is left out.")
        else:
            usable.append(name)
    if not usable:
        raise InputError(
            "No feature is left to predict from; every other column is excluded, constant, empty, a date or an "
            "identifier."
        )
    return usable, notes


def _numbers_records(column: pandas.Series) -> bool:
    if not is_numeric(column) or column.isna().any():
        return False
    return identifier_reason(column.to_numpy(dtype=np.float64), column.size, "") == _NUMBERING


def set_aside(column: pandas.Series, name: str) -> str:
    """Return why a column is no feature, or nothing; refuse infinite values and numbers mixed with text."""
    distinct = column.nunique()
    if distinct == 0:
        return "is empty in every record"
    if distinct == 1 and column.notna().all():
        return "holds the same value in every record"
    if column.dtype.kind in "mM":
        return "holds dates or times"
    if not is_numeric(column):
        text = as_text(column)
        _check_not_mixed(text, name)
        if _is_identifier(text):
            return _IDENTIFIER
        return ""
    values = column.dropna().to_numpy(dtype=np.float64)
    if infinite := int(np.isinf(values).sum()):
        raise InputError(
            f"Column {quoted(name)} holds infinite values ({infinite:,} of them); replace them by numbers, empty the "
            "cells, or leave the column out."
        )
    if distinct == 1:
        return "holds one number and empty cells"
    return identifier_reason(values, len(column), name)


def encode(
    frame: pandas.DataFrame, caveats: list[Caveat]
) -> tuple[
    npt.NDArray[np.float64], tuple[str, ...], tuple[tuple[str, ...], ...], npt.NDArray[np.bool_]
]:
    """Return the columns as numbers (n, d), their names, their categories, and which have some; adds to `caveats`."""
    columns = []
    names = []
    categories = []
    categorical = []
    filled = 0
    for name in frame.columns:
        column = frame[name]
        if numeric := is_numeric(column):
            values = numbers_of(column)
            absent = np.isnan(values)
            filled += int(absent.sum())
            values = np.where(absent, np.nanmedian(values), values)
            texts: tuple[str, ...] = ()
        else:
            codes, levels = as_text(column).factorize(sort=True, use_na_sentinel=True)
            values = codes.astype(np.float64)  # a missing value is the category -1
            texts = tuple(str(text) for text in levels)
        if values.min() == values.max():  # constant since records were dropped
            constant = (
                f"Column {text_of(name)} holds the same value in every record and is left out."
            )
            caveats.append(Caveat(CaveatKind.COLUMNS_DROPPED, constant))
            continue
        columns.append(values)
        names.append(str(name))
        categories.append(texts)
        categorical.append(not numeric)
    if filled:
        text = f"{filled:,} missing numbers are filled with their column's median."
        if filled == 1:
            text = "1 missing number is filled with its column's median."
        caveats.append(Caveat(CaveatKind.VALUES_FILLED, text, count=filled))
    if not columns:
        raise InputError(
            "No feature is left to predict from; every column is constant in the complete records."
        )
    return (
        np.column_stack(columns),
        tuple(names),
        tuple(categories),
        np.array(categorical, dtype=bool),
    )


def _check_not_mixed(text: pandas.Series, name: str) -> None:
    if len(stray := _stray(text)):
        raise InputError(
            f"Column {quoted(name)} mixes numbers and text: {len(stray):,} of {text.count():,} values, such as "
            f"{quoted(stray.iloc[0])}, are not numbers; correct them, empty them, or leave the column out."
        )


def _stray(text: pandas.Series) -> pandas.Series:
    """Return the cells that are no numbers where most others are."""
    import pandas as pd

    present = text.dropna()
    codes, values = present.factorize()
    if len(values) <= _FEW_VALUES:
        return present[:0]
    texts = pd.Series(values)
    no_number = ~texts.str.match(_NUMBER_BEGINS).to_numpy(
        dtype=bool
    )  # which spares most texts a conversion
    perhaps = pd.to_numeric(texts[~no_number], errors="coerce")
    no_number[~no_number] = perhaps.isna().to_numpy(dtype=bool)
    stray = present[no_number[codes]]
    if len(present) - len(stray) >= _MOSTLY_NUMBERS * len(present):
        return stray
    return stray[:0]


def _is_identifier(text: pandas.Series) -> bool:
    distinct = text.nunique()
    return bool(distinct > _FEW_VALUES and distinct > text.notna().sum() / 2)


MISSING_MARKERS = (
    "",
    "?",
    "-",
    "NA",
    "na",
    "N/A",
    "n/a",
    "#N/A",
    "<NA>",
    "nan",
    "NaN",
    "NAN",
    "null",
    "Null",
    "NULL",
)
"""Cells that count as missing, after trimming."""

MOST_CELLS = 50_000_000
"""Most cells of a table."""


def empty_file(name: str) -> InputError:
    """Return the error for a file without content."""
    return InputError(
        f"The file {quoted(name)} is empty; choose a file with column names and records."
    )


def megabytes(size: int) -> str:
    """Write a size in bytes as megabytes, rounded up to a tenth."""
    return f"{math.ceil(size / 1024**2 * 10) / 10:,g} MB"


def check_names(names: Sequence[str], *, without: Container[int] = ()) -> None:
    """Refuse columns without a name, and names that stand twice; places in `without`, from 0, are not looked at."""
    for number, name in enumerate(names, 1):
        if number - 1 in without:
            continue
        if not name:
            raise InputError(
                f"Every column must have a name, column {number} has none; name it or delete it."
            )
        if (first := names.index(name) + 1) < number:
            raise InputError(
                f"Every column must have a name of its own, columns {first} and {number} are both called "
                f"{quoted(name)}."
            )


def check_rows(count: int, max_rows: int) -> None:
    """Refuse more records than the limit."""
    if count > max_rows:
        raise InputError(
            f"The table must not have more than {max_rows:,} records; draw a random sample of them."
        )


def cleaned(column: Any) -> Any:
    """Trim the cells and empty those that say that nothing is there."""
    import pyarrow as pa
    import pyarrow.compute as pc

    column = pc.utf8_trim_whitespace(column)
    return pc.if_else(
        pc.is_in(column, pa.array(MISSING_MARKERS)), pa.scalar(None, pa.string()), column
    )


CROSS = " × "
"""What stands between two columns that are crossed, and between their values."""


def crossed_columns(frame: pandas.DataFrame, sensitive: str) -> tuple[str, ...]:
    """Return the two columns of a table that a sensitive attribute crosses; empty where it does not."""
    names = sensitive.split(CROSS)
    if sensitive in frame.columns or not len(names) == len(set(names)) == 2:
        return ()
    if frame.columns.is_unique and set(names) <= set(frame.columns):
        return tuple(names)
    return ()


def with_crossed(frame: pandas.DataFrame, sensitive: str) -> pandas.DataFrame:
    """Return the table with the column of a sensitive attribute that crosses two; else the table itself."""
    columns = crossed_columns(frame, sensitive)
    if not columns:
        return frame
    left, right = (as_text(frame[name]) for name in columns)
    return frame.copy(deep=False).assign(**{sensitive: left + CROSS + right})


_MOST_VALUES = 50
_SHORT_ANSWERS = {"y", "n", "t", "f", "m", "w", "d", "x", "no", "ja", "si", "sì", "sí", "on"}

_AROUND_SIGNS = re.compile(r" ?([<>=≤≥]+) ?")


def spelling_key(value: str) -> str:
    """Return what all spellings of a value have in common."""
    text = " ".join(unicodedata.normalize("NFC", value).split())
    text = _AROUND_SIGNS.sub(r"\1", text)
    if len(text) > 2 and text.endswith(".") and not text.endswith(".."):
        text = text[:-1].rstrip()
    folded = unicodedata.normalize("NFC", text.casefold())
    if len(folded) > 2 or folded in _SHORT_ANSWERS:
        return folded
    return text


def written_values(
    frame: pandas.DataFrame, column: str, requested: tuple[str, ...]
) -> tuple[str, ...]:
    """Return the requested values of a column, each as the table writes it where just one of its values is meant."""
    if column not in frame.columns or not frame.columns.is_unique:
        return requested
    values = as_text(frame[column]).dropna().unique()
    if len(values) > 2 * _MOST_VALUES or set(requested) <= set(values):
        return requested
    present = [str(value) for value in values]
    written = []
    for value in requested:
        candidates = [
            candidate for candidate in present if _loose_form(candidate) == _loose_form(value)
        ]
        if value not in present and len(candidates) == 1:
            value = candidates[0]
        written.append(value)
    return tuple(written)


def _loose_form(value: str) -> str:
    if is_number(value):
        return repr(float(value))
    return spelling_key(value)


Spellings = dict[str, dict[str, tuple[str, ...]]]
"""Column -> value as it is written now -> its other spellings."""

SPELLINGS = "spellings"
"""Attribute of a table's frame (`DataFrame.attrs`) that holds the `Spellings` taken as one in reading it."""


def one_spelling(
    names: Sequence[str], columns: Sequence[Any], notes: list[str]
) -> tuple[list[Any], Spellings]:
    """Return the columns with the most frequent spelling of each value, and what was taken as what.

    Adds a sentence to `notes` where there were several.
    """
    merged: Spellings = {}
    result = []
    for name, column in zip(names, columns, strict=True):
        spelled, spellings = _spelled(column)
        if spellings:
            merged[name] = spellings
        result.append(spelled)
    if merged:
        notes.append(
            "Spellings of a value that differ only in capitals, blanks, a final period or the coding of accents are "
            f"taken as one in: {listed(list(merged))}."
        )
    return result, merged


def _spelled(column: Any) -> tuple[Any, dict[str, tuple[str, ...]]]:
    """Return the column with one spelling a value, and the spellings that went, by what they are now."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not pa.types.is_string(column.type):
        return column, {}
    few = pc.unique(column[:10_000])
    if len(few) > 2 * _MOST_VALUES:
        return column, {}
    counts = {
        entry["values"]: entry["counts"]
        for entry in pc.value_counts(column.drop_null()).to_pylist()
    }
    best, variants = best_spellings(counts)
    if not variants or len(best) > _MOST_VALUES:
        return column, {}
    values = pa.array(list(counts), pa.string())
    written = pa.array([best[spelling_key(value)] for value in counts], pa.string())
    return written.take(pc.index_in(column, values).combine_chunks()), variants


def best_spellings(counts: Mapping[str, int]) -> tuple[dict[str, str], dict[str, tuple[str, ...]]]:
    """Return the most frequent spelling by key, and the other spellings of each value that has several.

    One without a period at the end goes before one with it.
    """
    best: dict[str, str] = {}
    variants: dict[str, list[str]] = {}
    for value in sorted(
        counts, key=lambda value: (value.endswith("."), -counts[value], len(value), value)
    ):
        key = spelling_key(value)
        if key in best:
            variants.setdefault(best[key], []).append(value)
        else:
            best[key] = value
    return best, {value: tuple(spellings) for value, spellings in variants.items()}
