"""Bringing one's own table or model: upload boxes, and the form that says what the columns are.

A file is read from memory, kept in the session and nowhere else. A file or a form that breaks a rule is answered in
one sentence; what was audited before stays as it was.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import streamlit as st

from core.datasets import role_suggestion
from core.datasets.build import build_dataset
from core.datasets.columns import as_text
from core.datasets.dataset import Table
from core.datasets.read_table import read_table
from core.datasets.role_suggestion import Suggestion, suggested_group, suggested_limit
from core.datasets.roles import CROSS, MOST_GROUPS, Roles, crossed_columns
from core.fingerprint import fingerprint
from core.settings import params
from core.untrusted import warm_up
from pages.common import cached, panels, shell, state
from pages.common.cached import OwnModel
from pages.common.controls import control

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas

    from core.models.model_files import ModelFile


_HOW = "Changes take effect with the button; until then the audit stays as it is"
_GUESSED = "Guessed from names and values of the columns: check them"
_TOO_LARGE = "The table does not fit into memory; use fewer records or columns."
_MOST_VALUES = 50  # a column with more distinct values is split by a limit, not by picking values


def box() -> None:
    """Draw the upload box, read what comes, and say what is wrong with it."""
    warm_up()
    file = st.file_uploader(
        "Your own table (CSV or Parquet, up to 200 MB)",
        key="upload",
        on_change=panels.forget,
        args=("upload_problem",),
        help="Kept in this session's memory only: never written to disk, gone ten minutes after you close the page.",
    )
    lost = state.dataset_name() == state.UPLOAD and cached.own(state.UPLOAD) is None
    if file is not None and (lost or st.session_state.get("upload_read") != file.file_id):
        _read(file)
    panels.kept_problem("upload_problem")
    if cached.own(state.UPLOAD) is not None:
        st.button("Remove your table", key="remove_upload", icon=":material/delete:", on_click=_remove)


def _read(file) -> None:  # type: ignore[no-untyped-def]
    again = st.session_state.get("upload_read") == file.file_id  # lost with a connection, while the file was not
    st.session_state["upload_read"] = file.file_id
    panels.forget("roles_problem")
    with panels.keeping_problem("upload_problem", too_large=_TOO_LARGE):
        with st.spinner("Reading your table"):
            table = read_table(file.getvalue(), file.name)
        cached.keep_own(state.UPLOAD, table)
        roles = state.chosen_roles(table) if again else None
        if roles is None or not {roles.prediction, roles.score} <= {"", *table.frame.columns}:  # a model's answers
            state.forget_roles(state.UPLOAD)
        panels.forget("forest")
        state.choose("dataset", state.UPLOAD)
        st.rerun()


def _remove() -> None:
    cached.keep_own(state.UPLOAD)
    state.forget_roles(state.UPLOAD)
    panels.forget("forest")
    st.session_state["dataset"] = state.default("dataset")


def roles_form(table: Table, columns: pandas.DataFrame) -> None:
    """Draw the form: label and positive value, sensitive attribute and groups, predictions, columns to leave out."""
    current = state.chosen_roles(table)
    cautions = st.container()
    with st.container(border=True):
        shell.whisper("What the columns are", _HOW if current else f"{_GUESSED}. {_HOW}")
        roles = _ask(_Form(table, current), columns)
        complete = bool(roles.label and roles.positive and roles.sensitive)
        if st.button("Use these columns", key="use_roles", type="primary", disabled=not complete):
            with panels.keeping_problem("roles_problem"):
                cached.built(table, roles)
                state.keep_roles(table.name, roles)
                st.rerun()
        if not complete:
            st.caption("Choose a label, its positive value and a sensitive attribute first.")
        panels.kept_problem("roles_problem")
    for told in cached.once(role_suggestion.cautions, table, roles):
        cautions.info(shell.escape(told), icon=":material/info:")


class _Form:
    """What the form starts with: the roles in use, or those guessed for an upload while there are none."""

    def __init__(self, table: Table, current: Roles | None) -> None:
        self.table, self.current = table, current
        self.names = [str(column) for column in table.frame.columns]
        self.mark = f"{table.name}_{st.session_state.get('upload_read', '')}" if table.uploaded else table.name
        self.guess = Suggestion(roles=Roles(label="", positive="", sensitive=""))
        if current is None:
            self.guess_again()

    def guess_again(self, **known: str) -> None:
        """Guess the roles of an upload, where some of its columns may be known."""
        if self.table.uploaded:
            self.guess = cached.once(role_suggestion.suggest_roles, self.table, **known)

    @property
    def crossed(self) -> tuple[str, ...]:
        """The two columns that the sensitive attribute in use crosses; empty if it does not."""
        return crossed_columns(self.table.frame, self.current.sensitive) if self.current else ()

    def preset(self, role: str) -> Any:
        """Return what a role's box starts with."""
        if role == "sensitive" and self.crossed:
            return self.crossed[0]
        return getattr(self.current or self.guess.roles, role)

    def because(self, role: str, chosen: Any, used: Roles | None, reason: str = "") -> None:
        """Say below a role's box why it holds the guess, or why nothing was guessed; nothing of roles that are used.

        A guess may have its reason under another name than the role's.
        """
        told = self.guess.reasons.get(reason or role)
        if used is None and told and (chosen or "") == (getattr(self.guess.roles, role) or ""):
            st.caption(shell.escape(f"{'Guessed' if chosen else 'Not guessed'}: {told}."))

    def select(self, role: str, title: str, options: list[str], key: str, help: str | None = None) -> str:
        """Ask for a role; empty until it is chosen."""
        preset = self.preset(role)
        index = options.index(preset) if preset in options else None
        told: dict[str, Any] = {"index": index, "placeholder": "choose", "help": help}
        chosen = st.selectbox(title, options, key=f"{role}_{key}", **told) or ""
        self.because(role, chosen, self.current)
        return chosen


def _ask(form: _Form, columns: pandas.DataFrame) -> Roles:
    """Ask for all roles; label, positive value and sensitive attribute are empty until they are chosen."""
    table, current, mark = form.table, form.current, form.mark
    distinct = dict(zip(columns["column"], columns["distinct"], strict=True))
    left, right = st.columns(2, gap="large")
    with left:
        few = [c for c in form.names if 2 <= distinct[c] <= _MOST_VALUES]
        told = f"Columns with 2 to {_MOST_VALUES} distinct values; numbers with more must be cut into classes first."
        label = form.select("label", "Label: what the model predicts", few, mark, told)
        if current is None and label != form.guess.roles.label:
            form.guess_again(label=label)
        values = values_of(table.frame, label) if label else []
        positive = form.select("positive", "Its positive value", values, f"{mark}_{label}")
    with right:
        usable = [c for c in form.names if distinct[c] >= 2 and c != label]
        sensitive = form.select("sensitive", "Sensitive attribute: what the attacker is after", usable, mark)
        if sensitive and sensitive != form.preset("sensitive"):
            form.guess_again(label=label, attribute=sensitive)
        second = _ask_crossed(form, [c for c in usable if c != sensitive and distinct[c] <= MOST_GROUPS])
        groups = _ask_groups(form, sensitive) if sensitive and not second else {}
    others = [c for c in form.names if c not in (label, sensitive, second)]
    sensitive = CROSS.join((sensitive, second)) if sensitive and second else sensitive
    given = _ask_given(form, others) if table.uploaded else {}
    if table.uploaded:
        _model_box(table, current)
    excluded, missing = _ask_left_out(form, [c for c in others if c not in given.values()])
    names: dict[str, Any] = {}
    if current is not None and current.sensitive == sensitive:
        names["attribute_name"] = current.attribute_name
        if all(getattr(current, field) == value for field, value in groups.items()):  # the same groups
            names |= {"first_name": current.first_name, "other_name": current.other_name}
    return Roles(
        label=label,
        positive=positive,
        sensitive=sensitive,
        excluded=excluded,
        missing=missing,
        **groups,
        **names,
        **given,
    )


def _ask_crossed(form: _Form, options: list[str]) -> str:
    """Ask for a second column that the sensitive attribute is crossed with; empty without one."""
    preset = form.crossed[1] if form.crossed else ""
    return (
        st.selectbox(
            "Crossed with",
            ["", *options],
            index=options.index(preset) + 1 if preset in options else 0,
            key=f"crossed_{form.mark}_{preset}",
            format_func=lambda column: column or "nothing: one column",
            help="A group for each pair of values: sex × race. Each needs 30 people; neither column is a feature.",
        )
        or ""
    )


def _ask_left_out(form: _Form, options: list[str]) -> tuple[tuple[str, ...], str]:
    """Ask which columns nobody sees, and what becomes of records with a missing feature."""
    left, right = st.columns(2, gap="large")
    preset = [c for c in form.preset("excluded") if c in options]
    with left:
        excluded = st.multiselect(
            "Columns to leave out",
            options,
            default=preset,
            key=f"excluded_{form.mark}_{fingerprint(preset)[:8]}",
            help="Neither the model nor the attacker sees them.",
        )
        form.because("excluded", tuple(excluded), form.current)
    missing = right.segmented_control(
        "Records with a missing feature",
        ["keep", "drop"],
        default=form.current.missing if form.current else "keep",
        required=True,
        key=f"missing_{form.table.name}",
        help="Kept: numbers get the column's median over all records, categories a value of their own.",
    )
    return tuple(excluded), missing or "keep"


def _ask_groups(form: _Form, sensitive: str) -> dict[str, Any]:
    """Ask how the sensitive column tells people apart; returns the fields of `Roles` that say so."""
    frame, current, mark = form.table.frame, form.current, form.mark
    same = current if current is not None and current.sensitive == sensitive else None
    known = same or form.guess.roles
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
        most = st.number_input(
            "First group: people with a value up to",
            value=limit if kept is None else float(kept),
            key=f"limit_{mark}_{sensitive}",
            help="Preset: the lowest quarter.",
        )
        groups = {"at_most": most}
    else:
        options = values_of(frame, sensitive, _MOST_VALUES)
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
        form.because(role, told, same, reason="group")
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


def values_of(frame: pandas.DataFrame, column: str, most: int | None = None) -> list[str]:
    """Return a column's values, the most frequent first, or so many of them."""
    return [str(value) for value in as_text(frame[column]).value_counts().index[:most]]


_ASKED = {
    "prediction": (
        "Model's prediction",
        "The label your model predicts, written as the label is, or as 0 and 1, false and true, no and yes. Choose it "
        "or the score to audit your own model: nothing is trained then.",
    ),
    "score": (
        "Model's score",
        "The probability your model gives to the positive value, from 0 to 1. Bias queries and membership attacks need "
        "it.",
    ),
    "sets": (
        "Which set a record is in",
        "Train: your model was trained on it, and it is attacked. Attack: the attacker knows its sensitive attribute. "
        "Test: neither. Without such a column the sets are drawn, and membership of your model cannot be attacked.",
    ),
}


def _ask_given(form: _Form, options: Sequence[str]) -> dict[str, Any]:
    """Ask which of these columns are a model's, and for the threshold where only scores are given.

    Returns the fields of `Roles` that say so.
    """
    from core.release_audit.plan import ModelPlan

    found: dict[str, Any] = {}
    columns, current, mark = ["", *options], form.current, form.table.fingerprint[:16]
    for place, (role, (title, told)) in zip(st.columns(3, gap="large"), _ASKED.items(), strict=True):
        preset = form.preset(role)
        with place:
            chosen = st.selectbox(
                title,
                columns,
                index=columns.index(preset) if preset in columns else 0,
                key=f"{role}_{mark}_{preset}",
                format_func=lambda column: column or "no column",
                help=told,
            )
            form.because(role, chosen, current)
        found[role] = chosen or ""
    threshold = current.threshold if current else 0.5
    if found["score"] and not found["prediction"]:
        threshold = control(
            params(ModelPlan)["threshold"], f"threshold_{mark}", value=threshold, help=None, persist_state=None
        )
    return {**found, "threshold": threshold}


_MODEL_PROBLEM, _MODEL_PENDING = "model_problem", "model_pending"


def _model_box(table: Table, current: Roles | None) -> None:
    """Draw the box, ask the model that comes, and say what is wrong with it."""
    from core.models.model_files import read_model

    file = st.file_uploader(
        "Or a model file (ONNX or skops): its answers become the prediction and the score",
        key="model_file",
        on_change=panels.forget,
        args=(_MODEL_PROBLEM, _MODEL_PENDING),
        help="Pickle, joblib, PyTorch and Keras files are refused, because opening one can run any code hidden in it. "
        "Export to ONNX or skops. Kept in this session's memory only.",
    )
    if file is not None and st.session_state.get("model_read") != file.file_id:
        st.session_state["model_read"] = file.file_id
        with panels.keeping_problem(_MODEL_PROBLEM), st.spinner("Reading the model"):
            st.session_state[_MODEL_PENDING] = (file.name, read_model(file.getvalue(), file.name))
    if _MODEL_PENDING in st.session_state:
        _ask_model(table, current, *st.session_state[_MODEL_PENDING])
    panels.kept_problem(_MODEL_PROBLEM)
    if (model := cached.own_model()) is not None:
        columns = " and ".join(f"“{name}”" for name in (model.prediction, model.score) if name)
        st.caption(shell.escape(f"{model.plan.file} has answered about everybody: {columns}."))
        for note in model.notes:
            st.caption(shell.escape(note))
        if st.button("Take its answers out", key="remove_model", icon=":material/delete:"):
            cached.keep_own(state.UPLOAD, model.asked)
            if current is not None and current.prediction == model.prediction:
                _audit_with(replace(current, prediction="", score=""))
            st.rerun()


def _ask_model(table: Table, current: Roles | None, name: str, model_file: ModelFile) -> None:
    """Ask a model about everybody, and first which columns it takes if it does not name them.

    Its answers replace those of an earlier one.
    """
    from core.models.model_files import with_answers
    from core.release_audit.plan import ModelPlan

    own = cached.own_model()
    asked, features = own.asked if own else table, ()
    if not model_file.feature_names:
        takes = f"; it takes {model_file.width}." if model_file.width else "."
        columns = [str(column) for column in asked.frame.columns]
        told: dict[str, Any] = {
            "persist_state": None,
            "options": columns,
            "help": f"Its file does not name them{takes}",
        }
        features = tuple(control(params(ModelPlan)["features"], "model_features", **told))
        if not st.button("Ask the model", key="ask_model", disabled=not features):
            return
    with panels.keeping_problem(_MODEL_PROBLEM):
        threshold, positive = (current.threshold, current.positive) if current else (0.5, "")
        plan = ModelPlan(kind="file", file=name, threshold=threshold, features=features, positive=positive)
        with st.spinner("Asking the model about everybody in the table"):
            answered = with_answers(asked, model_file, threshold=threshold, positive=positive, features=features)
        answers: dict[str, Any] = {"prediction": answered.prediction, "score": answered.score}
        if current is not None:
            current = replace(current, **answers)
            build_dataset(answered.table, current)
        panels.forget(_MODEL_PENDING)
        model = OwnModel(model_file=model_file, plan=plan, asked=asked, notes=answered.answers.notes, **answers)
        cached.keep_own(state.UPLOAD, answered.table, model)
        _audit_with(current)
        st.rerun()
    if model_file.feature_names:
        panels.forget(_MODEL_PENDING)  # there is nothing else to try


def _audit_with(roles: Roles | None) -> None:
    """Audit with these roles; the forest was tuned on another model's people."""
    panels.forget("forest")
    if roles is not None:
        state.keep_roles(state.UPLOAD, roles)
