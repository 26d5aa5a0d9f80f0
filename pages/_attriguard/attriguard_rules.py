"""What AttriGuard's noise may change in a table: columns and forbidden pairs of values, with the form to set them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import streamlit as st

from core.base.errors import InputError
from core.base.settings import params
from core.studies import attriguard
from core.studies.attriguard import AttriGuardSettings, Exposure, Pair, TableDefense, findings
from core.studies.attriguard.table import Column
from pages._attriguard.attriguard_controls import allow_changes, allowed_changes
from pages._attriguard.attriguard_run import GuardRun
from pages.shell import panels
from pages.shell.controls import control

if TYPE_CHECKING:
    import pandas

_LISTED_VALUES = 8
"""Values of a column that its row lists at most."""

_LISTED_COLUMNS = 5
"""Columns that a message lists at most."""

_HEIGHT = 320
_PROBLEM = "guard_rules_problem"


def draw_allowed_changes(work: GuardRun, exposure: Exposure, budget: float) -> None:
    """Draw the columns and the rules, and a form that changes them."""
    defense: Any = work.defense_of(exposure)
    panels.whisper(findings.plausible(defense))
    left, right = st.columns(2, gap="large")
    columns = _column_table(defense)
    rules = _rule_table(defense)
    left.dataframe(columns, hide_index=True, height=_HEIGHT)
    height: Any = "content" if len(rules) < 8 else _HEIGHT
    right.dataframe(rules, hide_index=True, height=height)
    with st.container(border=True):
        _draw_form(work, defense)
    panels.numbers({"Columns": columns, "Forbidden pairs": rules}, key="defense-changes")


def _column_table(defense: TableDefense) -> pandas.DataFrame:
    return panels.frame(
        {
            "column": column.name,
            "may change": "frozen" if column.frozen else "yes",
            "kind": column.kind,
            "to": "" if column.frozen else _domain_text(column),
        }
        for column in defense.columns
    )


def _domain_text(column: Column) -> str:
    """Return to what a column may change: the first values of a category, the range of a number."""
    values = [column.text(value) for value in column.domain]
    if column.kind != "category" and values:
        return f"{values[0]} to {values[-1]}"
    return ", ".join(values[:_LISTED_VALUES]) + "…" * (len(values) > _LISTED_VALUES)


def _rule_table(defense: TableDefense) -> pandas.DataFrame:
    import pandas as pd

    in_force = {rule.pair: rule for rule in defense.rules.rules}
    rules = dict(in_force)
    for rule in defense.found_rules:
        rules.setdefault(rule.pair, rule)
    rows = []
    for (column, value, second_column, second_value), rule in rules.items():
        status = "yes" if rule.pair in in_force else "no"
        expected = round(rule.expected, 1)
        rows.append((f"{column}: {value}", f"{second_column}: {second_value}", expected, status))
    return pd.DataFrame(rows, columns=["forbidden", "with", "people expected", "in force"])


def _draw_form(work: GuardRun, defense: TableDefense) -> None:
    """Ask for frozen columns and rules; nothing changes before the button is pressed."""
    current = allowed_changes(work.records)
    names = [column.name for column in defense.columns]
    pairs = {_pair_text(rule.pair): rule.pair for rule in defense.found_rules}
    key = work.records.dataset.fingerprint[:12]
    settings = params(AttriGuardSettings)
    left, right = st.columns(2, gap="large")
    with left:
        frozen = control(
            settings["frozen"],
            f"guard_frozen_{key}",
            persist_state=None,
            options=names,
            value=[name for name in current.frozen if name in names],
            help="The noise leaves them alone. A column with one value is frozen anyhow.",
        )
        rules = control(
            settings["rules"],
            f"guard_rules_{key}",
            persist_state=None,
            value=current.rules,
            help="Pairs found in the data: nobody has both values, though at least one person should by chance.",
        )
    with right:
        allowed = control(
            settings["allowed_pairs"],
            f"guard_allowed_{key}",
            persist_state=None,
            help=None,
            options=list(pairs),
            value=[text for text in map(_pair_text, current.allowed_pairs) if text in pairs],
        )
        written = st.text_area(
            settings["forbidden_pairs"].param.title,
            "\n".join(map(_pair_text, current.forbidden_pairs)),
            key=f"guard_added_{key}",
            placeholder=next(iter(pairs), None),
            height=70,
        )
    if st.button("Use these rules", key="guard_use_rules", type="primary"):
        allowed_pairs = tuple(pairs[text] for text in allowed)
        requested = replace(current, frozen=tuple(frozen), rules=rules, allowed_pairs=allowed_pairs)
        _apply(work, defense, written, requested)
    panels.kept_problem(_PROBLEM)


def _pair_text(pair: Pair) -> str:
    return f"{pair[0]}: {pair[1]} + {pair[2]}: {pair[3]}"


def _apply(
    work: GuardRun, defense: TableDefense, written: str, requested: AttriGuardSettings
) -> None:
    """Let the noise keep to these rules from now on, or say what is wrong with them and leave all as it is."""
    with panels.keeping_problem(_PROBLEM):
        forbidden = _pairs(written, [column.name for column in defense.columns])
        attriguard.table_columns(defense.people, frozen=requested.frozen)
        pairs_allowed = requested.allowed_pairs
        attriguard.pair_rules(
            defense.columns, defense.found_rules, forbidden=forbidden, allowed=pairs_allowed
        )
        allow_changes(work.records, replace(requested, forbidden_pairs=forbidden))
    st.rerun()


def _pairs(written: str, columns: Sequence[str]) -> tuple[Pair, ...]:
    """Read pairs of values, a line each."""
    pairs = []
    for line in filter(str.strip, written.splitlines()):
        sides = [side.partition(":") for side in line.split(" + ")]
        if len(sides) != 2 or not all(colon for _, colon, _ in sides):
            raise InputError(
                f"Each line must read “column: value + column: value”, got “{line.strip()}”."
            )
        (name, _, value), (second_name, _, second_value) = sides
        unknown = [word.strip() for word in (name, second_name) if word.strip() not in columns]
        if unknown:
            some = ", ".join(columns[:_LISTED_COLUMNS]) + ", …" * (len(columns) > _LISTED_COLUMNS)
            raise InputError(f"No column is called “{unknown[0]}”; there are {some}.")
        pairs.append((name.strip(), value.strip(), second_name.strip(), second_value.strip()))
    return tuple(pairs)
