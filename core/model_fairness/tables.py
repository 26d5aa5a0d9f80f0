"""Fairness of a model as tables: the audited metric, and all four metrics by group."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from core.errors import InputError
from core.estimates import Estimate, certain, count, estimate_columns, interval, not_measured, percent, plain_number
from core.fairness import (
    METRIC_TITLES,
    METRICS,
    GroupRate,
    difference_between_groups,
    difference_of_rates,
    group_rates,
    unfairness,
    unfairness_estimate,
)
from core.serialize import Result
from core.study import Row
from core.subject import Subject

METRICS_TABLE, RATES_TABLE = "Four fairness metrics", "Four fairness metrics, rates by group"
"""Titles of the tables of all four metrics."""

SETS = ("training", "test")
"""Sets of records whose fairness is measured."""

_AMONG = {"all": "everybody", "label 0": "negative label", "label 1": "positive label"}
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
    rows = getattr(subject.splits, "train" if records == "training" else "test")
    people = (subject.model.predictions[rows], subject.dataset.sensitive[rows])
    told = {"metric": metric, "labels": subject.dataset.labels[rows]}
    largest = apart = not_measured()
    rates: tuple[GroupRate, ...] = ()
    try:
        rates = group_rates(*people, **told)
        if records == "training":
            largest, apart = (certain(of(*people, **told), rows.size) for of in (unfairness, difference_between_groups))
        else:
            largest, apart = unfairness_estimate(*people, **told), difference_of_rates(rates)
    except InputError:  # nobody with this label, or one group alone
        largest = apart = replace(not_measured(), n=rows.size)
    return MetricResult(
        metric=metric, records=records, people=rows.size, unfairness=largest, difference=apart, rates=rates
    )


def metric_rows(subject: Subject) -> Iterator[Row]:
    """Yield unfairness and difference between groups by every metric, on training and test records."""
    for found in fairness_metrics(subject):
        yield {
            "metric": METRIC_TITLES[found.metric],
            "records": found.records,
            "audited": "yes" if found.metric == subject.config.metric else "no",
            "people": found.people,
            **_columns("unfairness", found.unfairness, found.records),
            **_columns("difference between groups", found.difference, found.records),
        }


def _columns(name: str, found: Estimate, records: str) -> dict[str, float | None]:
    columns = estimate_columns(name, found)
    return {title: value if title == name or records == "test" else None for title, value in columns.items()}


def metric_rate_rows(subject: Subject) -> Iterator[Row]:
    """Yield every group's selection, false-positive and true-positive rate, on training and test records."""
    for found in fairness_metrics(subject):
        if found.metric != "equalized_odds":  # the rates of predictive equality and of equal opportunity
            yield from (_rate_row(subject, found.metric, found.records, _AMONG[r.part], r) for r in found.rates)


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
    found = [one for one in fairness_metrics(subject) if one.records == "test" and one.unfairness.n]
    known = [one for one in found if one.unfairness.value >= 0.0]
    if not known:
        return "No fairness metric can be measured on these records"
    worst = max(known, key=lambda one: (one.unfairness.value, -METRICS.index(one.metric)))
    size = f"{worst.unfairness.value:.3f} ({worst.unfairness.low:.3f} to {worst.unfairness.high:.3f})"
    return f"Unfairness on the {seen} is largest by {METRIC_TITLES[worst.metric].lower()}: {size}"


def metric_words(subject: Subject, records: str) -> tuple[Row, ...]:
    """Return the four metrics on one set of records in words: a row each group, then deviation and difference."""
    found = {one.metric: one for one in fairness_metrics(subject) if one.records == records}
    columns = {metric: f"{METRIC_TITLES[metric]}: {_RATES[metric]}" for metric in METRICS}
    codes = range(subject.dataset.n_groups) if subject.dataset.n_groups > 2 else (1, 0)
    names = subject.dataset.group_names
    rows = [(names[code], [_rate_words(found[metric], code) for metric in METRICS]) for code in codes]
    for title, field in (("Largest deviation from overall", "unfairness"), ("Difference between groups", "difference")):
        rows.append((title, [_gap_words(getattr(found[metric], field), records) for metric in METRICS]))
    return tuple({"Group or measure": name, **dict(zip(columns.values(), own, strict=True))} for name, own in rows)


def _rate_words(found: MetricResult, code: int) -> str:
    """Write a group's rate as "36.8% (35.1 to 38.5%), n 1,187"; nothing for two rates."""
    if found.metric == "equalized_odds":
        return ""
    for rate in found.rates:
        if int(rate.group) == code:
            return f"{percent(rate.rate)} ({interval(rate.rate)}), n {count(rate.count)}"
    return "nobody"


def _gap_words(found: Estimate, records: str) -> str:
    """Write a deviation or a difference as "0.065 (0.044 to 0.087)", without interval of training records."""
    if not found.value >= 0.0:
        return "not measured"
    return f"{found.value:.3f}" + (f" ({found.low:.3f} to {found.high:.3f})" if records == "test" else "")


def rate_rows(subject: Subject) -> Iterator[Row]:
    """Yield every group's rate by the audited metric, on training and test records."""
    for records, rates in (("training", subject.model.rates_train), ("test", subject.model.rates_test)):
        for rate in rates:
            among = "everybody" if rate.part == "all" else rate.part
            yield _rate_row(subject, subject.config.metric, records, among, rate)


def constraint_rows(subject: Subject) -> Iterator[Row]:
    """Yield the tolerance asked for and the unfairness reached, by both measures, on training and test records."""
    model, config = subject.model, subject.config
    asked = {"exponentiated_gradient": config.tolerance, "threshold_optimizer": 0.0}.get(config.method)
    for records, value, gap in (
        ("training", (model.unfairness_train, None, None), (model.difference_train, None, None)),
        ("unseen", _ends(model.unfairness_test), _ends(model.difference_test)),
    ):
        yield {
            "records": records,
            "asked": asked,
            **dict(zip(("unfairness", "low", "high"), value, strict=True)),
            **dict(zip(("difference between groups", "difference, low", "difference, high"), gap, strict=True)),
        }


def _ends(found: Estimate) -> tuple[float, float, float]:
    return found.value, found.low, found.high
