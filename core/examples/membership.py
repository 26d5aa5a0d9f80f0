"""Membership inference on a few people: two gaps, one private split, FairPick's deletions.

The published gap compares the true-positive rates of two groups (Zhang et al. 2020). It says nothing about leakage by
itself, which the first case shows. A private tree never sees the records: it sees counts with noise, and every count
has its price (DP-ID3, Friedman and Schuster 2010).
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from core.estimates import Estimate, interval, percent, proportion
from core.examples.example import Example, compose, number, numbers, signed
from core.membership import fairpick_counts, vulnerability_disparity
from core.membership.fairpick import differences
from core.models.id3 import best_attribute, noisy_score
from core.models.tree_budget import BudgetLedger, noisy_counts
from core.seeds import child_generator

_FLAGGED = {("women", "member"): 8, ("women", "non-member"): 7, ("men", "member"): 6, ("men", "non-member"): 2}
"""Classified as members, of ten each."""

_COUNTS = np.array([[7, 2], [1, 6], [2, 2]], float)  # clusters by men and women
_THETA = 0.75

EPSILON = 8.0
SEED = 1
_OTHERS = 1000

_ATTRIBUTES = ("Degree", "Lives in town")
_CELLS = (  # degree, town, repaid, people
    (1, 1, 1, 5),
    (1, 0, 1, 3),
    (1, 1, 0, 1),
    (1, 0, 0, 1),
    (0, 1, 1, 1),
    (0, 0, 1, 1),
    (0, 1, 0, 3),
    (0, 0, 0, 5),
)

_Ints = npt.NDArray[np.int64]


def two_gaps(name: str) -> Example:
    """Return the case in which the published gap and the leak point at different groups."""
    group = np.repeat([1, 1, 0, 0], 10)
    member = np.tile(np.repeat([1, 0], 10), 2)
    verdict = np.concatenate([np.arange(10) < k for k in _FLAGGED.values()]).astype(int)
    found = vulnerability_disparity(verdict, group, member, names=("women", "men"))
    (women, men), (women_false, men_false) = found.recall, found.false_alarms
    return compose(
        name,
        {
            "women": women.value,
            "men": men.value,
            "vd": found.vd.value,
            "advantage_gap": found.advantage_gap.value,
            "low": found.vd.low,
            "high": found.vd.high,
            "women_false": women_false.value,
            "men_false": men_false.value,
            "fpr_gap": found.fpr_gap.value,
            "women_net": women.value - women_false.value,
            "men_net": men.value - men_false.value,
        },
        right="About men",
        table=(
            ("Group", "Truth", "People", "Classified as members"),
            ((who, f"{kind}s", 10, flagged) for (who, kind), flagged in _FLAGGED.items()),
        ),
    )


def fairpick_deletes(name: str) -> Example:
    """Return the case of FairPick's closed form with whole numbers."""
    deleted = fairpick_counts(_COUNTS, _THETA)
    kept = _COUNTS - deleted
    before, after = differences(_COUNTS), differences(kept)
    share, gone = float(deleted.sum() / _COUNTS.sum()), float(deleted.sum())
    return compose(
        name,
        {
            "before": ", ".join(signed(one) for one in before),
            "after": ", ".join(signed(one) for one in after),
            "share": share,
            "deleted": gone,
            "factor": 1 - _THETA * (1 - share),
            "men": float(deleted[0, 0]),
            "women": float(deleted[1, 1]),
        },
        right=round(gone, 6),
        marked=np.flatnonzero(deleted.sum(axis=1)).tolist(),
        table=(
            ("Cluster", "Men", "Women"),
            ((c + 1, int(_COUNTS[c, 0]), int(_COUNTS[c, 1])) for c in range(3)),
        ),
        tables={
            4: (
                ("Cluster", "Men", "Women", "DD before", "DD after"),
                (
                    (c + 1, number(kept[c, 0]), number(kept[c, 1]), signed(before[c]), signed(after[c]))
                    for c in range(3)
                ),
            )
        },
    )


def private_split(name: str) -> Example:
    """Return the case of one split with its noisy counts."""
    x, y = records()
    ledger = BudgetLedger(accounting="savings", asked=EPSILON, depth=1, n_attributes=2)
    small = BudgetLedger(accounting="savings", asked=1.0, depth=1, n_attributes=2)
    each = ledger.attributes(0).each
    rng = child_generator(SEED, "DP-ID3, noise")
    size = int(noisy_counts(np.array([len(y)]), ledger.size(0).each, rng)[0])
    true = [_joint(x[:, a], y) for a in range(2)]
    noisy = [noisy_counts(joint[None], each, rng)[0] for joint in true]
    exact_v, noisy_v = (
        [float(noisy_score(joint[None], joint[None].sum(axis=2))[0]) for joint in tables] for tables in (true, noisy)
    )
    chosen = int(best_attribute(np.array([noisy_v]))[0])
    often = _how_often(true, each)
    counts = [
        (f"{attribute}: {word}", numbers(true[a][value][::-1]), numbers(noisy[a][value][::-1]))
        for a, attribute in enumerate(_ATTRIBUTES)
        for value, word in ((1, "yes"), (0, "no"))
    ]
    yes_no = ("no", "yes")
    return compose(
        name,
        {
            "slot": ledger.slot,
            "each": each,
            "leaf": ledger.leaf(1),
            "total": ledger.total,
            "root": ledger.size(0).epsilon,
            "attributes": ledger.attributes(0).epsilon,
            "size": size,
            "quarter": size / 4,
            "least": _least(ledger),
            "small_size": small.size(0).each,
            "small_least": _least(small),
            "noisy": "; ".join(f"{row[0]} {row[2]}" for row in counts),
            "degree": exact_v[0],
            "town": exact_v[1],
            "noisy_degree": noisy_v[0],
            "noisy_town": noisy_v[1],
            "first": _ATTRIBUTES[chosen].lower(),
            "verdict": "agree" if chosen == int(np.argmax(exact_v)) else "favour the other",
            "draws": f"{_OTHERS:,}",
            "times": str(round(_OTHERS * often.value)),
            "often": percent(often),
            "interval": interval(often),
        },
        right=each,
        table=(
            ("Person", *_ATTRIBUTES, "Repaid"),
            ((i + 1, yes_no[x[i, 0]], yes_no[x[i, 1]], yes_no[y[i]]) for i in range(len(y))),
        ),
        tables={3: (("People with", "True counts", "Noisy counts"), counts)},
    )


def records() -> tuple[_Ints, _Ints]:
    """Return the two attributes, shape (20, 2), and the label, shape (20,)."""
    rows = np.repeat(np.array(_CELLS)[:, :3], [cell[3] for cell in _CELLS], axis=0)
    mixed = rows[(7 * np.arange(20)) % 20]  # not sorted by the answer
    return mixed[:, :2].astype(np.int64), mixed[:, 2].astype(np.int64)


def _least(ledger: BudgetLedger) -> float:
    """Return how many people a cell must hold on average for the tree to go on."""
    return math.sqrt(2) / ledger.size(0).each


def _joint(column: _Ints, label: _Ints) -> _Ints:
    """Return the counts of value and class, shape (2, 2)."""
    return np.bincount(2 * column + label, minlength=4).reshape(2, 2)


def _how_often(true: list[_Ints], each: float) -> Estimate:
    """Return how often the first attribute is chosen, over many draws of the noise."""
    rng = child_generator(SEED, "other noise")
    noisy = [noisy_counts(np.tile(joint, (_OTHERS, 1, 1)), each, rng) for joint in true]
    scores = np.column_stack([noisy_score(counts, counts.sum(axis=2)) for counts in noisy])
    return proportion(int((best_attribute(scores) == 0).sum()), _OTHERS)
