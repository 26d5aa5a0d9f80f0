"""A table and the roles of its columns joined into an `AuditDataset`; what is left out is counted and named."""

from __future__ import annotations

from core.datasets.columns import encode
from core.datasets.dataset import AuditDataset, Table
from core.datasets.duplicates import kinds_of_records, repeated_note
from core.datasets.roles import Roles
from core.datasets.selection import select
from core.fingerprint import fingerprint


def build_dataset(table: Table, roles: Roles) -> AuditDataset:
    """Turn a table and the roles of its columns into the arrays an audit works on.

    Columns that say nothing about people (empty, constant, dates, identifiers) are set aside with a note. Predictions,
    scores and sets are read as `core.datasets.given` says; a record without them is left out.

    Raises
    ------
    InputError
        If a role names no column, or two the same; the label or the sensitive attribute has fewer than two sides or a
        side with fewer than `MINIMUM_PER_GROUP` records; no feature is left, or a feature holds infinite values or
        numbers mixed with text; or a prediction, a score or a set is not what it must be.
    """
    chosen = select(table.frame, roles)
    notes = [*table.notes, *chosen.notes]
    matrix, names, categories, categorical = encode(table.frame.loc[chosen.known, chosen.features], notes)
    if repeated := repeated_note(kinds_of_records(matrix, chosen.labels, chosen.groups)):
        notes.append(repeated)
    return AuditDataset(
        title=table.title,
        source=table.source,
        features=matrix,
        feature_names=names,
        categorical=categorical,
        labels=chosen.labels,
        sensitive=chosen.groups,
        group_names=chosen.group_names,
        roles=roles,
        rows_read=len(table.frame),
        notes=tuple(notes),
        fingerprint=fingerprint(
            matrix,
            chosen.labels,
            chosen.groups,
            categorical,
            list(names),
            list(categories),
            roles,
            table.title,
            table.source,
            chosen.given.predictions,
            chosen.given.scores,
            chosen.given.sets,
            *(() if chosen.given.withheld is None else (chosen.given.withheld,)),
        ),
        categories=categories,
        predictions=chosen.given.predictions,
        scores=chosen.given.scores,
        sets=chosen.given.sets,
        withheld=chosen.given.withheld,
        synthetic=table.synthetic,
        uploaded=table.uploaded,
    )
