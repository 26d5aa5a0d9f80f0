"""What a policy may limit of the answers to bias queries: the gain over the features, and the bound on one person."""

from __future__ import annotations

from typing import Any

from core.estimates import Estimate, strongest
from core.queries.decoders import DECODER_TITLES
from core.queries.findings import AnswersLeak, answers_text
from core.queries.guarantees import accuracy_limit
from core.queries.settings import PlannedAnswers
from core.study import Basis, Check, Measurement, not_run

DECLARED = (
    Check(
        name="answers_excess",
        title="{attribute} inferred from bias-query answers: gain",
        unit="points",
        definition="Balanced accuracy of the best decoder after the planned answers to bias queries minus that of the "
        "features alone (Hamman et al. 2023).",
        needs=("scores", "planned answers"),
    ),
    Check(
        name="targeted_leakage",
        title="Targeted query: one person's attribute (upper bound)",
        unit="percent",
        definition="Largest balanced accuracy with which the planned answers can reveal one person's group, whatever "
        "is asked and without a prior: calculated from the declared mechanism and budget, not measured.",
        needs=("planned answers",),
    ),
)


def declared_limits(planned: PlannedAnswers) -> tuple[float, float]:
    """Return the largest balanced accuracy about one person, with the group sizes known and without.

    Exact answers tell everything; rounded ones promise nothing: what one query hides, another one shows.
    """
    if not planned.questions:
        return 0.5, 0.5
    if not planned.answering.private:
        return 1.0, 1.0
    return accuracy_limit(planned.epsilon, sizes_known=True), accuracy_limit(planned.epsilon)


def sentences(check: str, planned: PlannedAnswers, attribute: str, found: AnswersLeak | None = None) -> dict[str, Any]:
    """Return what a check's measurement says; without a result made of settings alone, as others may read it."""
    how = "every score asked about, and how the answers are made"
    if not planned.questions:
        never = "The plan declares 0 answers; it was not measured, and does not hold once a query is answered."
        return {
            "attacked": "Nothing: no answers to bias queries are planned.",
            "knows": "No answers.",
            "control_name": "random guessing" if check == "targeted_leakage" else "",
            "assumptions": (never,),
        }
    answers = answers_text(planned.questions, planned.answering)
    if check == "targeted_leakage":
        return {
            "attacked": f"The {attribute} of one person among {planned.people:,}, from {answers}.",
            "knows": f"The group sizes, {how}; nothing else of the person.",
            "control_name": "random guessing",
            "assumptions": _declared(planned, found),
        }
    target, sizes, decoder = f"The {attribute}", "how many of them are in each group", "the best of several decoders"
    more: tuple[str, ...] = ()
    if found is not None:
        decoder = f"the {DECODER_TITLES[_best(found)[0]]}"
        sizes = f"that {found.sizes[0]:,} and {found.sizes[1]:,} of them are in the two groups"
    if found is not None and found.largest:
        target = f"Whether the {attribute} is {found.largest},"
        more = (
            f"Answers compare two groups: of {found.n_groups} the largest, {found.largest}, stands against everybody "
            "else; answers about other groups may tell more or less.",
        )
    return {
        "attacked": f"{target} of {planned.people:,} test people at a time, in {planned.repeats:,} draws, read by "
        f"{decoder} from {answers}.",
        "knows": f"The features and labels of these people, {sizes}, {how}.",
        "control_name": "features alone, no answers",
        "assumptions": (
            "The queries are slight changes of the audited model; other queries may tell more or less.",
            *more,
            "The interval is over draws of people, queries and noise, and holds for the decoders tried together.",
        ),
    }


def _declared(planned: PlannedAnswers, found: AnswersLeak | None) -> tuple[str, ...]:
    if planned.mechanism == "exact":
        return ("Exact answers promise nothing: one query that accepts a single person reveals them.",)
    if planned.mechanism == "rounded":
        return ("Rounding promises nothing: where one query hides a person, others show them.",)
    kept = (
        f"The answers keep ε = {planned.epsilon:g} together, over their whole life; an attacker who knows the group "
        "sizes is bounded by twice that.",
    )
    unknown = f"Without the group sizes an attacker is right about at most {100 * declared_limits(planned)[1]:.1f}%."
    return (
        *(kept if found is None else (*kept, unknown)),
        "The bound is for an attacker without a prior; one with a prior starts from it.",
    )


def _best(found: AnswersLeak) -> tuple[str, Estimate]:
    """Return the decoder that gains most, and its gain with an interval that holds for all decoders together."""
    gains = {leak.decoder: leak.gain for leak in found.leaks}
    return strongest(gains, freedom=found.leaks[0].leakage.n - 1, within=(-1.0, 1.0))


def answers_excess(found: AnswersLeak, planned: PlannedAnswers) -> Measurement:
    """Return the balanced accuracy after the answers minus that of the features alone, of the best decoder."""
    if not planned.questions:
        return _certain("answers_excess", found, planned, 0.0)
    if not found.leaks:
        return not_run("answers_excess", found.reason)
    gains = {f"{DECODER_TITLES[leak.decoder]}, gain": leak.gain.value for leak in found.leaks}
    rates = {f"{DECODER_TITLES[leak.decoder]}, balanced accuracy": leak.leakage.value for leak in found.leaks}
    return Measurement(
        check="answers_excess",
        estimate=_best(found)[1],
        freedom=found.leaks[0].leakage.n - 1,
        control=found.prior,
        details=gains | rates,
        **sentences("answers_excess", planned, found.attribute, found),
    )


def targeted_leakage(found: AnswersLeak, planned: PlannedAnswers) -> Measurement:
    """Return the guarantee of the planned answers against an attacker who knows the group sizes."""
    known, unknown = declared_limits(planned)
    details = {"group sizes known": known, "group sizes not known": unknown} if planned.questions else None
    return _certain("targeted_leakage", found, planned, known, control=0.5, details=details)


def _certain(
    check: str, found: AnswersLeak, planned: PlannedAnswers, value: float, *, control: float | None = None, **more: Any
) -> Measurement:
    """Return a number that follows from the plan."""
    n = planned.people if planned.questions else found.n_people
    return Measurement(
        check=check,
        basis=Basis.DECLARED,
        estimate=Estimate(value=value, low=value, high=value, n=n),
        control=None if control is None else Estimate(value=control, low=control, high=control, n=n),
        **sentences(check, planned, found.attribute, found if planned.questions else None),
        **more,
    )
