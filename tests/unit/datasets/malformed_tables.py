"""Malformed and hostile tables as (bytes, file name), by what is wrong, for tests of core and of the command line.

`MALFORMED` must be refused by the reader with the one sentence in `SENTENCES`; the cheap ones of `BAD_UPLOADS` are
among them. `hostile_table` is a good table whose names and values look like code: they are names and values.
"""

from __future__ import annotations

import csv
import io
import random

from tests.unit.datasets.bad_tables import BAD_UPLOADS, GOOD, HEADER, csv_bytes, rows

__all__ = ["HOSTILE", "HOSTILE_NAMES", "MALFORMED", "SENTENCES", "hostile_table"]

_SCRIPT, _FORMULA = "<script>alert(1)</script>", "=cmd|' /C calc'!A0"
_LONG = "long" * 60
_LINES = GOOD.decode().splitlines()


def _text(*changes: tuple[int, str], separator: str = ",") -> bytes:
    """Return the good table with some lines, from 1, replaced, in another separator."""
    lines = [line.replace(",", separator) for line in _LINES]
    for number, line in changes:
        lines[number - 1] = line
    return "\n".join([*lines, ""]).encode()


_NEW: dict[str, tuple[bytes, str, str]] = {
    "semicolons, a record short": (
        _text((5, "31;cook;F"), separator=";"),
        "a.csv",
        "Every record must have 4 cells like the first line, line 5 has 3; add or delete separators there, or quote "
        "the cell that holds one.",
    ),
    "tabs, a record long": (
        _text((5, "31\tcook\tF\tyes\tx"), separator="\t"),
        "a.tsv",
        "Every record must have 4 cells like the first line, line 5 has 5; add or delete separators there, or quote "
        "the cell that holds one.",
    ),
    "bars, an open quotation mark": (
        _text((5, '31|"cook|F|yes'), separator="|"),
        "a.txt",
        "A quotation mark opened in the record that starts on line 5 must be closed.",
    ),
    "Excel's title in a padded line": (
        b"Staff list,,,\n" + GOOD,
        "a.csv",
        "Every column must have a name, column 2 has none; name it or delete it.",
    ),
    "a note beside the table": (
        _text((9, "31,cook,F,yes,,see page 2")),
        "a.csv",
        "Every record must have 4 cells like the first line, line 9 has 6; add or delete separators there, or quote "
        "the cell that holds one.",
    ),
    "a column without a name in Excel's edge": (
        "\n".join(f"{line},,{'x' * (i == 9)}" for i, line in enumerate(_LINES)).encode(),
        "a.csv",
        "Every column must have a name, column 6 has none; name it or delete it.",
    ),
    "only one column besides empty ones": (
        b"age,,\n" + b"1,,\n" * 80,
        "a.csv",
        "The first line must hold several column names with commas, semicolons, tabs or bars between them, got only "
        "one ('age').",
    ),
    "wrong separator told": (
        b"sep=;\n" + GOOD,
        "a.csv",
        "The first line must hold several column names with commas, semicolons, tabs or bars between them, got only "
        "one ('age,job,sex,hired').",
    ),
    "separator told, a record short": (
        b"sep=,\n" + _text((5, "31,cook")),
        "a.csv",
        "Every record must have 4 cells like the first line, line 6 has 2; add or delete separators there, or quote "
        "the cell that holds one.",
    ),
    "hostile name twice": (
        csv_bytes(f"{_SCRIPT},job,{_SCRIPT},hired"),
        "a.csv",
        f"Every column must have a name of its own, columns 1 and 3 are both called '{_SCRIPT}'.",
    ),
    "formula twice": (
        csv_bytes(f"{_FORMULA},job,{_FORMULA},hired"),
        "a.csv",
        "Every column must have a name of its own, columns 1 and 3 are both called \"=cmd|' /C calc'!A0\".",
    ),
    "name of two lines twice": (
        csv_bytes('"a\nb",job,"a\nb",hired'),
        "a.csv",
        "Every column must have a name of its own, columns 1 and 3 are both called 'a\\nb'.",
    ),
    "very long name twice": (
        csv_bytes(f"{_LONG},job,{_LONG},hired"),
        "a.csv",
        f"Every column must have a name of its own, columns 1 and 3 are both called '{_LONG[:37]}…'.",
    ),
    "hostile file name": (
        GOOD,
        "<img src=x onerror=alert(1)>",
        "The file's name must end in .csv, .tsv, .txt, .parquet, .pq, got '<img src=x onerror=alert(1)>'; export the "
        "table as CSV or Parquet.",
    ),
    "file name of two lines": (
        b"",
        "two\nlines.csv",
        "The file 'two\\nlines.csv' is empty; choose a file with column names and records.",
    ),
    "decimal commas not quoted": (
        csv_bytes("pay,sex,hired", [f"{i},5,F,yes" for i in range(80)]),
        "a.csv",
        "Every record must have 3 cells like the first line, line 2 has 4; add or delete separators there, or quote "
        "the cell that holds one.",
    ),
    "German numbers for names": (
        csv_bytes("1.234,5;7", ["1;2"] * 80),
        "a.csv",
        "The first line must hold the column names, got only numbers ('1.234,5, 7'); put a line with the names above "
        "it.",
    ),
    "59 people and Excel's empty lines": (
        csv_bytes(records=[*rows(59), *[",,,"] * 40]),
        "a.csv",
        "An audit needs at least 60 records (30 of each group), got 59; add records to the file.",
    ),
    "header repeated under another table": (
        b"sep=,\n" + GOOD + b",,,\n" + HEADER.encode() + b",,\n",
        "a.csv",
        "The column names must stand on the first line only, line 84 repeats them.",
    ),
    "Windows-1252 and UTF-8 in one file": (
        _text((4, "31,Zoë,F,yes")) + b"31,Zo\xeb,F,yes\n",
        "a.csv",
        "Line 82 is not UTF-8 (its byte 6 is 0xEB); save the file as UTF-8 (in Excel: 'CSV UTF-8').",
    ),
    "Windows-1252 with a control character": (
        _text((4, "31,co\x07ok,F,yes")) + b"31,Zo\xeb,F,yes\n",
        "a.csv",
        "Line 82 is not UTF-8 (its byte 6 is 0xEB); save the file as UTF-8 (in Excel: 'CSV UTF-8').",
    ),
    "UTF-16 with an odd byte": (
        GOOD.decode().encode("utf-16") + b"x",
        "a.csv",
        "The file begins like UTF-16 but is damaged; save it as UTF-8.",
    ),
    "HTML that calls itself CSV": (
        b"\xef\xbb\xbf  <TABLE><tr><td>age</td></tr></TABLE>",
        "export.csv",
        "The file 'export.csv' is a web page or an XML document, not a table in text form or Parquet; download the "
        "table itself as CSV.",
    ),
    "Parquet's name on text": (
        GOOD,
        "a.pq",
        "The file 'a.pq' is not Parquet; if it is a text table, let its name end in .csv.",
    ),
}

_HEAVY = {"over 200 MB", "a million columns", "latin-1 late in the file", "very long cell", "very long quoted cell"}

MALFORMED: dict[str, tuple[bytes, str]] = {
    **{bad.kind: (bad.data, bad.file_name) for bad in BAD_UPLOADS if bad.kind not in _HEAVY},
    **{kind: (content, name) for kind, (content, name, _) in _NEW.items()},
}
"""Content and file name, by what is wrong."""

SENTENCES: dict[str, str | tuple[str, ...]] = {
    **{bad.kind: bad.words_expected for bad in BAD_UPLOADS if bad.kind in MALFORMED},
    **{kind: sentence for kind, (_, _, sentence) in _NEW.items()},
}
"""The whole sentence, or words of it, by what is wrong."""

HOSTILE = {
    "label": _SCRIPT,
    "positive": "{{7*7}}",
    "sensitive": _FORMULA,
    "group": "</style><b>",
    "prediction": '"; DROP TABLE people; --',
    "score": "\u202escore\u200f",
    "sets": "sets of\ntwo lines",
}
"""Names and values of the roles in `hostile_table`; sets are train, attack and test, in any case."""

_FEATURES = {
    "{{7*7}}": ["@SUM(1+1)*cmd|' /C calc'!A0", "+1+1", "-2+3", "${jndi:x}"],
    "</style>": ["</td></tr></table>", "<img src=x onerror=alert(1)>", "&lt;b&gt;"],
    "👩‍🍳 emoji": ["👨‍👩‍👧", "🏳️‍🌈", "é", "ﬀ"],
    "\u200fשלום": ["\u202eabc", "שלום", "مرحبا"],
    'it\'s "quoted", twice; no | bar\tor tab': ['"', "'", "''", "a,b;c"],
    "__class__": ["%s%n", "{0}", "{name}", "$(rm)"],
    _LONG: ["x" * 300, "y" * 300],
    "*bold* _it_ [link](javascript:alert(1)) $x$ :red[a]": ["`code`", "# head", "~~gone~~"],
    "../../etc/passwd": ["..\\..\\x", "/dev/null", "file:///etc"],
}

HOSTILE_NAMES = (*_FEATURES, "=1+1 points", *(HOSTILE[role] for role in ("label", "sensitive", "prediction", "score")))
"""Every column of `hostile_table` but the one of sets."""


def hostile_table(n: int = 400) -> bytes:
    """Return a good CSV of n people whose names and values look like code, markup and formulas."""
    chance = random.Random(3)
    groups, answers = (HOSTILE["group"], "=1+1;x"), ("\\u0000 no", HOSTILE["positive"])
    roles = [HOSTILE[role] for role in ("label", "sensitive", "prediction", "score", "sets")]
    lines: list[list[object]] = [[*_FEATURES, "=1+1 points", *roles]]
    for i in range(n):
        group = int(chance.random() < 0.4)
        label = int(chance.random() < (0.55 if group else 0.35))
        score = round(min(max(0.5 * label + 0.1 * group + 0.4 * chance.random(), 0), 1), 3)
        features = [values[(chance.randrange(len(values)) + label) % len(values)] for values in _FEATURES.values()]
        points = chance.randrange(40) + 10 * label
        split = ("train", "ATTACK", "Test")[i % 3]
        lines.append([*features, points, answers[label], groups[group], answers[score >= 0.5], score, split])
    buffer = io.StringIO(newline="")
    csv.writer(buffer, lineterminator="\r\n").writerows(lines)
    return buffer.getvalue().encode()
