"""The people a ledger is asked about: the audited table's test records, or a file's; and predictions for them."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import streamlit as st

from core.fingerprint import fingerprint
from pages.common import cached, panels
from pages.common.desk import uploads, words
from pages.common.jobs import Job

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from core.queries.ledger import Columns, Registration, TestSet

__all__ = ["audited", "from_file", "is_audited", "predicted", "uploaded_predictions", "uploaded_test_set"]

_NUMBER = "record number in the audited table"
"""Stands for the column of identifiers where people come from the audited table and not from a file."""


def is_audited(registration: Registration) -> bool:
    """Whether these people are the audited table's test records."""
    return registration.columns.id == _NUMBER


def audited() -> tuple[TestSet, Columns] | None:
    """Return the audited table's test records; None, said in a sentence, for an attribute in more than two groups."""
    from core.errors import InputError
    from core.queries.ledger import Columns, TestSet

    config, table = cached.audited()
    dataset = cached.dataset_of(table, config.roles or table.roles[0])
    if dataset.n_groups != 2:
        panels.problem(words.many_groups(dataset.n_groups))
        return None
    advantaged = int(dataset.sensitive.mean() >= 0.5)

    def draw() -> TestSet:
        rows = _test_rows()
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


def _test_rows() -> npt.NDArray[np.intp]:
    from core.datasets.splits import split

    config, table = cached.audited()
    dataset = cached.dataset_of(table, config.roles or table.roles[0])
    return split(dataset, train_share=config.train_share, seed=config.seed).test


def predicted() -> npt.NDArray[np.float64]:
    """Return the audited model's scores of the test records; waits with a progress bar while it is trained."""
    from core.audit import audit_key

    config, table = cached.audited()
    dataset = cached.dataset_of(table, config.roles or table.roles[0])
    store = cached.store_of(config.dataset)

    def work(job: Job) -> Any:
        from core.datasets.splits import split
        from core.training import train_model

        splits = split(dataset, train_share=config.train_share, seed=config.seed)
        audit = store.get(audit_key(config, dataset))
        model = train_model(config, dataset, splits) if audit is None else audit.findings.model
        return model.scores[splits.test]

    key = fingerprint("desk scores", dataset.fingerprint, config)
    return panels.need(store, key, "Training the audited model", work)  # type: ignore[no-any-return]


def from_file(upload: uploads.Upload) -> Any | None:
    """Return a file's cells as a frame, to choose its columns from."""
    from core.queries.ledger import frame_of

    return uploads.read(upload, frame_of, "frame")


def uploaded_test_set(upload: uploads.Upload, columns: Columns) -> TestSet | None:
    """Return the test set in a file."""
    from core.queries.ledger import test_set_of

    def make(content: bytes, name: str) -> TestSet:
        return test_set_of(content, name, columns)

    return uploads.read(upload, make, "test set", columns)


def uploaded_predictions(
    upload: uploads.Upload, test_set: TestSet, registration: Registration, metric_key: str
) -> Any | None:
    """Ask which column holds the scores where it is not plain, and return them in the order of the test set."""
    from core.queries.ledger import predictions_of

    frame = from_file(upload)
    if frame is None:
        return None
    named = [str(column) for column in frame.columns]
    usual = registration.columns.id
    left, right = st.columns(2)
    with left:
        place = named.index(usual) if usual in named else 0
        identifier = st.selectbox("Identifier", named, index=place, key=f"{metric_key}_id")
    with right:
        others = [column for column in named if column != identifier]
        score = st.selectbox("Score, from 0 to 1", others, key=f"{metric_key}_score") if others else None
    if score is None:
        panels.problem(f"The file {upload.name!r} must have a column of scores besides {identifier!r}, got none.")
        return None
    make = partial(predictions_of, ids=test_set.ids, id_column=identifier, score=score)
    return uploads.read(upload, make, "predictions", identifier, score, fingerprint(list(test_set.ids)))
