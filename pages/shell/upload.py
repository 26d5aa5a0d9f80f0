"""Bringing one's own table or model: the upload boxes, and what becomes of the files.

A file is read from memory, kept in the session and nowhere else. A table waits for its column roles before it is
audited; a file that breaks a rule is answered in one sentence. What was audited before stays as it was.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import streamlit as st

from core.base.settings import params
from core.base.untrusted import warm_up
from core.datasets.build import build_dataset
from core.datasets.dataset import Table
from core.datasets.read_table import read_table
from core.datasets.roles import Roles
from pages.shell import cached, panels, state
from pages.shell.cached import OwnModel
from pages.shell.controls import control

if TYPE_CHECKING:
    from core.models.model_files import ModelFile

LOST_ON_RELOAD = "Stays in memory: gone when you reload or close the page."
"""What stands beside an upload box."""


def pending() -> Table | None:
    """Return the table that waits for its column roles, if there is one."""
    table: Table | None = cached.uploaded_data(state.PENDING)
    return table


def box() -> None:
    """Draw the upload box, read what comes, and say what is wrong with it."""
    warm_up()
    gone = all(cached.uploaded_data(name) is None for name in (state.UPLOAD, state.PENDING))
    panels.upload(
        "Your own table (CSV or Parquet, up to 200 MB)",
        "upload",
        _read,
        doing="Reading your table",
        again=gone,
        help="Kept in this session's memory only: never written to disk, and freed ten minutes after the page is "
        "closed.",
    )
    st.caption(LOST_ON_RELOAD)


def _read(file: Any) -> None:
    """Read a table to be given roles; one that is audited, and was lost with a connection, is audited again."""
    audited = (
        st.session_state.get("upload_applied") == file.file_id
        and cached.uploaded_data(state.PENDING) is None
    )
    again = audited and cached.uploaded_data(state.UPLOAD) is None
    panels.forget("roles_problem")
    header = st.session_state.get(f"header_{file.file_id}") != "data"
    table = read_table(file.getvalue(), file.name, header=header)
    roles = state.chosen_roles(table) if again else None
    answers = roles and {roles.prediction, roles.score, *roles.excluded} - {
        "",
        *table.frame.columns,
    }
    if roles is not None and not answers:  # of a model, which is gone
        cached.store_upload(state.UPLOAD, table)
        state.choose("dataset", state.UPLOAD)
    else:
        cached.store_upload(state.PENDING, replace(table, name=state.PENDING))
    st.rerun()


def remove_button() -> None:
    """Offer to remove the table that waits, or else the session's own."""
    if any(cached.uploaded_data(name) is not None for name in (state.PENDING, state.UPLOAD)):
        st.button(
            "Remove your table", key="remove_upload", icon=":material/delete:", on_click=_remove
        )


def _remove() -> None:
    panels.forget("roles_problem", "preset_roles", _MODEL, _PROBLEM)
    st.session_state["upload_removed"] = True
    if pending() is not None:
        cached.store_upload(state.PENDING)
        return
    cached.store_upload(state.UPLOAD)
    state.forget_roles(state.UPLOAD)
    st.session_state["dataset"] = state.default("dataset")


_PROBLEM = "model_file_problem"
_MODEL = "model_pending"


def model_box(table: Table, current: Roles | None, drafted: Roles) -> None:
    """Draw the box for a model file, ask the model that comes, and say what is wrong with it.

    `current` are the roles in use, `drafted` those on the form.
    """
    from core.models.model_files import read_model

    def take(file: Any) -> None:
        st.session_state[_MODEL] = (file.name, read_model(file.getvalue(), file.name))

    panels.upload(
        "Or a model file (ONNX or skops): its answers become the prediction and the score",
        "model_file",
        take,
        doing="Reading the model",
        forgets=(_MODEL,),
        help="Pickle, joblib, PyTorch and Keras files are refused, because opening one can run any code hidden in it. "
        "Export to ONNX or skops. Kept in this session's memory only.",
    )
    if _MODEL in st.session_state:
        _ask_model(table, current, drafted, *st.session_state[_MODEL])
    if (model := cached.own_model(table.name)) is not None:
        columns = " and ".join(f"“{name}”" for name in filter(None, model.answer_columns))
        panels.notes(f"{model.plan.file} has predicted for everybody: {columns}.")
        panels.notes(*model.notes)
        if st.button("Take its answers out", key="remove_model", icon=":material/delete:"):
            cached.store_upload(table.name, model.source_table)
            _change_roles(model.source_table, current, drafted, model.taken_out)
            st.rerun()


def _ask_model(
    table: Table, current: Roles | None, drafted: Roles, name: str, model_file: ModelFile
) -> None:
    """Ask a model about everybody, and first which columns it takes if its file does not say.

    Its answers replace those of an earlier one. In a table that waits for its roles they are added to those drafted.
    """
    from core.auditing.plan import ModelPlan
    from core.models.model_files import with_answers

    earlier_model = cached.own_model(table.name)
    roles = current or drafted
    if not (roles.label and roles.positive):
        panels.notes("The model is asked once a label and its positive value are chosen.")
        return
    source = earlier_model.source_table if earlier_model else table
    features = ()
    if not model_file.feature_names:
        if model_file.width:
            takes = f"; it takes {model_file.width}."
        else:
            takes = "."
        columns = [str(column) for column in source.frame.columns]
        features = tuple(
            control(
                params(ModelPlan)["features"],
                "model_features",
                options=columns,
                help=f"Its file does not name them{takes}",
                persist_state=None,
            )
        )
        if not st.button("Ask the model", key="ask_model", disabled=not features):
            return
    with panels.keeping_problem(_PROBLEM):
        plan = ModelPlan(kind="file", file=name, threshold=roles.threshold, features=features)
        with st.spinner("Asking the model about everybody in the table"):
            answered, answered_roles, notes = with_answers(
                source, model_file, roles, features=features
            )
        model = OwnModel(
            model_file=model_file,
            plan=plan,
            source_table=source,
            roles=answered_roles,
            notes=notes,
        )

        def answer(roles_before: Roles) -> Roles:
            if earlier_model:
                roles_before = earlier_model.taken_out(roles_before)
            return model.put_in(roles_before)

        if current is not None:
            build_dataset(answered, answer(current))
        panels.forget(_MODEL)
        cached.store_upload(table.name, answered, model)
        _change_roles(answered, current, drafted, answer)
    if model_file.feature_names:
        panels.forget(_MODEL)  # there is nothing else to try
    st.rerun()


def _change_roles(
    table: Table, current: Roles | None, drafted: Roles, change: Callable[[Roles], Roles]
) -> None:
    """Change the roles in use, of every attribute, or those drafted for a table that waits."""
    if current is None:
        st.session_state["preset_roles"] = (table.fingerprint, change(drafted))
        return
    state.change_roles(table.name, change)
