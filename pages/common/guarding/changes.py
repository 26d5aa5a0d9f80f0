"""What may change in the records of a table: columns free or frozen, plausible values, pairs that never meet."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import streamlit as st

from core.errors import InputError
from core.wording import count, percent
from pages.common import panels, shell
from pages.common.guarding import controls
from pages.common.guarding.defence import Changes, Pair
from pages.common.guarding.people import People
from pages.common.guarding.work import Grown, Guarding

if TYPE_CHECKING:
    import pandas

__all__ = ["draw", "unreached"]

_SHOWN = 8  # values of a column
_NAMED = 5  # columns
_HEIGHT = 320


def draw(work: Guarding, grown: Grown, budget: float) -> None:
    """Draw the columns and the rules, and a form that changes them."""
    guard = grown.guard
    judged = guard.plausibility
    shell.whisper(
        f"{percent(judged.plausible)} of the changed records hold only pairs of values that somebody has",
        f"{count(judged.changed)} records with noise.{unreached(judged.without_solution)} Rules in force: "
        f"{count(len(guard.rules.rules))}",
    )
    left, right = st.columns(2, gap="large")
    with left:
        columns = _columns(guard)
        st.dataframe(columns, hide_index=True, height=_HEIGHT)
    with right:
        rules = _rules(guard)
        st.dataframe(rules, hide_index=True, height="content" if len(rules) < 8 else _HEIGHT)
    with st.container(border=True):
        _form(work.who, guard, work.defence.changes)
    panels.numbers({"Columns": columns, "Pairs that must not meet": rules}, key="guard-changes")


def unreached(times: int) -> str:
    """Say how often the rules leave no noise; empty if they always leave one."""
    if not times:
        return ""
    return f" {count(times)} time{'s' * (times > 1)} no noise was found for a person and a value: then nothing changes."


def _columns(guard: Any) -> pandas.DataFrame:
    import pandas as pd

    rows = []
    for column in guard.columns:
        values = [column.text(value) for value in column.domain]
        numbers = column.kind != "category" and values
        told = f"{values[0]} to {values[-1]}" if numbers else ", ".join(values[:_SHOWN]) + "…" * (len(values) > _SHOWN)
        rows.append(
            {
                "column": column.name,
                "may change": "frozen" if column.frozen else "yes",
                "kind": column.kind,
                "to": "" if column.frozen else told,
            }
        )
    return pd.DataFrame(rows)


def _rules(guard: Any) -> pandas.DataFrame:
    import pandas as pd

    there = {rule.pair for rule in guard.rules.rules}
    rules = [*guard.rules.rules, *(rule for rule in guard.found_rules if rule.pair not in there)]
    return pd.DataFrame(
        [
            {
                "must not meet": f"{rule.first}: {rule.first_value}",
                "and": f"{rule.second}: {rule.second_value}",
                "people expected": round(rule.expected, 1),
                "in force": "yes" if rule.pair in there else "no",
            }
            for rule in rules
        ],
        columns=["must not meet", "and", "people expected", "in force"],
    )


def _form(who: People, guard: Any, now: Changes) -> None:
    """Ask for frozen columns and rules; nothing changes before the button is pressed."""
    names = [column.name for column in guard.columns]
    key = who.fingerprint[0][:12]
    left, right = st.columns(2, gap="large")
    with left:
        frozen = st.multiselect(
            "Frozen columns",
            names,
            default=[name for name in now.frozen if name in names],
            key=f"guard_frozen_{key}",
            help="The noise leaves them alone. A column with one value is frozen anyhow.",
        )
        rules = st.toggle(
            "Keep out pairs that never occur together",
            value=now.rules,
            key=f"guard_rules_{key}",
            help="Pairs found in the data: nobody has both values, though several people should by chance.",
        )
    with right:
        told = {_words(rule.pair): rule.pair for rule in guard.found_rules}
        allowed = st.multiselect(
            "Found pairs to allow",
            list(told),
            default=[_words(pair) for pair in now.removed if _words(pair) in told],
            key=f"guard_allowed_{key}",
        )
        written = st.text_area(
            "More pairs to keep out, a line each",
            "\n".join(_words(pair) for pair in now.added),
            key=f"guard_added_{key}",
            placeholder=_words(guard.found_rules[0].pair) if guard.found_rules else None,
            height=70,
        )
    if st.button("Use these rules", key="guard_use_rules", type="primary"):
        _apply(who, guard, now, tuple(frozen), rules, tuple(told[words] for words in allowed), written)
    if sentence := st.session_state.get("guard_rules_problem"):
        panels.problem(sentence)


def _words(pair: Pair) -> str:
    return f"{pair[0]}: {pair[1]} + {pair[2]}: {pair[3]}"


def _apply(
    who: People, guard: Any, now: Changes, frozen: tuple[str, ...], rules: bool, removed: tuple[Pair, ...], written: str
) -> None:
    """Let the noise keep to these rules from now on, or say what is wrong with them and leave all as it is."""
    from core.attriguard.table.columns import table_columns
    from core.attriguard.table.rules import pair_rules

    st.session_state.pop("guard_rules_problem", None)
    try:
        added = _pairs(written, [column.name for column in guard.columns])
        table_columns(guard.people, frozen=frozen)
        pair_rules(guard.columns, guard.found_rules, added=added, removed=removed)
    except InputError as error:
        st.session_state["guard_rules_problem"] = str(error)
    else:
        controls.change(who, replace(now, frozen=frozen, rules=rules, added=added, removed=removed))
    st.rerun()


def _pairs(written: str, columns: Sequence[str]) -> tuple[Pair, ...]:
    """Read pairs of values, a line each."""
    pairs = []
    for line in filter(str.strip, written.splitlines()):
        sides = [side.partition(":") for side in line.split(" + ")]
        if len(sides) != 2 or not all(colon for _, colon, _ in sides):
            raise InputError(f"Each line must read “column: value + column: value”, got “{line.strip()}”.")
        (name, _, value), (other, _, its) = sides
        unknown = [word.strip() for word in (name, other) if word.strip() not in columns]
        if unknown:
            some = ", ".join(columns[:_NAMED]) + ", …" * (len(columns) > _NAMED)
            raise InputError(f"No column is called “{unknown[0]}”; there are {some}.")
        pairs.append((name.strip(), value.strip(), other.strip(), its.strip()))
    return tuple(pairs)
