"""The study of a model's fairness: what it reaches without any attacker, on training and test records.

A ratio of two rates has the interval of its logarithm, a difference of logarithms, each with its Wilson limits. A rate
of 0 has no logarithm; the ratio is then 0, and its upper end the largest of the one rate over the smallest of the
other.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np

from core.estimates import (
    Estimate,
    epsilon_text,
    estimate_columns,
    least,
    percent,
    plain_number,
    tolerance_text,
    weighted_sum,
)
from core.fairness import METRIC_TITLES, difference_title, group_rates
from core.models import GIVEN
from core.planted import draw_people, subject_of
from core.seeds import child_generator
from core.settings import Settings
from core.study import Check, Finding, Measurement, Plant, Report, Row, Study, not_run
from core.subject import Subject

_AMONG = {
    "statistical_parity": "",
    "predictive_equality": " among people with the negative label",
    "equal_opportunity": " among people with the positive label",
    "equalized_odds": " among people with the negative and with the positive label, the larger of the two",
}

_UNASKED = {
    "threshold_optimizer": "The threshold optimizer always aims at 0.",
    "dp_id3": "Nothing was asked of its fairness; trained with ε = {epsilon}.",
}


def headline(subject: Subject) -> Finding:
    """Return whether the fairness constraint holds on training and test set; the unfairness where none was asked."""
    model, config = subject.model, subject.config
    seen, unseen = ("training set", "test set") if subject.sets_known else ("people attacked", "others")
    train, test = model.unfairness_train, model.unfairness_test
    here = tolerance_text(train, limit=config.tolerance)
    asked = todo = ""
    if config.method in ("exponentiated_gradient", GIVEN):
        holds, there = train <= config.tolerance, test.value <= config.tolerance
        limit = tolerance_text(config.tolerance)
        what = "satisfies" if holds else "violates"
        point = f"The model {what} its fairness constraint on the {seen} ({here} {'≤' if holds else '>'} {limit})"
        also = "and on" if holds == there else "but not on" if holds else "but not its estimate on"
        point += f" {also} the {unseen} ({test.value:.3f})."
        if not there:
            todo = "Use more training data or a looser tolerance, or publish the test-set value with its CI."
    else:
        point = f"Unfairness is {here} on the {seen} and {test.value:.3f} on the {unseen}."
        asked = _UNASKED.get(config.method, "Nothing was asked for.").format(epsilon=epsilon_text(config.epsilon)) + " "
    apart = model.difference_test
    return Finding(
        point=point,
        evidence=f"{asked}95% CI on the {unseen}: {test.low:.3f} to {test.high:.3f}. Accuracy there: "
        f"{percent(model.accuracy_test)}. Baseline, always the more frequent label: {percent(model.majority_test)}. "
        f"{METRIC_TITLES[config.metric]}: unfairness is the largest deviation of a group from the overall rate of "
        f"positive predictions{_AMONG[config.metric]}. {difference_title(config.metric)}: "
        f"{tolerance_text(model.difference_train)} on the {seen}, {apart.value:.3f} on the {unseen} "
        f"({apart.low:.3f} to {apart.high:.3f}).",
        so_what="A tolerance you publish should hold for new people too; this one does not." if todo else "",
        to_do=todo,
        estimate=test,
    )


def cautions(subject: Subject) -> tuple[str, ...]:
    """Return what a user of this model must know, a sentence or two each."""
    config, found = subject.config, []
    if not subject.sets_known:
        found.append(
            "Your table does not say whom the model was trained on. The people attacked and the others are drawn with "
            "the seed, and membership of the predictions cannot be attacked."
        )
    if not subject.has_scores:
        found.append("Your table gives predicted labels without scores: what needs scores is not run.")
    if subject.model.needs_sensitive:
        found.append(
            f"This method must be told each person's {subject.attribute} to predict, now and after its release."
        )
    if config.method == "dp_id3" and math.isinf(config.epsilon):
        found.append("With ε = ∞ no noise is added: this is the plain tree, and it promises no privacy.")
    elif config.method == "dp_id3":
        found.append(
            f"The tree is {epsilon_text(config.epsilon)}-differentially private for one training record more or less, "
            "assuming public categories and value ranges and a secret noise seed. Here the seed is visible: use the "
            "result for study, not as a private release. The measured figures are not private. It is no fairness "
            "method."
        )
    if config.method not in ("exponentiated_gradient", GIVEN) and config.tolerance > 0:
        why = ": this method always aims at 0" if config.method == "threshold_optimizer" else " by this method"
        found.append(f"The tolerance in the settings is not used{why}.")
    return tuple(found)


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


_ASSUMED = ("The test records are a sample of the people the model will decide about.",)


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
        assumptions=_ASSUMED,
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
        assumptions=_ASSUMED,
        details={f"accepted among {group}": rate.value for group, rate in rates.items()},
    )


def rate_ratio(lower: Estimate, upper: Estimate) -> Estimate:
    """Return the smaller of two rates over the larger, at most 1, with its interval.

    Both have Wilson intervals at one level. Both 0 is a ratio of 1 of which nothing is known.
    """
    n = lower.n + upper.n
    if not upper.value:
        return Estimate(value=1.0, low=0.0, high=1.0, n=n, level=upper.level)
    if not lower.value:
        return Estimate(value=0.0, low=0.0, high=min(1.0, lower.high / upper.low), n=n, level=upper.level)
    ratio = weighted_sum([(1.0, _logarithm(lower)), (-1.0, _logarithm(upper))])
    low, high = math.exp(ratio.low), math.exp(ratio.high)
    if high >= 1.0:  # the other group may be the one accepted less
        low, high = min(low, 1.0 / high), 1.0
    return replace(ratio, value=lower.value / upper.value, low=low, high=high)


def _logarithm(rate: Estimate) -> Estimate:
    return replace(rate, value=math.log(rate.value), low=math.log(rate.low), high=math.log(rate.high))


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
    columns = ("unfairness", "low", "high")
    apart = ("difference between groups", "difference, low", "difference, high")
    for records, value, gap in (
        ("training", (model.unfairness_train, None, None), (model.difference_train, None, None)),
        ("unseen", _ends(model.unfairness_test), _ends(model.difference_test)),
    ):
        numbers = zip((*columns, *apart), (*value, *gap), strict=True)
        yield {"records": records, "asked": asked, **dict(numbers)}


def _ends(found: Estimate) -> tuple[float, float, float]:
    return found.value, found.low, found.high


@dataclass(frozen=True, slots=True, kw_only=True)
class FairnessSettings(Settings):
    """Nothing: metric and tolerance are the audit's."""


def _accepting(seed: int, planted: bool) -> tuple[Subject, FairnessSettings]:
    """Return a model that accepts by chance, or one group much more often."""
    sizes, lean = (400, 400, 400), 0.2 if planted else 0.0
    rng = child_generator(seed, f"fairness, lean {lean:g}")
    people = draw_people(sum(sizes), rng)
    chance = 0.5 + lean * (2.0 * people.sensitive - 1.0)
    answers = (rng.random(sum(sizes)) < chance).astype(np.uint8)
    return subject_of(people, answers, sizes, seed=seed), FairnessSettings()


class FairnessStudy(Study[FairnessSettings, Subject]):
    """How far the groups' rates are from the overall rate; the subject itself is the result."""

    name = "model_fairness"
    title = "Fairness of the model"
    settings = FairnessSettings
    declared = DECLARED

    plants = (
        Plant(
            attack="Unfairness of the model",
            told="Null: a model that accepts by chance. Planted: one that accepts one group much more often.",
            make=_accepting,
            limits={"unfairness": 0.05, "four_fifths": 0.8},
        ),
    )

    def steps(self, subject: Subject, settings: FairnessSettings) -> int:
        """Return 0: a subject's model is measured already."""
        return 0

    def run(self, subject: Subject, settings: FairnessSettings, report: Report | None = None) -> Iterator[Subject]:
        """Yield the subject, whose model is measured as it is trained."""
        yield subject

    def findings(self, result: Subject, settings: FairnessSettings) -> tuple[Finding, ...]:
        """Return whether the constraint holds, and what a user of the model must know."""
        return (headline(result), *(Finding(point=caution) for caution in cautions(result)))

    def checks(self, result: Subject, settings: FairnessSettings) -> Mapping[str, Measurement]:
        """Return unfairness and ratio of acceptance rates on the test records."""
        return {"unfairness": unfairness(result), "four_fifths": four_fifths(result)}

    def tables(self, result: Subject, settings: FairnessSettings) -> Mapping[str, tuple[Row, ...]]:
        """Return the groups' rates."""
        return {"Rates by group": tuple(rate_rows(result))}


STUDY = FairnessStudy()
