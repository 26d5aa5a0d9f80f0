"""The sentences of the pages on data and model: the finding, then interval and control, never more than measured."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from core.audit import AuditFindings
from core.config import AuditConfig
from core.datasets.dataset import AuditDataset, GroupRow, Table
from core.datasets.predictions import SETS
from core.estimates import count, epsilon_text, interval, percent, tolerance_text
from core.fairness import METRIC_TITLES, difference_title
from core.models import GIVEN
from pages.common.shell import escape

if TYPE_CHECKING:
    import pandas


def attribute(config: AuditConfig) -> str:
    """Return what the sensitive attribute is called."""
    return config.roles.attribute if config.roles else "attribute"


def sets_unknown(config: AuditConfig) -> bool:
    """Whether nobody knows here whom the audited model was trained on."""
    return config.method == GIVEN and not (config.roles and config.roles.sets)


def seen(config: AuditConfig) -> tuple[str, str]:
    """Return what to call the audit's training people and the unseen ones."""
    return ("attacked", "other") if sets_unknown(config) else ("training", "unseen")


def needs_training(what: str) -> str:
    """Say that something cannot be done with predictions that came with the table."""
    return f"{what} need a model that is trained here; your table brings its predictions."


def metric_sentence(findings: AuditFindings) -> str:
    """Say what the metric compares."""
    among = {
        "statistical_parity": "",
        "predictive_equality": " among people with the negative label",
        "equal_opportunity": " among people with the positive label",
        "equalized_odds": " among people with the negative and with the positive label, the larger of the two",
    }[findings.config.metric]
    return (
        f"{METRIC_TITLES[findings.config.metric]}: unfairness is the largest deviation of a group from the overall "
        f"rate of positive predictions{among}."
    )


def model(findings: AuditFindings) -> tuple[str, str]:
    """Return the finding of the model page."""
    found, config = findings.model, findings.config
    learned = "the people attacked" if sets_unknown(config) else "the people the model learned from"
    point = (
        f"Measured unfairness: {tolerance_text(found.unfairness_train, limit=config.tolerance)} on {learned}, "
        f"{found.unfairness_test.value:.3f} on others, {percent(found.accuracy_test)} of whom it gets right."
    )
    asked = {
        "exponentiated_gradient": f"Asked for {tolerance_text(config.tolerance)}.",
        "threshold_optimizer": "The threshold optimizer always aims at 0.",
        "dp_id3": f"Nothing was asked of its fairness; trained with ε = {epsilon_text(config.epsilon)}.",
        GIVEN: f"Nothing is trained; what is disclosed is {tolerance_text(config.tolerance)}.",
    }.get(config.method, "Nothing was asked for.")
    test = found.unfairness_test
    control = (
        f"{metric_sentence(findings)} {asked} 95% interval on others: {test.low:.3f} to {test.high:.3f}. "
        f"{differences(findings)} Baseline: always the more frequent label is right for {percent(found.majority_test)}."
    )
    return point, control


def differences(findings: AuditFindings) -> str:
    """Say how far the groups' rates lie apart, which is what Fairlearn reports."""
    found, (here, others) = findings.model, seen(findings.config)
    test = found.difference_test
    return (
        f"{difference_title(findings.config.metric)}: {tolerance_text(found.difference_train)} on {here} people, "
        f"{test.value:.3f} on {others} people ({test.low:.3f} to {test.high:.3f})."
    )


def model_chart(findings: AuditFindings) -> tuple[str, str]:
    """Return heading and quantity of the chart of group rates."""
    found = findings.model
    worse = found.unfairness_test.low > found.unfairness_train
    heading = "Less fair to people it has not seen" if worse else "How the groups are treated"
    return heading, "Positive predictions, with 95% intervals; dotted: everybody"


def _compared(groups: Sequence[GroupRow]) -> tuple[GroupRow, GroupRow]:
    """Return the two groups to set against each other; of many, those with the lowest and the highest label rate."""
    if len(groups) == 2:
        return groups[0], groups[1]
    ranked = sorted(groups, key=lambda group: group.label_rate.value)
    return ranked[0], ranked[-1]


def provenance(findings: AuditFindings) -> str:
    """Say where the data come from and how they were split."""
    sizes = findings.sizes
    train = "are attacked" if sets_unknown(findings.config) else "train the model and are attacked"
    return (
        f"{escape(findings.source)} Records: {count(sizes['train'])} {train}, "
        f"{count(sizes['attack'] + sizes['validation'])} are known to the attacker, "
        f"{count(sizes['test'])} are kept for testing.{_remembered(findings)}"
    )


def _remembered(findings: AuditFindings) -> str:
    """Say how many people meant to be unseen stand in the training data too."""
    unseen, attack, validation = (findings.shared.get(name, 0) for name in ("test", "attack", "validation"))
    if not (unseen or attack or validation):
        return ""
    return (
        f" {count(unseen)} of those kept for testing and {count(attack + validation)} of those the attacker knows "
        "equal a training record in every column used."
    )


def asked_and_reached(findings: AuditFindings) -> str:
    """Say what tolerance was asked for and what was reached."""
    found, config = findings.model, findings.config
    reached = tolerance_text(found.unfairness_train, limit=config.tolerance)
    on = f"on the {seen(config)[0]} people. Difference between groups: {tolerance_text(found.difference_train)}."
    if config.method not in ("exponentiated_gradient", GIVEN):
        aims = config.method == "threshold_optimizer"
        asked = "The threshold optimizer aims at 0" if aims else "No tolerance was asked for"
        return f":gray[:material/info:] {asked}; unfairness reached {reached} {on}"
    given = config.method == GIVEN
    yes, no, what = ("True", "Not true", "to be disclosed") if given else ("Kept", "Missed", "asked for")
    kept = found.unfairness_train <= config.tolerance
    mark = f":green[:material/check_circle:] **{yes}.**" if kept else f":orange[:material/error:] **{no}.**"
    return f"{mark} Unfairness {what} {tolerance_text(config.tolerance)}, reached {reached} {on}"


def asked_table(findings: AuditFindings) -> pandas.DataFrame:
    """Return asked and reached unfairness as a table."""
    import pandas as pd

    found, config = findings.model, findings.config
    asked = {"exponentiated_gradient": config.tolerance, "threshold_optimizer": 0.0}.get(config.method)
    test, apart = found.unfairness_test, found.difference_test
    return pd.DataFrame(
        {
            "records": ["training", "unseen"],
            "asked": [asked, asked],
            "unfairness": [found.unfairness_train, test.value],
            "low": [None, test.low],
            "high": [None, test.high],
            "difference between groups": [found.difference_train, apart.value],
            "difference, low": [None, apart.low],
            "difference, high": [None, apart.high],
        }
    )


def model_cautions(findings: AuditFindings) -> list[str]:
    """Return what a user of this model must know."""
    cautions = []
    if sets_unknown(findings.config):
        cautions.append(
            "Your table does not say whom the model was trained on: the people attacked and the others are drawn with "
            "the seed, and membership of the predictions cannot be attacked."
        )
    if not findings.model.scores_given:
        cautions.append("Your table gives predicted labels without scores: what needs scores is not run.")
    if findings.model.needs_sensitive:
        cautions.append(
            f"This method must be told each person's {escape(attribute(findings.config))} to predict, now and after "
            "its release."
        )
    if findings.config.method == "dp_id3":
        cautions.append(_private(findings.config.epsilon))
    if findings.config.method not in ("exponentiated_gradient", GIVEN) and findings.config.tolerance > 0:
        aims = findings.config.method == "threshold_optimizer"
        why = ": this method always aims at 0" if aims else " by this method"
        cautions.append(f"The tolerance in the settings is not used{why}.")
    return cautions


def _private(epsilon: float) -> str:
    """Say what a private tree promises, and on which condition."""
    if math.isinf(epsilon):
        return "With ε = ∞ no noise is added: this is the plain tree, and it promises no privacy."
    return (
        f"The tree is {epsilon_text(epsilon)}-differentially private for one training record more or less, if the "
        "categories and the smallest and largest numbers of the table are public, as is assumed here, and the seed of "
        "the noise is not. Here the seed is in the settings, so it is a study and no release. The measured figures "
        "are not private. It is no fairness method."
    )


def synthetic_badge(dataset: str) -> str:
    """Return the badge of the built-in table."""
    return "synthetic data" if dataset == "demo" else ""


def data(dataset: AuditDataset) -> tuple[str, str]:
    """Return the finding of the data page."""
    first, other = _compared(dataset.groups())
    label, positive = escape(dataset.roles.label), escape(dataset.roles.positive)
    apart = first.label_rate.low > other.label_rate.high or other.label_rate.low > first.label_rate.high
    many = dataset.n_groups > 2
    named = [f"“{escape(group.group)}”" if many else escape(group.group) for group in (first, other)]
    point = (
        f"{percent(first.label_rate)} of {named[0]} have {label} “{positive}”, "
        f"{'against' if apart else 'and'} {percent(other.label_rate)} of {named[1]}."
    )
    invented = "invented people" if dataset.synthetic else "people"
    largest = max(dataset.groups(), key=lambda group: group.share)
    left_out = f" of {count(dataset.rows_read)} records" if dataset.n < dataset.rows_read else ""
    quantity = (
        f"{count(dataset.n)} {invented}{left_out}, {len(dataset.feature_names)} features. "
        f"95% intervals {interval(first.label_rate)} and {interval(other.label_rate)}. Baseline: always "
        f"“{escape(largest.group)}” is right for {percent(largest.share)}."
    )
    return point, quantity


def given(dataset: AuditDataset) -> str:
    """Say what of a model the table brings; empty if nothing."""
    roles = dataset.roles
    if dataset.predictions is None:
        return ""
    positive = percent(float(dataset.predictions.mean()))
    if roles.prediction:
        told = f"Predictions from column {escape(roles.prediction)}: positive for {positive}."
        told += f" Scores from column {escape(roles.score)}." if roles.score else ""
    else:
        told = (
            f"Predictions from column {escape(roles.score)}: a score of at least {roles.threshold:g} is positive, "
            f"{positive} of people."
        )
    if dataset.sets is None:
        return f"{told} No column says whom the model was trained on, so the sets are drawn with the seed."
    sizes = {name: int((dataset.sets == name).sum()) for name in SETS}
    named = ", ".join(f"{count(size)} {name}" for name, size in sizes.items() if size)
    return f"{told} Sets from column {escape(roles.sets)}: {named}."


def groups_chart(dataset: AuditDataset) -> tuple[str, str]:
    """Return heading and quantity of the chart of the groups."""
    what = "Share of each group" if dataset.n_groups > 2 else "Height: share of people. Filled"
    return "Who is in it", f"{what}: {escape(dataset.roles.label)} is “{escape(dataset.roles.positive)}”"


def table_without_roles(table: Table) -> tuple[str, str]:
    """Return the finding for a table whose columns have no roles yet."""
    rows, columns = table.frame.shape
    return (
        f"{escape(table.title)} is read: {count(rows)} records, {columns} columns.",
        "Say below which column the model predicts and which one the attacker is after.",
    )


DATA_GUIDE = (
    "The label is what the model predicts; the first group is the one whose members the attacker tries to name. A "
    "record without label or attribute is left out; so is a column that is constant, or different in most records. "
    "Categories become numbers in the order of their text.\n\n"
    "Your table may bring a model of yours: a column of predicted labels, one of scores, or both, and one that says "
    "which records it was trained on. Then these are audited, and nothing is trained.\n\n"
    "Your own table stays in this session's memory: it is not written to disk, not shared with other sessions, and "
    "gone ten minutes after you close the page."
)

_TWO_MEASURES = (
    "everybody's rate. The unfairness is the larger distance of a group from the dotted line; the difference between "
    "groups, which Fairlearn reports, is the distance between the two outermost groups."
)

GIVEN_MODEL_GUIDE = (
    "A point is a group's rate of positive predictions in your table, its bar the 95% interval, the dotted line "
    f"{_TWO_MEASURES} Nothing is trained here: labels and scores count as they stand in your table.\n\n"
    "If a column says which records your model was trained on, these are the training people, and the attacks on the "
    "attribute and on membership are against them. Otherwise the people attacked are drawn with the seed: what is "
    "measured about their attribute still holds for them, but nobody can tell here who was in the training data. "
    "Whatever trains the model again (other tolerances, methods and seeds, LiRA) is not run."
)

MODEL_GUIDE = (
    "A point is a group's rate of positive predictions, its bar the 95% interval, the dotted line "
    f"{_TWO_MEASURES} On the people the model learned from it is a fact, and the promise a release would make; on "
    "unseen people it is an estimate.\n\n"
    "Exponentiated gradient keeps the promise while learning (Agarwal et al. 2018) and answers by drawing among "
    "several trees; the answers are drawn once, with the seed, and used everywhere. The threshold optimizer (Hardt et "
    "al. 2016) sets a threshold for each group and needs the sensitive attribute to predict. The correlation remover "
    "subtracts from each feature what is linear in the attribute; it promises nothing about the predictions, and needs "
    "the attribute too. These methods are fairlearn's, on a decision tree of depth 8.\n\n"
    "The private tree (DP-ID3; Blum et al. 2005, Friedman and Schuster 2010) is no fairness method. It asks for "
    "several-way splits, at most 8 on a path, by counts with noise, numbers in 10 bins. ε is split among all it asks: "
    "the smaller, the noisier, and the sooner it stops, down to one answer for everybody."
)
