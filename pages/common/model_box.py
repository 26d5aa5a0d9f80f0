"""A model file beside one's own table: asked about everybody in it, its answers become columns of the session's table.

The file is read from memory and kept in the session. One that cannot be used is answered in one sentence, and the
audit stays as it was.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import streamlit as st

from core.errors import InputError
from pages.common import cached, panels, shell, state
from pages.common.own_model import OwnModel

if TYPE_CHECKING:
    from core.datasets.dataset import Table
    from core.datasets.roles import Roles
    from core.models.files import ModelFile

__all__ = ["draw"]

_PROBLEM, _PENDING = "model_problem", "model_pending"


def draw(table: Table, current: Roles | None) -> None:
    """Draw the box, ask the model that comes, and say what is wrong with it."""
    file = st.file_uploader(
        "Or a model file (ONNX or skops): its answers become the prediction and the score",
        key="model_file",
        on_change=_forget,
        help="Pickle, joblib, PyTorch and Keras files are refused, because opening one can run any code hidden in it. "
        "Export to ONNX or skops. Kept in this session's memory only.",
    )
    if file is not None and st.session_state.get("model_read") != file.file_id:
        st.session_state["model_read"] = file.file_id
        _read(table, current, file.name, file.getvalue())
    if _PENDING in st.session_state:
        _ask_columns(table, current)
    if sentence := st.session_state.get(_PROBLEM):
        panels.problem(sentence)
    if (model := cached.own_model()) is not None:
        columns = " and ".join(f"“{name}”" for name in (model.prediction, model.score) if name)
        st.caption(shell.escape(f"{model.name} has answered about everybody: {columns}."))
        for note in st.session_state.get("model_notes", ()):
            st.caption(shell.escape(note))
        if st.button("Take its answers out", key="remove_model", icon=":material/delete:"):
            _remove(current)
            st.rerun()


def _forget() -> None:
    for name in (_PROBLEM, _PENDING):
        st.session_state.pop(name, None)


def _read(table: Table, current: Roles | None, name: str, content: bytes) -> None:
    from core.models.files import read_model

    try:
        with st.spinner("Reading the model"):
            model_file = read_model(content, name)
    except InputError as error:
        st.session_state[_PROBLEM] = str(error)
        return
    if not model_file.feature_names:
        st.session_state[_PENDING] = (name, model_file)
        return
    _answer(table, current, name, model_file, ())


def _ask_columns(table: Table, current: Roles | None) -> None:
    """Ask which columns a model takes that does not name them."""
    name, model_file = st.session_state[_PENDING]
    own = cached.own_model()
    columns = [str(column) for column in (own.asked if own else table).frame.columns]
    features = st.multiselect(
        "The columns the model takes, in its order",
        columns,
        key="model_features",
        help="Its file does not name them" + (f"; it takes {model_file.width}." if model_file.width else "."),
    )
    if st.button("Ask the model", key="ask_model", disabled=not features):
        _answer(table, current, name, model_file, tuple(features))


def _answer(table: Table, current: Roles | None, name: str, model_file: ModelFile, features: tuple[str, ...]) -> None:
    """Ask a model about everybody; its answers replace those of an earlier one."""
    from core.datasets.build import build_dataset
    from core.models.files import with_answers

    own = cached.own_model()
    asked = own.asked if own else table
    threshold = current.threshold if current else 0.5
    positive = current.positive if current else ""
    try:
        with st.spinner("Asking the model about everybody in the table"):
            answered = with_answers(asked, model_file, threshold=threshold, positive=positive, features=features)
        if current is not None:
            current = replace(current, prediction=answered.prediction, score=answered.score)
            build_dataset(answered.table, current)
    except InputError as error:
        st.session_state[_PROBLEM] = str(error)
        return
    _forget()
    model = OwnModel(
        model_file=model_file,
        name=name,
        asked=asked,
        prediction=answered.prediction,
        score=answered.score,
        threshold=threshold,
        features=features,
        positive=positive,
    )
    cached.keep_own_model(answered.table, model)
    st.session_state["model_notes"] = answered.answers.notes
    _use(current)
    st.rerun()


def _remove(current: Roles | None) -> None:
    """Take the answers out of the table, and out of the roles that use them."""
    model = cached.own_model()
    cached.drop_own_model()
    if current is not None and model is not None and current.prediction == model.prediction:
        _use(replace(current, prediction="", score=""))


def _use(roles: Roles | None) -> None:
    """Audit with these roles; the forest was tuned on another model's people."""
    state.forget_forest()
    if roles is not None:
        state.keep_roles(state.UPLOAD, roles)
