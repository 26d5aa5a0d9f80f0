"""The study of attribute inference from outputs: run, findings, checks, and planted subjects."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from core.attribute.attribute_plants import PLANTED
from core.attribute.gains import PLACES, AttributeSettings, Judged, closing_precision, released_gain
from core.estimates import Estimate, count, interval, percent, points
from core.serialize import Result
from core.study import Check, Finding, Measurement, Report, Study
from core.subject import OutputsPlan, Subject


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class AttributeInference(Result):
    """What everything released adds to imputation of the attribute, by each measure of `MEASURES`."""

    attribute: str
    trained_on: str
    released: str
    """What is attacked: the attribute, of whom, and from what, in words."""
    judged: Mapping[str, Judged] = field(repr=False)
    """Where the attacker stands -> what they believe."""
    gains: Mapping[str, tuple[str, Estimate]]
    """Measure -> the attacker who gains most, and how much, with an interval for all tried."""
    closing: tuple[tuple[str, Estimate, Estimate], ...]
    """Coarser releases tried, with their gains in accuracy and balanced accuracy; see `closing_precision`."""
    over_people: tuple[str, ...]


MEASURES = {"accuracy": "accuracy", "balanced_accuracy": "balanced accuracy", "bits": "log-loss in bits"}

_CHECKED = {"attribute_excess": "accuracy", "attribute_balanced": "balanced_accuracy", "attribute_bits": "bits"}

_ATTACKS = {
    "label": "a likelihood ratio of the predicted label",
    "all": "boosting on label, score, residuals and digits",
    "label and all": "a likelihood ratio of the label in one half, boosting on everything in the other",
    "all and label": "a likelihood ratio of the label in one half, boosting on everything in the other",
}

_TITLE = "{attribute} inferred from predictions: "


class AttributeStudy(Study[AttributeSettings, AttributeInference]):
    """Gain of everything released over imputation of the sensitive attribute."""

    name = "attribute"
    title = "Attribute inference from outputs"
    settings = AttributeSettings
    plants = PLANTED
    declared = (
        Check(
            name="attribute_excess",
            title=f"{_TITLE}gain over imputation",
            unit="points",
            definition="Accuracy of the best attack on everything released, labels, scores and their digits, minus "
            "that of imputation from features and label alone.",
        ),
        Check(
            name="attribute_balanced",
            title=f"{_TITLE}gain in balanced accuracy",
            unit="points",
            definition="By how much the released outputs raise the balanced accuracy of inferring the attribute: the "
            "mean over groups of the share inferred correctly. It sees what accuracy cannot where one group is small.",
        ),
        Check(
            name="attribute_bits",
            title=f"{_TITLE}bits per person",
            unit="bits",
            definition="By how many bits a person the released outputs lower the log-loss of inferring the attribute: "
            "how much better the attacker's probabilities become, whether or not a guess changes.",
        ),
    )

    def run(
        self, subject: Subject, settings: AttributeSettings, report: Report | None = None
    ) -> Iterator[AttributeInference]:
        """Yield what the attackers of `core.attribute.gains.PLACES` gain; one step."""
        gains = {}
        for measure in MEASURES:
            place, estimate, judged = released_gain(subject, measure)
            gains[measure] = (place, estimate)
        if report is not None:
            report(1, 1)
        outputs = subject.outputs if subject.released_scores is not None else OutputsPlan(released="labels")
        yield AttributeInference(
            attribute=subject.attribute,
            trained_on=subject.trained_on,
            released=f"the {outputs.text}",
            judged=judged,
            gains=gains,
            closing=tuple(closing_precision(subject, closed=settings.closed)),
            over_people=subject.over_people,
        )

    def findings(self, result: AttributeInference, settings: AttributeSettings) -> tuple[Finding, ...]:
        """Return the gain in accuracy, then that in bits."""
        place, gain = result.gains["accuracy"]
        own, (_, bits) = result.judged[place], result.gains["bits"]
        before, after = own.level("accuracy", own.before), own.level("accuracy", own.after)
        doubt = "" if gain.low > 0 else ", which is not statistically significant"
        closing = closing_sentence(result, settings)
        return (
            Finding(
                point=f"What is released adds {points(gain)} to inferring the {result.attribute}{doubt}.",
                evidence=f"{percent(before)} of {count(own.truth.size)} people are inferred correctly by imputation, "
                f"{percent(after)} with {result.released} (95% CI {interval(after)}).",
                so_what=""
                if doubt
                else f"An attacker who sees a person's data and the model's outputs infers their "
                f"{result.attribute} better than without the outputs.",
                to_do=closing,
                caveats=result.over_people,
                redacted=f"What the release adds to inferring the {result.attribute} was measured.",
                estimate=gain,
                baseline=before,
                attacker_knows=_knows(result, place),
            ),
            Finding(
                point=f"The release tells {bits.value:.3f} bits a person beyond imputation.",
                evidence=f"95% CI {bits.low:.3f} to {bits.high:.3f} bits.",
                estimate=bits,
            ),
        )

    def checks(self, result: AttributeInference, settings: AttributeSettings) -> Mapping[str, Measurement]:
        """Return the gains in accuracy, balanced accuracy and bits."""
        details = {}
        for name, judged in result.judged.items():
            for key, title in MEASURES.items():
                details[f"{PLACES[name]}, imputation, {title}"] = judged.level(key, judged.before).value
                details[f"{PLACES[name]}, with the release, {title}"] = judged.level(key, judged.after).value
                details[f"{PLACES[name]}, gain in {title}"] = judged.gain(key).value
        both = (
            "Two attackers were tried, one from outside and one who knows half of the training records; the interval "
            "holds for both together."
        )
        assumptions = [*result.over_people, both if len(result.judged) > 1 else "", closing_sentence(result, settings)]
        measurements = {}
        for check, measure in _CHECKED.items():
            place, estimate = result.gains[measure]
            own = result.judged[place]
            measurements[check] = Measurement(
                check=check,
                estimate=estimate,
                control=own.level(measure, own.before),
                control_name="imputation, without the model" + (", log-loss" if measure == "bits" else ""),
                attacked=f"The {result.attribute} of {result.trained_on}, inferred from {result.released} by "
                f"{_ATTACKS[own.attack]}, {PLACES[place]}.",
                knows=_knows(result, place),
                assumptions=tuple(filter(None, assumptions)),
                details=details,
            )
        return measurements


def _knows(result: AttributeInference, place: str) -> str:
    whose = "training records" if place == "inside" else "other people"
    return (
        f"Features and label of everybody, {result.released}, and the {result.attribute} of "
        f"{result.judged[place].n_known:,} {whose}."
    )


def closing_sentence(result: AttributeInference, settings: AttributeSettings) -> str:
    """Say which precision would close the leak; "" where the gain is not significant."""
    if not result.closing:
        return ""
    name, gain, balanced = result.closing[-1]
    both = f"{_with_limits(gain)} in accuracy and {_with_limits(balanced)} in balanced accuracy"
    within = f"the whole 95% CIs within {100 * settings.closed:g} points"
    if max(gain.high, balanced.high) <= settings.closed:
        return f"Releasing the {name} would close the leak, {within}: the gains would be {both}."
    return f"No coarser release closes the leak, {within}: the {name} would give {both}."


def _with_limits(gain: Estimate) -> str:
    low, high = (points(limit).removesuffix(" points") for limit in (gain.low, gain.high))
    return f"{points(gain)} (95% CI {low} to {high})"


STUDY = AttributeStudy()
