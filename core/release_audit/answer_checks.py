"""What planned answers to bias questions give away (Hamman et al. 2023)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from core.datasets import AuditDataset
from core.estimates import Estimate, over_repeats, rate_over_repeats, strongest
from core.queries import DECODERS, Answering, Asking, Trials, accuracy_limit, query_pool
from core.release_audit.inputs import Audited
from core.release_audit.plan import PlannedAnswers
from core.study import Basis, Measurement


def _answering(planned: PlannedAnswers) -> Answering:
    return Answering(noise=planned.mechanism, epsilon=planned.epsilon, decimals=planned.decimals)


def answers_of(answers: PlannedAnswers) -> str:
    """Return what to call the planned answers: "10 answers with noisy sums at epsilon 1"."""
    told = {
        "exact": "exact answers",
        "rounded": f"answers rounded to {answers.decimals} decimals",
        "laplace": f"answers with Laplace noise at epsilon {answers.epsilon:g} in all",
        "cauchy": f"answers with Cauchy noise at epsilon {answers.epsilon:g} in all",
        "noisy_sums": f"answers from noisy sums at epsilon {answers.epsilon:g} in all",
    }[answers.mechanism]
    return f"{answers.questions:,} {told}"


def two_sided(dataset: AuditDataset) -> AuditDataset:
    """Return a dataset in two groups: of more than two the largest (1) and everybody else (0)."""
    if dataset.n_groups == 2:
        return dataset
    largest = int(np.bincount(dataset.sensitive, minlength=dataset.n_groups).argmax())
    return replace(
        dataset,
        sensitive=(dataset.sensitive == largest).astype(np.uint8),
        group_names=("everybody else", dataset.group_names[largest]),
    )


def planned_trials(audited: Audited) -> Trials:
    """Return the repeats in which the planned questions are asked."""
    planned = audited.plan.answers

    def make() -> Trials:
        pool = query_pool(audited.config, two_sided(audited.dataset), audited.model, audited.splits)
        asking = Asking(n=planned.people, repeats=planned.repeats, seed=audited.config.seed)
        return Trials(pool, asking, most=planned.questions)

    return audited.once("trials", make)


def planned_leakages(audited: Audited) -> dict[str, list[float]]:
    """Return balanced accuracies, one a repeat: of the prior alone ("prior"), then of every decoder."""

    def make() -> dict[str, list[float]]:
        trials, mechanism = planned_trials(audited), _answering(audited.plan.answers).mechanism()
        found = {"prior": trials.leakages(0, mechanism, DECODERS[0])}
        for decoder in DECODERS:
            found[decoder] = trials.leakages(audited.plan.answers.questions, mechanism, decoder)
            audited.progress.tick()
        return found

    return audited.once("leakages", make)


def unasked(check: str, audited: Audited, *, value: float, control: str = "") -> Measurement:
    """Return the number of a check where no answers to bias questions are planned: declared, not measured.

    `value` is what an attacker has who is answered nothing; `control` names what has as much, if it is to stand beside.
    """
    estimate = Estimate(value=value, low=value, high=value, n=audited.splits.test.size)
    return Measurement(
        check=check,
        basis=Basis.DECLARED,
        estimate=estimate,
        control=estimate if control else None,
        control_name=control,
        attacked="Nothing: no answers to bias questions are planned.",
        knows="No answers.",
        assumptions=(
            "The plan declares 0 answers; it was not measured, and does not hold once a question is answered.",
        ),
    )


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


def declared_limits(planned: PlannedAnswers) -> tuple[float, float]:
    """Return the largest balanced accuracy about one person, with the group sizes known and without."""
    if not planned.questions:
        return 0.5, 0.5
    if not _answering(planned).private:
        return 1.0, 1.0
    return accuracy_limit(planned.epsilon, sizes_known=True), accuracy_limit(planned.epsilon)


def targeted_leakage(audited: Audited) -> Measurement:
    """Return the guarantee of the planned answers against an attacker who knows the group sizes.

    Exact answers tell everything. Rounded ones promise nothing: what one question hides, another one shows. No answers
    tell as much as a coin.
    """
    planned = audited.plan.answers
    if not planned.questions:
        return unasked("targeted_leakage", audited, value=0.5, control="a coin")
    known, unknown = declared_limits(planned)
    if _answering(planned).private:
        told: tuple[str, ...] = (
            f"The answers keep epsilon {planned.epsilon:g} together, over their whole life; whoever knows the group "
            "sizes is bounded by twice that.",
            f"An attacker who has the answers alone, and not the group sizes, is right about at most "
            f"{100 * unknown:.1f}%.",
            "The bound is for an attacker without a prior; one with a prior starts from it.",
        )
    else:
        told = (
            "Answers without noise promise nothing: one question that accepts a single person names her."
            if planned.mechanism == "exact"
            else "Rounding promises nothing: where one question hides a person, others show her.",
        )
    return Measurement(
        check="targeted_leakage",
        basis=Basis.DECLARED,
        estimate=Estimate(value=known, low=known, high=known, n=planned.people),
        control=Estimate(value=0.5, low=0.5, high=0.5, n=planned.people),
        control_name="a coin",
        attacked=f"The {audited.attribute} of one person among {planned.people:,}, from {answers_of(planned)}.",
        knows="How the answers are made, the group sizes, and every score asked about; nothing else of the person.",
        assumptions=told,
        details={"group sizes known": known, "group sizes not known": unknown},
    )
