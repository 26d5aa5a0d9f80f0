"""The study of a model's fairness: what it reaches without any attacker, on training and test records.

A ratio of two rates has the interval of its logarithm, a difference of logarithms, each with its Wilson limits. A rate
of 0 has no logarithm; the ratio is then 0, and its upper end the largest of the one rate over the smallest of the
other.

A model that answers about some people only names the others. Where absence is more frequent in one group, or among the
people the model was trained on, everybody without an answer is known better than before. Its check is the largest of
these differences; the attacks on the attribute take absence as an output besides.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np

from ...base.settings import Settings
from ...base.validation import Mask, child_generator
from ...stats.estimates import (
    Estimate,
    certain,
    majority_share,
    min_estimate,
    percent,
    proportion,
    strongest,
    weighted_sum,
)
from ...stats.fairness import METRIC_TITLES, difference_title, group_rates
from ..study import (
    Check,
    Finding,
    Measurement,
    Plant,
    ReportProgress,
    Row,
    Study,
    draw_people,
    not_run,
    subject_of,
)
from ..subject import Subject
from .findings import (
    METRICS_TABLE,
    RATES_TABLE,
    cautions,
    headline,
    metric_rate_rows,
    metric_rows,
    rate_rows,
)

ABSENCE = Check(
    name="absence",
    title="People without an answer: largest difference",
    unit="points",
    definition="Share of people without an answer of the model, in a group beside all others, or among training "
    "records beside test records: the largest difference. 0 where everybody has an answer.",
)

DECLARED = (
    Check(
        name="unfairness",
        title="Unfairness on the test set",
        unit="gap",
        folded=True,
        definition="Largest deviation of a group's rate from the overall rate on the test set, by the audited metric. "
        "The difference between groups is at least as large; it stands beside, without a limit.",
    ),
    Check(
        name="four_fifths",
        title="Selection-rate ratio (four-fifths rule)",
        unit="ratio",
        chance=1.0,
        at_least=True,
        folded=True,
        definition="Lowest selection rate of a group over the highest, on the test set. The four-fifths rule asks "
        "for 0.8 (29 CFR 1607).",
    ),
    ABSENCE,
)

NUMBERS = (
    Check(
        name="accuracy_train",
        title="Accuracy of the model on the training set",
        unit="percent",
        definition="Share of the training records that the model predicts correctly.",
    ),
    Check(
        name="accuracy_test",
        title="Accuracy of the model on the test set",
        unit="percent",
        definition="Share of the test records that the model predicts correctly.",
    ),
    Check(
        name="unfairness_train",
        title="Unfairness on the training set",
        unit="gap",
        definition="Largest deviation of a group's rate from the overall rate on the training set: a fact about it.",
    ),
    Check(
        name="difference_train",
        title="Difference between groups on the training set",
        unit="gap",
        definition="Largest difference between the rates of two groups on the training set: a fact about it.",
    ),
    Check(
        name="difference_test",
        title="Difference between groups on the test set",
        unit="gap",
        definition="Largest difference between the rates of two groups on the test set.",
    ),
)
"""What experiments measure of the model besides; its unfairness on the test set is a check."""

_FREQUENT = "the more frequent label for everybody"


def model_number(name: str, subject: Subject) -> Measurement:
    """Return one of `NUMBERS`."""
    model = subject.model
    n = subject.splits.train.size
    if name == "accuracy_train":
        majority = majority_share(subject.dataset.labels[subject.splits.train])
        return Measurement(
            check=name, estimate=model.accuracy_train, control=majority, control_name=_FREQUENT
        )
    if name == "accuracy_test":
        majority = model.majority_test
        return Measurement(
            check=name, estimate=model.accuracy_test, control=majority, control_name=_FREQUENT
        )
    estimates = {
        "unfairness_train": certain(model.unfairness_train, n),
        "difference_train": certain(model.difference_train, n),
        "difference_test": model.difference_test,
    }
    return Measurement(check=name, estimate=estimates[name])


_FEW = 3
"""Groups whose rates a sentence names, at most."""

_ASSUMED = "The test records are a sample of the people the model will decide about."
_MAYBE_SEEN = "No column says who trained the model, so the test records were drawn at random and may have trained it."


def _assumed(subject: Subject) -> tuple[str, ...]:
    if subject.has_true_sets:
        return (_ASSUMED,)
    return (_ASSUMED, _MAYBE_SEEN)


def _compared(subject: Subject) -> str:
    """Return what is compared: the selection rates of few groups, or the metric and whom it is about."""
    names = list(subject.dataset.base_rates)
    if subject.config.metric == "statistical_parity" and len(names) <= _FEW:
        rates = {
            subject.dataset.group_names[int(group_rate.group)]: group_rate.rate
            for group_rate in subject.model.rates_test
        }
        return f"Selection rates ({' · '.join(f'{name} {percent(rates[name])}' for name in names)})"
    if len(names) == 2:
        groups = f"{names[0]} and {names[1]}"
    else:
        groups = f"{len(names)} groups by {subject.attribute}"
    return f"{METRIC_TITLES[subject.config.metric]} between {groups}"


def _test_records(subject: Subject) -> str:
    """Return how many test records are compared, and that they are those with an answer where others have none."""
    counted = f"{subject.splits.test.size:,} test records"
    if subject.everyone.test.size > subject.splits.test.size:
        return f"{counted} with an answer"
    return counted


def unfairness(subject: Subject) -> Measurement:
    """Return the unfairness on the test records, by the audited metric, and beside it the difference between groups."""
    model = subject.model
    difference = difference_title(subject.config.metric)
    if subject.has_true_sets:
        seen = "training records"
    else:
        seen = "people attacked"
    between = model.difference_test
    return Measurement(
        check="unfairness",
        estimate=model.unfairness_test,
        attacked=(
            f"{_compared(subject)} on {_test_records(subject)}: largest deviation of a "
            f"group from the overall rate. {difference}: {between.value:.3f}, 95% CI {between.low:.3f} to "
            f"{between.high:.3f}."
        ),
        knows="There is no attacker.",
        assumptions=_assumed(subject),
        details={
            difference: between.value,
            f"{difference}, low": between.low,
            f"{difference}, high": between.high,
            f"{difference}, on the {seen}": model.difference_train,
            f"on the {seen}": model.unfairness_train,
            "target tolerance": subject.config.tolerance,
        },
    )


def four_fifths(subject: Subject) -> Measurement:
    """Return the smallest ratio of two groups' selection rates on the test set."""
    test = subject.splits.test
    predictions = subject.model.predictions[test]
    groups = subject.dataset.sensitive[test]
    test_rates = group_rates(predictions, groups, metric="statistical_parity")
    rates = {subject.dataset.group_names[int(rate.group)]: rate.rate for rate in test_rates}
    if not any(rate.value for rate in rates.values()):
        return not_run(
            "four_fifths",
            f"The model accepts nobody on the {_test_records(subject)}, so there is no ratio.",
        )
    pairs = [
        sorted(pair, key=lambda name: rates[name].value)
        for pair in itertools.combinations(rates, 2)
    ]
    ratios = {
        f"{lower} over {upper}": rate_ratio(rates[lower], rates[upper]) for lower, upper in pairs
    }
    name, estimate = min_estimate(ratios)
    return Measurement(
        check="four_fifths",
        estimate=estimate.within(0.0, 1.0),
        attacked=f"Selection rates on {_test_records(subject)}, {name}.",
        knows="There is no attacker.",
        assumptions=_assumed(subject),
        details={f"selection rate, {group}": rate.value for group, rate in rates.items()},
    )


def rate_ratio(lower: Estimate, upper: Estimate) -> Estimate:
    """Return the smaller of two rates over the larger, at most 1, with its interval.

    Both have Wilson intervals at one level. Both 0 is a ratio of 1 of which nothing is known.
    """
    n = lower.n + upper.n
    if not upper.value:
        return Estimate(value=1.0, low=0.0, high=1.0, n=n, level=upper.level)
    if not lower.value:
        return Estimate(
            value=0.0, low=0.0, high=min(1.0, lower.high / upper.low), n=n, level=upper.level
        )
    ratio = weighted_sum([(1.0, _logarithm(lower)), (-1.0, _logarithm(upper))])
    low = math.exp(ratio.low)
    high = math.exp(ratio.high)
    if high >= 1.0:  # the other group may be the one accepted less
        low = min(low, 1.0 / high)
        high = 1.0
    return replace(ratio, value=lower.value / upper.value, low=low, high=high)


def _logarithm(rate: Estimate) -> Estimate:
    return replace(
        rate, value=math.log(rate.value), low=math.log(rate.low), high=math.log(rate.high)
    )


# Absence of an answer

_EVERYBODY = "The model gives everybody an answer."


def absence(subject: Subject) -> Measurement:
    """Return the largest difference in the share without an answer, between groups or between training and test.

    The interval of a difference is Newcombe's, of two Wilson intervals; that of the largest holds for all that were
    compared. Where everybody has an answer it is 0, and no estimate.
    """
    people = np.concatenate([subject.everyone.train, subject.everyone.test])
    answered = subject.dataset.answered
    if answered is None or answered[people].all():
        return Measurement(
            check=ABSENCE.name,
            estimate=certain(0.0, people.size),
            attacked=_EVERYBODY,
            knows="There is no attacker.",
        )
    name, estimate = strongest(absence_differences(subject), within=(-1.0, 1.0))
    missing = int(np.count_nonzero(~answered[people]))
    return Measurement(
        check=ABSENCE.name,
        estimate=estimate,
        attacked=f"People without an answer: {missing:,} of {people.size:,}. Compared: {name}.",
        knows="Who gets no answer.",
        assumptions=("The interval holds for all differences tried together.",),
    )


def absence_differences(subject: Subject) -> dict[str, Estimate]:
    """Return who is compared with whom -> the difference in the share without an answer; each pair both ways."""
    train = subject.everyone.train
    test = subject.everyone.test
    people = np.concatenate([train, test])
    answered = subject.dataset.answered
    assert answered is not None
    absent = ~answered[people]
    groups = subject.dataset.sensitive[people]
    compared: dict[str, Mask] = {
        f"{group} beside all others": groups == code
        for code, group in enumerate(subject.dataset.group_names)
    }
    if subject.has_true_sets:
        trained = np.arange(people.size) < train.size
        compared["training records beside test records"] = trained
        compared["test records beside training records"] = ~trained
    return {
        name: _difference(absent, inside)
        for name, inside in compared.items()
        if inside.any() and not inside.all()
    }


def _difference(absent: Mask, inside: Mask) -> Estimate:
    """Return the share that is absent inside, minus that outside."""
    shares = [proportion(int(absent[rows].sum()), int(rows.sum())) for rows in (inside, ~inside)]
    difference = weighted_sum([(1.0, shares[0]), (-1.0, shares[1])])
    return difference.within(-1.0, 1.0)


def absence_finding(subject: Subject) -> tuple[Finding, ...]:
    """Return what absence tells, where somebody has no answer."""
    answered = subject.dataset.answered
    if answered is None:
        return ()
    people = np.concatenate([subject.everyone.train, subject.everyone.test])
    measurement = absence(subject)
    assert measurement.estimate is not None
    share = proportion(int(np.count_nonzero(~answered[people])), people.size)
    differs = measurement.estimate.low > 0.0
    point = f"{percent(share)} of people get no answer; this share does not differ significantly by group or set."
    if differs:
        point = f"{percent(share)} of people get no answer, and that names some of them: the share differs."
    return (Finding(point=point, evidence=measurement.attacked, estimate=measurement.estimate),)


@dataclass(frozen=True, slots=True, kw_only=True)
class FairnessSettings(Settings):
    """Nothing: metric and tolerance are the audit's."""


def _accepting(seed: int, planted: bool) -> tuple[Subject, FairnessSettings]:
    """Return a model that accepts by chance, or one group much more often."""
    sizes = (400, 400, 400)
    lean = 0.2 if planted else 0.0
    rng = child_generator(seed, f"fairness, lean {lean:g}")
    people = draw_people(sum(sizes), rng)
    chance = 0.5 + lean * (2.0 * people.sensitive - 1.0)
    answers = (rng.random(sum(sizes)) < chance).astype(np.uint8)
    return subject_of(people, answers, sizes, seed=seed), FairnessSettings()


def _unanswering(seed: int, planted: bool) -> tuple[Subject, FairnessSettings]:
    """Return a model that leaves a tenth of the people without an answer, or three in ten of one group."""
    sizes = (400, 400, 400)
    rng = child_generator(seed, f"absence, planted {planted}")
    people = draw_people(sum(sizes), rng)
    predictions = (rng.random(sum(sizes)) < 0.5).astype(np.uint8)
    if planted:
        chance = np.where(people.sensitive == 1, 0.3, 0.1)
    else:
        chance = np.full(sum(sizes), 0.1)
    answered = rng.random(sum(sizes)) >= chance
    subject = subject_of(people, predictions, sizes, seed=seed)
    everybody = subject.splits
    subject = replace(
        subject,
        dataset=replace(subject.dataset, answered=answered),
        splits=everybody.part(answered),
        with_unanswered=everybody,
    )
    return subject, FairnessSettings()


class FairnessStudy(Study[FairnessSettings, Subject]):
    """How far the groups' rates are from the overall rate; the subject itself is the result."""

    name = "fairness"
    title = "Fairness of the model"
    settings = FairnessSettings
    declared = DECLARED
    numbers = NUMBERS

    plants = (
        Plant(
            attack="Unfairness of the model",
            explanation="Null: a model that accepts by chance. Planted: one that accepts one group much more often.",
            make=_accepting,
            limits={"unfairness": 0.05, "four_fifths": 0.8},
        ),
        Plant(
            attack="Group named by who has no answer",
            explanation="Null: absent answers by chance. Planted: three times as many of them in one group.",
            make=_unanswering,
            limits={ABSENCE.name: 0.0},
        ),
    )

    def steps(self, subject: Subject, settings: FairnessSettings) -> int:
        """Return 0: a subject's model is measured already."""
        return 0

    def run(
        self, subject: Subject, settings: FairnessSettings, report: ReportProgress | None = None
    ) -> Iterator[Subject]:
        """Yield the subject, whose model is measured as it is trained."""
        yield subject

    def findings(self, result: Subject, settings: FairnessSettings) -> tuple[Finding, ...]:
        """Return whether the constraint holds, and what a user of the model must know."""
        warnings = tuple(Finding(point=caution) for caution in cautions(result))
        return (headline(result), *absence_finding(result), *warnings)

    def checks(self, result: Subject, settings: FairnessSettings) -> Mapping[str, Measurement]:
        """Return unfairness and selection-rate ratio on the test set, and what absent answers tell."""
        return {
            "unfairness": unfairness(result),
            "four_fifths": four_fifths(result),
            ABSENCE.name: absence(result),
        }

    def number(self, name: str, result: Subject, settings: FairnessSettings) -> Measurement:
        """Return a number of the model."""
        return model_number(name, result)

    def tables(self, result: Subject, settings: FairnessSettings) -> Mapping[str, tuple[Row, ...]]:
        """Return the groups' rates by the audited metric, and all four metrics."""
        return {
            "Rates by group": tuple(rate_rows(result)),
            METRICS_TABLE: tuple(metric_rows(result)),
            RATES_TABLE: tuple(metric_rate_rows(result)),
        }


STUDY = FairnessStudy()
