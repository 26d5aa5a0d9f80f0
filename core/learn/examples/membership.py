"""Membership inference on a few people: two gaps, a likelihood ratio, one private split, FairPick's deletions.

The published gap compares the true-positive rates of two groups (Zhang et al. 2020). It says nothing about leakage by
itself, which the first case shows. A private tree never sees the records: it sees counts with noise, and every count
has its price (DP-ID3, Friedman and Schuster 2010).
"""

from __future__ import annotations

import math

import numpy as np

from ...base.validation import Floats, Ints, Mask, child_generator
from ...models.id3 import BudgetLedger, best_attribute, noisy_counts, noisy_score
from ...stats.estimates import Estimate, accuracy_gain, interval, percent, proportion
from ...studies.membership import (
    REGISTRY,
    Evidence,
    MembershipSplit,
    fairpick_counts,
    vulnerability_disparity,
)
from ...studies.membership.attack import Shadows
from ...studies.membership.fairpick import differences
from .example import Example, compose, number, numbers, signed

_FLAGGED = {
    ("women", "member"): 8,
    ("women", "non-member"): 7,
    ("men", "member"): 6,
    ("men", "non-member"): 2,
}
"""Classified as members, of ten each."""

_COUNTS = np.array([[7, 2], [1, 6], [2, 2]], float)  # clusters by men and women
_THETA = 0.75

EPSILON = 8.0
SEED = 1
_DRAWS = 1000

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


def two_gaps(name: str) -> Example:
    """Return the case in which the published gap and the leak point at different groups."""
    group = np.repeat([1, 1, 0, 0], 10)
    member = np.tile(np.repeat([1, 0], 10), 2)
    verdict = np.concatenate([np.arange(10) < k for k in _FLAGGED.values()]).astype(int)
    disparity = vulnerability_disparity(verdict, group, member, names=("women", "men"))
    (women, men) = disparity.tpr
    (women_false, men_false) = disparity.fpr
    return compose(
        name,
        {
            "women": women.value,
            "men": men.value,
            "vd": disparity.vd.value,
            "advantage_gap": disparity.advantage_gap.value,
            "low": disparity.vd.low,
            "high": disparity.vd.high,
            "advantage_low": disparity.advantage_gap.low,
            "advantage_high": disparity.advantage_gap.high,
            "women_false": women_false.value,
            "men_false": men_false.value,
            "fpr_gap": disparity.fpr_gap.value,
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
    remaining = _COUNTS - deleted
    before = differences(_COUNTS)
    after = differences(remaining)
    share = float(deleted.sum() / _COUNTS.sum())
    gone = float(deleted.sum())
    return compose(
        name,
        {
            "before": ", ".join(signed(value) for value in before),
            "after": ", ".join(signed(value) for value in after),
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
                    (
                        c + 1,
                        number(remaining[c, 0]),
                        number(remaining[c, 1]),
                        signed(before[c]),
                        signed(after[c]),
                    )
                    for c in range(3)
                ),
            )
        },
    )


def private_split(name: str) -> Example:
    """Return the case of one split with its noisy counts."""
    x, y = records()
    ledger = BudgetLedger(accounting="savings", requested_epsilon=EPSILON, depth=1, n_attributes=2)
    small = BudgetLedger(accounting="savings", requested_epsilon=1.0, depth=1, n_attributes=2)
    epsilon = ledger.attributes(0).table_epsilon
    rng = child_generator(SEED, "DP-ID3, noise")
    size = int(noisy_counts(np.array([len(y)]), ledger.size(0).table_epsilon, rng)[0])
    true = [_joint(x[:, a], y) for a in range(2)]
    noisy = [noisy_counts(joint[None], epsilon, rng)[0] for joint in true]
    exact_v = list(map(_score, true))
    noisy_v = list(map(_score, noisy))
    chosen = int(best_attribute(np.array([noisy_v]))[0])
    verdict = "agree" if chosen == int(np.argmax(exact_v)) else "favour the other"
    often = _how_often(true, epsilon)
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
            "each": epsilon,
            "leaf": ledger.leaf(1),
            "total": ledger.total,
            "root": ledger.size(0).epsilon,
            "attributes": ledger.attributes(0).epsilon,
            "size": size,
            "quarter": size / 4,
            "least": _least(ledger),
            "small_size": small.size(0).table_epsilon,
            "small_least": _least(small),
            "noisy": "; ".join(f"{row[0]} {row[2]}" for row in counts),
            "degree": exact_v[0],
            "town": exact_v[1],
            "noisy_degree": noisy_v[0],
            "noisy_town": noisy_v[1],
            "first": _ATTRIBUTES[chosen].lower(),
            "verdict": verdict,
            "draws": f"{_DRAWS:,}",
            "times": str(round(_DRAWS * often.value)),
            "often": percent(often),
            "interval": interval(often),
        },
        right=epsilon,
        table=(
            ("Person", *_ATTRIBUTES, "Repaid"),
            ((i + 1, yes_no[x[i, 0]], yes_no[x[i, 1]], yes_no[y[i]]) for i in range(len(y))),
        ),
        tables={3: (("People with", "True counts", "Noisy counts"), counts)},
    )


def _score(joint: Ints) -> float:
    """Return the score v of one attribute from its table of counts."""
    return float(noisy_score(joint[None], joint[None].sum(axis=2))[0])


def records() -> tuple[Ints, Ints]:
    """Return the two attributes, shape (20, 2), and the label, shape (20,)."""
    rows = np.repeat(np.array(_CELLS)[:, :3], [cell[3] for cell in _CELLS], axis=0)
    mixed = rows[(7 * np.arange(20)) % 20]  # not sorted by the answer
    return mixed[:, :2].astype(np.int64), mixed[:, 2].astype(np.int64)


def _least(ledger: BudgetLedger) -> float:
    """Return how many people a cell must hold on average for the tree to go on."""
    return math.sqrt(2) / ledger.size(0).table_epsilon


def _joint(column: Ints, label: Ints) -> Ints:
    """Return the counts of value and class, shape (2, 2)."""
    return np.bincount(2 * column + label, minlength=4).reshape(2, 2)


def _how_often(true: list[Ints], epsilon: float) -> Estimate:
    """Return how often the first attribute is chosen, over many draws of the noise."""
    rng = child_generator(SEED, "other noise")
    noisy = [noisy_counts(np.tile(joint, (_DRAWS, 1, 1)), epsilon, rng) for joint in true]
    scores = np.column_stack([noisy_score(counts, counts.sum(axis=2)) for counts in noisy])
    return proportion(int((best_attribute(scores) == 0).sum()), _DRAWS)


_TARGET = np.array([4.0, 3.5, 2.0, -1.0, 2.0, 2.5, 4.0, 1.0])
_INSIDE = np.array([4.0, 3.5, 2.0, 1.5, 3.0, 2.5, 4.0, 1.0])
_OUTSIDE = np.array([4.0, 3.0, -1.0, -1.5, 2.0, 0.5, 4.0, -0.5])
_AROUND = np.array([[-0.5, 0.0, 0.5], [0.5, -0.5, 0.0], [0.0, 0.5, -0.5]])
"""Score φ of the target model, and of shadow models with and without a person: a mean, and how they lie around it."""

_MEMBERS = np.array([2, 5, 6, 7])  # counted from 0
_MOST = 4


def likelihood_ratio(name: str) -> Example:
    """Return the case of eight people, four of them members: LiRA's likelihood ratio by hand (Carlini et al. 2022).

    A high score of the target model says little by itself: some people are easy for every model. LiRA compares it with
    what models trained with and without this person say of the same person.
    """
    member = np.isin(np.arange(8), _MEMBERS)
    scores = evidence()
    shadow_values = shadow_scores()
    ratio, _ = REGISTRY["lira"].scores(scores)
    lira = np.round(ratio, 9) > 0
    confident = np.isin(_TARGET, np.sort(_TARGET)[-_MOST:])
    shadows = scores.shadow_models
    (inside, deviation), (outside, _) = (
        shadows.normal(used, False) for used in (shadows.inside, ~shadows.inside)
    )
    gain = accuracy_gain(member, confident, lira)
    labels = ("non-member", "member")
    rows = [
        (
            i + 1,
            number(_TARGET[i]),
            number(inside[i]),
            number(outside[i]),
            signed(float(ratio[i])),
            labels[int(lira[i])],
            labels[int(confident[i])],
            labels[int(member[i])],
        )
        for i in range(8)
    ]
    return compose(
        name,
        {
            "target": float(_TARGET[2]),
            "inside": numbers(shadow_values[0][2]),
            "inside_mean": float(inside[2]),
            "outside": numbers(shadow_values[1][2]),
            "outside_mean": float(outside[2]),
            "variance": float(deviation[0] ** 2),
            "twice": float(2 * deviation[0] ** 2),
            "hard": float(ratio[2]),
            "easy": float(ratio[0]),
            "members": numbers(_MEMBERS + 1.0),
            "flagged": numbers(np.flatnonzero(lira) + 1.0),
            "most": numbers(np.flatnonzero(confident) + 1.0),
            **_rates("lira", lira, member),
            **_rates("confident", confident, member),
            "low": gain.low * 100,
            "high": gain.high * 100,
        },
        right="Person 3",
        table=(
            (
                "Person",
                "Target model",
                "Shadows trained with the person",
                "Shadows trained without",
            ),
            (
                (
                    i + 1,
                    number(_TARGET[i]),
                    numbers(shadow_values[0][i]),
                    numbers(shadow_values[1][i]),
                )
                for i in range(8)
            ),
        ),
        tables={
            3: (
                ("Person", "φ", "μ with", "μ without", "ln Λ", "LiRA", "Highest scores", "Truth"),
                rows,
            ),
        },
        marked=np.flatnonzero(lira != confident).tolist(),
    )


def shadow_scores() -> tuple[Floats, Floats]:
    """Return the scores φ of three shadow models with each person, and of three without, shape (8, 3) each."""
    around = _AROUND[np.arange(8) % 3]
    return _INSIDE[:, None] + around, _OUTSIDE[:, None] + around[:, ::-1]


def evidence() -> Evidence:
    """Return the eight people as the attack takes them: six shadow models, every person in three of them."""
    probability = 1 / (1 + np.exp(-np.hstack(shadow_scores()).T))
    trained = np.repeat([[True], [False]], 3, axis=0) & np.ones(8, bool)
    everybody = np.arange(8)
    nobody = np.empty(0, dtype=np.int64)
    split = MembershipSplit(
        members=_MEMBERS,
        outsiders=np.setdiff1d(everybody, _MEMBERS),
        known_rows=nobody,
        judged_rows=everybody,
    )
    shadows = Shadows(n_targets=8, label_probability=probability, trained=trained)
    released = 1 / (1 + np.exp(-_TARGET))
    return Evidence(
        labels=np.ones(8, np.uint8), split=split, released=released, memo={"shadows": shadows}
    )


def _rates(name: str, verdict: Mask, member: Mask) -> dict[str, float]:
    """Return true-positive rate, false-positive rate and membership advantage of a verdict."""
    tpr = float(verdict[member].mean())
    fpr = float(verdict[~member].mean())
    return {f"{name}_tpr": tpr, f"{name}_fpr": fpr, f"{name}_advantage": tpr - fpr}
