"""LiRA, the likelihood-ratio membership attack with shadow models (Carlini et al. 2022).

Shadow models are trained like the target on random people. What they say of a person's own label (φ, see
`core.studies.membership.attack`) is taken as normal, with one mean and variance over the shadows trained with that
person and another over those trained without. The score of a person is the log of the ratio of the two densities at the
target's φ. The normal law is an assumption, and trees break it: see `core.studies.membership.attacks.lira_boosted`.

Two variants differ in the variance: one for each person, or one that all people share. The paper takes the first from
64 shadows on. Which is better depends on the model, so it is measured, on shadow models: the attacker trained them and
knows their members. Each pair of shadows is left out in turn and attacked by the others, and the variant with the
larger mean TPR at 1% FPR is used. Shadows are drawn in pairs that share as few people as can be; without its partner a
shadow is independent of those that are left. Nobody's membership in the target's training data is used, so the choice
costs the intervals nothing.

Measured with half of the people members, all of them judged, 64 shadows, seeds 0 to 4 (of the forest on COMPAS 0 to 3);
TPR at 1% FPR, mean and standard deviation over seeds:

| target                          | variance a person | shared      | chosen      |
|---------------------------------|-------------------|-------------|-------------|
| Adult, scikit-learn's tree      | .015 ± .002       | .025 ± .002 | .025 ± .002 |
| Adult, ID3                      | .095 ± .004       | .080 ± .003 | .095 ± .004 |
| Adult, logistic regression      | .012 ± .001       | .013 ± .000 | .013 ± .000 |
| Adult, ID3 with ε = 1           | .009 ± .001       | .010 ± .001 | .010 ± .001 |
| COMPAS, scikit-learn's tree     | .023 ± .004       | .029 ± .003 | .029 ± .003 |
| COMPAS, ID3                     | .071 ± .007       | .058 ± .007 | .071 ± .007 |
| COMPAS, forest                  | .068 ± .007       | .065 ± .013 | .065 ± .013 |
| demo, scikit-learn's tree       | .016 ± .001       | .020 ± .001 | .020 ± .001 |
| demo, ID3                       | .077 ± .004       | .078 ± .003 | .077 ± .004 |
| demo, forest                    | .039 ± .006       | .049 ± .005 | .049 ± .005 |

Where nothing leaks, as with ε = 1, neither is better and either is taken. The AUC of the two differs by .015 at most.

A threshold for all people has its FPR on average over people (Jälkö et al. 2026, arXiv 2605.25819). Measured on Adult,
trees of depth 14, 64 shadows of 5,000 people each, 1 % in all: 91 % of the people have an FPR of 0 over the 32 shadows
without them, 4 % one of 10 % or more, at most 31 %. A threshold a person would need hundreds of shadows. They also find
targets taken from among the shadows too exposed. Here the target is none of the shadows, whose draws do not depend on
who its members are (six tables: AUC .715, TPR .105; each shadow left out and attacked by the others: .713, .101). With
a target trained on none of the people the AUC is .499 and the TPR .0095.
"""

from __future__ import annotations

import math

import numpy as np

from ....base.validation import Codes, Floats, Ints, Mask, child_generator
from ..attack import FEWEST, Attack, AttackOutput, Evidence, Shadows, deviations, logit
from ..roc import LOW_FPR, counts_above, members_above

_MOST_PAIRS = 32
"""Most pairs of shadows that are left out in turn."""

_MOST_RECORDS = 5_000
"""Most records on which they are compared; of more, so many are drawn at random."""

_STEP = 1e-5
"""In which φ is summed where variances are compared: rounding that hangs on which shadows are left out would tell
records that tie apart by their membership, and sums of whole numbers are exact."""

_CHOICE = "LiRA, a variance per person"
"""Under which the evidence keeps the choice."""


def scores(evidence: Evidence) -> AttackOutput:
    """Judge people by how the target's answer compares with that of shadow models; scores alone, and no verdict.

    The variance is one for each person or one for all, see `chooses_variance_per_person`.
    """
    phi = logit(evidence.label_probability)[evidence.split.judged_rows]
    return _score(phi, _laws(evidence.shadow_models, chooses_variance_per_person(evidence))), None


def chooses_variance_per_person(evidence: Evidence) -> bool:
    """Whether a variance per person identifies more members of left-out shadow models than a shared one."""
    if _CHOICE not in evidence.memo:
        per_person, shared = variance_rates(evidence)
        evidence.memo[_CHOICE] = per_person > shared
    return bool(evidence.memo[_CHOICE])


def variance_rates(evidence: Evidence) -> tuple[float, float]:
    """Return the mean TPR at 1% FPR on left-out shadow models: by a variance per person, and by a shared one.

    The records are those that are judged. Both are nan where no shadow has enough members and non-members among them.
    """
    shadows = evidence.shadow_models
    columns = _compared_columns(shadows, evidence.seed)
    phi = logit(shadows.label_probability[:, columns])
    trained = shadows.trained[:, columns]
    sides = [~trained, trained]
    steps = np.rint(phi / _STEP).astype(np.int64)
    sums = [_sums(steps, side) for side in sides]
    rates = []
    for first in range(0, len(phi) - 1, 2)[:_MOST_PAIRS]:
        pair = slice(first, first + 2)
        remaining = [
            every - _sums(steps[pair], side[pair]) for every, side in zip(sums, sides, strict=True)
        ]
        laws = [[_law(side, per_person) for side in remaining] for per_person in (True, False)]
        for target in (first, first + 1):
            if FEWEST <= np.count_nonzero(trained[target]) <= columns.size - FEWEST:
                member = trained[target].astype(np.uint8)
                rates.append([_rate(_score(phi[target], law), member) for law in laws])
    if not rates:
        return math.nan, math.nan
    per_person, shared = np.mean(rates, axis=0).tolist()
    return per_person, shared


def _compared_columns(shadows: Shadows, seed: int) -> Ints:
    """Return the columns of the records on which the variances are compared."""
    columns = np.arange(shadows.n_targets)
    if columns.size > _MOST_RECORDS:
        rng = child_generator(seed, "LiRA, records for the variance")
        columns = np.sort(rng.choice(columns, _MOST_RECORDS, replace=False))
    return columns


Law = list[tuple[Floats, Floats]]
"""Mean and deviation of each person's φ, over shadows without the person and with."""


def _laws(shadows: Shadows, per_person: bool) -> Law:
    """Return the law of the judged by all shadows."""
    return [shadows.normal(side, per_person) for side in (~shadows.inside, shadows.inside)]


def _sums(steps: Ints, used: Mask) -> Ints:
    """Return of each record's φ in steps, over the used shadows, number, sum and sum of squares, exact: (3, records).

    Both arrays are of shape (shadows, records).
    """
    inside = np.where(used, steps, 0)
    return np.stack([used.sum(axis=0), inside.sum(axis=0), (inside * inside).sum(axis=0)])


def _law(sums: Ints, per_person: bool) -> tuple[Floats, Floats]:
    """Return mean and deviation of each record's φ, by such sums."""
    number, total, square = sums
    size = np.maximum(number, 1)
    overall = total.sum() / max(int(number.sum()), 1)
    mean = np.where(number > 0, total / size, overall)
    squares = (number * square - total * total) / size
    return mean * _STEP, deviations(number, squares * _STEP**2, per_person)


def _rate(score: Floats, member: Codes) -> float:
    """Return the TPR at the FPR at which variances are compared, however few the records are."""
    alarms, hits = counts_above(score, member)
    position = LOW_FPR * (int(alarms[-1]) + 1)
    return float(members_above(position, alarms, hits)) / int(hits[-1])


def _score(phi: Floats, law: Law) -> Floats:
    """Return how much the φ of each person speaks for a member."""
    without, with_person = law
    return _log_density(phi, *with_person) - _log_density(phi, *without)


def _log_density(x: Floats, mean: Floats, deviation: Floats) -> Floats:
    """Return the log density of a normal distribution, but for its constant."""
    return -np.log(deviation) - 0.5 * ((x - mean) / deviation) ** 2


ATTACK = Attack(
    title="LiRA",
    phrase="LiRA",
    paper="Carlini et al. 2022",
    glossary="Compares the model with shadow models trained with and without a person.",
    needs=frozenset({"labels", "scores", "shadows"}),
    uses=frozenset({"scores"}),
    turn=60,
    scores=scores,
)
