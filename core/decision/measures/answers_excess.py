"""What the planned answers to bias questions tell about people's attribute (Hamman et al. 2023)."""

from __future__ import annotations

from core.decision.attacks.answers import answers_of, planned_leakages, planned_trials, two_sided
from core.decision.audited import Audited
from core.decision.measures.unasked import unasked
from core.estimates import over_repeats, rate_over_repeats
from core.policy import Measurement
from core.strongest import strongest

_DECODERS = {
    "strongest": "a decoder with a prior",
    "without_prior": "a decoder without a prior",
    "published": "the published decoder",
}


def answers_excess(audited: Audited) -> Measurement:
    """Return the balanced accuracy after the answers minus that of the prior alone, of the strongest decoder.

    With more than two groups the answers are taken to compare the largest with everybody else.
    """
    if not audited.plan.answers.questions:
        return unasked("answers_excess", audited, value=0.0)
    trials, found = planned_trials(audited), planned_leakages(audited)
    prior = found["prior"]
    one_person = 0.5 / min(trials.n_advantaged, trials.n_disadvantaged)  # in balanced accuracy
    excess = {
        name: over_repeats([after - before for after, before in zip(values, prior, strict=True)], resolution=one_person)
        for name, values in found.items()
        if name != "prior"
    }
    freedom = len(prior) - 1
    name, estimate = strongest(excess, freedom=freedom, within=(-1.0, 1.0))
    details = {f"{_DECODERS[key]}, excess": each.value for key, each in excess.items()}
    details |= {f"{_DECODERS[key]}, balanced accuracy": rate_over_repeats(found[key]).value for key in excess}
    planned = audited.plan.answers
    return Measurement(
        check="answers_excess",
        estimate=estimate,
        freedom=freedom,
        control=rate_over_repeats(prior),
        control_name="the prior alone, no answers",
        attacked=(
            f"{_target(audited)} of {planned.people:,} test people at a time, in {planned.repeats:,} draws, read "
            f"by {_DECODERS[name]} from {answers_of(planned)}."
        ),
        knows=(
            f"The features and labels of these people, that {trials.n_advantaged:,} and {trials.n_disadvantaged:,} of "
            "them are in the two groups, every score asked about, and how the answers are made."
        ),
        assumptions=(
            "The questions are slight changes of the audited model; other questions may tell more or less.",
            *_two_sides(audited),
            "The interval is over draws of people, questions and noise, and holds for the decoders tried together.",
        ),
        details=details,
    )


def _target(audited: Audited) -> str:
    if audited.dataset.n_groups == 2:
        return f"The {audited.attribute}"
    return f"Whether the {audited.attribute} is {two_sided(audited.dataset).group_names[1]},"


def _two_sides(audited: Audited) -> tuple[str, ...]:
    """Say what was made of more than two groups."""
    if audited.dataset.n_groups == 2:
        return ()
    largest = two_sided(audited.dataset).group_names[1]
    return (
        f"Answers compare two groups: of {audited.dataset.n_groups} the largest, {largest}, stands against everybody "
        "else; answers about other groups may tell more or less.",
    )
