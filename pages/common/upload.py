"""Bringing one's own table: the upload box, and the form that says what the columns are.

A file is read from memory, kept in the session and nowhere else. A file or a form that breaks a rule is answered in
one sentence; what was audited before stays as it was.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import streamlit as st

from core.errors import InputError
from core.fingerprint import fingerprint
from core.untrusted import warm_up
from pages.common import cached, given_columns, guesses, model_box, panels, shell, state

if TYPE_CHECKING:
    import pandas

    from core.datasets.dataset import Table
    from core.datasets.roles import Roles
    from core.datasets.suggestion import Suggestion

__all__ = ["box", "roles_form"]

_HOW = "Changes take effect with the button; until then the audit stays as it is"
_GUESSED = "Guessed from names and values of the columns: check them"
_MOST_VALUES = 50  # a column with more distinct values is split by a limit, not by picking values


def box() -> None:
    """Draw the upload box, read what comes, and say what is wrong with it."""
    warm_up()
    file = st.file_uploader(
        "Your own table (CSV or Parquet, up to 200 MB)",
        key="upload",
        on_change=_forget_problem,
        help="Kept in this session's memory only: never written to disk, gone ten minutes after you close the page.",
    )
    lost = state.dataset_name() == state.UPLOAD and cached.own_table() is None
    if file is not None and (lost or st.session_state.get("upload_read") != file.file_id):
        _read(file)
    if sentence := st.session_state.get("upload_problem"):
        panels.problem(sentence)
    if cached.own_table() is not None:
        st.button("Remove your table", key="remove_upload", icon=":material/delete:", on_click=_remove)


def _forget_problem() -> None:
    st.session_state.pop("upload_problem", None)


def _read(file) -> None:  # type: ignore[no-untyped-def]
    from core.datasets.table import read_table

    again = st.session_state.get("upload_read") == file.file_id  # lost with a connection, while the file was not
    st.session_state["upload_read"] = file.file_id
    st.session_state.pop("roles_problem", None)
    try:
        with st.spinner("Reading your table"):
            table = read_table(file.getvalue(), file.name)
    except InputError as error:
        st.session_state["upload_problem"] = str(error)
        return
    except MemoryError:
        st.session_state["upload_problem"] = "The table does not fit into memory; use fewer records or columns."
        return
    cached.keep_own_table(table)
    roles = state.chosen_roles(table) if again else None
    if roles is None or not {roles.prediction, roles.score} <= {"", *table.frame.columns}:  # a model file's answers
        state.forget_roles(state.UPLOAD)
    state.forget_forest()
    state.choose("dataset", state.UPLOAD)
    st.rerun()


def _remove() -> None:
    cached.drop_own_table()
    state.forget_roles(state.UPLOAD)
    state.forget_forest()
    st.session_state["dataset"] = state.default("dataset")


def roles_form(table: Table, columns: pandas.DataFrame) -> None:
    """Draw the form: label and positive value, sensitive attribute and groups, predictions, columns to leave out."""
    current = state.chosen_roles(table)
    cautions = st.container()
    with st.container(border=True):
        shell.whisper("What the columns are", _HOW if current else f"{_GUESSED}. {_HOW}")
        roles = _ask(table, columns, current)
        complete = bool(roles.label and roles.positive and roles.sensitive)
        if st.button("Use these columns", key="use_roles", type="primary", disabled=not complete):
            _apply(table, roles)
        if not complete:
            st.caption("Choose a label, its positive value and a sensitive attribute first.")
        if sentence := st.session_state.get("roles_problem"):
            panels.problem(sentence)
    for told in cached.cautions_of(table, roles):
        cautions.info(shell.escape(told), icon=":material/info:")


def _ask(table: Table, columns: pandas.DataFrame, current: Roles | None) -> Roles:
    """Ask for all roles; label, positive value and sensitive attribute are empty until they are chosen."""
    from core.datasets.roles import Roles
    from core.datasets.suggestion import Suggestion

    frame, names = table.frame, [str(c) for c in table.frame.columns]
    mark = f"{table.name}_{st.session_state.get('upload_read', '')}" if table.uploaded else table.name
    guess = Suggestion(roles=Roles(label="", positive="", sensitive=""))
    if table.uploaded and current is None:
        guess = cached.suggestion_of(table)
    distinct = dict(zip(columns["column"], columns["distinct"], strict=True))
    left, right = st.columns(2, gap="large")
    with left:
        few = [c for c in names if 2 <= distinct[c] <= _MOST_VALUES]
        label = _select(
            "Label: what the model predicts",
            few,
            (current or guess.roles).label,
            f"label_{mark}",
            help=f"Columns with 2 to {_MOST_VALUES} distinct values; numbers with more must be cut into classes first.",
        )
        guesses.because(guess, "label", label, current)
        if current is None and table.uploaded and label != guess.roles.label:
            guess = cached.suggestion_of(table, label=label)
        values = _values(frame, label) if label else []
        preset = (current or guess.roles).positive
        positive = _select("Its positive value", values, preset, f"positive_{mark}_{label}")
        guesses.because(guess, "positive", positive, current)
    with right:
        usable = [c for c in names if distinct[c] >= 2 and c != label]
        sensitive = _select(
            "Sensitive attribute: what the attacker is after",
            usable,
            (current or guess.roles).sensitive,
            f"sensitive_{mark}",
        )
        guesses.because(guess, "sensitive", sensitive, current)
        if table.uploaded and sensitive and sensitive != (current or guess.roles).sensitive:
            guess = cached.suggestion_of(table, label=label, attribute=sensitive)
        groups = _ask_groups(frame, sensitive, current, guess, mark) if sensitive else {}
    others = [c for c in names if c not in (label, sensitive)]
    given = given_columns.ask(table, others, current, guess) if table.uploaded else {}
    if table.uploaded:
        model_box.draw(table, current)
    left, right = st.columns(2, gap="large")
    with left:
        others = [c for c in others if c not in given.values()]
        preset_out = [c for c in (current or guess.roles).excluded if c in others]
        excluded = st.multiselect(
            "Columns to leave out",
            others,
            default=preset_out,
            key=f"excluded_{mark}_{fingerprint(preset_out)[:8]}",
            help="Neither the model nor the attacker sees them.",
        )
        guesses.because(guess, "excluded", tuple(excluded), current)
    with right:
        missing = st.segmented_control(
            "Records with a missing feature",
            ["keep", "drop"],
            default=current.missing if current else "keep",
            required=True,
            key=f"missing_{table.name}",
            help="Kept: numbers get the column's median over all records, categories a value of their own.",
        )
    return Roles(
        label=label,
        positive=positive,
        sensitive=sensitive,
        **groups,
        excluded=tuple(excluded),
        missing=missing or "keep",
        first_name=_kept(current, sensitive, groups, "first_name"),
        other_name=_kept(current, sensitive, groups, "other_name"),
        attribute_name=current.attribute_name if current and current.sensitive == sensitive else "",
        **given,
    )


def _ask_groups(
    frame: pandas.DataFrame, sensitive: str, current: Roles | None, guess: Suggestion, mark: str
) -> dict[str, Any]:
    """Ask how the sensitive column tells people apart; returns the fields of `Roles` that say so."""
    from core.datasets.groups import MOST_GROUPS
    from core.datasets.suggestion import suggested_group, suggested_limit

    same = current if current is not None and current.sensitive == sensitive else None
    known = same or guess.roles
    limit = suggested_limit(frame[sensitive])
    many = "ranges" if limit is not None else "each"
    way = st.segmented_control(
        "Groups",
        ["two", many],
        default=many if known.each or known.cuts else "two",
        required=True,
        key=f"way_{mark}_{sensitive}",
        format_func={"two": "two groups", "each": "each value", "ranges": "ranges"}.__getitem__,
        help=f"Up to {MOST_GROUPS} groups. Values of fewer than 30 people are taken together if they are 30 in all.",
    )
    groups: dict[str, Any]
    if way == "each":
        groups = {"each": True}
    elif way == "ranges":
        groups = {"cuts": _cuts(frame, sensitive, same, mark)}
    elif limit is not None:
        kept = None if same is None else same.at_most
        groups = {"at_most": _limit(sensitive, limit if kept is None else float(kept), mark)}
    else:
        options = _values(frame, sensitive)[:_MOST_VALUES]
        preset = [v for v in (same.group if same else ()) if v in options]
        chosen = st.multiselect(
            "First group: people with these values",
            options,
            default=preset or [v for v in (suggested_group(frame[sensitive]),) if v in options],
            key=f"group_{mark}_{sensitive}",
            help="Everybody else is the other group.",
        )
        groups = {"group": tuple(chosen)}
    for role, told in groups.items():
        guesses.because(guess, role, told, same, reason="group")
    return groups


def _cuts(frame: pandas.DataFrame, sensitive: str, same: Roles | None, mark: str) -> tuple[float, ...]:
    """Ask into how many ranges a number is cut, each with about as many people."""
    pieces = st.number_input(
        "Number of ranges, each with about as many people",
        min_value=3,
        max_value=10,
        value=len(same.cuts) + 1 if same and 3 <= len(same.cuts) + 1 <= 10 else 4,
        key=f"pieces_{mark}_{sensitive}",
    )
    if same and len(same.cuts) + 1 == pieces:
        return same.cuts
    shares = [i / pieces for i in range(1, pieces)]
    return tuple(sorted({float(cut) for cut in frame[sensitive].dropna().quantile(shares, interpolation="lower")}))


def _kept(current: Roles | None, sensitive: str, groups: dict[str, Any], name: str) -> str:
    """Return a name of the roles in use if they tell the same groups apart."""
    same = current is not None and current.sensitive == sensitive
    if not same or any(getattr(current, field) != value for field, value in groups.items()):
        return ""
    return str(getattr(current, name))


def _select(label: str, options: list[str], preset: str, key: str, help: str | None = None) -> str:
    index = options.index(preset) if preset in options else None
    return st.selectbox(label, options, index=index, key=key, placeholder="choose", help=help) or ""


def _values(frame: pandas.DataFrame, column: str) -> list[str]:
    from core.datasets.columns import as_text

    return [str(v) for v in as_text(frame[column]).value_counts().index]


def _limit(column: str, preset: float, mark: str) -> float:
    return st.number_input(
        "First group: people with a value up to",
        value=preset,
        key=f"limit_{mark}_{column}",
        help="Preset: the lowest quarter.",
    )


def _apply(table: Table, roles: Roles) -> None:
    try:
        cached.built(table, roles)
    except InputError as error:
        st.session_state["roles_problem"] = str(error)
        return
    st.session_state.pop("roles_problem", None)
    state.keep_roles(table.name, roles)
    st.rerun()
