"""The sensitive attribute read off predictions: an attacker who learned with them beside one who learned without.

Two trials. In the first the attacker learns a table: how often each group occurs among people who look the same to her.
It takes no time, so that hundreds of models can be tried; her guesses become the audit's estimate and go to its judge.
The second, on fewer models, is the audit's own attack from end to end: gradient boosting, calibration, measurement.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from core.decision.attacks import attribution_of
from core.decision.measures.attribute_gains import attribute_excess
from core.decision.self_test.audited import audit_of
from core.decision.self_test.people import Drawn, draw_people
from core.decision.self_test.trial import Trial, called, each
from core.estimates import paired_gain
from core.policy import Measurement
from core.seeds import child_generator, child_seed

__all__ = ["ATTRIBUTE_TRIALS", "model_answers"]

_ATTACKED, _KNOWN = 680, 462
"""People under attack, and people the attacker learns from, in the proportion of an audit's sets."""

_SETS = (600, 600, 100)
"""Training, attack and test records of the audit's own attack."""

_DEPENDS = 0.4
"""How much likelier a planted model accepts group 1, and less likely the other."""

_LOOKS = 18
"""How many kinds of people a table tells apart by two features and the label."""

Bits = npt.NDArray[np.uint8]


def model_answers(people: Drawn, rng: np.random.Generator, *, planted: bool) -> Bits:
    """Return a model's answers: a draw that follows features and label, and the group if a leak is planted."""
    chance = 0.35 + 0.1 * people.features[:, 0] + 0.1 * people.labels
    if planted:
        chance = chance + _DEPENDS * (2.0 * people.sensitive - 1.0)
    return (rng.random(len(chance)) < chance).astype(np.uint8)


def _table_leaks(seed: int, run: int, planted: bool) -> bool:
    rng = child_generator(seed, f"self-test, attribute by table, {run}, {planted}")
    people = draw_people(_ATTACKED + _KNOWN, rng)
    predictions = model_answers(people, rng, planted=planted)
    known, attacked = slice(_ATTACKED, None), slice(0, _ATTACKED)
    looks = people.features[:, 0] + 3 * people.features[:, 1] + 9 * people.labels
    before, after = (
        _majority(kinds[known], people.sensitive[known])[kinds[attacked]] == people.sensitive[attacked]
        for kinds in (looks, looks + _LOOKS * predictions)
    )
    won, lost = int(np.count_nonzero(after & ~before)), int(np.count_nonzero(before & ~after))
    gain = paired_gain(won, lost, _ATTACKED)
    return called(Measurement(check="attribute_excess", outcome="done", estimate=gain), 0.0)


def _majority(kinds: npt.NDArray[np.int64], sensitive: Bits) -> Bits:
    """Return the more frequent group of each kind of people, with the share of all as one person more."""
    counts = np.bincount(2 * kinds + sensitive, minlength=4 * _LOOKS).reshape(-1, 2)
    share = sensitive.mean()
    return (counts[:, 1] + share > counts[:, 0] + 1.0 - share).astype(np.uint8)


def _own_leaks(seed: int, run: int, planted: bool) -> bool:
    name = f"self-test, attribute by boosting, {run}, {planted}"
    rng = child_generator(seed, name)
    people = draw_people(sum(_SETS), rng)
    predictions = model_answers(people, rng, planted=planted)
    audited = audit_of(people, predictions, _SETS, seed=child_seed(seed, name))
    # The paper's attackers only stand beside the number; the strong one stands in for them.
    audited.once("attribution paper's", lambda: attribution_of(audited, "strong"))
    return called(attribute_excess(audited), 0.0)


_TOLD = "Null: answers that follow features and label alone. Planted: answers that follow the group as well."

ATTRIBUTE_TRIALS = (
    Trial(
        attack="Attribute read off predictions, by an attacker who learns a table",
        told=_TOLD,
        leaks=each(_table_leaks),
    ),
    Trial(
        attack="Attribute read off predictions, by the audit's strong attacker",
        told=_TOLD,
        leaks=each(_own_leaks),
        share=0.05,
    ),
)
