"""The controls of a table's values: two values of the label, the groups, a threshold, records with gaps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import streamlit as st

from core.auditing.plan import ModelPlan
from core.base.settings import params
from core.datasets.roles import FEATURE, MINIMUM_PER_GROUP, MOST_GROUPS
from pages._data.draft import Draft, GroupChoice, values_of
from pages.shell import panels, shell
from pages.shell.controls import control

_SIDE_BY_SIDE = 3
_SHORT = 16
"""Most values of a label that stand side by side, and the letters each may have."""


def label_value(draft: Draft, role: str, title: str) -> None:
    """Choose the value of the label that is favourable, or that scores predict; side by side where they are few."""
    label = draft.column_of("label")
    values = values_of(draft.table.frame, label)
    preset = draft.preset_value(role, label)
    arguments: dict[str, Any] = {
        "key": draft.key(role, label),
        "label_visibility": "collapsed",
        "persist_state": "session",
    }
    start = preset if preset in values else None
    if len(values) <= _SIDE_BY_SIDE and max(map(len, values), default=0) <= _SHORT:
        st.segmented_control(
            title, values, default=start, required=True, format_func=shell.escape, **arguments
        )
    else:
        index = None if start is None else values.index(start)
        st.selectbox(title, values, index=index, placeholder="choose", width=200, **arguments)


def groups(draft: Draft) -> None:
    """Choose the audited attribute, how it splits people, and what becomes of records with gaps."""
    with st.popover("Change", key="groups_change"):
        _attribute(draft)
        label = draft.column_of("label")
        sensitive = draft.column_of("sensitive")
        if second := draft.column_of("crossed"):
            pair = shell.escape(f"{sensitive} and {second}")
            st.caption(
                f"A group for each pair of values of {pair}. Each needs {MINIMUM_PER_GROUP} people; "
                "neither column is a feature."
            )
        else:
            _groups(draft, sensitive, GroupChoice.of(draft, label, sensitive))
        if draft.asks_threshold:
            arguments: dict[str, Any] = {"value": draft.preset.threshold, "help": None}
            control(params(ModelPlan)["threshold"], draft.key("threshold"), **arguments)
        panels.pick(
            "Records with a missing feature",
            ["keep", "drop"],
            key=draft.key("missing"),
            default=draft.preset.missing,
            help="Kept: numbers get the column's median over all records, categories a value of their own.",
        )


def _attribute(draft: Draft) -> None:
    """Choose which column is the audited attribute; the one before is a feature then."""
    sensitive = draft.column_of("sensitive")
    features = [
        column.name
        for column in draft.columns
        if draft.assigned[column.name] == FEATURE
        and not column.set_aside
        and "sensitive" in column.possible_roles(with_outputs=draft.table.uploaded)
    ]
    key = draft.key("attribute", sensitive)

    def choose() -> None:
        chosen = st.session_state.get(key)
        if chosen is None:
            return  # a browser may send the change of a form whose draft is gone
        st.session_state[draft.keys[sensitive]] = FEATURE
        st.session_state[draft.keys[chosen]] = "sensitive"

    st.selectbox(
        "Audited attribute",
        (sensitive, *features),
        key=key,
        format_func=shell.escape,
        on_change=choose,
        persist_state=None,
    )


def _groups(draft: Draft, sensitive: str, choice: GroupChoice) -> None:
    """Choose the groups of one column."""
    panels.pick(
        "Groups",
        {"two": "two groups", choice.many: _WAYS[choice.many]},
        key=draft.key("way", sensitive),
        default=choice.way,
        help=f"Up to {MOST_GROUPS} groups. Values of fewer than 30 people are taken together if they are 30 in all.",
    )
    if choice.way == "each":
        return
    if choice.way == "ranges":
        st.number_input(
            "Number of ranges, each with about as many people",
            min_value=3,
            max_value=10,
            value=choice.pieces,
            key=draft.key("pieces", sensitive),
            persist_state="session",
        )
    elif choice.limit is not None:
        st.number_input(
            "Group 1: values up to",
            value=choice.limit,
            key=draft.key("limit", sensitive),
            persist_state="session",
            help="Preset: the lowest quarter. Everybody else is group 2.",
        )
    else:
        _first_group(draft, sensitive, choice.options, choice.preset_group)


def _first_group(
    draft: Draft, sensitive: str, options: Sequence[str], preset: Sequence[str]
) -> None:
    """Choose the values of the first group."""
    st.multiselect(
        "Group 1 (values)",
        options,
        default=preset,
        key=draft.key("group", sensitive),
        persist_state="session",
        help="Everybody else is group 2.",
    )


_WAYS = {"each": "each value", "ranges": "ranges"}
"""Way of forming more than two groups -> its title."""
