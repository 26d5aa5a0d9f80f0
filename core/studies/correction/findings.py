"""What reconstruction correction finds, in sentences and tables: those of page, terminal, report and files.

Names of groups and columns stand as they are in the table: who shows a sentence makes them harmless.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ...adversaries import STRONG, TunedForest
from ...models import GIVEN_PREDICTIONS, PRIVATE_METHODS, TOLERANCE_METHODS
from ...stats.estimates import (
    Estimate,
    Quantity,
    Row,
    change,
    change_decimals,
    count,
    difference,
    ends_text,
    epsilon_text,
    gap,
    interval,
    number_text,
    percent,
    points,
    share,
    tolerance_text,
)
from ...stats.fairness import difference_title, keeps
from ..study import Finding
from .attribute_attacks import ATTACKERS, CorrectionResult, MoreDisclosed
from .attribution import MEASURES, STEP_TITLES, Attribution
from .disclosure import Disclosure
from .exact import true_tolerance

_FEW = 400
"""Attacked people below which an accuracy is known to about ±5 points at best."""

ONLY_THE_DIFFERENCE = (
    "The tolerance adds the difference between before and after. It is the model's leak as far as it goes beyond "
    "imputation without the model."
)

_NONE = "has no statistically significant effect"

HELD_OUT = "held-out protocol"
"""Protocol of attribution, checks and curves, where the headline's is the paper's."""

HELD_OUT_BELOW = (
    "Attribution, checks and the tables that say so are by the held-out protocol: learned from the attack records, "
    "exponent chosen on the validation records."
)


def first_tolerance(result: CorrectionResult) -> float:
    """Return what is disclosed at first: the tolerance of the settings, else the smallest that holds."""
    if result.config.method in (*TOLERANCE_METHODS, GIVEN_PREDICTIONS):
        return result.config.tolerance
    return math.ceil(1000 * result.model.unfairness_train - 1e-9) / 1000


def headline(
    result: CorrectionResult, now: Disclosure, *, adversary: str, as_published: bool = False
) -> Finding:
    """Return what disclosing the tolerance changes, beside imputation and the majority-class baseline."""
    point, to_do = _point_and_advice(result, now, adversary)
    beside = f"Baseline, always “{_majority(result, now)}”: {percent(now.majority)}."
    if adversary not in STRONG:
        beside = f"Imputation without the model: {percent(result.strong)}. {beside}"
    people = (now.after or now.before).n
    few: tuple[str, ...] = ()
    if people < _FEW:
        few = (f"People attacked: {count(people)}. Take it as a hint.",)
    return Finding(
        point=point,
        evidence=f"{_accuracies(now, result.subject.attribute)} {beside}",
        so_what=f"{_reservations(result, now, adversary)}{ONLY_THE_DIFFERENCE}",
        to_do=to_do,
        caveats=(*few, *_protocol(now, as_published, adversary)),
        estimate=now.after,
        baseline=now.majority,
        attacker_knows=", ".join(attacker_knowledge(result, adversary)[0]),
    )


def _majority(result: CorrectionResult, now: Disclosure) -> str:
    """Return the name of the largest group."""
    return result.group_names[max(now.groups, key=lambda group: now.groups[group][0].n)]


def _point_and_advice(result: CorrectionResult, now: Disclosure, adversary: str) -> tuple[str, str]:
    """Return what disclosure changes for an attacker, and what can be done about it."""
    if now.after is None or now.gain is None:
        if now.certificate.status == "not_solved":
            verb = "found to meet"
        else:
            verb = "meets"
        point = f"No correction {verb} tolerance {tolerance_text(now.used)}; {_smallest(now)}."
        return point, "Disclose a looser tolerance to see what it would reveal."
    who = ATTACKERS[adversary]
    start, _, gain = _adding_up(now)
    if result.config.forest is not None and adversary not in STRONG:
        who += " (tuned)"
    if not now.is_true:
        return _false_tolerance(now, who)
    if now.gain.low > 0:
        point = f"Publishing the fairness tolerance helps {who} by {gain}, from {start}"
        if adversary not in STRONG and difference(result.strong, now.after).low > 0:
            return (
                f"{point}, but imputation without the model does better still.",
                f"This is no leak of the model: imputation alone reaches {percent(result.strong)}. The report judges "
                "the best attacker, not this one.",
            )
        return (
            f"{point}.",
            "Publish a looser tolerance if this gain matters to you; the report judges the best attacker's.",
        )
    if now.gain.high < 0:
        point = f"Publishing the fairness tolerance misleads {who}: {gain}, from {start}."
        return point, "Do not count on it: an attacker who knows the group proportions may gain."
    point = f"Publishing the fairness tolerance {_NONE} on {who}."
    return point, "Repeat it with other seeds before you rely on it."


def _false_tolerance(now: Disclosure, who: str) -> tuple[str, str]:
    """Return what believing a false tolerance changes for an attacker, and that it must not be published."""
    effect = "not statistically significant"
    if now.gain is not None and (now.gain.low > 0 or now.gain.high < 0):
        start, _, gain = _adding_up(now)
        effect = f"{gain}, from {start}"
    reached = tolerance_text(now.achieved, limit=now.used)
    holds = tolerance_text(math.ceil(1000 * now.achieved - 1e-9) / 1000)
    return (
        f"Tolerance {tolerance_text(now.used)} is false for this model: unfairness {reached}. "
        f"Effect of believing it on {who}: {effect}.",
        f"Do not publish it: it is not true. The smallest tolerance that holds is {holds}.",
    )


def _accuracies(now: Disclosure, attribute: str) -> str:
    """Return the accuracy before and after disclosure, and the gain."""
    if now.after is None or now.gain is None:
        return f"Accuracy at inferring {attribute} stays at {percent(now.before)} (95% CI {interval(now.before)})."
    before, after, _ = _adding_up(now)
    return (
        f"Accuracy at inferring {attribute}: {before} before, {after} after disclosure of "
        f"{tolerance_text(now.used)} (95% CI {interval(now.after)}; {count(now.after.n)} people). "
        f"Gain {_change(now.gain)}."
    )


def _adding_up(now: Disclosure) -> tuple[str, str, str]:
    """Return the accuracy before and after, and the gain in points, with the decimals by which they add up."""
    assert now.after is not None and now.gain is not None
    decimals = change_decimals(now.before, now.after, now.gain)
    before, after = (percent(rate, decimals=decimals) for rate in (now.before, now.after))
    return before, after, points(now.gain, decimals=decimals)


def _reservations(result: CorrectionResult, now: Disclosure, adversary: str) -> str:
    """Return where the attacker is worse than the baseline, and where a gain is in the larger groups alone."""
    reservations = ""
    if adversary not in STRONG and (now.after or now.before).high < now.majority.value:
        reservations = (
            f"This attacker is worse than always guessing “{_majority(result, now)}”: "
            "it over-predicts small groups. "
        )
    falls = now.balanced_after is not None and now.balanced_after.value < now.balanced_before.value
    if falls and now.gain is not None and now.gain.low > 0:
        reservations += (
            f"The gain is in the larger groups: balanced accuracy falls, {_balanced(now)}. "
        )
    return reservations


def _balanced(now: Disclosure) -> str:
    if now.balanced_after:
        return f"{percent(now.balanced_before)} → {percent(now.balanced_after)}"
    return ""


def _smallest(now: Disclosure) -> str:
    if now.certificate.status == "not_solved":
        return "the time was up"
    if now.smallest_tolerance is None or now.smallest_tolerance > 1:
        return "no tolerance can be met"
    least = now.smallest_tolerance
    if least >= 5e-5:
        least = math.ceil(1e4 * least - 1e-11) / 1e4  # rounded down it could not be met
    return f"the smallest that can be met is {tolerance_text(least)}"


def _protocol(now: Disclosure, as_published: bool, adversary: str) -> tuple[str, ...]:
    if not as_published:
        return ()
    if now.used > now.disclosed_tolerance:
        raised = f"; tolerance raised from {tolerance_text(now.disclosed_tolerance)} until it holds"
    else:
        raised = ""
    if adversary in STRONG:
        return (
            f"Paper's protocol{raised}; imputation is not in the paper and tunes on its own people.",
        )
    return (
        f"Paper's protocol: learned from all known people, exponent chosen on the test set{raised}.",
        HELD_OUT_BELOW,
    )


def _change(gain: Estimate) -> str:
    """Write a change in points with its interval; one that excludes 0 has no limit that looks like it."""
    scaled = [100 * number for number in (gain.value, gain.low, gain.high)]
    if gain.low > 0 or gain.high < 0:
        places = _places(scaled, 1, 3)
    else:
        places = 1
    value, low, high = (gap(number, decimals=places) for number in scaled)
    return f"{value} points ({low} to {high})"


def _places(numbers: Sequence[float], least: int, most: int) -> int:
    """Return with how many decimals the smallest of some numbers, 0 left aside, does not look like 0."""
    smallest = min((abs(number) for number in numbers if number), default=1.0)
    return min(max(least, math.ceil(-math.log10(2 * smallest))), most)


def attacker_knowledge(result: CorrectionResult, adversary: str) -> tuple[list[str], list[str]]:
    """Return what the attacker knows, and what not."""
    roles = result.subject.dataset.roles
    if adversary in ("features", "strong"):
        predictions = "predictions (used in the correction only)"
    else:
        predictions = "predictions"
    features = f"{len(result.subject.dataset.feature_names)} features"
    return [features, roles.label, predictions, "metric", "tolerance"], [
        roles.attribute,
        "group proportions",
    ]


def certificate(now: Disclosure) -> Finding:
    """Return what the solver did, and how its answer was checked."""
    proof = now.certificate
    used = tolerance_text(now.used)
    if len(now.groups) == 2:
        solver = "Exact two-group solver"
    else:
        solver = "Certified solver for many groups"
    if now.n_changed is None or now.after is None:
        if proof.status == "not_solved":
            missing = "was found in time"
        else:
            missing = "exists"
        return Finding(point=f"No correction {missing} at tolerance {used}.", evidence=f"{solver}.")
    optimal = proof.status == "optimal"
    changed = f"Guesses changed: {count(now.n_changed)} of {count(now.before.n)}"
    if now.n_changed and now.n_right is not None:
        changed += f". Correct changes: {100 * now.n_right / now.n_changed:.0f}%"
    if now.balanced_after:
        changed += f". Balanced accuracy {_balanced(now)}"
    reached = tolerance_text(now.reached, limit=now.used)
    if optimal:
        point = "Correction solved to proven optimality."
    else:
        point = "Correction feasible, not proven optimal."
    return Finding(
        point=point,
        evidence=f"{changed}. Largest deviation on the corrected guesses: {reached}, at most {used} was asked. "
        f"{solver}.",
    )


def certificate_row(now: Disclosure) -> Row:
    """Return the solver's certificate as a row of a table."""
    proof = now.certificate
    return {
        "status": str(proof.status).replace("_", " "),
        "cost of the changes": proof.objective,
        "lower bound of the cost": proof.best_bound,
        "deviation beyond what is disclosed": proof.residual,
        "solver": proof.solver,
        "seconds": proof.seconds,
    }


def privacy_noise(result: CorrectionResult, now: Disclosure) -> Finding | None:
    """Return what DP training noise did and did not do to the attack; None for other methods."""
    config = result.config
    if config.method not in PRIVATE_METHODS:
        return None
    if math.isinf(config.epsilon):
        return Finding(
            point="Trained without DP training noise (ε = ∞).",
            evidence="A smaller ε shows its effect.",
        )
    changes = "no correction meets the tolerance"
    if now.gain is not None:
        changes = f"the tolerance changes accuracy by {_change(now.gain)}"
        if not (now.gain.low > 0 or now.gain.high < 0):
            changes += ", no statistically significant effect"
    return Finding(
        point=f"Trained with DP training noise, ε = {epsilon_text(config.epsilon)}.",
        evidence=f"It hides whether one record was used. It does not stop imputation from other columns "
        f"({percent(result.strong)}). Nor does it hide what the model does to groups: {changes}.",
    )


def truth_of(now: Disclosure, tolerance: float, difference: float) -> Finding:
    """Return whether a disclosed tolerance holds for the model on the attacked records, by both measures.

    `tolerance` is that of the sentence: the one disclosed, or the one it was raised to.
    """
    holds = keeps(now.achieved, tolerance)
    if holds:
        says = "The disclosed tolerance holds"
    else:
        says = "The disclosed tolerance does not hold"
    if tolerance > now.disclosed_tolerance:
        says = (
            f"Tolerance {tolerance_text(now.disclosed_tolerance)} does not hold; raised to "
            f"{tolerance_text(tolerance)}, it does"
        )
    reached = tolerance_text(now.achieved, limit=tolerance)
    if not holds:
        reached += f", above {tolerance_text(tolerance)}"
    evidence = (
        f"The model's unfairness on these records (largest deviation of a group from the overall rate) is {reached}. "
        f"{difference_title(now.metric)}: {tolerance_text(difference)}."
    )
    so_what = ""
    if not holds:
        so_what = "An attacker who believes it uses a false claim: guesses may get better or worse."
    return Finding(
        point=f"{says}.",
        evidence=evidence,
        so_what=so_what,
    )


def false_promise(promised: float, achieved: float) -> str:
    """Return in one sentence that a disclosed tolerance does not hold, and which one was used; "" where it is true.

    `promised` is the plan's tolerance, `achieved` the unfairness on the attacked records.
    """
    applied = true_tolerance(promised, achieved)
    if promised == applied:
        return ""
    return f"The disclosed tolerance {promised:g} does not hold; the attackers used {applied:g}, which does."


def permutation(control: Disclosure) -> Finding:
    """Return what the same constraint changes with the predictions of other people."""
    changes = "no correction meets the tolerance"
    if control.gain is not None:
        changes = f"the same constraint changes accuracy by {_change(control.gain)}"
    return Finding(
        point=f"Permutation control: with shuffled predictions {changes}.", estimate=control.gain
    )


def held_out(result: CorrectionResult, adversary: str, as_published: bool) -> Finding:
    """Return how good the attacker is on the people they tune on."""
    published = as_published and adversary not in STRONG
    _, own_records = result.attack(adversary, as_published=as_published)
    estimate = own_records.accuracy
    if published:
        tuning_set = "the test set"
    else:
        tuning_set = "the attacker's validation set"
    return Finding(
        point=f"Accuracy before disclosure on {tuning_set}: {percent(estimate)} (95% CI {interval(estimate)}).",
        estimate=estimate,
    )


def by_tolerance(curve: Sequence[Disclosure]) -> str:
    """Return what the curve over disclosed tolerances shows."""
    gains = [disclosure.gain for disclosure in curve if disclosure.gain is not None]
    if not gains:
        return "No correction exists at any tolerance"
    if not any(gain.low > 0 for gain in gains):
        harmed = sum(gain.high < 0 for gain in gains)
        if harmed in (0, len(gains)):
            if harmed:
                return "Disclosing the tolerance lowers accuracy"
            return f"Disclosing the tolerance {_NONE}"
    tightest = gains[0]
    loosest = gains[-1]
    if tightest.low > max(0.0, loosest.high) and max(gain.value for gain in gains) <= tightest.high:
        return "Tighter disclosed tolerances help this attack more"
    return "Accuracy by disclosed tolerance"


def constraint_effect(leak: Attribution) -> Finding:
    """Return what the constraint changes once the group proportions are known, as far as its interval supports."""
    effect = leak.step("constraint").changes["accuracy"]
    target = f"the {leak.attacker} attacker's accuracy"
    false = leak.n_seeds - leak.n_true
    caveats = (
        (f"The disclosed tolerance does not hold. Seeds: {false} of {leak.n_seeds}.",)
        if false
        else ()
    )
    opening = "Once group proportions are known, the tolerance"
    if effect.n == 0:
        return Finding(
            point=f"{opening}'s effect on {target} could not be measured.", caveats=caveats
        )
    scaled = [100 * number for number in (effect.value, effect.low, effect.high)]
    places = _places(scaled, 1, 3)
    value, low, high = (gap(number, decimals=places) for number in scaled)
    if effect.over == "seeds":
        over = f"{effect.n} seeds"
    else:
        over = f"{count(effect.n)} people, one seed"
    if effect.low > 0:
        point = f"{opening} raises {target} by {value.lstrip('+−')} points."
    elif effect.high < 0:
        point = f"{opening} lowers {target} by {value.lstrip('+−')} points."
    else:
        point = f"{opening} {_NONE} on {target}: {value} points."
    evidence = f"{100 * effect.level:.0f}% CI over {over}: {low} to {high}. {_from_to(leak)}"
    return Finding(
        point=point, evidence=evidence.strip(), caveats=caveats, estimate=effect.estimate
    )


def _from_to(leak: Attribution) -> str:
    """Return the constraint's step with its baseline: what the step that it builds on reaches, and what it reaches."""
    step = leak.step("constraint")
    if not step.builds_on:
        return ""
    before = leak.step(step.builds_on).values["accuracy"]
    after = step.values["accuracy"]
    return f"Without the tolerance {percent(before.value)}, with it {percent(after.value)}."


def signed(value: float, low: float, high: float) -> str:
    """Write a change in points without the word, with the limits of its interval where they are known."""
    change = number_text(100 * value, "+.1f")
    if math.isnan(low):
        return change
    return f"{change} ({ends_text(100 * low, 100 * high, '+.1f')})"


def tuning(forest: TunedForest) -> Finding:
    """Return what the search for hyper-parameters found beside the published ones."""
    best = forest.balanced
    published = forest.pinned_balanced
    is_distinct = best.low > published.high or best.high < published.low
    overlap = ""
    if not is_distinct:
        overlap = " The intervals of the balanced accuracies overlap."
    return Finding(
        point=f"The search finds a forest with balanced accuracy {percent(best)}, the published one has "
        f"{percent(published)}",
        evidence=f"Accuracy on held-out people: {percent(forest.accuracy)}, published "
        f"{percent(forest.pinned_accuracy)}; baseline {percent(forest.majority)}.{overlap} "
        "Drawn: balanced accuracy on the tuning set, by trial.",
    )


_MORE = {
    "bound": "the tolerance",
    "bound_shares": "tolerance and group proportions",
    "exact": "the exact unfairness",
    "exact_shares": "exact unfairness and group proportions",
    "all_metrics": "three metrics at once",
}


def stronger_disclosure(disclosures: Sequence[MoreDisclosed], tolerance: float) -> Finding:
    """Return what disclosing more than a bound changes, and which answers are proved."""
    by_name: Mapping[str, MoreDisclosed] = {more.knowledge: more for more in disclosures}
    bound = by_name["bound"].after
    shares = by_name["bound_shares"].after
    more_by_shares = bound is not None and shares is not None and shares.low > bound.high
    proved = sum(more.certificate.status == "optimal" for more in disclosures)
    if more_by_shares:
        point = "Group proportions leak more than the tolerance"
    else:
        point = "Stronger disclosure"
    return Finding(
        point=point,
        evidence=f"Answers proved optimal: {proved} of {len(disclosures)}. All start from the same guess and cost. "
        f"The tolerance is {tolerance_text(tolerance)}, as disclosed; exact unfairness and group proportions are those "
        "of the attacked people. The three metrics have the smallest tolerances that hold. Only the interval of the "
        "tolerance alone resamples the correction; the others take the changed guesses as given, which is narrower.",
        caveats=tuple(
            f"No correction with {_MORE[more.knowledge]}: {more.reason}"
            for more in disclosures
            if more.after is None
        ),
    )


# Tables

_TITLES = {
    "accuracy": "accuracy",
    "balanced_accuracy": "balanced accuracy",
    "log_loss": "log-loss (nats a person)",
}


def step_rows(leak: Attribution) -> Iterator[Row]:
    """Yield what an attacker reaches at each step, and what the step changes."""
    for step in leak.steps:
        row: dict[str, Any] = {"step": STEP_TITLES[step.step]}
        for measure in MEASURES:
            title = _TITLES[measure]
            cell = Quantity if measure == "log_loss" else share
            row[title] = cell(step.values.get(measure))
            unit = "" if measure == "log_loss" else "points"
            changed = step.changes.get(measure)
            row[f"{title}, change"] = Quantity(changed, unit, signed=True) if step.changes else None
        row["builds on"] = STEP_TITLES[step.builds_on] if step.builds_on else ""
        row |= {"seeds": step.n_seeds, "interval over": step.values[MEASURES[0]].over}
        yield row | {"note": " ".join(step.reasons)}


def disclosure_row(disclosure: Disclosure) -> dict[str, Any]:
    """Return a correction of one guess."""
    return {
        "metric": disclosure.metric,
        "disclosed tolerance": disclosure.disclosed_tolerance,
        "tolerance used": disclosure.used,
        "model's unfairness": disclosure.achieved,
        "baseline": share(disclosure.majority),
        "accuracy before": share(disclosure.before),
        "accuracy after": share(disclosure.after),
        "gain": change(disclosure.gain),
        "balanced accuracy before": share(disclosure.balanced_before),
        "balanced accuracy after": share(disclosure.balanced_after),
        "guesses changed": disclosure.n_changed,
        "correct changes": disclosure.n_right,
        "exponent": disclosure.exponent,
        "solver status": str(disclosure.certificate.status),
    }
