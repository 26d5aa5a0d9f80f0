"""Plans to start from: of a dataset of the catalogue, and of a table of one's own.

A guess is one that a user sees and corrects; nothing is audited by it before.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from ..base.errors import FairLeakError, InputError
from ..base.validation import choice, decimals_of
from ..datasets import CATALOG, AuditDataset, Roles, Table, build_dataset, suggest_roles
from ..datasets.checked_table import Fact, Repair, Severity
from ..datasets.columns import (
    as_text,
    crossed_columns,
    is_numeric,
    listed,
    quoted,
    text_of,
    with_crossed,
)
from ..datasets.input_check import check_input
from ..datasets.role_suggestion import names_attribute
from ..datasets.roles import as_written, check_values
from ..datasets.splits import split
from ..models import GIVEN_PREDICTIONS, PRIVATE_METHODS, TOLERANCE_METHODS
from ..stats.fairness import unfairness
from ..studies.correction import true_tolerance
from ..studies.subject import TRAINED_TOLERANCE, AuditConfig, OutputsPlan
from .inputs import input_of
from .plan import UPLOAD, AuditPlan, BiasQueriesSettings, DataPlan, MembershipSettings, ModelPlan
from .policy import Policy, Verdict, default_policy, output_checks, predictions_policy
from .sizes import SizeProblem, counted, size_problems

if TYPE_CHECKING:
    from ..models.model_files import ModelFile

_CONFIG = AuditConfig(tolerance=TRAINED_TOLERANCE)

_ANSWERS = BiasQueriesSettings(epsilon=0.5)
"""None are planned: a plan has answers only if somebody writes so; 0.5 is where their budget starts then."""

_MOST_DECIMALS = 6
"""Decimals up to which a column's scores were rounded on purpose; with more they are taken for as they are."""

_LEAST_DEPTH = 2
"""Depth below which a tree hardly predicts."""

_SHOWN_VALUES = 4
"""Values of a label that a message names."""


def catalogue_plan(dataset: str, attribute: str = "") -> AuditPlan:
    """Return a plan for a dataset of `core.datasets.CATALOG`, by one of its groupings' keys or, when empty, the first.

    InputError if there is no such dataset or attribute.
    """
    entry = CATALOG[choice(dataset, CATALOG, name="dataset")]
    chosen = attribute or next(iter(entry.attributes))
    if not entry.offers(chosen):
        choice(chosen, entry.attributes, name="attribute")
    return AuditPlan(
        title=f"{entry.title}, by {entry.attributes.get(chosen, chosen).lower()}",
        data=DataPlan(dataset=dataset, attribute=chosen),
        config=AuditConfig(dataset=dataset, tolerance=TRAINED_TOLERANCE),
        bias_queries=_ANSWERS,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class SuggestedAudit:
    """A plan to start from, and why it is so.

    `reasons` are those of `core.datasets.role_suggestion.Suggestion`, with "tolerance" and, where the predictions say
    so, "released" or "decimals"; `questions` are the roles to be confirmed; `table` and `roles` are what the plan
    audits, without the answers of a model file that cannot answer yet.
    """

    plan: AuditPlan
    reasons: dict[str, str]
    questions: tuple[str, ...]
    table: Table
    roles: Roles

    def facts(self) -> tuple[Fact, ...]:
        """Return what is to be confirmed, answered or known before the audit."""
        return check_input(self.table.frame, self.roles, guesses=self.questions)

    def policy_facts(self) -> tuple[Fact, ...]:
        """Return what the policy that fits the plan cannot ask for."""
        if self.plan.model.kind != "predictions":
            return ()
        return sets_missing(self.table, self.roles, fitting_policy(self.plan))


def suggested_plan(
    table: Table,
    file: str,
    *,
    model: str = "",
    model_file: ModelFile | None = None,
    attribute: str = "",
    label: str = "",
    prediction: str = "",
    positive: str = "",
    favourable: str = "",
    prediction_positive: str = "",
    confirmed: tuple[str, ...] = (),
    config: AuditConfig = _CONFIG,
) -> SuggestedAudit:
    """Return a plan for a user's table, with roles guessed from names and values of its columns, and why they are so.

    Of predictions that are given, the disclosed tolerance is the smallest that they satisfy. Which outcome is good for
    a person is never guessed.

    `file` and `model` are the names of the table's file and of the model's, if there is one; a model that does not name
    its columns takes the table's first. `attribute`, `label` and `prediction` are the columns of the sensitive
    attribute, the label and the predicted label, where they are known, `positive` and `favourable` values of the label,
    `prediction_positive` the prediction's value that stands for the positive one, and `confirmed` the facts that are
    right. `config` says how a model is trained, and how people are divided and fairness is measured where one is given.
    InputError if no column can be the label or the sensitive attribute, if a
    given one is not in the table or has one value only, if both are the same, or if the label lacks a given value.
    """
    _check_columns(table, attribute=attribute, label=label, prediction=prediction)
    suggestion = suggest_roles(
        table.frame,
        attribute=attribute,
        label=label,
        prediction=prediction,
        model=model_file is not None,
    )
    roles = suggestion.roles
    reasons = dict(suggestion.reasons)
    for role, option in (("sensitive", "attribute"), ("label", "label")):
        if not getattr(roles, role):
            raise InputError(
                f"In {quoted(table.title)} {reasons[role]}; name yours with --{option} COLUMN."
            )
    check_values(table.frame, roles)
    roles = _with_values(table, roles, reasons, positive=positive, favourable=favourable)
    roles = replace(roles, confirmed=confirmed, prediction_positive=prediction_positive)
    roles = as_written(table.frame, roles)
    kind = "train"
    method = config.method
    membership = MembershipSettings()
    if model_file or roles.gives_predictions:
        kind = "file" if model_file else "predictions"
        method = GIVEN_PREDICTIONS
        membership = MembershipSettings(shadows=0)
    unnamed = 0
    if model_file and not model_file.feature_names:
        unnamed = model_file.width or 0
    attributes = {roles.sensitive, *crossed_columns(table.frame, roles.sensitive)}
    excluded = {label, roles.label, *attributes, roles.sets, *roles.excluded}
    features = [str(name) for name in table.frame.columns if str(name) not in excluded]
    plan = AuditPlan(
        title=table.title,
        data=DataPlan(dataset="", file=file),
        model=ModelPlan(kind=kind, file=model, features=tuple(features[:unnamed])),
        config=replace(config, dataset=UPLOAD, roles=roles, method=method),
        bias_queries=_ANSWERS,
        membership=membership,
    )
    questions = tuple(
        role for role in suggestion.questions if not (role == "positive" and positive)
    )
    try:
        table, roles, _ = input_of(plan, table, model_file=model_file)
    except InputError:  # the model file cannot answer yet
        pass
    else:
        plan = _with_promise(plan, table, roles, reasons)
    return SuggestedAudit(plan=plan, reasons=reasons, questions=questions, table=table, roles=roles)


def _with_values(
    table: Table, roles: Roles, reasons: dict[str, str], *, positive: str, favourable: str
) -> Roles:
    """Return the roles with these values of the label, where they are given; refuse others than the label takes."""
    requested = {"positive": positive, "favourable": favourable}
    answers: dict[str, Any] = {name: value for name, value in requested.items() if value}
    roles = as_written(table.frame, replace(roles, **answers))
    values = [str(value) for value in as_text(table.frame[roles.label]).value_counts().index]
    for name in answers:
        reasons.pop(name, None)
        if getattr(roles, name) not in values:
            listed = ", ".join(quoted(value, 30) for value in values[:_SHOWN_VALUES])
            more = ", …" if len(values) > _SHOWN_VALUES else ""
            raise InputError(
                f"The {name} value must be one that {quoted(roles.label)} takes ({listed}{more}), got "
                f"{quoted(answers[name])}."
            )
    return roles


def suggested_outputs(dataset: AuditDataset, kind: str) -> OutputsPlan:
    """Return what a model of this `ModelPlan.kind` hands out, by what the dataset has of it.

    The decimals of given scores are those of the column, if they are few.
    """
    if kind == "train":
        return OutputsPlan()
    if dataset.scores is None:
        return OutputsPlan(released="labels")
    decimals = decimals_of(dataset.scores)
    if kind == "predictions" and decimals <= _MOST_DECIMALS:
        return OutputsPlan(decimals=decimals)
    return OutputsPlan(decimals=None)


def kept_tolerance(dataset: AuditDataset, config: AuditConfig) -> float:
    """Return the smallest tolerance, in steps of 0.001, that given predictions keep to on the records attacked.

    Metric, training share and seed of the configuration say which records these are, and what is kept to. InputError if
    there are no predictions, or the records are too few to be divided into sets.
    """
    if dataset.predictions is None:
        raise InputError("A tolerance that is kept to needs predictions, got none.")
    rows = split(dataset, train_share=config.train_share, seed=config.seed).train
    labels = dataset.labels[rows]
    groups = dataset.sensitive[rows]
    achieved = unfairness(dataset.predictions[rows], groups, metric=config.metric, labels=labels)
    return round(true_tolerance(0.0, achieved), 3)


def _with_promise(
    plan: AuditPlan, table: Table, roles: Roles, reasons: dict[str, str]
) -> AuditPlan:
    """Return the plan with what given predictions keep to and show; as it is where they cannot be audited yet."""
    if plan.model.kind == "train":
        return plan
    try:
        dataset = _provisional(table, roles)
        tolerance = kept_tolerance(dataset, plan.config)
    except FairLeakError:
        return plan
    outputs = suggested_outputs(dataset, plan.model.kind)
    reasons["tolerance"] = (
        "the smallest, in steps of 0.001, that the predictions keep to on the attacked records"
    )
    if outputs.released == "labels":
        reasons["released"] = "no scores are given"
    elif outputs.decimals is not None:
        reasons["decimals"] = "as many as the scores show"
    return replace(plan, config=replace(plan.config, tolerance=tolerance), outputs=outputs)


def _provisional(table: Table, roles: Roles) -> AuditDataset:
    """Return the dataset of a table whose favourable outcome may be open still: what the score predicts stands for it.

    Statistical parity and decimals do not depend on it.
    """
    favourable = roles.favourable or roles.positive
    return build_dataset(table, replace(roles, favourable=favourable))


def suggested_sizes(suggestion: SuggestedAudit) -> tuple[SizeProblem, ...]:
    """Return why a suggested audit cannot be made, or cannot pass FairLeak's own policy, by the number of people."""
    plan = suggestion.plan
    try:
        people = counted(suggestion.table.frame, suggestion.roles)
    except InputError:  # which a fact says, or the audit
        return ()
    return size_problems(people, plan.config, fitting_policy(plan))


def fitting_policy(plan: AuditPlan) -> Policy:
    """FairLeak's policy that asks for what a plan brings, where nobody has chosen another.

    Predictions without scores, or without a column of the sets, cannot be judged by the default.
    """
    roles = plan.config.roles
    has_evidence = roles is not None and bool(roles.score and roles.sets)
    if plan.model.kind == "predictions" and not has_evidence:
        return predictions_policy()
    return default_policy()


def sets_missing(table: Table, roles: Roles, policy: Policy) -> tuple[Fact, ...]:
    """Warn that no column is known to say who trained the model that is audited, and what a policy asks for then.

    Features of two values may say it in words of their own: a repair makes one of them the column of the sets.
    """
    if not roles.gives_predictions or roles.sets:
        return ()
    required = [limit for limit in policy.limits if limit.required]
    membership = [limit for limit in policy.limits if limit.check.startswith("membership")]
    blocking = [limit for limit in membership if limit.required and limit.if_not_run == "blocks"]
    decisive = [limit for limit in required if limit not in membership or limit in blocking]
    more = f"By the policy “{policy.name}” {len(decisive)} checks decide"
    default = default_policy()
    if policy == predictions_policy():
        more += (
            f", and not the {sum(limit.required for limit in default.limits)} of “{default.name}”"
        )
    if blocking:
        more += f". {len(blocking)} checks of membership cannot run, and block the release."
    else:
        more += f". {len(membership)} checks of membership are not run, and do not block."
    hint = "If a column says it, give it the role Set."
    two_valued = _features_of_two_values(table, roles)
    if two_valued:
        hint += f" Of two values: {listed(two_valued)}."
    repairs = [
        Repair(
            title=f"{text_of(name)} says it",
            changes={"sets": name},
            result=f"{text_of(name)} says who trained the model.",
        )
        for name in two_valued
    ]
    return (
        Fact(
            kind="sets_missing",
            severity=Severity.CAUTION,
            point="No column is known to say who trained the model: a leak of its training records is not looked for.",
            more=f"{more} {hint}",
            key="data.sets",
            repairs=tuple(repairs),
        ),
    )


def _features_of_two_values(table: Table, roles: Roles) -> list[str]:
    other_roles = {roles.label, roles.prediction, roles.score, *roles.excluded}
    other_roles |= {roles.sensitive, *crossed_columns(table.frame, roles.sensitive)}
    return [
        name
        for name, column in table.frame.items()
        if name not in other_roles and column.nunique() == 2 and not names_attribute(str(name))
    ]


def next_models(config: AuditConfig, verdict: Verdict) -> dict[str, AuditConfig]:
    """Models to try where the audited one does not pass, by what changes: "depth 4 instead of 8".

    A leak may fall with a smaller tree, and of private methods with a smaller ε; unfairness with a smaller tolerance.
    None is promised to pass. A model that was not trained here has none.
    """
    if config.method == GIVEN_PREDICTIONS:
        return {}
    open_checks = {row.check for row in verdict.rows if row.blocks}
    models = {}
    if open_checks & output_checks():
        if config.method in PRIVATE_METHODS:
            epsilon = config.epsilon / 2
            models[f"ε = {epsilon:g} instead of {config.epsilon:g}"] = replace(
                config, epsilon=epsilon
            )
        if config.depth > _LEAST_DEPTH:
            depth = max(_LEAST_DEPTH, config.depth // 2)
            models[f"depth {depth} instead of {config.depth}"] = replace(config, depth=depth)
    is_unfair = bool(open_checks & {"unfairness", "four_fifths"})
    if is_unfair and config.method in TOLERANCE_METHODS and config.tolerance > 0:
        tolerance = round(config.tolerance / 2, 6)
        title = f"tolerance {tolerance:g} instead of {config.tolerance:g}"
        models[title] = replace(config, tolerance=tolerance)
    return models


def _check_columns(table: Table, *, attribute: str, label: str, prediction: str) -> None:
    is_number = attribute in table.frame.columns and is_numeric(table.frame[attribute])
    values_of = "" if is_number else attribute  # the groups of a number are made by a limit
    check_values(
        table.frame, Roles(label=label, positive="", sensitive=values_of, prediction=prediction)
    )
    frame = with_crossed(table.frame, attribute)
    for role, name in (
        ("sensitive attribute", attribute),
        ("label", label),
        ("prediction", prediction),
    ):
        if name and name not in frame.columns:
            raise InputError(f"The {role} must be a column of the table, got {quoted(name)}.")
        if name and (values := as_text(frame[name]).nunique()) < 2:
            raise InputError(
                f"The {role} must be a column with two values or more, got {quoted(name)} with {values}."
            )
    if label and label in (attribute, *crossed_columns(table.frame, attribute)):
        raise InputError(
            f"Label and sensitive attribute must be two columns, got {quoted(label)} for both."
        )
