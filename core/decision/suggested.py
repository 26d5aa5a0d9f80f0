"""A plan to start from: of a dataset of the catalogue, or of a user's table with roles guessed from its columns.

A guess is one that a user sees and corrects; nothing is audited by it before.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from core.config import AuditConfig
from core.correction import true_tolerance
from core.datasets import CATALOG, Roles, Table, suggest_roles, suggested_group, suggested_limit
from core.datasets.columns import as_text, quoted
from core.datasets.groups import MINIMUM_PER_GROUP, MOST_GROUPS
from core.datasets.splits import split
from core.datasets.suggestion import plain_name
from core.decision.plan import AuditPlan, DataPlan, MembershipPlan, ModelPlan, PlannedAnswers
from core.decision.plan_file import UPLOAD
from core.decision.sources import dataset_of
from core.errors import InputError
from core.fairness import unfairness
from core.models import GIVEN
from core.validation import choice

__all__ = ["catalogue_plan", "kept_tolerance", "suggested_plan"]

_ATTRIBUTES = (
    ("sex", "gender", "geschlecht", "sexe", "genre"),
    ("race", "ethnicity", "ethnic", "ethnic group", "ethnie", "herkunft", "origine"),
    ("origin", "nationality", "national origin", "country of birth", "citizenship", "nationalitat", "nationalite"),
    ("religion", "disability", "disabled", "orientation", "behinderung", "handicap"),
    ("age", "age group", "age cat", "agep", "alter", "altersgruppe"),
)
"""Names of sensitive columns, without accents, those asked for most often first."""

_POSITIVES = (
    "1",
    "true",
    "yes",
    "y",
    "positive",
    "approved",
    "accepted",
    "granted",
    "hired",
    "good",
    ">50k",
    "ja",
    "oui",
)

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


def suggested_plan(
    table: Table, file: str, *, model: str = "", features: int | None = None, attribute: str = "", label: str = ""
) -> AuditPlan:
    """Return a plan for a user's table, with roles guessed from names and values of its columns.

    Of predictions that the table brings, the tolerance promised is the smallest that they keep to.

    Parameters
    ----------
    table : Table
    file, model : str
        What the plan calls the table's file, and that of a model where there is one.
    features : int, optional
        How many columns the model takes, where its file does not name them: as many of the table's are.
    attribute, label : str
        The columns of the sensitive attribute and of the label, where they are known and need not be guessed.

    Raises
    ------
    InputError
        If no column can be the label, or none the sensitive attribute; one that is named is not in the table or has one
        value only; or both are the same.
    """
    _check_named(table, attribute=attribute, label=label)
    found = suggest_roles(table.frame, taken={attribute, label})
    given = {name for name in (found.prediction, found.score, found.sets) if name}
    sensitive = attribute or _sensitive(table, {label, found.label, *given})
    label = label or found.label or _label(table, {sensitive, *given})
    kind = "file" if model else "predictions" if found.prediction or found.score else "train"
    roles = Roles(label=label, positive=_positive(table, label), sensitive=sensitive, sets=found.sets)
    roles = _with_groups(table, roles)
    if kind == "predictions":
        roles = replace(roles, prediction=found.prediction, score=found.score)
    elif kind == "file":
        roles = replace(roles, excluded=tuple(name for name in (found.prediction, found.score) if name))
    config = AuditConfig(dataset=UPLOAD, roles=roles, method=AuditConfig().method if kind == "train" else GIVEN)
    others = [str(name) for name in table.frame.columns if str(name) not in {label, sensitive, *given}]
    has_scores = kind == "train" or bool(found.score)
    plan = AuditPlan(
        title=table.title,
        data=DataPlan(dataset="", file=file),
        model=ModelPlan(kind=kind, file=model, features=tuple(others[: features or 0])),
        config=config,
        answers=_ANSWERS if has_scores else PlannedAnswers(),
        membership=MembershipPlan(shadows=_SHADOWS if kind == "train" else 0),
    )
    kept = kept_tolerance(plan, table)
    return plan if kept is None else replace(plan, config=replace(config, tolerance=kept))


def kept_tolerance(plan: AuditPlan, table: Table) -> float | None:
    """Return the smallest tolerance, in steps of 0.001, that the table's predictions keep to on the attacked records.

    None where the table brings no predictions, or cannot be audited as the plan says.
    """
    if plan.model.kind != "predictions":
        return None
    config = plan.config
    try:
        dataset = dataset_of(plan, table)
        rows = split(dataset, train_share=config.train_share, seed=config.seed).train
        assert dataset.predictions is not None  # the plan names them
        found = unfairness(
            dataset.predictions[rows], dataset.sensitive[rows], metric=config.metric, labels=dataset.labels[rows]
        )
    except InputError:
        return None
    return round(true_tolerance(0.0, found), 3)


def _check_named(table: Table, *, attribute: str, label: str) -> None:
    for role, name in (("sensitive attribute", attribute), ("label", label)):
        if name and name not in table.frame.columns:
            raise InputError(f"The {role} must be a column of the table, got {quoted(name)}.")
        if name and (values := as_text(table.frame[name]).nunique()) < 2:
            raise InputError(f"The {role} must be a column with two values or more, got {quoted(name)} with {values}.")
    if attribute and attribute == label:
        raise InputError(f"Label and sensitive attribute must be two columns, got {quoted(label)} for both.")


def _sensitive(table: Table, taken: Collection[str]) -> str:
    plain = {plain_name(name): str(name) for name in table.frame.columns if str(name) not in taken}
    for names in _ATTRIBUTES:
        for name in names:
            if name in plain and as_text(table.frame[plain[name]]).nunique() > 1:
                return plain[name]
    raise InputError(
        f"No column of {quoted(table.title)} is called like a sensitive attribute (sex, race, origin, age, …); name "
        "yours with --attribute COLUMN."
    )


def _label(table: Table, taken: Collection[str]) -> str:
    """Return the last column with two values, where labels tend to stand."""
    for name in reversed(table.frame.columns):
        if str(name) not in taken and as_text(table.frame[name]).nunique() == 2:
            return str(name)
    raise InputError(
        f"No column of {quoted(table.title)} has two values and could be the label; name yours with --label COLUMN."
    )


def _positive(table: Table, label: str) -> str:
    """Return the label's value that sounds like a yes, else its rarest one."""
    counts = as_text(table.frame[label]).value_counts()
    named = {str(value).casefold(): str(value) for value in counts.index}
    return next((named[word] for word in _POSITIVES if word in named), str(counts.index[-1]))


def _with_groups(table: Table, roles: Roles) -> Roles:
    """Return the roles with the groups told apart: two values, each value, or a limit."""
    column = table.frame[roles.sensitive]
    if (limit := suggested_limit(column)) is not None:
        return replace(roles, at_most=limit)
    counts = as_text(column).value_counts()
    often = counts[counts >= MINIMUM_PER_GROUP]
    if len(counts) > 2 and 2 <= len(often) <= MOST_GROUPS:
        return replace(roles, each=True)
    return replace(roles, group=(suggested_group(column),))
