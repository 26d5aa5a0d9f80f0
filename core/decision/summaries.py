"""The table, its groups and the model, as a report begins with them."""

from __future__ import annotations

from enum import StrEnum
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

import numpy as np

from core.datasets import Table, cautions, shared_note
from core.datasets.columns import quoted
from core.decision.audited import Audited
from core.decision.provenance import data_fingerprint
from core.decision.result import DataSummary, GroupSummary, ModelSummary
from core.estimates import Estimate, proportion
from core.fingerprint import content_fingerprint
from core.models import METHOD_TITLES

if TYPE_CHECKING:
    from core.models.files import ModelFile


class ModelNote(StrEnum):
    """Notes on a model that tell nothing of the data."""

    TRAINED = "Trained by FairLeak on the training records; the report speaks of this model and no other."
    RANDOMISED = "The model is randomised: one draw of its predictions is audited."
    NEEDS_SENSITIVE = "The model must be told people's sensitive attribute to decide about them."
    LABELS_ONLY = "Only predicted labels are given, no scores."


_SETS = ("train", "attack", "validation", "test")


def data_summary(audited: Audited, table: Table) -> DataSummary:
    """Return what the table is."""
    dataset = audited.dataset
    shared = shared_note(dataset, audited.splits)
    return DataSummary(
        title=dataset.title,
        source=table.source,
        attribute=audited.attribute,
        label=dataset.roles.label,
        synthetic=dataset.synthetic,
        n=dataset.n,
        sets={name: int(getattr(audited.splits, name).size) for name in _SETS},
        split=_split(audited),
        features=dataset.feature_names,
        notes=(*cautions(table.frame, dataset.roles), *dataset.notes, *([shared] if shared else [])),
        fingerprint=data_fingerprint(dataset, answers=audited.plan.model.kind != "file"),
    )


def group_summaries(audited: Audited) -> tuple[GroupSummary, ...]:
    """Return the groups, first group first."""
    dataset, test = audited.dataset, audited.splits.test
    answers, labels, groups = audited.model.predictions[test], dataset.labels[test], dataset.sensitive[test]

    def rate(code: int, label: int | None) -> Estimate:
        chosen = (groups == code) if label is None else (groups == code) & (labels == label)
        return proportion(int(answers[chosen].sum()), int(np.count_nonzero(chosen)))

    codes = {name: code for code, name in enumerate(dataset.group_names)}
    return tuple(
        GroupSummary(
            group=row.group,
            count=row.count,
            label_rate=row.label_rate,
            test_rate=rate(codes[row.group], None),
            test_tpr=rate(codes[row.group], 1),
            test_fpr=rate(codes[row.group], 0),
        )
        for row in dataset.groups()
    )


def model_summary(audited: Audited, model_file: ModelFile | None = None) -> ModelSummary:
    """Return what the model is, and how good and how fair."""
    config, model = audited.config, audited.model
    file = "" if model_file is None else model_file.fingerprint
    return ModelSummary(
        kind=audited.plan.model.kind,
        title=_title(audited),
        metric=config.metric,
        tolerance=config.tolerance,
        achieved=model.unfairness_train,
        unfairness_test=model.unfairness_test,
        accuracy_train=model.accuracy_train,
        accuracy_test=model.accuracy_test,
        majority_test=model.majority_test,
        fingerprint=content_fingerprint(model.predictions, model.scores, file),
        notes=(*_notes(audited), *audited.model_notes),
    )


def _title(audited: Audited) -> str:
    plan, roles = audited.plan, audited.dataset.roles
    if plan.model.kind == "file":
        return f"Model file {quoted(PurePosixPath(plan.model.file).name)}"
    if plan.model.kind == "predictions":
        columns = " and ".join(quoted(column) for column in (roles.prediction, roles.score) if column)
        return f"Predictions given in {columns}"
    return METHOD_TITLES[audited.config.method]


def _notes(audited: Audited) -> tuple[str, ...]:
    model, roles = audited.model, audited.dataset.roles
    notes: list[str] = []
    if audited.trainable:
        notes.append(ModelNote.TRAINED)
        if model.randomised:
            notes.append(ModelNote.RANDOMISED)
        if model.needs_sensitive:
            notes.append(ModelNote.NEEDS_SENSITIVE)
    elif not audited.has_scores:
        notes.append(ModelNote.LABELS_ONLY)
    elif not roles.prediction:
        notes.append(f"Predictions are scores of at least {roles.threshold:g}.")
    return tuple(notes)


def _split(audited: Audited) -> str:
    roles, config = audited.dataset.roles, audited.config
    if roles.sets:
        return f"The sets are those of the column {quoted(roles.sets)}; seed {config.seed} divides the attacker's."
    share = f"{100 * config.train_share:g}% of the records train the model"
    if not audited.trainable:
        share = (
            f"{100 * config.train_share:g}% of the records stand for the model's training records, which nobody told"
        )
    return f"Drawn with seed {config.seed}: {share}; the attacker knows half of the others, the test takes the rest."
