"""The boundary attack: labels alone of a model that can be asked (Choquette-Choo et al. 2021, Li and Zhang 2021).

The model is asked about each person's record again, each time with one value replaced by somebody else's value of that
column. How many of these K copies get the person's own label y says on which side of the boundary between the labels
the person lies, and how far from it. With f the predicted label, x the record and x_k its copies, two scores:

    robust(x)   = (1[f(x) = y] + Σ 1[f(x_k) = y]) / (K + 1)
    isolated(x) = 1[f(x) = y] - Σ 1[f(x_k) = y] / K

The first is the published one: the label of members withstands changes. It holds for models that remember a whole
neighbourhood. Most trees, boostings and networks tried on tables remember the record alone: a person predicted
correctly, whose copies are not, is likelier a member, as in attacks calibrated by difficulty (Watson et al. 2022, arXiv
2111.08440). Which of the two a model does is learned: half of the judged teach which score separates members better,
the other half is judged, then the halves change places, see `core.studies.membership.attack`.

AUC of robust, isolated and the gap attack, people of the demo: nearest neighbour .87, .40, .65; network .54, .60, .57;
boosting of 400 rounds .56, .60, .58; default forest .59, .57, .59. Differs from the papers: no search for the nearest
point with another label, which needs thousands of questions a person and a distance between categories.
"""

from __future__ import annotations

import numpy as np

from ....adversaries.released_outputs import halves
from ....base.validation import Codes, Floats, Ints, child_generator
from ....models.model_answers import QueryAccess
from ..attack import Attack, AttackOutput, Evidence, best_threshold

COPIES = 16
"""Changed records of each person; the columns take turns, from a random one on."""

_AT_ONCE = 500_000
"""Records the model is asked about at once."""


def scores(evidence: Evidence) -> AttackOutput:
    """Judge people by how the model labels their record when it is changed, half of the judged teaching how."""
    assert evidence.access is not None
    rows, member = evidence.split.judged_records
    labels = evidence.labels[rows]
    right = (evidence.predicted == evidence.labels)[rows]
    unchanged = _count_unchanged(
        evidence.access,
        rows,
        labels,
        evidence.labels.size,
        child_generator(evidence.seed, "boundary attack"),
    )
    score, verdict = _either(
        (right + unchanged) / (COPIES + 1), right - unchanged / COPIES, member, seed=evidence.seed
    )
    return score, verdict


def _count_unchanged(
    access: QueryAccess, rows: Ints, labels: Codes, people: int, rng: np.random.Generator
) -> Ints:
    """Return how many copies of each record get the person's own label."""
    columns, ask = access
    first = rng.integers(0, columns, rows.size)
    donors = rng.integers(0, people, (rows.size, COPIES))  # whose value a copy gets
    counts = np.empty(rows.size, dtype=np.int64)
    step = _AT_ONCE // COPIES
    for start in range(0, rows.size, step):
        part = slice(start, start + step)
        queries = np.tile(rows[part, np.newaxis, np.newaxis], (1, COPIES, columns))
        changed = (first[part, np.newaxis] + np.arange(COPIES)) % columns
        np.put_along_axis(queries, changed[:, :, np.newaxis], donors[part, :, np.newaxis], axis=2)
        answers = ask(queries.reshape(-1, columns)).reshape(-1, COPIES)
        counts[part] = (answers == labels[part, np.newaxis]).sum(axis=1)
    return counts


def _either(robust: Floats, isolated: Floats, member: Codes, *, seed: int) -> tuple[Floats, Codes]:
    """Return everybody's score and verdict, by what separates the members of the half that they are not in better.

    A score is replaced by its rank, so that both halves share one scale whichever they are judged by.
    """
    from scipy.stats import rankdata

    ranks = [rankdata(np.round(statistic, 9)) / statistic.size for statistic in (robust, isolated)]
    second = halves(member, seed=seed)
    score = np.empty(member.size)
    verdict = np.empty(member.size, dtype=np.uint8)
    for half in (second, ~second):
        training = ~half
        inside = member[~half] == 1
        means = [
            rankdata(rank[training])[inside].mean() for rank in ranks
        ]  # the AUC, but for its scale
        best = ranks[int(np.argmax(means))]
        score[half] = best[half]
        verdict[half] = best[half] >= best_threshold(best[training], member[training])
    return score, verdict


ATTACK = Attack(
    title="Boundary attack",
    phrase="the boundary attack",
    paper="Choquette-Choo et al. 2021",
    glossary="Asks the model about changed records, and learns how members' labels withstand the changes.",
    needs=frozenset({"labels", "queries", "halves"}),
    uses=frozenset({"labels"}),
    turn=56,
    scores=scores,
)
