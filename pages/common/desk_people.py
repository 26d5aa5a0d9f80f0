"""Files given to the desk, and the people a ledger is asked about: the audited table's test records, or a file's."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

import streamlit as st

from core.datasets.splits import split
from core.desk import Columns, Registration, TestSet, frame_of, predictions_of, test_set_of
from core.errors import InputError
from core.fingerprint import fingerprint
from core.subject import train_model
from pages.common import cached, panels
from pages.common.background import Job, need

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt


@dataclass(frozen=True, slots=True)
class Upload:
    """A file's name and content, and what was read from it so far."""

    name: str
    content: bytes = field(repr=False)
    read: dict[str, Any] = field(default_factory=dict, repr=False)


def upload_box(key: str, label: str, *, help: str | None = None) -> Upload | None:
    """Draw an upload box and return the file that is in it, or was when the page was left."""
    files: dict[str, tuple[str, Upload]] = st.session_state.setdefault("desk_files", {})
    given = st.file_uploader(label, key=key, help=help, on_change=_dropped, args=(key,))
    if given is not None and (key not in files or files[key][0] != given.file_id):
        files[key] = (given.file_id, Upload(given.name, given.getvalue()))
    if key not in files:
        return None
    upload = files[key][1]
    if given is None:
        with st.container(horizontal=True, vertical_alignment="center"):
            st.text(f"{upload.name[:60]} is still here.")
            st.button("Remove", key=f"{key}_remove", on_click=_dropped, args=(key,), icon=":material/delete:")
    return upload


def _dropped(key: str) -> None:
    st.session_state.get("desk_files", {}).pop(key, None)


def read_upload(upload: Upload, make: Callable[[bytes, str], Any], *how: Any) -> Any | None:
    """Return what a file holds, read once each way (`how`); or say in one sentence what is wrong and return None."""
    key = fingerprint(*how)
    if key not in upload.read:
        try:
            with st.spinner("Reading the file"):
                upload.read[key] = make(upload.content, upload.name)
        except InputError as error:
            upload.read[key] = error
        except MemoryError:
            upload.read[key] = InputError("The file does not fit into memory; use fewer records or columns.")
    found = upload.read[key]
    if isinstance(found, InputError):
        panels.problem(str(found))
        return None
    return found


_NUMBER = "record number in the audited table"
"""Stands for the column of identifiers where people come from the audited table and not from a file."""


def is_audited(registration: Registration) -> bool:
    """Whether these people are the audited table's test records."""
    return registration.columns.id == _NUMBER


def audited() -> tuple[TestSet, Columns] | None:
    """Return the audited table's test records; None, said in a sentence, for an attribute in more than two groups."""
    config, table = cached.audited()
    dataset = cached.dataset_of(table, config.roles)
    if dataset.n_groups != 2:
        panels.problem(
            f"The desk compares two groups, and this attribute is split in {dataset.n_groups}; choose an attribute in "
            "two groups in the sidebar."
        )
        return None
    advantaged = int(dataset.sensitive.mean() >= 0.5)

    def draw() -> TestSet:
        rows = split(dataset, train_share=config.train_share, seed=config.seed).test
        return TestSet(
            ids=tuple(str(row + 1) for row in rows),
            attribute=(dataset.sensitive[rows] == advantaged).astype("uint8"),
            labels=dataset.labels[rows],
        )

    key = fingerprint("desk people", dataset.fingerprint, config.train_share, config.seed)
    try:
        test_set: TestSet = cached.store_of(config.dataset).remember(key, draw)
    except InputError as error:
        panels.problem(str(error))
        return None
    roles = dataset.roles
    columns = Columns(
        id=_NUMBER,
        attribute=roles.attribute,
        advantaged=dataset.group_names[advantaged],
        label=roles.label,
        positive=roles.positive,
    )
    return test_set, columns


def predicted() -> npt.NDArray[np.float64]:
    """Return the audited model's scores of the test records; waits with a progress bar while it is trained."""
    config, table = cached.audited()
    dataset = cached.dataset_of(table, config.roles)
    store = cached.store_of(config.dataset)

    def work(job: Job) -> Any:
        splits = split(dataset, train_share=config.train_share, seed=config.seed)
        model = cached.trained_model(store, config, dataset) or train_model(config, dataset, splits)
        return model.scores[splits.test]

    key = fingerprint("desk scores", dataset.fingerprint, config)
    return need(store, key, "Training the audited model", work)  # type: ignore[no-any-return]


def from_file(upload: Upload) -> Any | None:
    """Return a file's cells as a frame, to choose its columns from."""
    return read_upload(upload, frame_of, "frame")


def uploaded_test_set(upload: Upload, columns: Columns) -> TestSet | None:
    """Return the test set in a file."""
    return read_upload(upload, partial(test_set_of, columns=columns), "test set", columns)


def uploaded_predictions(upload: Upload, test_set: TestSet, registration: Registration) -> Any | None:
    """Ask which column holds the scores where it is not plain, and return them in the order of the test set."""
    frame = from_file(upload)
    if frame is None:
        return None
    named = [str(column) for column in frame.columns]
    usual = registration.columns.id
    left, right = st.columns(2)
    place = named.index(usual) if usual in named else 0
    identifier = left.selectbox("Identifier", named, index=place, key="desk_predictions_id")
    others = [column for column in named if column != identifier]
    score = right.selectbox("Score, from 0 to 1", others, key="desk_predictions_score") if others else None
    if score is None:
        panels.problem(f"The file {upload.name!r} must have a column of scores besides {identifier!r}, got none.")
        return None
    make = partial(predictions_of, ids=test_set.ids, id_column=identifier, score=score)
    return read_upload(upload, make, "predictions", identifier, score, fingerprint(list(test_set.ids)))
