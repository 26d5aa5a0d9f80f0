"""What is read from small, odd tables is as it was: cells, notes, refusals, roles, groups, sets and cautions."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import asdict, is_dataclass, replace
from datetime import date
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pandas.api.types import is_scalar
from scipy import sparse

from core.base.errors import DataUnavailableError, InputError
from core.datasets import (
    build,
    catalog,
    checked_table,
    columns,
    input_check,
    name_patterns,
    ratings,
    role_suggestion,
    roles,
    splits,
    text_table,
)
from core.datasets.dataset import Table
from core.datasets.read_table import _check_name, columns_of
from core.datasets.roles import Roles
from core.datasets.text_table import text_columns
from tests.golden.numbers import NamedValues, compare_numbers, refused
from tests.unit.datasets.bad_tables import BAD_UPLOADS


def plain(value: Any) -> Any:
    """Return a result made of lists, texts and numbers, short enough for a line."""
    if is_dataclass(value) and not isinstance(value, type):
        return plain(asdict(value))
    if isinstance(value, pd.DataFrame | pa.Table):
        return {name: plain(value[name]) for name in getattr(value, "column_names", value)}
    if isinstance(value, pd.Series | np.ndarray | pa.ChunkedArray | pa.Array):
        cells = value.to_pylist() if isinstance(value, pa.ChunkedArray | pa.Array) else value.tolist()
        kind = str(getattr(value, "dtype", None) or value.type)
        return f"{'text' if kind in ('str', 'string', 'object') else kind}: {plain(cells)}"
    if sparse.issparse(value):
        return plain(value.toarray())
    if isinstance(value, dict):
        return {str(key): plain(part) for key, part in value.items() if plain(part) not in ("", [], None, False)}
    if isinstance(value, list | tuple | set):
        parts = [plain(part) for part in value]
        runs = [f"{part} x {len(list(same))}" for part, same in itertools.groupby(parts)]
        return parts if len(parts) <= 20 else runs[:30]
    if isinstance(value, float | np.floating):
        return "nan" if math.isnan(value) else f"{value:.9g}"
    return value.item() if isinstance(value, np.generic) else None if is_scalar(value) and pd.isna(value) else value


def outcome_text(call: Callable[..., Any], *arguments: Any, **more: Any) -> str:
    """Return what a call returns, or the sentence with which it refuses, as a text."""
    try:
        return str(plain(call(*arguments, **more)))
    except (InputError, DataUnavailableError) as error:
        return f"{type(error).__name__}: {error}"


TEXTS = (
    "a,b\n1,2\n3,4",
    "a;b;c\n1,5;x;2\n2,25;y;\n",
    "a\tb\n1\t2",
    "a|b\n1|x|\n",
    "sep=;\na;b\n1;2\n3;4;5",
    "\ufeffa,b\n1,é\n",
    "a,b\n\n  \n1,2\n,\n",
    ",,\n,,\na,,b\n1,,2\n,,\n",
    "a,b,\n1,2,\n3,4,5\n",
    "a,b\n1,2,\n3\n",
    "a,b\na,b\n",
    "1,2\n3,4\n",
    "x,1\nx,1\ny,2\n",
    "a,a\n1,2\n",
    "a\n1\n2",
    'a,b\n"1,2",3\n"x\n',
    'a,b\n"1"2,3\n',
    "a;b\n1;2,5\n3;4,5\n",
    "",
    "\n \n",
    "a,b,c,d,e,f,g,h,i,j\n1,2,3,4,5,6,7,8,9,0\n",
    "a,b\n" + "1,2\n" * 9,
    "a,b\n" + "1,2\n" * 10,
    "a;b,c\n1;2,3\n4;5,6\n",
    "a ,b\n yes , NA\nYes,?\nno,-\n",
    "a,b;c\n1,2;3\n4,5;6\n",
    "a,b,c;d\n1,2,3;4\n1,2,3;4\n",
    "0,b\n0,2\n",
    "a,b\n1,2,\n3,4,,\n",
    "a,b\n1,2,x\n3,4\n",
    "a,b,,\n1,2,,\n1,2,3\n",
    "a,b,,\n1,2\n3,4,\n",
    "a,b,\n1\n2,3,\n",
    "a;b|c|d|e|f|g|h|i|j\n1;2\n3;4\n",
)
CELLS = (
    ("1.234", "5.678"),
    ("1.234", "0.678"),
    ("0.234", "0.678"),
    ("1,234", "5,678"),
    ("1,234", "12,5"),
    ("1.234,5", "2"),
    ("1,234.5", "1"),
    ("1 234", "12"),
    ("1'234", "1\u2019234"),
    ("1'234", "1 234"),
    ("1 234,5", "2"),
    ("1 234,5.6", "2"),
    ("12%", "7 %"),
    ("12%", "7"),
    ("1e2%", "7%"),
    ("1,5%", "2%"),
    ("€ 5", "€7.5"),
    ("5 EUR", "USD 7"),
    ("$5", "€7"),
    ("$5", "7"),
    ("-$5", "$-7"),
    ("007", "12"),
    ("+7", "-12"),
    ("\u22125", "3"),
    ("1e3", "2E-1"),
    ("inf", "1"),
    ("99999999999999999999", "1"),
    ("9223372036854775807", "1"),
    ("123 456 789", "987 654 321"),
    ("12 345 678", "1"),
    ("123.456.789", "123.456.789"),
    ("1.", ".5"),
    ("1,", ",5"),
    ("1.234.567", "1"),
    ("x", "1"),
    ("0,000", "0"),
    ("123456789", "987654321"),
    ("1", "0"),
    ("infinity", "-Inf"),
    ("1.2.3", "1"),
    ("1,2345", "2"),
    ("0.5 %", "100 %"),
    ("CHF 1\u2019200.50", "CHF 7"),
    ("CAD1", "CAD2"),
    ("12.03.2024", "13.03.2024"),
    ("+49 170 123", "x"),
    ("\u22121\u00a0234,5", "+3"),
)
"""Cells of a column in which numbers may be seen."""


def _text() -> NamedValues:
    for index, text in enumerate(TEXTS):
        for header in (True, False):
            notes: list[str] = []
            output = outcome_text(text_columns, text.encode(), "t.csv", 9, 9, notes=notes, header=header)
            yield f"{index} office{' headless' * (not header)}", f"{output} {notes}"
    for name, content in (
        ("utf-16", "a,b\n1,é\n".encode("utf-16")),
        ("cp1252", "a,b\né,2\nx,3\n".encode("cp1252")),
        ("broken", b"a,b\n1,2\nx\x81,3\n"),
        ("nul", b"a,b\n1,\0\n"),
        ("cut", "a,b\n1".encode("utf-16")[:-1]),
    ):
        notes = []
        yield f"{name} True", f"{outcome_text(text_columns, content, 't.csv', 9, 9, notes=notes)} {notes}"


def _cut() -> NamedValues:
    """Yield how a table is read of which only the first letters are looked at, in how many records and batches."""
    texts = (
        TEXTS[1],
        TEXTS[17],
        TEXTS[20],
        TEXTS[23],
        TEXTS[25],
        "\n" * 30 + TEXTS[1],
        "a,b;c\n1;2\n3;4\n5;6\n7;8\n9;0\n",
        "a;b|c;d\n" * 2,
    )
    for text, size, records in itertools.product(texts, (6, 11, 40), (1, 2, 200)):
        with pytest.MonkeyPatch.context() as patch:
            for name, value in (("_SAMPLE", size), ("_SAMPLE_RECORDS", records), ("_BATCH", 2)):
                patch.setattr(text_table, name, value)
            yield (
                f"{text[-9:]!r}, {size} letters, {records} records",
                outcome_text(text_columns, text.encode(), "t.csv", 9, 9, notes=[]),
            )


def _cells() -> NamedValues:
    for cells in CELLS:
        for separator, beside in ((";", ""), (";", "0,5"), (";", "0.5"), ("\t", "1.000,5"), (",", "")):
            rows = "\n".join(f'"{cell}"{separator}"{beside}"{separator}x' for cell in cells)
            notes: list[str] = []
            output = outcome_text(
                text_columns, f"v{separator}w{separator}z\n{rows}\n".encode(), "t.csv", 9, 9, notes=notes
            )
            yield f"{cells} {separator!r} {beside}", f"{output} {notes}"
        yield f"{cells} may be numbers", [columns.could_be_number(cell) for cell in cells]


def _files() -> NamedValues:
    more = {"max_columns": 4, "max_rows": 90, "header": True, "min_records": 60}
    for bad in BAD_UPLOADS:
        if isinstance(bad.content, bytes) and len(bad.content) < 50_000:
            yield bad.kind, outcome_text(columns_of, None, content=bad.content, name=bad.file_name, **more)
    for name in ("a.csv", "a.pq", "a.pkl", "a.npz", "a", "a.xlsx"):
        yield f"named {name}", outcome_text(_check_name, name, name[1:])
    for size in (0, 1, 1024**2 // 10, 1024**2 // 10 + 1, 2_000_000_000):
        yield f"{size} bytes", columns.megabytes(size)


NAMES = (
    *(
        "id",
        "userID",
        "Idle",
        "case number",
        "number of visits",
        "Nr.",
        "no",
        "Unnamed: 0",
        "index",
        "Index level",
        "key_fig",
    ),
    *(
        "Fallnummer",
        "Kennzeichen",
        "Numéro",
        "#",
        "Age (years)",
        "AgeGroup",
        "  Sex_[code] ",
        "é_No",
        "race-group",
        "label_value",
    ),
    *("nationality status", "ageGroup", "in_training", "Trained", "y_hat", "(x)"),
)
COLUMN_NAMES = (
    "yes",
    "No",
    "TRUE",
    "0",
    "1.0",
    "nan",
    "x" * 39,
    "x" * 60,
    "x" * 61,
    "a\nb",
    " Train",
    "hold-out",
    "VAL",
    "y",
    "",
)


def _never_label(name: str) -> bool:
    """Return whether a column of this name, with two values, is never taken for the label."""
    frame = pd.DataFrame({"x": range(60), name: [0, 1] * 30})
    return role_suggestion.suggest_roles(frame, attribute="x").roles.label == ""


def _names() -> NamedValues:
    for name in NAMES:
        says = [
            columns._names_identifier(name, all_distinct=every, mostly_distinct=most)
            for every, most in ((True, True), (False, True), (False, False))
        ]
        is_attribute, sets = (
            role_suggestion.names_attribute(name),
            [splits.named_set(word, name) for word in ("Yes", "0", "fit")],
        )
        yield (
            name,
            (columns.bare_name(name), says, is_attribute, sets, _never_label(name)),
        )
    for word in COLUMN_NAMES:
        predicates = (
            columns.parse_bool,
            columns.is_number,
            columns.quoted,
            columns.text_of,
            splits.named_set,
            columns.spelling_key,
        )
        yield f"{word[:9]!r} {len(word)}", [ask(word) for ask in predicates]
    for n in (1, 4, 5, 6):
        yield f"{n} listed", columns.listed([f"c{i}" for i in range(n)])
    for cells in (
        ["Ja", "JA", "ja "],
        ["aa", "AA", "aA"],
        ["e\u0301a", "\u00e9a", "x"],
        ["no", "No", None],
        ["q r", "q  r"],
        [f"v{i}" for i in range(101)],
        [f"v{i % 50}" for i in range(60)] + ["V0"],
        [f"v{i}" for i in range(50)] + ["V1"],
    ):
        notes: list[str] = []
        yield (
            f"{cells[0]} {len(cells)}",
            str(plain(columns.one_spelling(["c"], [pa.chunked_array([cells])], notes)[0])) + str(notes),
        )


COLUMNS: dict[str, Any] = {
    "counting": np.arange(60) + 7,
    "counting back": np.arange(60)[::-1],
    "case id": np.arange(60) * 3,
    "half": np.arange(60) // 2,
    "id": np.append(np.arange(31), np.zeros(29)) * 2,
    "key": np.append(np.arange(30), np.zeros(30)),
    "amount": np.arange(60) * 3,
    "ids": np.arange(60) % 21 * 2,
    "uid": np.arange(60) % 20,
    "float": np.arange(60) / 7,
    "gaps": np.where(np.arange(60) % 2, np.nan, 5.0),
    "one": np.ones(60),
    "empty": np.full(60, np.nan),
    "infinite": np.append(np.arange(59) / 7, np.inf),
    "bool": np.arange(60) % 2 == 0,
    "names": [f"n{i}" for i in range(60)],
    "half names": [f"n{i // 2}" for i in range(60)],
    "few": [f"n{i % 20}" for i in range(60)],
    "mixed": [*map(str, range(48)), *"abcdefghijkl"],
    "less mixed": [*map(str, range(47)), *"abcdefghijklm"],
    "gapped names": [None if i < 19 else f"n{i % 21}" for i in range(60)],
    "dates": pd.date_range("2020-01-01", periods=60),
    "number": pd.array([None, *range(59)], "Int64"),
    "nr": np.append(np.arange(59), 58) * 2,
    "category": pd.Categorical(list("ab") * 30),
    "text or gap": [None, "x"] * 30,
    "wholes": [1.0, 2.0, np.nan] * 20,
    "below": [-0.5, 0.5] * 30,
    "above": [0.5, 1.5] * 30,
    "large": [2.0**53, 2.0**54] * 30,
    "blank": [" a ", "a"] * 30,
    "maybe": pd.array([True, None] * 30, "boolean"),
    "true or gap": [True, None, False] * 20,
    "noughts": [-0.0, 1.0] * 30,
    "huge": [1e300, 1.0] * 30,
    "unsigned": np.array([2**64 - 1, 1] * 30, np.uint64),
    "beyond floats": pd.array([2**62 + 1, None] * 30, "Int64"),
    "halves": pd.array([0.5, 1.5] * 30, "Float64"),
    "turned": pd.Categorical(["b", "a"] * 30, categories=["b", "a"]),
    "wholes named": pd.Categorical([1.0, None] * 30),
    "days": [date(2024, 1 + i // 28, 1 + i % 28) for i in range(60)],
    "moments": pd.Series(pd.date_range("2024", periods=60)).astype("timestamp[ns][pyarrow]"),
    "ten": np.arange(60) % 10,
    "eleven": np.arange(60) % 11,
    "lopsided": list("xyzy") * 15,
    "few id": np.where(np.arange(60) < 39, np.nan, np.arange(60) % 20 * 2.0),
    "few names": [None if i < 39 else f"n{i % 20}" for i in range(60)],
}


def _columns() -> NamedValues:
    frame = pd.DataFrame(COLUMNS)
    for name, mask in itertools.product(frame, (np.ones(60, bool), np.arange(60) != 30)):
        yield (
            f"{name} {mask.sum()}",
            outcome_text(columns.usable_columns, frame[[name]].assign(other=frame["float"]), mask),
        )
    for name in frame:
        yield f"{name}, set aside", outcome_text(columns.set_aside, frame[name], name)
        yield f"{name}, names records", outcome_text(columns.names_records, frame[name], name)
        yield f"{name}, text", str(columns.as_text(frame[name]).dropna().unique()[:3].tolist())
        yield f"{name}, roles", outcome_text(roles._summary, frame[name], name)
        predicates = name_patterns.may_be_labels, name_patterns.is_share, name_patterns.is_score
        yield f"{name}, number or labels", [ask(frame[name]) for ask in predicates]
        yield (
            f"{name}, limit",
            (outcome_text(role_suggestion.suggested_limit, frame[name]), role_suggestion.suggested_group(frame[name])),
        )
    notes: list[str] = []
    kinds = ["wholes", "few", "text or gap", "gaps", "category", "one", "bool", "number"]
    kinds += ["maybe", "true or gap", "noughts", "huge", "unsigned", "halves", "turned", "wholes named"]
    encoded = columns.encode(frame[kinds], notes)
    yield "described", outcome_text(columns.describe_columns, frame[[*kinds, "moments", "mixed", "empty"]])
    yield "encoded", (list(encoded[0][:6].T), *encoded[1:3], encoded[3].tolist(), notes)
    yield "nothing left", outcome_text(columns.encode, frame[["one"]], [])
    yield "cleaned", plain(columns.cleaned(pa.chunked_array([[" a", "NA ", "na", "Na", "", " - ", "--", "null"]])))


def _grouped(sizes: dict[str, int], **how: Any) -> NamedValues:
    column = pd.Series([value for value, size in sizes.items() for _ in range(size)] + [None])
    groups = outcome_text(roles.groups_of, column, Roles(label="y", positive="1", favourable="1", sensitive="g", **how))
    yield f"{sizes} {how}"[:150], groups


def _groups() -> NamedValues:
    a, b = "a", "b"
    for sizes in (
        {a: 40, b: 30},
        {a: 40, b: 29},
        {a: 50, b: 40, "c": 29},
        {a: 50, b: 40, "c": 59, "d": 29},
        {a: 50, b: 40, "c": 60, "d": 29},
        {a: 90, b: 70, "c": 60, "d": 29},
        {a: 90, b: 80, "c": 15, "d": 15},
        {a: 90, b: 80, "c": 15, "d": 14},
        {a: 99},
        {a: 40, b: 40},
        {f"v{i:02}": 30 for i in range(20)},
        {f"v{i:02}": 30 for i in range(21)},
    ):
        yield from _grouped(sizes, each=True)
    for letters in ("", "a", "ab", "abc", "abcd", "ax", "b", "abcde"):
        group = tuple(letters)
        yield from _grouped(dict.fromkeys("abcde", 2), group=group)
        yield from _grouped(dict.fromkeys("ab", 2), group=group, first_name="first", other_name="rest")
    numbers = pd.Series([*range(12), 3.5, None])
    for how in (
        {"at_most": 3},
        {"at_most": 3.5, "other_name": "old"},
        {"at_most": math.inf},
        {"at_most": 1234567.5},
        {"cuts": (3, 7)},
        {"cuts": (3.5, 7)},
        {"cuts": (7, 3)},
        {"cuts": (3, 3)},
        {"cuts": tuple(range(19))},
        {"cuts": tuple(range(20))},
        {"at_most": 3, "each": True},
        {"cuts": (3,), "group": ("1",)},
    ):
        number_roles = Roles(label="y", positive="1", favourable="1", sensitive="n", **how)
        yield f"numbers {how}"[:99], outcome_text(roles.groups_of, numbers, number_roles)
        yield f"whole {how}"[:99], outcome_text(roles.groups_of, numbers.dropna().round().astype("Int64"), number_roles)
        yield f"texts {how}"[:99], outcome_text(roles.groups_of, numbers.astype(str), number_roles)


def _table(n: int = 130, seed: int = 0) -> Table:
    """Return people of two labels, three groups and an answer in many forms."""
    rng = np.random.default_rng(seed)
    label, score = rng.random(n) < 0.45, np.round(rng.random(n), 1)
    frame = pd.DataFrame(
        {
            "age": rng.integers(18, 70, n).astype(float),
            "job": rng.choice(["cook", "nurse", None], n),
            "sex": rng.choice(["F", "M"], n),
            "origin": rng.choice(["n", "s", "w"], n, p=[0.5, 0.25, 0.25]),
            "hired": np.where(label, "yes", "no"),
            "score": score,
            "said": np.where(score >= 0.5, "Yes", "No"),
            "bits": (score > 0.5).astype(int),
            "other": np.where(rng.random(n) < 0.5, "yes", "no"),
            "gapped": np.where(score < 0.2, np.nan, score),
            "part": np.where(np.arange(n) % 3 == 0, "train", "test"),
            "third": np.array(["train", "attack", "test"])[np.arange(n) % 3],
            "wrong": np.where(score < 0.1, "maybe", "yes"),
            "percent": score * 100,
            "minus": score - 0.5,
            "torn": np.where(label, "1", "no"),
            "lacking": np.where(score < 0.2, None, "yes"),
            "id": np.arange(n),
        }
    )
    frame.loc[rng.random(n) < 0.05, ["age", "sex"]] = None
    frame.loc[3, "hired"] = None
    return Table(name="t", title="T", frame=frame, source="Made.")


BASE = Roles(
    label="hired",
    positive="yes",
    favourable="yes",
    sensitive="sex",
    group=("F",),
    excluded=("torn", "wrong", "lacking", "gapped"),
)


def _build() -> NamedValues:
    table = _table()
    for more in (
        {},
        {"missing": "drop"},
        {"score": "score"},
        {"score": "score", "threshold": 0.6},
        {"score": "score", "prediction": "said"},
        {"score": "gapped", "prediction": "bits", "excluded": ()},
        {"prediction": "wrong", "excluded": ()},
        {"prediction": "other", "sets": "part"},
        {"sets": "third"},
        {"prediction": "torn", "excluded": ()},
        {"score": "percent"},
        {"score": "minus"},
        {"score": "job"},
        {"sets": "job"},
        {"sensitive": "origin", "group": (), "each": True},
        {"sensitive": "sex × origin", "group": ()},
        {"prediction": "lacking", "excluded": ()},
        {"positive": "NO"},
        {"threshold": 1.1, "score": "score"},
        {"missing": "no"},
        {"label": "part", "positive": "train"},
        {"group": ("F", "M")},
        {"sensitive": "age", "group": (), "cuts": (30.0, 50.0)},
        {"label": "percent", "positive": "11"},
        {"label": "percent", "positive": "10", "prediction": "job"},
        {"label": "bits", "positive": "1", "prediction": "said"},
    ):
        data = refused(build.build_dataset, table, replace(BASE, **more))
        if isinstance(data, str):
            yield f"{more}", data
            continue
        yield f"{more}", (data.features, data.labels, data.sensitive, data.predictions, data.scores, data.withheld)
        described = data.feature_names, data.group_names, data.notes, data.domains, data.categories
        yield f"{more} told", str(plain(described))
        yield f"{more} groups", data.groups()
        if data.sets is not None:
            yield f"{more} sets", np.unique(data.sets, return_counts=True)[1]
    for taken, number in (("cab", False), ("dcba", True)):
        yield f"strange {taken}", build._strange("x", list(taken), replace(BASE, prediction="said"), number=number)
    for label, positive in (("hired", "yes"), ("bits", "0"), ("origin", "s"), ("torn", "no"), ("none", "yes")):
        label_roles = replace(BASE, label=label, positive=positive)
        yield (
            f"as predictions {label} {positive}",
            plain(build.as_predictions(np.array([0, 1, 1], np.uint8), table.frame, label_roles)),
        )


def _guesses() -> NamedValues:
    table = _table(400, 1)
    frame = table.frame.assign(noise=np.random.default_rng(3).random(400))
    column_names = ["age", "job", "sex", "origin"]
    for names in (
        ["hired"],
        ["hired", "said", "score"],
        ["hired", "said"],
        ["said", "score"],
        ["bits", "score", "hired"],
        ["other", "hired", "bits"],
        ["part", "hired"],
        ["id", "hired", "third"],
        ["score"],
        [],
        ["gapped", "hired", "percent"],
    ):
        some = frame[[*column_names, *names]]
        for renamed in (
            {},
            {"said": "prediction"},
            {"bits": "score", "score": "probability"},
            {"hired": "label_value", "sex": "gender"},
            {"part": "split", "third": "set", "sex": "sex_at_birth"},
            {"bits": "y_pred", "origin": "Nationality"},
            {"other": "race", "score": "target"},
        ):
            if renamed and not set(renamed) & set(some):
                continue
            renamed_frame = some.rename(columns=renamed)
            guess = role_suggestion.suggest_roles(renamed_frame)
            guessed_roles = {
                key: part for key, part in plain(guess.roles).items() if key not in ("missing", "threshold")
            }
            yield f"{names} {renamed}", f"{guessed_roles} {plain(guess.reasons)} {plain(guess.left_out)}"
            if not renamed and len(names) > 2:
                summary = roles.summarise_columns(renamed_frame)
                assigned = {column.name: roles.role_of(column.name, guess.roles) for column in summary}
                yield f"{names} roles", assigned
                for column in summary:
                    reasons = [
                        role_suggestion.reason_of(column, assigned[column.name], guess, keep=keep)
                        for keep in (True, False)
                    ]
                    feature = role_suggestion.reason_of(column, "feature", guess, keep=True)
                    possible = column.possible_roles(with_outputs="said" in names)
                    yield f"{names} {column.name}", f"{assigned[column.name]}: {reasons} {feature} {possible}"
                    alternatives = [("excluded", guess), (assigned[column.name], None)]
                    told_of = [
                        role_suggestion.reason_of(column, role, context, keep=True) for role, context in alternatives
                    ]
                    yield f"{names} {column.name}, left out or known", told_of
                yield f"{names} usable", roles.usable_features(summary, assigned)
                yield (
                    f"{names} assigned",
                    plain(roles.assign_roles(guess.roles, {**assigned, "age": "crossed", "job": "excluded"})),
                )
    for known_roles in (
        {"attribute": "sex × origin"},
        {"attribute": "origin", "label": "other"},
        {"prediction": "said"},
        {"model": True},
    ):
        yield f"{known_roles}", plain(role_suggestion.suggest_roles(frame, **known_roles))
    yield (
        "crossed",
        [roles.role_of(name, BASE, ("job", "sex")) for name in ("job", "sex", "torn", "hired", "age")],
    )


def _cautions() -> NamedValues:
    rng, n = np.random.default_rng(5), 200
    label, group = rng.random(n) < 0.5, np.arange(n) % 10 < 9
    frame = pd.DataFrame(
        {
            "hired": np.where(label, "yes", "no"),
            "sex": np.where(group, "F", "M"),
            "copy": np.where(label, "a", "b"),
            "twin": np.where(group, 3.0, 1.0),
            "near": np.where(rng.random(n) < 0.04, ~label, label),
            "half": np.where(np.arange(n) % 2, 1.0, np.nan),
            "third": np.where(np.arange(n) % 3, None, "x"),
            "under": np.where(np.arange(n) < 99, None, "x"),
            "day": pd.Series(pd.date_range("2020-01-01", periods=n))
            .dt.strftime("%d.%m.%Y")
            .to_numpy()[np.arange(n) % 60],
            "20": np.arange(n) % 7,
            "score": np.where(label, 0.5, 0.4) + rng.random(n) / 10,
            "empty": np.full(n, np.nan),
        }
    )
    frame.loc[:4, "hired"] = None
    base_roles = Roles(label="hired", positive="yes", favourable="yes", sensitive="sex", group=("F",))
    for more in (
        {},
        {"score": "score"},
        {"excluded": ("copy", "twin", "day")},
        {"sensitive": "", "group": ()},
        {"label": "", "positive": ""},
        {"missing": "drop"},
        {"sensitive": "sex × copy", "group": ()},
        {"sensitive": "third", "group": ("x")},
        {"label": "under", "positive": "x"},
    ):
        yield f"{more}", outcome_text(input_check.cautions, frame, replace(base_roles, **more))
    for names in (["20", "F", "b"], ["20", "F", "b", "c"], ["20", "F", "b", "c", "d"], ["a", "1,5"], ["1", "1e3"]):
        header = pd.DataFrame({name: ["F", "x"] for name in names})
        yield f"header {names}", outcome_text(input_check._header, header)
    for cells in (
        rng.integers(0, 9, 400),
        np.arange(400) / 7,
        np.where(np.arange(400) % 4, np.arange(400) / 3, np.nan),
        np.arange(79) / 3,
    ):
        codes = input_check._codes(pd.Series(cells))
        yield f"codes {cells[5]:.3f} {len(cells)}", codes
        for k in (2, 3):
            truth = np.where(np.arange(codes.size) % 11, (codes + np.arange(codes.size) % 5 // 4) % k, np.nan)
            yield f"balanced {cells[5]:.3f} {len(cells)} {k}", input_check._balanced_accuracy(codes, truth)
    yield "one group", input_check._balanced_accuracy(np.arange(4), np.zeros(4))
    yield "absent", input_check._balanced_accuracy(np.zeros(4, int), np.array([0.0, 0, 1, 1]))
    for scores, letters in (
        ([0.1] * 10 + [0.5] * 10, "ab"),
        ([0.1] * 9 + [0.5] * 11, "ab"),
        ([0.5] * 20, "ab"),
        ([*[0.1] * 9, 0.5, *[0.5] * 10], "ab"),
        ([*[0.1] * 9, 0.6, *[0.5] * 10], "ba"),
    ):
        ordered = pd.DataFrame({"s": scores, "v": list(letters[0] * 10 + letters[1] * 10), "w": list("cd" * 10)})
        yield (
            f"ordered {scores[8:11]}",
            [name * checked_table.is_ordered(ordered[name], ordered["s"]) for name in "vw"],
        )


def _splits() -> NamedValues:
    table = _table(160, 2)
    for seed, share, more in (
        (0, 0.34, {}),
        (1, 0.1, {}),
        (2, 0.8, {}),
        (3, 0.5, {"sets": "part"}),
        (4, 0.5, {"sets": "third"}),
        (5, 0.09, {}),
        (6, 0.81, {}),
    ):
        data = build.build_dataset(table, replace(BASE, **more))
        parts = refused(splits.split, data, train_share=share, seed=seed)
        yield f"{seed}, {share}, {more}", parts
        if isinstance(parts, str):
            continue
        yield (
            f"{seed} known",
            (
                splits.known_shares(data, parts),
                splits.attacker_sample(parts.attacker_rows, seed),
                splits.shared_records(data, parts),
            ),
        )
    for train, test in ((5, 30), (6, 30), (30, 5), (30, 6), (9, 11), (30, 12)):
        few = build.build_dataset(table, BASE)
        few = replace(
            few,
            sets=np.where(np.arange(few.n) < train, "train", np.where(np.arange(few.n) < train + test, "test", "none")),
        )
        yield f"{train} and {test} named", outcome_text(splits.split, few, seed=1)[:300]
    for n in (100_000, 100_001):
        yield f"{n} taught", splits.attacker_sample(np.arange(n)[::-1], 3)


def _rated(users: int, values: int) -> pd.DataFrame:
    rng = np.random.default_rng(users)
    rows = [
        (u, i, rng.integers(1, 6) / 5, "abcdefghijkl"[u % values])
        for u in range(users)
        for i in rng.choice(7, 3, replace=False)
    ]
    return pd.DataFrame(rows, columns=["person", "item", "rating", "value"]).astype({"person": str, "item": str})


def _ratings() -> NamedValues:
    for users, values in ((29, 2), (30, 3), (101, 3), (106, 3), (30, 21), (31, 21), (36, 12)):
        frame = _rated(users, values % 13)
        outcome = refused(ratings._split, frame, "t.csv", 7)
        if not isinstance(outcome, str):
            outcome = (
                outcome.people_train,
                outcome.people_test,
                outcome.values_train,
                outcome.values_test,
                outcome.items,
                outcome.shares,
            )
        yield f"{users} users, {values} values", outcome
    for cells, items in (
        ([1, 5], "ab"),
        ([0.5, 1], "ab"),
        ([0, 5], "ab"),
        ([1.0, 5.1], "ab"),
        ([None, 1], [None, "a"]),
        ([None, 2], "ab"),
        (["x", "2"], "ab"),
        ([-0.1, 1], "ab"),
        ([0, 0], "ab"),
    ):
        yield f"stars {cells}", outcome_text(ratings._stars, pd.Series(cells), pd.Series(list(items)))


def _catalogue() -> NamedValues:
    demo = catalog.demo_table()
    yield "demo", (demo.title, len(demo.frame), plain(demo.roles))
    for attribute in ("", "sex", "age/ranges", "age", "sex × origin", "zzz"):
        yield f"roles {attribute}", plain(demo.roles_for(attribute))
    yield "no roles", replace(demo, roles=()).roles_for("sex × origin")
    for name, entry in catalog.CATALOG.items():
        yield name, [entry.offers(attribute) for attribute in ("sex", "race/each", "a × b", "")]


CASES: dict[str, Callable[[], NamedValues]] = {
    "text": _text,
    "cut": _cut,
    "cells": _cells,
    "files": _files,
    "names": _names,
    "columns": _columns,
    "groups": _groups,
    "build": _build,
    "guesses": _guesses,
    "cautions": _cautions,
    "splits": _splits,
    "ratings": _ratings,
    "catalogue": _catalogue,
}
"""Golden file -> what it tells of tables, each with a name."""


@pytest.mark.long
@pytest.mark.parametrize("name", CASES)
def test_numbers(name: str) -> None:
    compare_numbers(f"datasets_{name}", CASES[name]())
