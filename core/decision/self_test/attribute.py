"""The sensitive attribute inferred from what is released, beside imputation from features alone.

Two trials. In the first the attacker learns a table: how often each group occurs among people who look the same. It
takes no time, so that hundreds of models can be tried; the guesses become the audit's estimate and go to its judge.
The second, on fewer models, is the audit's own attack from end to end. Its plants take turns: labels that follow the
group, scores that do, a last digit, labels that turn a feature round for a minority of 10%, and scores of a subgroup.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from core.decision.attacks.released import released_gain
from core.decision.self_test.audited import audit_of
from core.decision.self_test.people import Bits, Drawn, Floats, draw_people
from core.decision.self_test.trial import Run, Trial, called, each
from core.estimates import paired_gain
from core.policy import Measurement

_TABLE_ATTACKED, _TABLE_KNOWN = 680, 462
"""People under attack, and people the attacker learns from, in the proportion of an audit's sets."""

_RELEASED_SETS = (900, 1_300, 100)
"""Training, attack and test records of the audit's own attack."""

_MINORITY = 1 / 6
"""How many of group 1, two fifths of everybody, are kept where it is to be a tenth."""

_DEPENDS = 0.4
"""How much likelier a planted model accepts group 1, and less likely the other."""

_CHECKS = {"attribute_excess": "accuracy", "attribute_balanced": "balanced_accuracy"}

_LOOKS = 18
"""How many kinds of people a table tells apart by two features and the label."""

_Answers = tuple[Bits, Floats | None]


def model_answers(people: Drawn, rng: np.random.Generator, *, planted: bool) -> Bits:
    """Return a model's answers: a draw that follows features and label, and the group if a leak is planted."""
    chance = 0.35 + 0.1 * people.features[:, 0] + 0.1 * people.labels
    if planted:
        chance = chance + _DEPENDS * (2.0 * people.sensitive - 1.0)
    return (rng.random(len(chance)) < chance).astype(np.uint8)


def _table_leaks(run: Run) -> bool:
    people = draw_people(_TABLE_ATTACKED + _TABLE_KNOWN, run.rng)
    predictions = model_answers(people, run.rng, planted=run.planted)
    known, attacked = slice(_TABLE_ATTACKED, None), slice(0, _TABLE_ATTACKED)
    looks = people.features[:, 0] + 3 * people.features[:, 1] + 9 * people.labels
    before, after = (
        _majority(kinds[known], people.sensitive[known])[kinds[attacked]] == people.sensitive[attacked]
        for kinds in (looks, looks + _LOOKS * predictions)
    )
    won, lost = int(np.count_nonzero(after & ~before)), int(np.count_nonzero(before & ~after))
    gain = paired_gain(won, lost, _TABLE_ATTACKED)
    return called(Measurement(check="attribute_excess", estimate=gain), 0.0)


def _majority(kinds: npt.NDArray[np.int64], sensitive: Bits) -> Bits:
    """Return the more frequent group of each kind of people, with the share of all as one person more."""
    counts = np.bincount(2 * kinds + sensitive, minlength=4 * _LOOKS).reshape(-1, 2)
    share = sensitive.mean()
    return (counts[:, 1] + share > counts[:, 0] + 1.0 - share).astype(np.uint8)


def _own_leaks(run: Run) -> bool:
    plant = _PLANTS[run.number % len(_PLANTS)]
    people = _people(run.rng, minority=plant is _turned_round_for_a_minority)
    predictions, scores = plant(people, run.rng, run.planted)
    audited = audit_of(people, predictions, _RELEASED_SETS, seed=run.seed, scores=scores)
    gains = {check: released_gain(audited, measure)[1] for check, measure in _CHECKS.items()}
    return any(called(Measurement(check=check, estimate=gain), 0.0) for check, gain in gains.items())


def _people(rng: np.random.Generator, *, minority: bool) -> Drawn:
    people, n = draw_people(4 * sum(_RELEASED_SETS), rng), sum(_RELEASED_SETS)
    kept = (people.sensitive == 0) | (rng.random(people.sensitive.size) < (_MINORITY if minority else 1.0))
    rows = np.flatnonzero(kept)[:n]
    return Drawn(features=people.features[rows], labels=people.labels[rows], sensitive=people.sensitive[rows])


def _score(people: Drawn, rng: np.random.Generator) -> npt.NDArray[np.float64]:
    return 0.15 + 0.2 * people.features[:, 0] + 0.1 * people.features[:, 3] + 0.05 * rng.random(people.labels.size)


def _labels(people: Drawn, rng: np.random.Generator, planted: bool) -> _Answers:
    return model_answers(people, rng, planted=planted), None


def _scores(people: Drawn, rng: np.random.Generator, planted: bool) -> _Answers:
    scores = np.round(_score(people, rng) + np.where(planted & (people.sensitive == 1), 0.1, 0.0), 3)
    return (scores >= 0.5).astype(np.uint8), scores


def _last_digit(people: Drawn, rng: np.random.Generator, planted: bool) -> _Answers:
    whole = np.rint(_score(people, rng) * 1e4).astype(np.int64)
    scores = (whole - whole % 2 + people.sensitive if planted else whole) / 1e4
    return (scores >= 0.5).astype(np.uint8), scores


def _turned_round_for_a_minority(people: Drawn, rng: np.random.Generator, planted: bool) -> _Answers:
    feature = people.features[:, 3] > 0
    turned = feature ^ (people.sensitive == 1) if planted else feature
    return np.where(rng.random(feature.size) < 0.8, turned, ~turned).astype(np.uint8), None


def _scores_of_a_subgroup(people: Drawn, rng: np.random.Generator, planted: bool) -> _Answers:
    inside = people.features[:, 3] == 0
    scores = np.round(_score(people, rng) + np.where(planted & inside & (people.sensitive == 1), 0.2, 0.0), 3)
    return (scores >= 0.5).astype(np.uint8), scores


_PLANTS = (_labels, _scores, _last_digit, _turned_round_for_a_minority, _scores_of_a_subgroup)


_TOLD = "Null: answers that follow features and label alone. Planted: answers that follow the group as well."

ATTRIBUTE_TRIALS = (
    Trial(
        attack="Attribute inferred from labels, by an attacker who learns a table",
        told=_TOLD,
        leaks=each("attribute by table", _table_leaks),
    ),
    Trial(
        attack="Attribute inferred from what is released, by the audit's own attack",
        told="Null: labels and scores that follow features alone. Planted, in turn: labels or scores that follow the "
        "group, a last digit, a feature turned round for a minority of 10%, scores of a third of the people.",
        leaks=each("what is released", _own_leaks),
        share=0.05,
    ),
)
