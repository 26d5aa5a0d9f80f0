"""What the fairness of a model is, in sentences and tables: those of page, command and report."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

from ...base.errors import InputError
from ...base.serialize import Result
from ...models import GIVEN_PREDICTIONS, PRIVATE_METHODS, TOLERANCE_METHODS, instead_of_constant
from ...stats.estimates import (
    Estimate,
    certain,
    count,
    epsilon_text,
    estimate_columns,
    interval,
    not_measured,
    percent,
    plain_number,
    tolerance_text,
)
from ...stats.fairness import (
    METRIC_TITLES,
    METRICS,
    GroupRate,
    difference_between_groups,
    difference_of_rates,
    difference_title,
    group_rates,
    is_smallest,
    keeps,
    unfairness,
    unfairness_estimate,
)
from ..study import Finding, Row
from ..subject import Subject

_AMONG = {
    "statistical_parity": "overall selection rate",
    "predictive_equality": "overall false-positive rate",
    "equal_opportunity": "overall true-positive rate",
    "equalized_odds": "overall false- or true-positive rate",
}

_CONSTRAINT_NOTES = {
    "threshold_optimizer": "The threshold optimizer always aims at 0.",
    "dp_id3": "No fairness constraint; trained with ε = {epsilon}.",
}


def headline(subject: Subject) -> Finding:
    """Return whether the constraint holds on training and test set, or that there is nothing a model decides."""
    model = subject.model
    config = subject.config
    seen, unseen = (
        ("training set", "test set") if subject.has_true_sets else ("people attacked", "others")
    )
    test = model.unfairness_test
    difference = model.difference_test
    point, constraint_note = _constraint(subject, seen, unseen)
    if _is_constrained(config.method):
        so_what, to_do = _meaning(subject)
    else:
        so_what, to_do = _unconstrained_meaning(config.method)
    if model.constant(subject.splits):
        private = model.constant_scores(subject.splits)
        point = f"The model gives everybody the same answer ({_answer(subject)}): it is fair {'and private ' * private}"
        point += "because it decides nothing."
        so_what = "It has no use: any limit is easily kept by it."
        if not private:
            so_what = "It has no use: its labels easily keep any limit, but its scores differ and may reveal people."
        to_do = instead_of_constant(config.method)
    counted = ""
    if subject.everyone.test.size > subject.splits.test.size:
        counted = " Only people with an answer count."
    return Finding(
        point=point,
        evidence=f"{constraint_note}95% CI on the {unseen}: {test.low:.3f} to {test.high:.3f} (largest "
        f"deviation of a group from the {_AMONG[config.metric]}). {difference_title(config.metric)}: "
        f"{difference.value:.3f} ({difference.low:.3f} to {difference.high:.3f}). "
        f"Accuracy on the {unseen}: {percent(model.accuracy_test)}; majority-class baseline: "
        f"{percent(model.majority_test)}.{counted}",
        so_what=so_what,
        to_do=to_do,
        estimate=test,
    )


def _is_constrained(method: str) -> bool:
    return method in (*TOLERANCE_METHODS, GIVEN_PREDICTIONS)


def _constraint(subject: Subject, seen: str, unseen: str) -> tuple[str, str]:
    """Return whether the constraint holds on both sets, and what there is to know of the constraint itself."""
    config = subject.config
    train = subject.model.unfairness_train
    test = subject.model.unfairness_test.value
    limit = tolerance_text(config.tolerance)
    seen_text, unseen_text = (
        tolerance_text(value, limit=config.tolerance) for value in (train, test)
    )
    point = f"Unfairness is {seen_text} on the {seen} and {unseen_text} on the {unseen}."
    if config.method == GIVEN_PREDICTIONS and is_smallest(config.tolerance, train):
        return point, f"Tolerance {limit} is the smallest that holds for the {seen}. "
    if not _is_constrained(config.method):
        note = _CONSTRAINT_NOTES.get(config.method, "No fairness constraint.")
        return point, f"{note.format(epsilon=epsilon_text(config.epsilon))} "
    what = "satisfies"
    sign = "≤"
    if not keeps(train, config.tolerance):
        what = "violates"
        sign = ">"
    sign_unseen = ">"
    if keeps(test, config.tolerance):
        sign_unseen = "≤"
    point = f"The model {what} its fairness constraint on the {seen}: {seen_text} {sign} {limit}."
    return f"{point} Estimate on the {unseen}: {unseen_text} {sign_unseen} {limit}.", ""


def _answer(subject: Subject) -> str:
    """Return what a model that gives everybody the same answer says: "hired = yes"."""
    dataset = subject.dataset
    answer = int(subject.model.predictions[subject.splits.test[0]])
    return f"{dataset.roles.label} = {dataset.label_names[answer]}"


def _meaning(subject: Subject) -> tuple[str, str]:
    """Return what it means whether the tolerance holds for new people, and what can be done."""
    test = subject.model.unfairness_test
    tolerance = subject.config.tolerance
    if test.low > tolerance:
        return (
            "A tolerance you publish should hold for new people too; this one does not.",
            "Use more training data or a looser tolerance, or publish the test-set value with its CI.",
        )
    if not keeps(subject.model.unfairness_train, tolerance):
        return (
            "The constraint does not hold for the people attacked, so publishing it would be wrong.",
            "Publish a tolerance that holds for them and for new people, then see what it reveals.",
        )
    if not keeps(test.value, tolerance):
        return (
            "Whether the tolerance holds for new people is unclear: the CI contains it.",
            "Test on more people before you publish the tolerance, or use a looser one.",
        )
    if test.high > tolerance:
        return (
            "The estimate for new people is within the tolerance, but its CI is not.",
            "Test on more people before you publish the tolerance, then see what it reveals.",
        )
    return (
        "The tolerance holds for new people too.",
        "Before you publish it, see what the disclosed tolerance reveals about people.",
    )


def _unconstrained_meaning(method: str) -> tuple[str, str]:
    """Return the same of a method that is asked for no tolerance."""
    aims = {
        "threshold_optimizer": "The method makes the rates equal on its training set; the test set shows what is left.",
        "correlation_remover": "The method changes the features and guarantees nothing about the predictions.",
        "dp_id3": "DP training noise protects records; it does not make the groups' rates equal.",
    }
    return (
        aims.get(method, "Nothing keeps the groups' rates together."),
        "Publish no tolerance for this model. For one, choose exponentiated gradient above.",
    )


def cautions(subject: Subject) -> tuple[str, ...]:
    """Return what a user of this model must know, a sentence or two each."""
    config = subject.config
    sentences = []
    if not subject.has_true_sets:
        sentences.append(
            "Your table does not say whom the model was trained on. The people attacked and the others are drawn with "
            "the seed, and membership of the predictions cannot be attacked."
        )
    if not subject.has_scores:
        sentences.append(
            "Your table gives predicted labels without scores: what needs scores is not run."
        )
    if subject.model.needs_sensitive:
        sentences.append(
            f"This method needs each person's {subject.attribute} to predict, now and after its release."
        )
    if config.method in PRIVATE_METHODS and math.isinf(config.epsilon):
        sentences.append(
            "With ε = ∞ no noise is added: this is the plain tree, without a DP guarantee."
        )
    elif config.method in PRIVATE_METHODS:
        sentences.append(
            f"The tree is {epsilon_text(config.epsilon)}-differentially private for one training record more or less. "
            "This assumes public categories and value ranges and a secret noise seed. Here the seed is visible: use "
            "the result for study, not as a private release. The measured figures are not private."
        )
    if config.method not in (*TOLERANCE_METHODS, GIVEN_PREDICTIONS) and config.tolerance > 0:
        if config.method == "threshold_optimizer":
            why = ": this method always aims at 0"
        else:
            why = " by this method"
        sentences.append(f"The tolerance in the settings is not used{why}.")
    return tuple(sentences)


# Tables

METRICS_TABLE = "Four fairness metrics"
RATES_TABLE = "Four fairness metrics, rates by group"
"""Titles of the tables of all four metrics."""

SETS = ("training", "test")
"""Sets of records whose fairness is measured."""

_LABELLED = {"all": "everybody", "label 0": "negative label", "label 1": "positive label"}
_RATES = {
    "statistical_parity": "selection rate",
    "predictive_equality": "false-positive rate",
    "equal_opportunity": "true-positive rate",
    "equalized_odds": "larger of both",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricResult(Result):
    """One fairness metric on one set of records.

    Unfairness is the largest deviation of a group from the overall rate, `difference` that between two groups. Both are
    facts about the training records, without an interval's width, and estimates from the test records; nan where a
    group is missing among the labels the metric compares.
    """

    metric: str
    records: str
    people: int
    unfairness: Estimate
    difference: Estimate
    rates: tuple[GroupRate, ...]


def fairness_metrics(subject: Subject) -> tuple[MetricResult, ...]:
    """Return all four metrics on the training and on the test records, whichever of them is audited."""
    return tuple(_metric(subject, metric, records) for records in SETS for metric in METRICS)


def _metric(subject: Subject, metric: str, records: str) -> MetricResult:
    if records == "training":
        part = "train"
    else:
        part = "test"
    rows = getattr(subject.splits, part)
    people = (subject.model.predictions[rows], subject.dataset.sensitive[rows])
    metric_arguments = {"metric": metric, "labels": subject.dataset.labels[rows]}
    largest = difference = not_measured()
    rates: tuple[GroupRate, ...] = ()
    try:
        rates = group_rates(*people, **metric_arguments)
        if records == "training":
            largest, difference = (
                certain(measure(*people, **metric_arguments), rows.size)
                for measure in (unfairness, difference_between_groups)
            )
        else:
            largest = unfairness_estimate(*people, **metric_arguments)
            difference = difference_of_rates(rates)
    except InputError:  # nobody with this label, or one group alone
        largest = difference = replace(not_measured(), n=rows.size)
    return MetricResult(
        metric=metric,
        records=records,
        people=rows.size,
        unfairness=largest,
        difference=difference,
        rates=rates,
    )


def metric_rows(subject: Subject) -> Iterator[Row]:
    """Yield unfairness and difference between groups by every metric, on training and test records."""
    for metric_result in fairness_metrics(subject):
        if metric_result.metric == subject.config.metric:
            audited = "yes"
        else:
            audited = "no"
        yield {
            "metric": METRIC_TITLES[metric_result.metric],
            "records": metric_result.records,
            "audited": audited,
            "people": metric_result.people,
            **_columns("unfairness", metric_result.unfairness, metric_result.records),
            **_columns(
                "difference between groups", metric_result.difference, metric_result.records
            ),
        }


def _columns(name: str, estimate: Estimate, records: str) -> dict[str, float | None]:
    columns = estimate_columns(name, estimate)
    return {
        title: value if title == name or records == "test" else None
        for title, value in columns.items()
    }


def metric_rate_rows(subject: Subject) -> Iterator[Row]:
    """Yield every group's selection, false-positive and true-positive rate, on training and test records."""
    for metric_result in fairness_metrics(subject):
        if (
            metric_result.metric != "equalized_odds"
        ):  # the rates of predictive equality and of equal opportunity
            yield from (
                _rate_row(
                    subject, metric_result.metric, metric_result.records, _LABELLED[r.part], r
                )
                for r in metric_result.rates
            )


def _rate_row(subject: Subject, metric: str, records: str, among: str, rate: GroupRate) -> Row:
    return {
        "metric": METRIC_TITLES[metric],
        "records": records,
        "among": among,
        "group": subject.dataset.group_names[int(rate.group)],
        "people": rate.count,
        **estimate_columns("positive predictions", rate.rate),
        "everybody": plain_number(rate.overall.value),
    }


def metrics_heading(subject: Subject, seen: str) -> str:
    """Return by which metric the test records, called `seen`, are treated least equally."""
    test_results = [
        result
        for result in fairness_metrics(subject)
        if result.records == "test" and result.unfairness.n
    ]
    measured_results = [result for result in test_results if result.unfairness.value >= 0.0]
    if not measured_results:
        return "No fairness metric can be measured on these records"
    worst = max(
        measured_results,
        key=lambda result: (result.unfairness.value, -METRICS.index(result.metric)),
    )
    size = (
        f"{worst.unfairness.value:.3f} ({worst.unfairness.low:.3f} to {worst.unfairness.high:.3f})"
    )
    return f"Unfairness on the {seen} is largest by {METRIC_TITLES[worst.metric].lower()}: {size}"


def metric_table(subject: Subject, records: str) -> tuple[Row, ...]:
    """Return the four metrics on one set of records in words: a row each group, then deviation and difference."""
    results = {
        result.metric: result for result in fairness_metrics(subject) if result.records == records
    }
    columns = {metric: f"{METRIC_TITLES[metric]}: {_RATES[metric]}" for metric in METRICS}
    codes = range(subject.dataset.n_groups) if subject.dataset.n_groups > 2 else (1, 0)
    names = subject.dataset.group_names
    rows = [
        (names[code], [_rate_text(results[metric], code) for metric in METRICS]) for code in codes
    ]
    for title, field in (
        ("Largest deviation from overall", "unfairness"),
        ("Difference between groups", "difference"),
    ):
        rows.append(
            (title, [_gap_text(getattr(results[metric], field), records) for metric in METRICS])
        )
    return tuple(
        {"Group or measure": name, **dict(zip(columns.values(), cells, strict=True))}
        for name, cells in rows
    )


def _rate_text(result: MetricResult, code: int) -> str:
    """Write a group's rate as "36.8% (35.1 to 38.5%), n 1,187"; nothing for two rates."""
    if result.metric == "equalized_odds":
        return ""
    for rate in result.rates:
        if int(rate.group) == code:
            return f"{percent(rate.rate)} ({interval(rate.rate)}), n {count(rate.count)}"
    return "nobody"


def _gap_text(estimate: Estimate, records: str) -> str:
    """Write a deviation or a difference as "0.065 (0.044 to 0.087)", without interval of training records."""
    if not estimate.value >= 0.0:
        return "not measured"
    if records == "test":
        return f"{estimate.value:.3f} ({estimate.low:.3f} to {estimate.high:.3f})"
    return f"{estimate.value:.3f}"


def rate_rows(subject: Subject) -> Iterator[Row]:
    """Yield every group's rate by the audited metric, on training and test records."""
    for records, rates in (
        ("training", subject.model.rates_train),
        ("test", subject.model.rates_test),
    ):
        for rate in rates:
            among = "everybody" if rate.part == "all" else rate.part
            yield _rate_row(subject, subject.config.metric, records, among, rate)


def constraint_rows(subject: Subject) -> Iterator[Row]:
    """Yield the tolerance asked for and the unfairness reached, by both measures, on training and test records."""
    model = subject.model
    config = subject.config
    targets = {"threshold_optimizer": 0.0} | dict.fromkeys(TOLERANCE_METHODS, config.tolerance)
    target_tolerance = targets.get(config.method)
    for records, value, gap in (
        ("training", (model.unfairness_train, None, None), (model.difference_train, None, None)),
        ("unseen", _ends(model.unfairness_test), _ends(model.difference_test)),
    ):
        yield {
            "records": records,
            "asked": target_tolerance,
            **dict(zip(("unfairness", "low", "high"), value, strict=True)),
            **dict(
                zip(
                    ("difference between groups", "difference, low", "difference, high"),
                    gap,
                    strict=True,
                )
            ),
        }


def _ends(estimate: Estimate) -> tuple[float, float, float]:
    return estimate.value, estimate.low, estimate.high
