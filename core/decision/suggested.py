"""A plan to start from: of a dataset of the catalogue, or of a user's table with roles guessed from its columns.

A guess is one that a user sees and corrects; nothing is audited by it before.
"""

from __future__ import annotations

import re
from dataclasses import replace

from core.config import AuditConfig
from core.datasets import CATALOG, Roles, Table, suggest_roles
from core.datasets.columns import as_text, is_numeric, quoted
from core.datasets.groups import MINIMUM_PER_GROUP, MOST_GROUPS
from core.decision.plan import AuditPlan, DataPlan, MembershipPlan, ModelPlan, PlannedAnswers
from core.decision.plan_file import UPLOAD
from core.errors import InputError
from core.models import GIVEN
from core.validation import choice

__all__ = ["catalogue_plan", "suggested_plan"]

_ATTRIBUTES = (
    ("sex", "gender"),
    ("race", "ethnicity", "ethnic", "ethnic group"),
    ("origin", "nationality", "national origin", "country of birth", "citizenship"),
    ("religion", "disability", "disabled", "orientation"),
    ("age", "age group", "age cat", "agep"),
)
"""Names of sensitive columns, those asked for most often first."""

_POSITIVES = ("1", "true", "yes", "y", "positive", "approved", "accepted", "granted", "hired", "good", ">50k")

_ANSWERS = PlannedAnswers(questions=10, epsilon=0.5)
_SHADOWS = 16


def catalogue_plan(dataset: str, attribute: str = "") -> AuditPlan:
    """Return a plan for a dataset of the catalogue.

    Parameters
    ----------
    dataset : str
        One of `core.datasets.CATALOG`.
    attribute : str
        Key of one of its groupings; the first when empty.

    Raises
    ------
    InputError
        If there is no such dataset or attribute.
    """
    entry = CATALOG[choice(dataset, CATALOG, name="dataset")]
    chosen = choice(attribute, entry.attributes, name="attribute") if attribute else next(iter(entry.attributes))
    return AuditPlan(
        title=f"{entry.title}, by {entry.attributes[chosen].lower()}",
        data=DataPlan(dataset=dataset, attribute=chosen),
        config=AuditConfig(dataset=dataset),
        answers=_ANSWERS,
        membership=MembershipPlan(shadows=_SHADOWS),
    )


def suggested_plan(table: Table, file: str, *, model: str = "", features: int | None = None) -> AuditPlan:
    """Return a plan for a user's table, with roles guessed from names and values of its columns.

    Parameters
    ----------
    table : Table
    file, model : str
        What the plan calls the table's file, and that of a model where there is one.
    features : int, optional
        How many columns the model takes, where its file does not name them: as many of the table's are.

    Raises
    ------
    InputError
        If no column can be the label, or none the sensitive attribute.
    """
    found = suggest_roles(table.frame)
    given = {name for name in (found.prediction, found.score, found.sets) if name}
    sensitive = _sensitive(table, {found.label, *given})
    label = found.label or _label(table, {sensitive, *given})
    kind = "file" if model else "predictions" if found.prediction or found.score else "train"
    roles = Roles(label=label, positive=_positive(table, label), sensitive=sensitive, sets=found.sets)
    roles = _with_groups(table, roles)
    if kind == "predictions":
        roles = replace(roles, prediction=found.prediction, score=found.score)
    elif kind == "file":
        roles = replace(roles, excluded=tuple(name for name in (found.prediction, found.score) if name))
    others = [str(name) for name in table.frame.columns if str(name) not in {label, sensitive, *given}]
    has_scores = kind == "train" or bool(found.score)
    return AuditPlan(
        title=table.title,
        data=DataPlan(dataset="", file=file),
        model=ModelPlan(kind=kind, file=model, features=tuple(others[: features or 0])),
        config=AuditConfig(dataset=UPLOAD, roles=roles, method=AuditConfig().method if kind == "train" else GIVEN),
        answers=_ANSWERS if has_scores else PlannedAnswers(),
        membership=MembershipPlan(shadows=_SHADOWS if kind == "train" else 0),
    )


def _sensitive(table: Table, taken: set[str]) -> str:
    plain = {
        re.sub(r"[\s_.-]+", " ", str(name)).strip().casefold(): str(name)
        for name in table.frame.columns
        if str(name) not in taken
    }
    for names in _ATTRIBUTES:
        for name in names:
            if name in plain and as_text(table.frame[plain[name]]).nunique() > 1:
                return plain[name]
    raise InputError(
        f"No column of {quoted(table.title)} is called like a sensitive attribute (sex, race, origin, age, …); write "
        "the plan for another table and put your column's name into data.sensitive."
    )


def _label(table: Table, taken: set[str]) -> str:
    """Return the last column with two values, where labels tend to stand."""
    for name in reversed(table.frame.columns):
        if str(name) not in taken and as_text(table.frame[name]).nunique() == 2:
            return str(name)
    raise InputError(
        f"No column of {quoted(table.title)} has two values and could be the label; write the plan for another table "
        "and put your column's name into data.label."
    )


def _positive(table: Table, label: str) -> str:
    """Return the label's value that sounds like a yes, else its rarest one."""
    counts = as_text(table.frame[label]).value_counts()
    named = {str(value).casefold(): str(value) for value in counts.index}
    return next((named[word] for word in _POSITIVES if word in named), str(counts.index[-1]))


def _with_groups(table: Table, roles: Roles) -> Roles:
    """Return the roles with the groups told apart: two values, each value, or a limit at the median."""
    column = table.frame[roles.sensitive]
    counts = as_text(column).value_counts()
    often = counts[counts >= MINIMUM_PER_GROUP]
    if len(counts) == 2:
        return replace(roles, group=(str(counts.index[-1]),))
    if is_numeric(column):
        return replace(roles, at_most=float(column.median()))
    return (
        replace(roles, each=True) if 2 <= len(often) <= MOST_GROUPS else replace(roles, group=(str(counts.index[0]),))
    )
