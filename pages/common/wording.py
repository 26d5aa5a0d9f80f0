"""Texts of the pages on data and model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from core.config import AuditConfig
from core.datasets.dataset import AuditDataset, GroupRow, Table
from core.datasets.roles import Roles
from core.datasets.splits import SETS, shared_records
from core.estimates import count, interval, percent
from core.models import GIVEN
from core.subject import Subject
from pages.common.shell import escape


def attribute(config: AuditConfig) -> str:
    """Return what the sensitive attribute is called."""
    return config.roles.attribute if config.roles else "attribute"


def sets(config: AuditConfig) -> tuple[str, str]:
    """Return what charts call the audit's two sets of records: training and test set, unless these are unknown."""
    unknown = config.method == GIVEN and not (config.roles and config.roles.sets)
    return ("attacked", "other") if unknown else ("training", "test")


def set_names(config: AuditConfig) -> tuple[str, str]:
    """Return what sentences call them."""
    first, second = sets(config)
    return ("people attacked", "others") if first == "attacked" else (f"{first} set", f"{second} set")


def needs_training(what: str) -> str:
    """Say that something cannot be done with predictions that came with the table."""
    return f"{what} need a model that is trained here; your table brings its predictions."


def _compared(groups: Sequence[GroupRow]) -> tuple[GroupRow, GroupRow]:
    """Return the two groups to set against each other; of many, those with the lowest and the highest label rate."""
    if len(groups) == 2:
        return groups[0], groups[1]
    ranked = sorted(groups, key=lambda group: group.label_rate.value)
    return ranked[0], ranked[-1]


def provenance(subject: Subject) -> str:
    """Say where the data come from and how they were split."""
    splits, shared = subject.splits, shared_records(subject.dataset, subject.splits)
    train = "train the model and are attacked" if subject.sets_known else "are attacked"
    known, equal = splits.known.size, shared.get("attack", 0) + shared.get("validation", 0)
    remembered = ""
    if shared.get("test", 0) or equal:
        remembered = (
            f" {count(shared.get('test', 0))} of those kept for testing and {count(equal)} of those the attacker knows "
            "equal a training record in every column used."
        )
    return (
        f"{escape(subject.dataset.source)} Records: {count(splits.train.size)} {train}, {count(known)} are known to "
        f"the attacker, {count(splits.test.size)} are kept for testing.{remembered}"
    )


def data(dataset: AuditDataset, *, uploaded: bool = False) -> dict[str, Any]:
    """Return the finding of the Data page, for a table of the user's own or a built-in one."""
    first, other = _compared(dataset.groups())
    label, positive = escape(dataset.roles.label), escape(dataset.roles.positive)
    apart = first.label_rate.low > other.label_rate.high or other.label_rate.low > first.label_rate.high
    many = dataset.n_groups > 2
    named = [f"“{escape(group.group)}”" if many else escape(group.group) for group in (first, other)]
    pair = f"for {percent(first.label_rate)} of {named[0]} and {percent(other.label_rate)} of {named[1]}."
    point = f"{label} = {positive} {pair}"
    records = "synthetic records" if dataset.synthetic else "records"
    largest = max(dataset.groups(), key=lambda group: group.share)
    left_out = f" of {count(dataset.rows_read)}" if dataset.n < dataset.rows_read else ""
    attribute = escape(dataset.roles.attribute)
    evidence = (
        f"{count(dataset.n)}{left_out} {records}, {len(dataset.feature_names)} features. "
        f"95% CIs {interval(first.label_rate)} and {interval(other.label_rate)}. "
        f"Baseline for inferring {attribute} (always “{escape(largest.group)}”): {percent(largest.share)}."
    )
    differs = "A model that copies these labels copies the difference. It also makes the attribute easier to infer."
    own = "Every page now audits this table. Go on with *Model*, or let *Choose a model* compare settings."
    if dataset.predictions is not None:
        own = "Every page now audits this table. *Report* judges the model; *Model* shows its rates by group."
    alike = f"No statistically significant difference between groups. Other columns may still reveal {attribute}."
    return {
        "point": point[:1].upper() + point[1:],
        "evidence": evidence,
        "so_what": differs if apart else alike,
        "to_do": own if uploaded else "Choose a dataset or upload your own, then check the column roles below.",
        "links": () if not uploaded else ("model", "choose") if dataset.predictions is None else ("report", "model"),
    }


def given(dataset: AuditDataset) -> str:
    """Say what of a model the table brings; empty if nothing."""
    roles = dataset.roles
    if dataset.predictions is None:
        return ""
    positive = percent(float(dataset.predictions.mean()))
    if roles.prediction:
        source = f"Predictions from column {escape(roles.prediction)}: positive for {positive}."
        source += f" Scores from column {escape(roles.score)}." if roles.score else ""
    else:
        source = (
            f"Predictions from column {escape(roles.score)}: a score of at least {roles.threshold:g} is positive, "
            f"{positive} of people."
        )
    if dataset.sets is None:
        return f"{source} No column says whom the model was trained on, so the sets are drawn with the seed."
    sizes = {name: int((dataset.sets == name).sum()) for name in SETS}
    named = ", ".join(f"{count(size)} {name}" for name, size in sizes.items() if size)
    return f"{source} Sets from column {escape(roles.sets)}: {named}."


def groups_chart(dataset: AuditDataset) -> tuple[str, str]:
    """Return heading and quantity of the chart of the groups."""
    label, positive = escape(dataset.roles.label), escape(dataset.roles.positive)
    return "Group sizes and base rates", f"Share of each group with {label} = {positive}, and 95% CI"


def pending_table(table: Table, roles: Roles, to_check: int, audited: str, *, before: bool = False) -> dict[str, str]:
    """Return the finding for a table whose column roles, guessed or those of the table before, are not applied yet."""
    rows, columns = table.frame.shape
    check = "Check the roles." if not to_check else f"Check {to_check} thing{'s' * (to_check > 1)}."
    outputs = [word for word, column in (("predictions", roles.prediction), ("scores", roles.score)) if column]
    trained = "No column holds a model's predictions. FairLeak trains a model on this table and attacks it."
    given = f"The file brings a model's {' and '.join(outputs)}. FairLeak attacks these and trains no model of its own."
    if outputs and not roles.sets:
        given += " If a column says whom the model was trained on, give it the role *Set*; membership needs it."
    how, wrong = ("as before", "something changed") if before else ("guessed", "the guess is wrong")
    answer = "Answer what stands below, change" if to_check else "Change"
    return {
        "point": f"{escape(table.title)}: {count(rows)} records, {columns} columns, roles {how}. {check}",
        "evidence": f"Read in memory and stored nowhere. The audit still shows {escape(audited)} until you press "
        "*Apply roles*.",
        "so_what": given if outputs else trained,
        "to_do": f"{answer} a role where {wrong}, then press *Apply roles*.",
    }


DATA_GUIDE = (
    "**Question.** What is each column used for?\n\n"
    "**Read.** The **sensitive attribute** is the column an attacker should not learn; the **label** is what the model "
    "predicts. A row of the chart is a group: its size, and its share with the positive label.\n\n"
    "**Roles.** Records without label or attribute are left out. So are columns that are constant, or different in "
    "most records. With a column of predictions or scores, "
    "your own model is audited and nothing is trained. A *Set* column says which records trained it.\n\n"
    "**What it does not show.** A difference between groups is not yet a leak.\n\n"
    "**Your data.** An upload stays in this session's memory. It is gone when you reload or close the page; the "
    "memory is freed ten minutes later."
)

RATES = "Dot and bar: rate and 95% CI. Hollow: training set"
"""Caption of the rates by group."""

_CHART = (
    "**How to read the chart.** A dot is a group's selection rate with its 95% CI. Unfairness is the largest distance "
    "to the overall rate; the difference between groups (Fairlearn) is that between the outermost."
)

GIVEN_MODEL_GUIDE = (
    "**Question.** Are the predictions in your table fair? Nothing is trained: labels and scores count as they are.\n\n"
    f"{_CHART}\n\n"
    "**Controls.** A smaller tolerance is a stricter claim. It starts at the smallest that holds.\n\n"
    "**What it does not show.** Without a column of training records the people attacked are drawn with the seed, and "
    "membership is not attacked. Analyses that train the model again (other tolerances, methods, seeds, LiRA) are not "
    "run.\n\n"
    "**Source.** Fairness metrics as in Ferry et al. (2023)."
)

MODEL_GUIDE = (
    "**Question.** Is the model fair, also for new people?\n\n"
    f"{_CHART} Training values are facts, test values estimates.\n\n"
    "**Controls.** A smaller tolerance is fairer; published, it tells an attacker more. A smaller ε adds more DP "
    "training noise.\n\n"
    "**Methods.** Exponentiated gradient enforces the constraint in training. The threshold optimizer needs the "
    "attribute to predict. The correlation remover and the private DP-ID3 tree guarantee no tolerance.\n\n"
    "**What it does not show.** Equal rates alone do not make a decision fair for each person.\n\n"
    "**Sources.** Agarwal et al. (2018); Hardt et al. (2016); Friedman and Schuster (2010)."
)
