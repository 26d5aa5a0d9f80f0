"""The published attack, a network a label (Zhang et al. 2020, section 3.1).

The target is its own shadow. The attacker asks it about people whose membership they know and fits, for each label, a
network with one hidden layer of 300 units on the pair of probabilities the target answers. A person whom the network
gives at least one half is classified as a member.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ....adversaries.released_outputs import halves
from ....base.validation import Codes, Floats, Ints, child_seed
from ..attack import Attack, AttackOutput, Evidence

HIDDEN = 300
"""Units of the hidden layer, as published."""

_STEPS = 150
_RATE = 0.01
_BATCH = 400
"""Steps of the training, their length, and the most distinct answers a step looks at."""

_NO_PROGRESS = 1e9
"""A loss that falls by less is not falling: always."""


def scores(evidence: Evidence) -> AttackOutput:
    """Judge people by what a network learned from the target's answers about known people.

    Where everybody judged is known too, as in an audit, two halves of them teach each other and scores are ranks within
    a half. A label all of whose known people are members, or non-members, has nothing to learn from: its verdict is
    constant. People with the same answer and label get the same score of a network, which is asked about each answer
    once.
    """
    from scipy.stats import rankdata

    known_rows, member = evidence.split.known_records
    rows = evidence.split.judged_rows
    if not np.isin(rows, known_rows).any():
        score = _scored(evidence, known_rows, member, rows, "")
        return score, score >= 0.5
    member = evidence.split.judged_records[1]
    second = halves(member, seed=evidence.seed)
    score = np.empty(rows.size)
    verdict = np.empty(rows.size, dtype=np.bool_)
    for number, half in enumerate((second, ~second)):
        chance = _scored(evidence, rows[~half], member[~half], rows[half], f", half {number}")
        score[half] = (rankdata(chance) - 0.5) / chance.size
        verdict[half] = chance >= 0.5
    return score, verdict


def _scored(evidence: Evidence, known_rows: Ints, member: Codes, rows: Ints, name: str) -> Floats:
    """Return the probability that each of these rows is a member, by a network a label learned from known rows."""
    p = evidence.probability
    y = evidence.labels
    score = np.empty(rows.size)
    for label in (0, 1):
        learn = y[known_rows] == label
        queried = y[rows] == label
        answers, index = np.unique(p[rows[queried]], return_inverse=True)
        child = child_seed(evidence.seed, f"membership network {label}{name}")
        score[queried] = _learned(p[known_rows[learn]], member[learn], answers, child)[index]
    return score


def _learned(known_answers: Floats, member: Codes, queried: Floats, seed: int) -> Floats:
    """Return the probability of being a member for the answers asked about, of one label."""
    if not member.size:
        return np.full(queried.size, 0.5)
    if not queried.size or np.unique(member).size < 2:
        return np.full(queried.size, member.mean())
    network = _fitted(known_answers, member, seed)
    return np.asarray(network.predict_proba(_pairs(queried))[:, 1], dtype=np.float64)


def _pairs(p: Floats) -> Floats:
    return np.column_stack([1.0 - p, p])


def _fitted(p: Floats, member: Codes, seed: int) -> Any:
    """Return a trained network. Each distinct pair of answer and membership enters once, with its number of people.

    The loss is the one of all people, but there are few distinct answers. No pass over them counts as progress, so
    that training stops after as many passes as it is given patience for, and has nothing to warn of.
    """
    from sklearn.neural_network import MLPClassifier
    from threadpoolctl import threadpool_limits

    pairs, index = np.unique(np.column_stack([p, member]), axis=0, return_inverse=True)
    mass = np.bincount(index.ravel()).astype(np.float64)
    batch = min(_BATCH, mass.size)
    passes = max(2, round(_STEPS / np.ceil(mass.size / batch)))
    network = MLPClassifier(
        (HIDDEN,),
        random_state=seed,
        batch_size=batch,
        learning_rate_init=_RATE,
        tol=_NO_PROGRESS,
        n_iter_no_change=passes - 1,
        max_iter=passes + 1,
    )
    with threadpool_limits(limits=1):  # so small a network is slower on many threads
        return network.fit(
            _pairs(pairs[:, 0]), pairs[:, 1].astype(np.uint8), sample_weight=mass / mass.mean()
        )


ATTACK = Attack(
    title="Zhang et al.'s attack",
    phrase="Zhang et al.'s attack",
    paper="Zhang et al. 2020",
    glossary="Learns for each label which scores members get, from people whose membership is known.",
    needs=frozenset({"labels", "scores", "halves"}),
    uses=frozenset(),
    turn=30,
    scores=scores,
)
