"""Quantile regression, an attack without shadow models (Bertran et al. 2023, arXiv 2307.03694).

How high is φ of somebody with this record and label where the model was not trained on them? That is learned from
`MembershipSplit.population`, non-members the attacker knows and does not judge; nobody's membership among the judged is
used. A person whose φ lies high in this distribution is likelier a member. As in the authors' program for tables
(amazon-science/quantile-mia) the distribution is described by its mean μ and deviation σ, and the score is

    (φ - μ(record, label)) / σ(record, label),

which orders people as the quantile that their φ is in. Differs from that program: there boosting fits both by
likelihood and is tuned in 200 trials; here a forest averages φ and φ² over the same leaves, so that σ² is the
difference of the second mean and the first one squared, and is never negative.
"""

from __future__ import annotations

import numpy as np

from ....base.errors import InputError
from ....base.validation import Floats, child_generator, child_seed
from ..attack import LEAST_DEVIATION, Attack, AttackOutput, Evidence, logit

_TREES = 50
_FEWEST_IN_LEAF = 10
"""Trees, and fewest people in a leaf."""

_MAX_TRAINING = 5_000
"""Most people who are learned from; of more, so many are drawn at random."""

_DIGITS = 9
"""Decimals of a score, so that equal evidence ties."""


def scores(evidence: Evidence) -> AttackOutput:
    """Judge people by how far their φ lies above what is expected of non-members; scores alone, and no verdict.

    Raises `InputError` if nobody is in the population.
    """
    rows = evidence.split.judged_rows
    learn = evidence.split.population
    if not learn.size:
        message = "Quantile regression needs people whom the model was not trained on and who are not judged, got none."
        raise InputError(message)
    if learn.size > _MAX_TRAINING:
        drawn = child_generator(evidence.seed, "quantile regression, people")
        learn = np.sort(drawn.choice(learn, _MAX_TRAINING, replace=False))
    columns = np.column_stack([evidence.records, evidence.labels])
    phi = logit(evidence.label_probability)
    mean, deviation = _expected(
        columns[learn], phi[learn], columns[rows], child_seed(evidence.seed, "quantile forest")
    )
    score = np.round((phi[rows] - mean) / deviation, _DIGITS)
    return score, None


def _expected(training: Floats, phi: Floats, evaluated: Floats, seed: int) -> tuple[Floats, Floats]:
    """Return mean and deviation of φ for each of those judged, as learned of people and their φ."""
    from sklearn.ensemble import RandomForestRegressor

    centre = float(phi.mean())
    scale = max(float(phi.std()), LEAST_DEVIATION)
    z = (phi - centre) / scale  # so that both targets have a say in where to split
    forest = RandomForestRegressor(
        n_estimators=_TREES, min_samples_leaf=_FEWEST_IN_LEAF, random_state=seed
    )
    first, second = forest.fit(training, np.column_stack([z, z * z])).predict(evaluated).T
    deviation = scale * np.sqrt(np.maximum(second - first * first, 0.0))
    return centre + scale * first, np.maximum(deviation, LEAST_DEVIATION)


ATTACK = Attack(
    title="Quantile regression",
    phrase="quantile regression",
    paper="Bertran et al. 2023",
    glossary="Learns from non-members how likely the model makes the label of such a record; members lie above.",
    needs=frozenset({"labels", "scores", "records", "population"}),
    uses=frozenset({"scores"}),
    turn=55,
    scores=scores,
)
