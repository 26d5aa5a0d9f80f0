"""Boosting that two halves of people teach each other, and what it is given of what a model releases about them.

The attacker knows the truth of one half and learns by gradient boosting what it looks like in what is released; the
other half is scored, and then the halves change places. What boosting returns is replaced by its rank within its half,
so that two fits share one scale. The halves have equal shares of both kinds and the ranks use nobody's truth, so that
where nothing leaks the scores of both halves together are independent of the truth.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from ..base.arrays import Codes, Floats, Mask, decimals_of
from ..base.seeds import child_generator, child_seed
from ..stats.estimates import Estimate
from .output_evidence import digits


def released_columns(
    predicted: Codes, labels: Codes, score: Floats | None
) -> list[npt.NDArray[Any]]:
    """Return what boosting is given of n people: predicted and true label, and of a score all that models betray.

    Models that memorise give themselves away in several ways: by the probability of one's own label, by a probability
    of exactly 0 or 1, by how many people share a score, and by how exactly it is written.
    """
    columns = [predicted, labels, predicted == labels]
    if score is not None:
        label_probability = np.where(labels == 1, score, 1.0 - score)
        _, index, count = np.unique(score, return_inverse=True, return_counts=True)
        columns += [
            score,
            label_probability,
            (label_probability == 1.0).astype(np.int8) - (label_probability == 0.0),
            np.log(count[index]),
        ]
        columns += [*digits(score, decimals_of(score)).T]
    return columns


def halves(member: Codes, *, seed: int) -> Mask:
    """Return who is in the second half; each half has as many members, and as many non-members, as the other.

    An odd one goes to the second half. Were the halves unlike, what is learned of one would say something of the
    other's share of members. The same people in the same order get the same halves.
    """
    rng = child_generator(seed, "halves of the judged")
    second = np.zeros(member.size, dtype=np.bool_)
    for kind in (0, 1):
        rows = rng.permutation(np.flatnonzero(member == kind))
        second[rows[rows.size // 2 :]] = True
    return second


_AGREE = math.sqrt(1.0 + 2.0 / math.pi)


def cross_fitted_interval(estimate: Estimate, chance: float) -> Estimate:
    """Return an estimate over both halves, each judged by what the other taught, with an interval that is wide enough.

    Where nothing leaks, the halves differ from chance in a and b, independent with variance v. What one learns is the
    sign of its own difference, and the mean of both, (sign(b) a + sign(a) b) / 2, has the variance v (1 + 2/pi) / 2 and
    not v / 2: either both halves are right or both are wrong. Where something leaks for certain the signs are no
    chance. So the interval is sqrt(1 + 2/pi) times as wide unless it lies above chance even then.
    """
    below, above = (_AGREE * abs(end - estimate.value) for end in (estimate.low, estimate.high))
    if estimate.value - below > chance:
        return estimate
    return replace(estimate, low=estimate.value - below, high=estimate.value + above)


MAX_TEACHERS = 100_000
"""Most people of a half who teach; of more, so many are drawn at random. All are judged."""

_TREES = 40
_LEAVES = 8
_FEWEST_IN_LEAF = 50
_RATE = 0.1
"""Small: a few numbers a person, and more trees learn the teaching half's chance."""


def cross_fitted(
    columns: Sequence[npt.ArrayLike], member: Codes, *, seed: int, name: str
) -> tuple[Floats, Codes]:
    """Return everybody's score, higher for members, and verdict, from boosting on the half that they are not in.

    The score lies in (0, 1); the verdict is 1 where boosting finds a member likelier than a non-member, both as
    frequent: the largest TPR - FPR. The columns, each of shape (n,), are nan where there is no evidence; the name is
    the attack's, for its own use of chance.
    """
    from scipy.stats import rankdata

    evidence = np.column_stack([np.asarray(column, dtype=np.float32) for column in columns])
    second = halves(member, seed=seed)
    score = np.empty(member.size)
    verdict = np.empty(member.size, dtype=np.uint8)
    for number, half in enumerate((second, ~second)):
        teachers = np.flatnonzero(~half)
        if teachers.size > MAX_TEACHERS:
            drawn = child_generator(seed, f"{name}, teaching sample {number}")
            teachers = np.sort(drawn.choice(teachers, MAX_TEACHERS, replace=False))
        model = _fitted(
            evidence[teachers], member[teachers], child_seed(seed, f"{name}, boosting {number}")
        )
        decisions = np.round(
            model.decision_function(evidence), 9
        )  # equal evidence, equal score, but for rounding
        score[half] = ((rankdata(decisions) - 0.5) / decisions.size)[half]
        verdict[half] = decisions[half] > 0.0
    return score, verdict


def _fitted(evidence: npt.NDArray[np.float32], member: Codes, seed: int) -> Any:
    from sklearn.ensemble import HistGradientBoostingClassifier
    from threadpoolctl import threadpool_limits

    model = HistGradientBoostingClassifier(
        max_iter=_TREES,
        max_leaf_nodes=_LEAVES,
        min_samples_leaf=min(_FEWEST_IN_LEAF, max(1, member.size // 20)),
        learning_rate=_RATE,
        early_stopping=False,
        class_weight="balanced",
        random_state=seed,
    )
    with threadpool_limits(limits=1):
        return model.fit(evidence, member)
