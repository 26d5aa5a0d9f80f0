"""Checks `attribute_excess`, `attribute_balanced`, `attribute_bits`: the attribute inferred from all that is released.

One attack, three measures of what it adds to imputation. Accuracy cannot show what is given away about a small group,
balanced accuracy can; bits count changes of probability that change no guess.
"""

from __future__ import annotations

from functools import partial

from core.decision.attacks.released import PLACES, closing_precision, outputs_text, released_gain
from core.decision.audited import Audited
from core.decision.plan import OutputsPlan
from core.estimates import Estimate
from core.policy import Measurement

_MEASURES = {"accuracy": "accuracy", "balanced_accuracy": "balanced accuracy", "bits": "log-loss in bits"}
_ATTACKS = {
    "label": "a likelihood ratio of the predicted label",
    "all": "boosting on label, score, residuals and digits",
    "label and all": "a likelihood ratio of the label in one half, boosting on everything in the other",
    "all and label": "a likelihood ratio of the label in one half, boosting on everything in the other",
}


def _gain(check: str, measure: str, audited: Audited) -> Measurement:
    place, estimate, found = released_gain(audited, measure)
    own = found[place]
    without, _ = own.levels(measure)
    details = {
        f"{PLACES[name]}, {when}, {title}": level.value
        for name, judged in found.items()
        for key, title in _MEASURES.items()
        for when, level in zip(("imputation", "with the release"), judged.levels(key), strict=True)
    }
    details |= {
        f"{PLACES[name]}, gain in {title}": judged.gain(key).value
        for name, judged in found.items()
        for key, title in _MEASURES.items()
    }
    return Measurement(
        check=check,
        estimate=estimate,
        control=without,
        control_name="imputation, without the model" + (", log-loss" if measure == "bits" else ""),
        attacked=(
            f"The {audited.attribute} of {audited.trained_on}, inferred from {_released(audited)} by "
            f"{_ATTACKS[own.attack]}, {PLACES[place]}."
        ),
        knows=(
            f"Features and label of everybody, {_released(audited)}, and the {audited.attribute} of {own.n_known:,} "
            f"{'training records' if place == 'inside' else 'other people'}."
        ),
        assumptions=(
            *audited.over_people,
            *_tried(len(found)),
            *_closing(audited),
        ),
        details=details,
    )


attribute_excess = partial(_gain, "attribute_excess", "accuracy")
attribute_balanced = partial(_gain, "attribute_balanced", "balanced_accuracy")
attribute_bits = partial(_gain, "attribute_bits", "bits")


def _released(audited: Audited) -> str:
    plan = audited.plan.outputs if audited.released_scores is not None else OutputsPlan(released="labels")
    return f"the {outputs_text(plan)}"


def _tried(places: int) -> tuple[str, ...]:
    if places > 1:
        return (
            "Two attackers were tried, one from outside and one who knows half of the training records; the interval "
            "holds for both together.",
        )
    return ()


def _closing(audited: Audited) -> tuple[str, ...]:
    """Say which precision would give away at most 2 points, where something is given away."""
    tried = closing_precision(audited)
    if not tried:
        return ()
    name, gain, balanced = tried[-1]
    told = f"{_points(gain)} in accuracy and {_points(balanced)} in balanced accuracy"
    if max(gain.high, balanced.high) <= 0.02:
        return (f"Releasing the {name} would close the leak to within 2 points: the gains would be {told}.",)
    return (f"No coarser release closes the leak to within 2 points: the {name} would still give {told}.",)


def _points(estimate: Estimate) -> str:
    value, low, high = (f"{100 * x:+.1f}".replace("-", "−") for x in (estimate.value, estimate.low, estimate.high))
    return f"{value} points (95% CI {low} to {high})"
