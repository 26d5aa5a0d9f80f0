"""What the model's predictions tell the strong attacker about people's attribute, beyond features and label."""

from __future__ import annotations

from core.decision.attacks import attribution_of
from core.decision.audited import Audited
from core.policy import Measurement

__all__ = ["attribute_excess"]

_MEASURES = ("accuracy", "balanced_accuracy")


def attribute_excess(audited: Audited) -> Measurement:
    """Return the accuracy of gradient boosting with the predictions minus that without, on the same people."""
    strong = {step.step: step for step in attribution_of(audited, "strong").steps}
    paper = {step.step: step for step in attribution_of(audited, "paper's").steps}
    without, with_predictions = strong["features"], strong["predictions"]
    details = {"with predictions": with_predictions.accuracy.value, "majority guess": strong["majority"].accuracy.value}
    details |= {
        f"{told}, {measure.replace('_', ' ')}": getattr(step, measure).value
        for told, step in (
            ("strong, features alone", without),
            ("strong, with predictions", with_predictions),
            ("paper's A", paper["features"]),
            ("paper's A′", paper["predictions"]),
        )
        for measure in _MEASURES
    }
    return Measurement(
        check="attribute_excess",
        outcome="done",
        estimate=with_predictions.accuracy_change,
        control=without.accuracy,
        control_name="features and label alone",
        attacked=f"The {audited.attribute} of {audited.trained_on}, guessed by gradient boosting.",
        knows=(
            f"Features, label and prediction of everybody, and the {audited.attribute} of "
            f"{audited.splits.known.size:,} other people."
        ),
        assumptions=audited.over_people,
        details=details,
    )
