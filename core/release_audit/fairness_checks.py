"""What the fairness promise gives away (Ferry et al. 2023), and how fair the model is.

What attackers are told of the model's fairness is true. One who believes a false promise misleads herself, and that she
gains nothing says nothing about the release: where the plan's tolerance is below the model's unfairness on these
records, she is told the smallest that is not.

A ratio of two rates has the interval of its logarithm: the distances of each rate's logarithm to those of its Wilson
limits add as squares (Zou and Donner 2008). A rate of 0 has no logarithm; the ratio is then 0, and its upper end the
largest of the one rate over the smallest of the other.
"""

from __future__ import annotations

import itertools
import math

from core import leak
from core.audit import AttackFindings, attack_model
from core.correction import Attribution, Disclosure, disclose, gain_of_best, true_tolerance
from core.datasets.splits import known_shares
from core.estimates import Estimate, least, strongest, tolerance_text
from core.fairness import METRIC_TITLES, difference_title, group_rates
from core.release_audit.inputs import Audited
from core.study import Measurement, not_run

CORRECTED = {
    "features": "the paper's attacker (A)",
    "predictions": "the paper's attacker with the predictions (A′)",
    "strong": "gradient boosting",
    "strong_predictions": "gradient boosting with the predictions",
}
"""Attackers that are told the fairness promise, and what a sentence calls them."""

INFERENCE_STEPS = sum(len(kinds) for kinds in leak.KINDS.values())


def tolerance_told(audited: Audited) -> float:
    """Return the plan's tolerance, raised in steps of 0.001 until it is true of the attacked records."""
    return true_tolerance(audited.config.tolerance, audited.model.unfairness_train)


def attack_of(audited: Audited, kind: str) -> AttackFindings:
    """Return one of `core.audit.ATTACKERS`, which keeps records of its own apart to tune on."""

    def make() -> AttackFindings:
        found = attack_model(
            kind, "held_out", audited.dataset, audited.splits, audited.model.predictions, config=audited.config
        )
        audited.progress.tick()
        return found

    return audited.once(f"attack {kind}", make)


def attribution_of(audited: Audited, name: str) -> Attribution:
    """Return the steps of one of the attackers of `core.leak.KINDS`."""

    def make() -> Attribution:
        attacks = {kind: attack_of(audited, kind) for kind in leak.KINDS[name]}
        prior = known_shares(audited.dataset, audited.splits)
        return leak.attribution_of(name, attacks, audited.config, prior, tolerance=tolerance_told(audited))

    return audited.once(f"attribution {name}", make)


def disclosure_of(audited: Audited, kind: str, tolerance: float | None = None) -> Disclosure:
    """Return what one attacker gains from a tolerance; from the plan's, raised until it is true, when left out."""

    def make() -> Disclosure:
        found = attack_of(audited, kind)
        return disclose(
            found.attacked,
            found.held_out,
            tolerance=audited.config.tolerance if tolerance is None else tolerance,
            metric=audited.config.metric,
            raise_until_true=tolerance is None,
            seed=audited.config.seed,
        )

    return audited.once(f"disclosure {kind} {'true' if tolerance is None else repr(tolerance)}", make)


_MAJORITY = "the majority guess"


def correction_gain(audited: Audited) -> Measurement:
    """Return what a true tolerance adds to the best attacker told nothing; see `core.correction.gain_of_best`."""
    found = {kind: disclosure_of(audited, kind) for kind in CORRECTED}
    any_one = next(iter(found.values()))
    unsolved = [CORRECTED[kind] for kind, told in found.items() if told.after is None]
    if len(unsolved) == len(found):
        says = any_one.certificate.status
        reason = f"No correction with tolerance {any_one.used:g} was found: the solver says {says}."
        return not_run("correction_gain", reason)
    if unsolved:
        return not_run("correction_gain", f"The correction of {unsolved[0]} was not solved, so the best is unknown.")
    attacked = {kind: attack_of(audited, kind).attacked for kind in found}
    before = {CORRECTED[kind]: told.before for kind, told in found.items()} | {_MAJORITY: any_one.majority}
    after = {CORRECTED[kind]: told.after for kind, told in found.items() if told.after} | {_MAJORITY: any_one.majority}
    first, last = (strongest(each)[0] for each in (before, after))
    metric, promised = METRIC_TITLES[audited.config.metric].lower(), audited.config.tolerance
    false = f"{told} " if (told := false_promise(promised, any_one.achieved)) else ""
    return Measurement(
        check="correction_gain",
        estimate=gain_of_best(attacked, found, raise_until_true=True, seed=audited.config.seed),
        control=before[first],
        control_name="the best attacker, told nothing",
        attacked=(
            f"{false}The {audited.attribute} of {audited.trained_on}, by {len(found)} attackers and the majority "
            f"guess: best before the promise is {first}, best after it {last}."
        ),
        knows=(
            f"Features, label and prediction of everybody, the {audited.attribute} of {audited.splits.known.size:,} "
            f"other people, and the promise of {metric} within {any_one.used:g}."
        ),
        assumptions=(
            *audited.over_people,
            f"{_truth(promised, any_one)} {difference_title(audited.config.metric)}: "
            f"{audited.model.difference_train:.4f}.",
            "The interval holds for the attackers tried together.",
        ),
        details={
            **_details(found),
            "best before": before[first].value,
            "best after": after[last].value,
            "tolerance promised": promised,
            "difference between groups on these records": audited.model.difference_train,
        },
    )


def false_promise(promised: float, achieved: float) -> str:
    """Return in one sentence that a promise is false, and what the attackers were told; "" where it is true.

    `promised` is the plan's tolerance, `achieved` the unfairness on the attacked records.
    """
    told = true_tolerance(promised, achieved)
    if promised == told:
        return ""
    return f"Promised {promised:g}, true is {told:g}; the attackers were told {told:g}."


def _truth(promised: float, told: Disclosure) -> str:
    reached = tolerance_text(told.achieved, limit=promised)
    if told.used == promised:
        return f"The promise is true: the unfairness on these records is {reached}."
    return (
        f"The promise of {promised:g} is false: the unfairness on these records is {reached}. Whoever "
        f"believes a false promise is misled, so the attackers were told {told.used:g}, the smallest that is true in "
        "steps of 0.001."
    )


def _details(found: dict[str, Disclosure]) -> dict[str, float]:
    details = {}
    for kind, told in found.items():
        details[f"{CORRECTED[kind]}, before"] = told.before.value
        if told.after is not None and told.gain is not None:
            details[f"{CORRECTED[kind]}, after"] = told.after.value
            details[f"{CORRECTED[kind]}, gain"] = told.gain.value
    return details | {
        "majority guess": told.majority.value,
        "tolerance told": told.used,
        "unfairness on these records": told.achieved,
    }


def unfairness(audited: Audited) -> Measurement:
    """Return the unfairness on the test records, by the audited metric, and beside it the difference between groups."""
    model, metric = audited.model, METRIC_TITLES[audited.config.metric]
    difference = difference_title(audited.config.metric)
    between, names = model.difference_test, [row.group for row in audited.dataset.groups()]
    groups = f"{names[0]} and {names[1]}" if len(names) == 2 else f"{len(names)} groups by {audited.attribute}"
    return Measurement(
        check="unfairness",
        estimate=model.unfairness_test,
        attacked=(
            f"{metric} between {groups} on {audited.splits.test.size:,} test records: largest deviation of a "
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
            "tolerance promised": audited.config.tolerance,
        },
    )


def four_fifths(audited: Audited) -> Measurement:
    """Return the smallest ratio of two groups' acceptance rates on the test records."""
    test = audited.splits.test
    predictions, groups = audited.model.predictions[test], audited.dataset.sensitive[test]
    found = group_rates(predictions, groups, metric="statistical_parity")
    rates = {audited.dataset.group_names[int(rate.group)]: rate.rate for rate in found}
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
