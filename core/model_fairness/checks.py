"""What a policy may limit of a model's fairness, and the rates a report holds beside it.

A ratio of two rates has the interval of its logarithm: the distances of each rate's logarithm to those of its Wilson
limits add as squares (Zou and Donner 2008). A rate of 0 has no logarithm; the ratio is then 0, and its upper end the
largest of the one rate over the smallest of the other.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator

from core.estimates import Estimate, estimate_columns, least, plain_number
from core.fairness import METRIC_TITLES, difference_title, group_rates
from core.study import Check, Measurement, Row, not_run
from core.subject import Subject

DECLARED = (
    Check(
        name="unfairness",
        title="Unfairness on unseen people",
        unit="gap",
        definition="Largest deviation of a group's rate from the overall rate on the test records, by the audited "
        "metric. Fairlearn's difference between groups is at least as large; it stands beside, without a limit.",
    ),
    Check(
        name="four_fifths",
        title="Lowest acceptance rate as a share of the highest",
        unit="ratio",
        at_least=True,
        definition="Acceptance rate of the group accepted least, divided by that of the group accepted most, on the "
        "test records: the four-fifths rule asks for 0.8.",
    ),
)


def unfairness(subject: Subject) -> Measurement:
    """Return the unfairness on the test records, by the audited metric, and beside it the difference between groups."""
    model, metric = subject.model, METRIC_TITLES[subject.config.metric]
    difference = difference_title(subject.config.metric)
    between, names = model.difference_test, [row.group for row in subject.dataset.groups()]
    groups = f"{names[0]} and {names[1]}" if len(names) == 2 else f"{len(names)} groups by {subject.attribute}"
    return Measurement(
        check="unfairness",
        estimate=model.unfairness_test,
        attacked=(
            f"{metric} between {groups} on {subject.splits.test.size:,} test records: largest deviation of a "
            f"group from the overall rate. {difference}: {between.value:.3f}, 95%: {between.low:.3f} to "
            f"{between.high:.3f}."
        ),
        knows="There is no attacker.",
        assumptions=("The test records are a sample of the people the model will decide about.",),
        details={
            difference: between.value,
            f"{difference}, low": between.low,
            f"{difference}, high": between.high,
            f"{difference}, on the training records": model.difference_train,
            "on the training records": model.unfairness_train,
            "tolerance promised": subject.config.tolerance,
        },
    )


def four_fifths(subject: Subject) -> Measurement:
    """Return the smallest ratio of two groups' acceptance rates on the test records."""
    test = subject.splits.test
    predictions, groups = subject.model.predictions[test], subject.dataset.sensitive[test]
    found = group_rates(predictions, groups, metric="statistical_parity")
    rates = {subject.dataset.group_names[int(rate.group)]: rate.rate for rate in found}
    if not any(rate.value for rate in rates.values()):
        return not_run(
            "four_fifths", f"The model accepts nobody on the {test.size:,} test records, so there is no ratio."
        )
    pairs = [sorted(pair, key=lambda name: rates[name].value) for pair in itertools.combinations(rates, 2)]
    ratios = {f"{lower} over {upper}": rate_ratio(rates[lower], rates[upper]) for lower, upper in pairs}
    name, estimate = least(ratios)
    return Measurement(
        check="four_fifths",
        estimate=estimate,
        attacked=f"Acceptance rates on {test.size:,} test records, {name}.",
        knows="There is no attacker.",
        assumptions=("The test records are a sample of the people the model will decide about.",),
        details={f"accepted among {group}": rate.value for group, rate in rates.items()},
    )


def rate_ratio(lower: Estimate, upper: Estimate) -> Estimate:
    """Return the smaller of two rates over the larger, at most 1, with its interval.

    Both have Wilson intervals at one level. Both 0 is a ratio of 1 of which nothing is known.
    """
    n = lower.n + upper.n
    if not upper.value:
        return Estimate(value=1.0, low=0.0, high=1.0, n=n, level=upper.level)
    value = lower.value / upper.value
    if not lower.value:
        return Estimate(value=0.0, low=0.0, high=min(1.0, lower.high / upper.low), n=n, level=upper.level)
    below = math.hypot(math.log(lower.value / lower.low), math.log(upper.high / upper.value))
    above = math.hypot(math.log(lower.high / lower.value), math.log(upper.value / upper.low))
    low, high = value * math.exp(-below), value * math.exp(above)
    if high >= 1.0:  # the other group may be the one accepted less
        low, high = min(low, 1.0 / high), 1.0
    return Estimate(value=value, low=low, high=high, n=n, level=upper.level)


def rate_rows(subject: Subject) -> Iterator[Row]:
    """Yield every group's rate by the audited metric, on training and test records."""
    names = subject.dataset.group_names
    for records, rates in (("training", subject.model.rates_train), ("test", subject.model.rates_test)):
        for rate in rates:
            yield {
                "metric": METRIC_TITLES[subject.config.metric],
                "records": records,
                "among": "everybody" if rate.part == "all" else rate.part,
                "group": names[int(rate.group)],
                "people": rate.count,
                **estimate_columns("positive predictions", rate.rate),
                "everybody": plain_number(rate.overall.value),
            }


def constraint_rows(subject: Subject) -> Iterator[Row]:
    """Yield the tolerance asked for and the unfairness reached, by both measures, on training and test records."""
    model, config = subject.model, subject.config
    asked = {"exponentiated_gradient": config.tolerance, "threshold_optimizer": 0.0}.get(config.method)
    test, apart = model.unfairness_test, model.difference_test
    yield {
        "records": "training",
        "asked": asked,
        "unfairness": model.unfairness_train,
        "low": None,
        "high": None,
        "difference between groups": model.difference_train,
        "difference, low": None,
        "difference, high": None,
    }
    yield {
        "records": "unseen",
        "asked": asked,
        "unfairness": test.value,
        "low": test.low,
        "high": test.high,
        "difference between groups": apart.value,
        "difference, low": apart.low,
        "difference, high": apart.high,
    }
