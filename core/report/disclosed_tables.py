"""Tables of an audit for others: of those known by their title the columns and rows known to count nobody in a group.

Everything unknown is left out, so that a table that is new one day is not given away by mistake. Rows about single
groups are left out as well: what is told of groups stands in their summaries, where small counts are withheld together
and the attack on the edition reads it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from core.decision.result import TableTitle
from core.report.document import Document
from core.report.numbers import number_of, printed, rounded

_SHOWN = {
    TableTitle.ATTRIBUTION: ("attacker", "step", "accuracy", "balanced accuracy", "change"),
    TableTitle.CORRECTIONS: ("tolerance", "attacker", "true", "before", "after", "gain"),
    TableTitle.ANSWERS: ("attacker", "answers", "draws", "balanced accuracy"),
    TableTitle.MEMBERS: ("attack", "AUC", "advantage", "people", "TPR at 1% FPR"),
    TableTitle.GUARD: ("attacker", "budget", "accuracy", "balanced accuracy"),
}
"""Title -> columns that may be shown, without those of their intervals' ends."""

_TELL_SIZES = {
    TableTitle.ATTRIBUTION: _SHOWN[TableTitle.ATTRIBUTION],
    TableTitle.CORRECTIONS: ("before", "after"),
    TableTitle.ANSWERS: _SHOWN[TableTitle.ANSWERS],
    TableTitle.GUARD: _SHOWN[TableTitle.GUARD],
}
"""Title -> columns that tell how large the groups are: who names the larger group for everybody is right about its
share, and the interval of a balanced accuracy is as wide as the smaller group is small."""

_EVERYBODY = {"people": "everybody"}
"""Column -> the only value that a row may have in it."""

_TEXTS = ("attacker", "step", "attack", "true", "people")

_SETTINGS = ("tolerance", "budget", "answers", "draws")


def disclosed_tables(
    tables: Sequence[Document], notes: list[str], *, sizes_hidden: bool, training_hidden: bool
) -> list[Document]:
    """Return the tables for others; `notes` is told what is left out.

    Parameters
    ----------
    sizes_hidden : bool
        Whether a group's size is withheld.
    training_hidden : bool
        Whether the unfairness on the training records is; a column says how it lies to every tolerance.
    """
    shown, cut = [], []
    for whole in tables:
        table = _table(whole, sizes_hidden=sizes_hidden, training_hidden=training_hidden)
        if table["rows"]:
            shown.append(table)
        if len(table["columns"]) < len(whole["columns"]) or len(table["rows"]) < len(whole["rows"]):
            cut.append(whole["title"] if whole["title"] in _SHOWN else "others")
    if cut:
        notes.append(
            "Rows about single groups, and columns and tables that could tell how many people are in one, are left out "
            "of the tables."
        )
    return shown


def _table(whole: Document, *, sizes_hidden: bool, training_hidden: bool) -> Document:
    title = whole["title"]
    allowed = set(_SHOWN.get(title, ()))
    if sizes_hidden:
        allowed -= set(_TELL_SIZES.get(title, ()))
    if training_hidden:
        allowed -= {"true"}
    kept = [name for name in whole["columns"] if _base(name) in allowed]
    if not any(_base(name) in allowed - set(_TEXTS) - set(_SETTINGS) for name in kept):
        kept = []  # nothing but names is left
    rows = [dict(zip(whole["columns"], row, strict=True)) for row in whole["rows"]] if kept else []
    rows = [row for row in rows if all(row.get(name, only) == only for name, only in _EVERYBODY.items())]
    return {"title": title, "columns": kept, "rows": [list(_cells(row, kept)) for row in rows]}


def _base(column: str) -> str:
    return column.removesuffix(", low").removesuffix(", high")


def _cells(row: Document, kept: Sequence[str]) -> Iterator[Any]:
    """Yield a row's cells: numbers with an interval rounded as estimates are, of texts those that name an attacker."""
    from core.report.canonical import strict

    for name in kept:
        base, value = _base(name), row[name]
        three = tuple(row.get(key) for key in (base, f"{base}, low", f"{base}, high"))
        if isinstance(value, str) and value not in ("inf", "-inf"):
            yield value if base in _TEXTS else None
        elif base in _SETTINGS or value is None or None in three:
            yield value if base in _SETTINGS else rounded(value)
        else:
            place = 0 if name == base else 1 if name.endswith(", low") else 2
            yield strict(printed(*(number_of(number) for number in three))[place])
