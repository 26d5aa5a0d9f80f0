"""What AttriGuard's studies found, in sentences and tables: those of page, terminal, report and files."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np

from ...base.validation import Floats
from ...stats.estimates import (
    Estimate,
    Quantity,
    Row,
    count,
    gap,
    interval,
    mean,
    percent,
    share,
    strongest,
)
from ...stats.fairness import difference_title
from ..study import Finding
from .allocation import Concentration
from .attackers import ADVERSARIAL, attacker_label, knows_the_noise
from .comparators import Compared
from .defense import TableDefense
from .result import AttriGuardSettings, Exposure, ExposurePoint, strongest_point
from .utility import RECOMMENDED, Recommendation, UtilityPoint

_MOST_LISTED = 3
_ROUNDING = 1e-9


def surrogate_attacker(exposure: Exposure, defender: str) -> str:
    """Return the attacker of the surrogate classifier's kind, against whom the noise is found; else one like it."""
    if defender in ("logistic_smooth", "ranges"):
        surrogate = "logistic"
    else:
        surrogate = defender
    return min(exposure.attackers, key=lambda name: (name != surrogate, knows_the_noise(name)))


def findings(exposure: Exposure, settings: AttriGuardSettings) -> tuple[Finding, ...]:
    """Return who infers how much at the budget, and what the noise costs and takes."""
    return headline(exposure, settings), cost(exposure, settings.budget), noise_needed(exposure)


def headline(exposure: Exposure, settings: AttriGuardSettings) -> Finding:
    """Say whether AttriGuard misleads the attacker who ignores it, and the best attacker, at the budget."""
    budget = settings.budget
    balanced = settings.balanced
    defender = settings.defender
    now = exposure.at(budget)
    clean = exposure.undefended()
    surrogate = surrogate_attacker(exposure, defender)
    floor = exposure.baseline(balanced=balanced)
    current, was = (
        next(p.rate(balanced=balanced) for p in points if p.attacker == surrogate)
        for points in (now, clean)
    )
    first = strongest_point(now, balanced=balanced)
    best = first.rate(balanced=balanced)
    no_more = ", no more than the baseline" * (best.value <= floor.value)
    rival = "No attacker tried does better."
    intervals = interval(current)
    if first.attacker != surrogate:
        rival = f"Best attacker: {attacker_label(first.attacker)}, {_kind(first)} ({percent(best)}{no_more})."
        intervals = f"{intervals}, best attacker {interval(best)},"
    if budget:
        spent = f"Budget β = {budget:g} changed {exposure.unit} per person on average; "
        spent += f"{exposure.spent(budget).value:.2f} used. Without noise {percent(was)}. "
    else:
        spent = ""
    if balanced:
        measure = f"Balanced accuracy of inferring the {exposure.attribute}"
    else:
        measure = f"Accuracy of inferring the {exposure.attribute}"
    value = exposure.values[int(exposure.shares.argmax())]
    unhidden = strongest_point(clean, balanced=balanced).rate(balanced=balanced)
    protects = not _beats(now, floor, balanced=balanced)
    caveats: tuple[str, ...] = ()
    if not _beats(clean, floor, balanced=balanced):
        caveats = (
            f"Little to hide: even without noise the best attacker reaches only {percent(unhidden)}.",
        )
    so_what = ""
    to_do = ""
    if budget and not protects:
        so_what = "Obfuscation, not protection: plan for an adaptive attacker."
        to_do = "Read the highest curve, not the lowest; check the utility loss."
    return Finding(
        point=f"{_misled(surrogate, was, current, floor, exposure.attribute, settings)} {rival}"
        f"{_untrained(exposure, settings)}",
        evidence=f"{spent}{measure}: 95% CI {intervals} over {count(exposure.truth.size)} people. "
        f"Baseline: always “{value}”, {percent(floor)}.",
        so_what=so_what,
        to_do=to_do,
        caveats=caveats,
        estimate=best,
        baseline=floor,
        attacker_knows="Records of other people with their values, and, if adaptive, how the noise is made.",
    )


def _misled(
    surrogate: str,
    before: Estimate,
    after: Estimate,
    floor: Estimate,
    attribute: str,
    settings: AttriGuardSettings,
) -> str:
    """Say what the noise does to the attacker it is found against."""
    name = attacker_label(surrogate)
    if not settings.budget:
        measure = "of {} of people correctly"
        if settings.balanced:
            measure = "with {} balanced accuracy"
        return f"Without noise, {name} infers the {attribute} {measure.format(percent(after))}."
    whom = "an attacker who ignores it"
    if knows_the_noise(surrogate):
        whom = "an adaptive attacker"
    if after.high < floor.value:
        below = f"{percent(after)}, below the {percent(floor)} baseline"
        return f"AttriGuard fools {whom} ({name}: {below})."
    return (
        f"AttriGuard leaves {whom} at {percent(after)} ({name}: {percent(before)} without noise)."
    )


def _beats(points: Sequence[ExposurePoint], floor: Estimate, *, balanced: bool) -> bool:
    """Whether the best attacker does better than the baseline, although picked among several."""
    rates = {point.attacker: point.rate(balanced=balanced) for point in points}
    return strongest(rates, within=(0.0, 1.0))[1].low > floor.value


def _kind(point: ExposurePoint) -> str:
    if point.attacker.startswith("adversarial"):
        return "trained on noise"
    if knows_the_noise(point.attacker):
        return "reckons with noise"
    return "ignores noise"


def _untrained(exposure: Exposure, settings: AttriGuardSettings) -> str:
    """Say so while no attacker is trained adversarially at every budget."""
    trained = Counter(guess.attacker for guess in exposure.guesses)
    if any(trained[name] >= len(settings.trained_at) for name in ADVERSARIAL):
        return ""
    is_planned = not settings.attackers or ADVERSARIAL.keys() & set(settings.attackers)
    if is_planned:
        return " Adversarial training is not trained yet."
    return " Adversarial training was not run."


def cost(exposure: Exposure, budget: float) -> Finding:
    """Say how much of a record is changed."""
    spent = exposure.spent(budget)
    low = f"{spent.low:.2f}"
    high = f"{spent.high:.2f}"
    if low < high:
        within = f"95% CI {low} to {high} over"
    else:
        within = "Over"
    return Finding(
        point=f"AttriGuard changes {spent.value:.2f} {exposure.unit} of a record on average.",
        evidence=f"{within} {count(exposure.truth.size)} people; the budget allows {budget:g} of "
        f"{count(exposure.n_entries)} on average.",
        estimate=spent,
    )


def noise_needed(exposure: Exposure) -> Finding:
    """Say how much noise it takes until another value is inferred, and how often none was found."""
    pairs = exposure.predicted[:, None] != np.arange(len(exposure.values))
    solved = pairs & exposure.reached
    point = "No noise was found that makes anybody be inferred as another value."
    if solved.any():
        point = f"Inferring another value takes {exposure.size[solved].mean():.2f} changed {exposure.unit} on average."
    missing = int(pairs.sum() - solved.sum())
    if not missing:
        return Finding(point=point, evidence="Noise was found for every person and value.")
    rates = {value: float((pairs & ~solved)[:, i].sum() / pairs[:, i].sum()) for i, value in enumerate(exposure.values)
             if (pairs & ~solved)[:, i].any()}  # fmt: skip
    hardest = sorted(rates, key=lambda value: -rates[value])
    hardest_text = ", ".join(
        f"“{value}” for {percent(rates[value])}" for value in hardest[:_MOST_LISTED]
    )
    if len(hardest) > _MOST_LISTED:
        more = f"; more values: {len(hardest) - _MOST_LISTED}"
    else:
        more = ""
    nobody = int((exposure.reached.sum(axis=1) <= 1).sum())
    caveats: tuple[str, ...] = ()
    if nobody:
        caveats = (f"People without any noise, who stay as they are: {count(nobody)}.",)
    return Finding(
        point=point,
        evidence=f"None was found for {count(missing)} of {count(int(pairs.sum()))} pairs of person and value: "
        f"{hardest_text} of the people inferred otherwise{more}. The share of such noise goes to the other values.",
        caveats=caveats,
    )


# Further questions


def person(exposure: Exposure, number: int, budget: float) -> Finding:
    """Say what is inferred of one person, and what the noise changes of them."""
    truth, inferred = (exposure.values[row[number]] for row in (exposure.truth, exposure.predicted))
    if truth == inferred:
        verdict = "correctly"
    else:
        verdict = f"but is “{truth}”"
    expected = float(exposure.mechanism(budget)[number] @ exposure.size[number])
    missing = [value for i, value in enumerate(exposure.values) if not exposure.reached[number, i]]
    if len(missing) > 5:
        remainder = f"; more values: {len(missing) - 5}"
    else:
        remainder = ""
    caveats: tuple[str, ...] = ()
    if missing:
        caveats = (f"No noise was found for {', '.join(missing[:5])}{remainder}.",)
    return Finding(
        point=f"Inferred as “{inferred}”, {verdict}; on average {expected:.2f} {exposure.unit} change",
        evidence=f"The {exposure.unit} that some noise changes: as they are, and with the noise for each value",
        caveats=caveats,
    )


def least_fooled(exposure: Exposure, fooled: Floats, *, finished: bool) -> Finding:
    """Say who is fooled least by the noise; `fooled` (attackers,) are shares of the noisy records."""
    least = int(np.argmin(fooled))
    name = attacker_label(exposure.attackers[least])
    share = percent(float(fooled[least]), decimals=0)
    if len(fooled) < 2:
        so_far = ""
    elif finished:
        so_far = " least:"
    else:
        so_far = " least so far:"
    return Finding(
        point=f"“{name}” is fooled{so_far} by {share} of this noise",
        evidence="Records with noise of which an attacker infers the target value",
    )


def margin_helps(
    fooled: Mapping[tuple[str, str], Estimate], sizes: Mapping[str, Estimate]
) -> Finding:
    """Say how much noise against logistic regression fools a network, without and with a margin."""
    plain, margin = (
        fooled[surrogate, "network"].value for surrogate in ("logistic", "logistic_margin")
    )
    changes = ", ".join(
        "no" if math.isnan(size.value) else f"{size.value:.1f}" for size in sizes.values()
    )
    if math.isnan(margin):
        more = "no noise was found"
    else:
        more = percent(margin, decimals=0)
    point = (
        f"{percent(plain, decimals=0)} of the noise against logistic regression fools a "
        f"network; with a margin {more}"
    )
    if math.isnan(plain):
        point = "No noise was found against logistic regression"
    return Finding(
        point=point,
        evidence=f"The same for noise found against each classifier; it changes {changes} ratings",
    )


def concentrated(concentration: Concentration, unit: str) -> Finding:
    """Say how few entries carry half of the noise."""
    half = int(np.searchsorted(np.cumsum(concentration.share), 0.5 - 1e-9)) + 1
    return Finding(
        point=f"Half of the noise is in {count(half)} of {count(concentration.n_entries)} {unit}",
        evidence="Share of all changes, each noise drawn as often as the target asks. Few places make it easy to leave "
        f"them out, as {attacker_label('dropping')} does",
    )


def decisions(
    before: UtilityPoint, after: UtilityPoint, majority: Estimate, metric: str
) -> Finding:
    """Say what the noise does to the audited model's accuracy and unfairness.

    The interval of the same people's change decides on one.
    """
    was = before.unfairness
    now = after.unfairness
    change = after.change
    limits = f"95% CI {now.low:.3f} to {now.high:.3f}"
    moved = f"by {gap(change.value)}, 95% CI {gap(change.low)} to {gap(change.high)}"
    change_text = f"changes from {was.value:.3f} to {now.value:.3f} ({moved})"
    if _is_unchanged(change):
        change_text = f"shows no significant change: {now.value:.3f} ({limits}), {was.value:.3f} without noise"
    return Finding(
        point=f"Model accuracy on the test set is {percent(after.accuracy)} instead of {percent(before.accuracy)}; "
        f"unfairness {change_text}",
        evidence=f"Unfairness: largest deviation of a group from the overall rate. {difference_title(metric)}: "
        f"{after.gap:.3f}, {before.gap:.3f} without noise. Accuracy, expected over the model's random draws: 95% CI "
        f"{interval(after.accuracy)} with noise, {interval(before.accuracy)} without. Baseline: always the more "
        f"frequent label, {percent(majority)}. "
        "AttriGuard is no fairness method: groups may be treated less alike than before",
    )


def recommendations(recommendation: Recommendation, budget: float) -> Finding:
    """Say how many of the items recommended are right; the interval of the same people's change decides on one."""
    precision = recommendation.at(budget)
    before = recommendation.before
    change = recommendation.change(budget)
    point = f"{percent(precision)} of the {RECOMMENDED} items recommended are right (95% CI {interval(precision)})"
    if _is_unchanged(change):
        point += f": no significant change from {percent(before)}"
    else:
        point += f", instead of {percent(before)}"
    return Finding(
        point=point,
        evidence=f"Right is what they rated: five ratings of each of {recommendation.clean.size} people "
        "were set aside, a "
        f"factorisation recommends from the others. Without noise 95% CI {interval(recommendation.before)}. "
        f"Baseline: the most popular items, {percent(recommendation.control)}",
    )


def _is_unchanged(change: Estimate) -> bool:
    """Whether the interval holds no change; sums over the noises differ in the last digits."""
    return change.low <= _ROUNDING and change.high >= -_ROUNDING


def other_defences(exposure: Exposure, budget: float, rows: Sequence[Compared]) -> Finding:
    """Say how much the other defences change."""
    sizes = sorted(row.size.value for row in rows)
    return Finding(
        point=f"AttriGuard changes {exposure.spent(budget).value:.1f} {exposure.unit} a person, the others "
        f"{sizes[0]:.1f} to {sizes[-1]:.1f}",
        evidence=f"Accuracy of attackers trained on clean ratings, over {count(exposure.truth.size)} people. BlurMe "
        "and ChiSquare know the true value, or take what logistic regression infers (guessed). An attacker trained on "
        "their noise is not among them",
    )


def plausible(defense: TableDefense) -> Finding:
    """Say how plausible the changed records are."""
    missing = int((~defense.noise.reached).sum())
    if missing:
        left = (
            f" For {count(missing)} pairs of person and value no noise was found: nothing changes."
        )
    else:
        left = ""
    return Finding(
        point=f"{percent(defense.plausible)} of the changed records hold only pairs of values that somebody has",
        evidence=f"{count(defense.plausible.n)} records with noise.{left} "
        f"Rules in force: {count(len(defense.rules))}",
    )


_AWARE: Mapping[str, str] = {
    "adversarial": "*adversarial training (AT-A)* learns on noisy records",
    "adversarial_logistic": "*adversarial logistic* does so by logistic regression",
    "distillation": "*defensive distillation (DD-A)* smooths its decisions",
    "region": "*region-based (RC-A)* asks around each record",
    "low_rank": "*low-rank denoising (LRA-A)* removes what does not fit a few patterns",
    "dropping": "*feature-dropping* ignores the {unit} that carry most noise",
}


def guide(exposure: Exposure, defender: str) -> str:
    """Explain what is computed, who attacks, and what it does not show; Markdown."""
    attribute = exposure.attribute
    unit = exposure.unit
    unaware = [
        attacker_label(name).lower() for name in exposure.attackers if not knows_the_noise(name)
    ]
    aware = [does.format(unit=unit) for name, does in _AWARE.items() if name in exposure.attackers]
    if unaware:
        who = f"Defense-unaware: *{', '.join(unaware)}* learn on clean records of other people."
    else:
        who = ""
    if aware:
        who += f" Adaptive: {'; '.join(aware)}."
    budgets = {guess.trained_at for guess in exposure.guesses if guess.trained_at is not None}
    if len(budgets) > 1:
        who += " Points show the adversarial attacker of the nearest budget."
    surrogate = attacker_label(surrogate_attacker(exposure, defender)).lower()
    return (
        f"**Setting.** For each person and value of {attribute}, AttriGuard searches a small change that makes the "
        f"surrogate ({surrogate}) predict that value. It draws one of them at random: at most β {unit} on "
        f"average.\n\n**Who attacks.** {who.strip()}\n\n**Read.** A point is the probability, over random "
        f"noise, that the true value is inferred. Dotted: the most frequent {attribute}.\n\n"
        "**What it does not show.** A small number means that this attacker is misled, not that nobody can do better."
        "\n\n**Source.** Jia and Gong, *AttriGuard*, USENIX Security 2018."
    )


# Tables


def value_rows(exposure: Exposure, budget: float) -> list[Row]:
    """Return how many people have each value, and how much noise it takes to be read as it, the least first."""
    used = exposure.mechanism(budget).mean(axis=0)
    pairs = exposure.predicted[:, None] != np.arange(len(exposure.values))
    solved = pairs & exposure.reached
    sizes = [mean(exposure.size[solved[:, i], i]) for i in range(len(exposure.values))]
    return [
        {
            exposure.attribute: exposure.values[i],
            f"{exposure.unit} changed, mean": Quantity(sizes[i]),
            "people inferred otherwise": int(pairs[:, i].sum()),
            "noise found for": sizes[i].n,
            "drawn": share(float(used[i])),
            "target share": share(float(exposure.target[i])),
            "share of training people": share(float(exposure.shares[i])),
        }
        for i in sorted(range(len(sizes)), key=lambda i: (not sizes[i].n, sizes[i].value))
    ]
