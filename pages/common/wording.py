"""The sentences of the pages on data and model: the finding, then interval and control, never more than measured."""

from __future__ import annotations

from collections.abc import Sequence

from core.config import AuditConfig
from core.datasets.dataset import AuditDataset, GroupRow, Table
from core.datasets.splits import SETS, shared_records
from core.estimates import count, interval, percent
from core.models import GIVEN
from core.subject import Subject
from pages.common.shell import escape


def attribute(config: AuditConfig) -> str:
    """Return what the sensitive attribute is called."""
    return config.roles.attribute if config.roles else "attribute"


def seen(config: AuditConfig) -> tuple[str, str]:
    """Return what to call the audit's training people and the unseen ones, who may be unknown."""
    unknown = config.method == GIVEN and not (config.roles and config.roles.sets)
    return ("attacked", "other") if unknown else ("training", "unseen")


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
