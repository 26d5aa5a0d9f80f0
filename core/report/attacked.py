"""FairLeak's attack on its own report: what the fairness numbers of an edition tell about the test people.

Whoever reads the report may hold everything about the test people but the sensitive attribute: features, labels, the
model's predictions, and from these a calibrated probability of every group (the prior). To such a reader a group's
size n and rate r on some rows R are linear statements about who is in the group,

    Σ_R [s_i = g] = n,        Σ_R ŷ_i [s_i = g] = k,  with k/n printed as r,

exactly the answers to bias questions of Hamman et al. (2023), about a model everybody has already. A rate printed with
d decimals leaves the whole numbers k for which k/n rounds to it; its interval and, with two groups, the other group's
rate, the unfairness and the ratio of acceptance rule out more of them. What is left is an interval of k, often a single
number.

The decoder is the information projection of the prior on these statements (`core.projection`): with a handful of sums
over thousands of people nobody is determined, so the most probable vector would be the wrong target, and propagation
is made for noise. Among all distributions that meet the statements in expectation the projection is the closest to the
prior, and if the statements are true the log-loss of the truth falls by at least the divergence moved.

Not read: numbers about other records (sizes and label rates of the whole table, unfairness on the training records),
and whatever the verdicts and the numbers of the attacks themselves tell. What those add was not tried.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from core.decision.attacks.readers import AttackedPeople
from core.estimates import Estimate, accuracy, balanced_accuracy, balanced_gain, not_measured, paired_gain
from core.policy import Outcome
from core.report.statements import Statement, constraints_of, independent, numbers_of, statements_of
from core.results import Result

_UNSURE, _SURE = (0.05, 0.95), 0.995
"""Somebody is pinned whose group was open before (5 to 95%) and is beyond 99.5% after."""

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class EditionAttack(Result):
    """What a reader recovers from an edition's fairness numbers.

    Attributes
    ----------
    reason : str
        Why there is no result; empty when there is one.
    people : int
        Test people attacked.
    numbers : int
        Fairness numbers in the edition that speak of them: sizes, rates, unfairness, ratio.
    equations : int
        Linearly independent statements these amount to, beyond what predictions and labels tell.
    exact : int
        How many of these give a whole number, as an exact answer to a bias question does.
    before, after : Estimate
        Balanced accuracy of the guess from the prior alone, and with the edition.
    gain : Estimate
        Change in balanced accuracy.
    accuracy_before, accuracy_after, accuracy_gain : Estimate
        The same for plain accuracy of the likeliest group.
    bits : float
        Bits by which the log-loss of the truth falls, over all people together; nan where not run.
    prior_bits : float
        Bits the truth costs under the prior: what there is to learn.
    pinned : int
        People whose group was open before and is nearly certain after.
    pinned_right : int or None
        How many of them rightly so; None where the rates are withheld.
    told : str
        The result in a few sentences.
    """

    outcome: Outcome
    reason: str
    people: int
    numbers: int
    equations: int
    exact: int
    before: Estimate
    after: Estimate
    gain: Estimate
    accuracy_before: Estimate
    accuracy_after: Estimate
    accuracy_gain: Estimate
    bits: float
    prior_bits: float
    pinned: int
    pinned_right: int | None
    told: str


def attack_edition(document: Mapping[str, Any], people: AttackedPeople | None, *, rates: bool = True) -> EditionAttack:
    """Attack an edition with the fairness numbers that stand in it.

    Parameters
    ----------
    document : mapping
        The edition, as `core.report.document` makes it.
    people : AttackedPeople or None
        The test people; None where they are not at hand, which is a result that says so.
    rates : bool
        Whether the result says how many were named rightly, and how much of the truth was learned. Where counts of a
        group are withheld these may tell them to whoever knows the prior.

    Raises
    ------
    InputError
        If the people are not those of the document.
    """
    if people is None:
        return _without(Outcome.NOT_RUN, "the test people were not at hand when it was written", document)
    statements = statements_of(document, people.predictions, people.labels, people.group_names)
    attribute = str(document["data"]["attribute"])
    before = np.asarray(people.prior, dtype=np.float64)
    after, reason = _decoded(before, statements, people)
    if reason:
        return _without(Outcome.FAILED, reason, document)
    found = _measured(before, after, statements, people, attribute, numbers_of(document))
    return found if rates else _without_rates(found)


def _decoded(before: Floats, statements: tuple[Statement, ...], people: AttackedPeople) -> tuple[Floats, str]:
    """Return the reader's probabilities with the statements, and why there are none."""
    from core.projection import project

    constraints = constraints_of(statements, people.predictions, people.labels, before.shape[1])
    if constraints is None:
        return before, ""
    found = project(before, constraints)
    if found.status == "infeasible":
        return before, "its numbers contradict the people it was attacked on"
    return found.probability, ""


def _measured(
    before: Floats,
    after: Floats,
    statements: tuple[Statement, ...],
    people: AttackedPeople,
    attribute: str,
    numbers: int,
) -> EditionAttack:
    truth, n, k = people.sensitive, len(people.sensitive), before.shape[1]
    balanced = [_balanced(p) for p in (before, after)]
    likeliest = [p.argmax(axis=1).astype(np.uint8) for p in (before, after)]
    was, now = (p == truth for p in likeliest)
    cost = [-np.log2(np.maximum(p[np.arange(n), truth], 1e-300)) for p in (before, after)]
    top = before.max(axis=1)
    pinned = (top >= 0.5) & (top <= _UNSURE[1]) & (after.max(axis=1) > _SURE)
    found: dict[str, Any] = {
        "people": n,
        "numbers": numbers,
        "equations": independent(statements, k),
        "exact": independent([s for s in statements if s.exact], k),
        "before": balanced_accuracy(truth, balanced[0]),
        "after": balanced_accuracy(truth, balanced[1]),
        "gain": balanced_gain(truth, *balanced),
        "accuracy_before": accuracy(truth, likeliest[0]),
        "accuracy_after": accuracy(truth, likeliest[1]),
        "accuracy_gain": paired_gain(int(np.sum(now & ~was)), int(np.sum(was & ~now)), n),
        "bits": float(cost[0].sum() - cost[1].sum()),
        "prior_bits": float(cost[0].sum()),
        "pinned": int(pinned.sum()),
        "pinned_right": int((pinned & now).sum()),
    }
    return EditionAttack(outcome=Outcome.DONE, reason="", told=_told(found, attribute), **found)


def _balanced(probability: Floats) -> npt.NDArray[np.uint8]:
    """Return the guess of the highest expected balanced accuracy: the group that is most above its mean."""
    from core.queries import balanced_guess

    if probability.shape[1] == 2:
        return balanced_guess(probability[:, 1])
    mean = np.maximum(probability.mean(axis=0), 1e-12)
    return (probability / mean).argmax(axis=1).astype(np.uint8)


def _told(found: dict[str, Any], attribute: str) -> str:
    from core.wording import count, interval, percent, points

    if not found["equations"]:
        return (
            "No size or rate of a group on the test records stands in this edition, so the decoder had nothing to add "
            f"to features and labels alone: {percent(found['before'])} of {attribute}, balanced over the groups. "
            f"{_NOT_TRIED}"
        )
    exact = {0: "none of them exact", found["equations"]: "all of them exact"}.get(
        found["exact"], f"{found['exact']} of them exact"
    )
    gain, equations = found["gain"], "equation" if found["equations"] == 1 else "equations"
    return (
        f"Its {found['numbers']} fairness numbers amount to {found['equations']} linear {equations} about "
        f"{count(found['people'])} test people, {exact}. "
        f"The strongest decoder, which also knows everybody's features, label and prediction, recovers {attribute} of "
        f"{percent(found['after'])} with them (95%: {interval(found['after'])}) and of {percent(found['before'])} from "
        f"features and label alone: {points(gain)}, 95%: {_signed(gain.low)} to {_signed(gain.high)}, balanced over "
        f"the groups. The numbers tell {_bits(found['bits'])} of the {_bits(found['prior_bits'])} that features and "
        f"label leave open; they make {_people(found['pinned'])} nearly certain "
        f"who was not before. {_NOT_TRIED}"
    )


_NOT_TRIED = "What the verdicts and the numbers of the attacks tell besides was not tried."


def _unmeasured() -> dict[str, Any]:
    """Return what hangs on how many were named rightly, where that is not told."""
    names = ("before", "after", "gain", "accuracy_before", "accuracy_after", "accuracy_gain")
    return {**dict.fromkeys(names, not_measured()), "bits": math.nan, "prior_bits": math.nan}


def _without_rates(found: EditionAttack) -> EditionAttack:
    equations = "equation" if found.equations == 1 else "equations"
    told = (
        f"Its {found.numbers} fairness numbers amount to {found.equations} linear {equations} about {found.people:,} "
        "test people. "
        if found.equations
        else "No size or rate of a group on the test records stands in this edition. "
    )
    return replace(
        found,
        **_unmeasured(),
        pinned_right=None,
        told=f"{told}How much the strongest decoder recovers with what is printed is withheld: it may tell counts of a "
        f"group. {_NOT_TRIED}",
    )


def _people(number: int) -> str:
    return {0: "nobody", 1: "one person"}.get(number, f"{number:,} people")


def _signed(share: float) -> str:
    from core.wording import points

    return points(share).removesuffix(" points")


def _bits(bits: float) -> str:
    return f"{bits:,.1f} bits".replace("-", "−")


def _without(outcome: Outcome, reason: str, document: Mapping[str, Any]) -> EditionAttack:
    return EditionAttack(
        outcome=outcome,
        reason=reason,
        people=0,
        numbers=0,
        equations=0,
        exact=0,
        **_unmeasured(),
        pinned=0,
        pinned_right=0,
        told=f"This edition was not attacked before it was written: {reason}. "
        f"What it tells about {document['data']['attribute']} is not known.",
    )
