"""Who gets no answer from the model: what the absence of one tells about group and membership.

A model that answers about some people only names the others. Where absence is more frequent in one group, or among the
people the model was trained on, everybody without an answer is known better than before. The check is the largest of
these differences; the attacks on the attribute take absence as an output besides.
"""

from __future__ import annotations

import numpy as np

from ...base.arrays import Mask
from ...stats.estimates import Estimate, certain, percent, proportion, strongest, weighted_sum
from ..study import Check, Finding, Measurement
from ..subject import Subject

ABSENCE = Check(
    name="absence",
    title="People without an answer: largest difference",
    unit="points",
    definition="Share of people without an answer of the model, in a group beside all others, or among training "
    "records beside test records: the largest difference. 0 where everybody has an answer.",
)

_EVERYBODY = "The model gives everybody an answer."


def absence(subject: Subject) -> Measurement:
    """Return the largest difference in the share without an answer, between groups or between training and test.

    The interval of a difference is Newcombe's, of two Wilson intervals; that of the largest holds for all that were
    compared. Where everybody has an answer it is 0, and no estimate.
    """
    people = np.concatenate([subject.everyone.train, subject.everyone.test])
    answered = subject.dataset.answered
    if answered is None or answered[people].all():
        return Measurement(
            check=ABSENCE.name,
            estimate=certain(0.0, people.size),
            attacked=_EVERYBODY,
            knows="There is no attacker.",
        )
    name, estimate = strongest(absence_differences(subject), within=(-1.0, 1.0))
    missing = int(np.count_nonzero(~answered[people]))
    return Measurement(
        check=ABSENCE.name,
        estimate=estimate,
        attacked=f"People without an answer: {missing:,} of {people.size:,}. Compared: {name}.",
        knows="Who gets no answer.",
        assumptions=("The interval holds for all differences tried together.",),
    )


def absence_differences(subject: Subject) -> dict[str, Estimate]:
    """Return who is compared with whom -> the difference in the share without an answer; each pair both ways."""
    train, test = subject.everyone.train, subject.everyone.test
    people = np.concatenate([train, test])
    answered = subject.dataset.answered
    assert answered is not None
    absent = ~answered[people]
    groups = subject.dataset.sensitive[people]
    compared: dict[str, Mask] = {
        f"{group} beside all others": groups == code for code, group in enumerate(subject.dataset.group_names)
    }
    if subject.has_true_sets:
        trained = np.arange(people.size) < train.size
        compared["training records beside test records"] = trained
        compared["test records beside training records"] = ~trained
    return {name: _difference(absent, inside) for name, inside in compared.items() if inside.any() and not inside.all()}


def _difference(absent: Mask, inside: Mask) -> Estimate:
    """Return the share that is absent inside, minus that outside."""
    shares = [proportion(int(absent[rows].sum()), int(rows.sum())) for rows in (inside, ~inside)]
    difference = weighted_sum([(1.0, shares[0]), (-1.0, shares[1])])
    return difference.within(-1.0, 1.0)


def absence_finding(subject: Subject) -> tuple[Finding, ...]:
    """Return what absence tells, where somebody has no answer."""
    answered = subject.dataset.answered
    if answered is None:
        return ()
    people = np.concatenate([subject.everyone.train, subject.everyone.test])
    measurement = absence(subject)
    assert measurement.estimate is not None
    share = proportion(int(np.count_nonzero(~answered[people])), people.size)
    differs = measurement.estimate.low > 0.0
    point = f"{percent(share)} of people get no answer; this share does not differ significantly by group or set."
    if differs:
        point = f"{percent(share)} of people get no answer, and that names some of them: the share differs."
    return (Finding(point=point, evidence=measurement.attacked, estimate=measurement.estimate),)
