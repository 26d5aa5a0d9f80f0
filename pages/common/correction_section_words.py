"""Sentences and tables of the sections below the correction's slider; never more than measured."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from core.config import AuditConfig
from core.estimates import Estimate, over_repeats, percent, points, tolerance_text
from core.fairness import METRIC_TITLES
from core.models import METHOD_TITLES
from pages.common.shell import escape
from pages.common.wording import attribute

if TYPE_CHECKING:
    import pandas

    from core.adversaries import TunedForest
    from core.correction import MoreDisclosed
    from core.leak import LeakPoint
    from core.sweep import Spread, SweepRow


def trained_heading(rows: Sequence[SweepRow]) -> str:
    """Return what the curve over trained tolerances shows."""
    gains = [row.gain for row in rows if row.gain is not None]
    if len(gains) < 4:
        return "Tighter and looser models"
    ahead = sum(gain.low > 0 for gain in gains)
    if not ahead:
        misled = sum(gain.high < 0 for gain in gains)
        if misled:
            return f"Being told misleads the attacker significantly at {misled} of {len(gains)} tolerances"
        return "Being told has no statistically significant effect at any of these tolerances"
    return f"Being told helps the attacker significantly at {ahead} of {len(gains)} tolerances"


def trained_quantity(config: AuditConfig, as_published: bool) -> str:
    """Say what is drawn over trained tolerances, and what the attacker is told."""
    told = (
        ", raised until it is true"
        if as_published
        else "; hollow: the model misses what it was trained for, so she is told a falsehood"
    )
    others = "" if config.method == "exponentiated_gradient" else ". All are trained by exponentiated gradient"
    return (
        f"People whose {escape(attribute(config))} is recovered; each point is a model trained for that tolerance, and "
        f"the attacker is told the same{told}{others}"
    )


def reached(rows: Sequence[SweepRow]) -> str:
    """Say what the chart of unfairness draws, and how far the groups' rates lie apart at its end."""
    last = max(rows, key=lambda row: row.tolerance)
    return (
        "Unfairness (largest deviation of a group), by the tolerance trained for. At the loosest, the difference "
        f"between groups (Fairlearn's) is {last.difference_train.mean:.3f} on training and "
        f"{last.difference_test.mean:.3f} on unseen people"
    )


def _before_after(row: SweepRow) -> str:
    if row.after is None or row.before_corrected is None:
        return f"{100 * row.before.mean:.1f} → no correction"
    told = f"{100 * row.before_corrected.mean:.1f} → {100 * row.after.mean:.1f}%"
    return told if row.after.n == len(row.seeds) else f"{told} ({row.after.n} of {len(row.seeds)} seeds)"


def _in_points(value: float, found: Estimate | Spread, unit: str = "") -> str:
    """Write a change in points, and in brackets the limits of its interval where that is known."""
    told = points(value).removesuffix(" points") + unit
    if math.isnan(found.low):
        return told
    return f"{told} ({100 * found.low:+.1f} to {100 * found.high:+.1f})".replace("-", "−")


def methods_table(rows: Sequence[SweepRow]) -> pandas.DataFrame:
    """Return methods and metrics with what their models do and give away."""
    import pandas as pd

    titles = list(METHOD_TITLES)
    ordered = sorted(rows, key=lambda row: (list(METRIC_TITLES).index(row.metric), titles.index(row.method)))
    return pd.DataFrame(
        [
            {
                "Metric": METRIC_TITLES[row.metric],
                "Method": METHOD_TITLES[row.method],
                "Before → after": _before_after(row),
                "Gain, points": "" if row.gain is None else _in_points(row.gain.mean, row.gain),
                "Told the truth": f"{row.n_true} of {len(row.seeds)}",
                "Model right": f"{100 * row.model_test.mean:.1f}%",
                "Unfairness": f"{row.unfairness_train.mean:.4f}",
                "Difference between groups": f"{row.difference_train.mean:.4f}",
            }
            for row in ordered
        ]
    )


def _values(found: Sequence[LeakPoint], attacker: str, step: str) -> dict[int, Estimate]:
    """Return a step's accuracy by seed, where it could be measured."""
    return {
        point.config.seed: taken.accuracy
        for point in found
        for taken in point.attributions[attacker].steps
        if taken.step == step and not taken.reason
    }


def over_seeds(found: Sequence[LeakPoint], attacker: str, step: str) -> Estimate:
    """Return an attacker's accuracy at a step, over seeds."""
    measured = list(_values(found, attacker, step).values())
    return measured[0] if len(measured) == 1 else over_repeats([estimate.value for estimate in measured])


_STEPS = {
    "features": "attacker, features",
    "predictions": "+ predictions",
    "constraint_without_shares": "+ fairness promise",
}


def delta_table(found: Sequence[LeakPoint], config: AuditConfig) -> pandas.DataFrame | None:
    """Return what mitigation changes, paired by seed; None when the chosen model has none."""
    import pandas as pd

    if config.method == "unmitigated":
        return None
    own = [p for p in found if p.config.method == config.method]
    other = [p for p in found if p.config.method == "unmitigated"]
    models = ({p.config.seed: p.accuracy_test for p in part} for part in (own, other))
    rows = [_delta_row("Model, unseen people", *models)]
    for attacker in ("paper's", "strong"):
        for step, words in _STEPS.items():
            name = f"{attacker.capitalize()} {words}"
            rows.append(_delta_row(name, *(_values(part, attacker, step) for part in (own, other))))
    return pd.DataFrame([row for row in rows if row is not None])


def delta_truth(found: Sequence[LeakPoint], config: AuditConfig) -> str:
    """Say of which models the promise is true."""
    told = []
    for method, how in ((config.method, "with"), ("unmitigated", "without")):
        true = [p.attributions["paper's"].is_true for p in found if p.config.method == method]
        told.append(f"{sum(true)} of {len(true)} {how} mitigation")
    return (
        f"Attackers are told {tolerance_text(config.tolerance)} of all these models, whether or not they keep it; "
        f"they do in {told[0]}, {told[1]}."
    )


def _delta_row(name: str, own: dict[int, Estimate], other: dict[int, Estimate]) -> dict[str, str] | None:
    both = sorted(set(own) & set(other))
    if not both:
        return None
    differences = [own[seed].value - other[seed].value for seed in both]
    difference = over_repeats(differences)
    means = [sum(side[seed].value for seed in both) / len(both) for side in (own, other)]
    return {
        "": name,
        "With": percent(means[0]),
        "Without": percent(means[1]),
        "Difference, points": _in_points(difference.value, difference),
    }


def controls(found: Sequence[LeakPoint], own: Sequence[LeakPoint], config: AuditConfig) -> list[str]:
    """Return sentences on permuted predictions and on the attacker who must measure the promise herself."""
    return [_permuted_correction(own), _permuted_predictions(own), _unknown(found, own, config)]


def _permuted_correction(own: Sequence[LeakPoint]) -> str:
    gains = {
        name: [d.gain.value for p in own if (d := getattr(p.permuted, name)).gain is not None]
        for name in ("real", "permuted")
    }
    if not gains["real"] or not gains["permuted"]:
        return "**Permuted predictions, correction.** No correction meets the tolerance."
    real, permuted = (over_repeats(values) for values in gains.values())
    return (
        f"**Correction with permuted predictions.** With the model's own predictions the promise changes the paper's "
        f"attacker by {_spread_words(real)}, with predictions dealt out anew among the people by "
        f"{_spread_words(permuted)}."
    )


def _spread_words(found: Estimate) -> str:
    return _in_points(found.value, found, " points")


def _permuted_predictions(own: Sequence[LeakPoint]) -> str:
    told = []
    for attacker in ("paper's", "strong"):
        steps = [over_seeds(own, attacker, step) for step in ("features", "predictions", "permuted_predictions")]
        told.append(
            f"the {attacker} attacker reaches {percent(steps[1])} with the predictions, {percent(steps[2])} with "
            f"permuted ones, {percent(steps[0])} without any"
        )
    return f"**Learning from permuted predictions.** {told[0][0].upper()}{told[0][1:]}; {told[1]}."


def _unknown(found_points: Sequence[LeakPoint], own: Sequence[LeakPoint], config: AuditConfig) -> str:
    from core.correction import identification_rate

    trained = config.metric if config.method in ("exponentiated_gradient", "threshold_optimizer") else None
    twins = [p.unknown.estimate for p in found_points if p.config.method == "unmitigated"]
    found = identification_rate([p.unknown.estimate for p in own], trained=trained, unmitigated=twins or None)
    both = [p for p in own if p.unknown.estimated.after and (p.unknown.trained is None or p.unknown.trained.after)]
    after = [p.unknown.estimated.after.value for p in both if p.unknown.estimated.after]
    reached = f"corrected with what she measures she names {percent(over_repeats(after).value)}" if after else ""
    named = max(found.shares, key=lambda metric: found.shares[metric].value)
    opening = "**Not told the promise, the paper's attacker measures one on the people she knows.** "
    if trained is None or found.rate is None:
        often = f"in {round(found.shares[named].value * found.n)} of {found.n} seeds"
        return f"{opening}It is {METRIC_TITLES[named].lower()} {often}; {reached}."
    right = round(found.rate.value * found.n)
    told = [p.unknown.trained.after.value for p in both if p.unknown.trained and p.unknown.trained.after]
    truth = f", told the truth {percent(over_repeats(told).value)}" if told else ""
    if after and told:
        apart = over_repeats([a - b for a, b in zip(after, told, strict=True)])
        truth += f"; the difference is {_spread_words(apart)}"
    chance = f"guessing one of the three it can be: {percent(found.control_of_three or 0.0, decimals=0)}"
    if found.unmitigated is not None:
        chance += f"; models without mitigation get that name in {round(found.unmitigated.value * found.n)}"
    return f"{opening}It is the right metric in {right} of {found.n} seeds ({chance}); {reached}{truth}."


def leak_tables(found: Sequence[LeakPoint], own: Sequence[LeakPoint]) -> dict[str, Any]:
    """Return the tables behind the section."""
    import pandas as pd

    from core.correction import attribute_over_seeds

    tables: dict[str, Any] = {}
    for attacker in ("paper's", "strong"):
        leak = attribute_over_seeds([p.attributions[attacker] for p in own])
        tables[f"What each piece of knowledge adds, {attacker} attacker"] = leak.to_frame()
    for title, name in (
        ("Permuted predictions, correction", "permuted"),
        ("The promise measured instead of told", "unknown"),
    ):
        frames = [getattr(p, name).to_frame().assign(seed=p.config.seed) for p in own]
        tables[title] = pd.concat(frames, ignore_index=True)
    tables["On the attackers' own held-out people"] = pd.DataFrame(
        [
            (p.config.seed, p.config.method, kind, right.value, right.low, right.high)
            for p in found
            for kind, right in p.held_out.items()
        ],
        columns=["seed", "method", "attacker", "right", "low", "high"],
    )
    return tables


def tuned(found: TunedForest) -> tuple[str, str]:
    """Return heading and quantity of the search."""
    best, pinned = found.balanced, found.pinned_balanced
    apart = best.low > pinned.high or best.high < pinned.low
    point = (
        f"The search finds a forest right for {percent(found.accuracy)} of held-out people, balanced {percent(best)}"
    )
    then = f"the pinned one {percent(found.pinned_accuracy)}, balanced {percent(pinned)}"
    verdict = "" if apart else "; the intervals of the balanced accuracies overlap"
    return (
        f"{point}; {then}",
        f"Balanced accuracy on the people that chose, in the order of trial{verdict}. Control on held-out people: "
        f"naming the largest group is right for {percent(found.majority)}",
    )


def forest_table(found: TunedForest) -> pandas.DataFrame:
    """Return the found parameters beside the pinned ones."""
    import pandas as pd

    from core.adversaries.adversary import PINNED

    names = {
        "n_estimators": "trees",
        "max_depth": "depth",
        "min_samples_split": "fewest to split",
        "min_samples_leaf": "fewest in a leaf",
        "max_features": "features a split sees",
        "criterion": "criterion",
    }
    return pd.DataFrame(
        [
            {"Parameter": words, "Found": str(found.parameters.get(key) or "all"), "Pinned": str(PINNED[key] or "all")}
            for key, words in names.items()
        ]
    )


def more_heading(found: Sequence[MoreDisclosed]) -> str:
    """Return what knowing more changes."""
    bound, shares = found[0].after, next(more.after for more in found if more.known == "bound_shares")
    if bound is None or shares is None:
        return "What more than a bound gives away"
    if shares.low > bound.high:
        return "The groups' shares give away more than the bound"
    return "More than a bound"


def more_sentences(found: Sequence[MoreDisclosed], told: float) -> list[str]:
    """Say what was told, and which answers are proved."""
    proved = sum(more.certificate.status == "optimal" for more in found)
    sentences = [
        f"The bound is {tolerance_text(told)}, told as it is. The exact unfairness and the groups' shares are those of "
        "the attacked people; the three metrics are told with the smallest bounds that are true of them.",
        f"{proved} of {len(found)} answers are proved optimal. All start from the same guess at the same price.",
    ]
    for more in found:
        if more.after is None:
            known = more.known.replace("_", " and ")
            sentences.append(f"No correction with {known}: {escape(more.reason or 'none exists')}")
    return sentences
