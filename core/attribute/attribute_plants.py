"""People and models of which it is known whether what is released gives an attribute away."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from core.arrays import Codes, Floats, Ints
from core.attribute.gains import AttributeSettings, Judged
from core.planted import Drawn, draw_people, subject_of
from core.seeds import child_generator
from core.study import Plant
from core.subject import Subject

_SETS = (900, 1_300, 100)
"""Training, attack and test records."""

_Answers = tuple[Codes, Floats | None]
_Way = Callable[[Drawn, np.random.Generator, bool], _Answers]


def _released(seed: int, planted: bool) -> tuple[Subject, AttributeSettings]:
    """Return a model that releases the group, or features alone; the ways of `_WAYS` take turns by the seed."""
    way, n = _WAYS[seed % len(_WAYS)], sum(_SETS)
    rng = child_generator(seed, f"released attribute, planted {planted}")
    people = draw_people(4 * n, rng)
    share = 1 / 6 if way is _minority else 1.0  # of group 1, two fifths of everybody: a sixth makes it a tenth
    rows = np.flatnonzero((people.sensitive == 0) | (rng.random(people.sensitive.size) < share))[:n]
    people = Drawn(features=people.features[rows], labels=people.labels[rows], sensitive=people.sensitive[rows])
    predictions, scores = way(people, rng, planted)
    settings = AttributeSettings(closed=1.0)  # which asks of no coarser release
    return subject_of(people, predictions, _SETS, seed=seed, scores=scores), settings


_TABLE_SETS = (680, 462, 100)
"""Of the same, for an attacker who learns a table."""

_LOOKS = 18
"""How many kinds of people a table distinguishes by two features and the label."""


def _tabled(seed: int, planted: bool) -> tuple[Subject, AttributeSettings]:
    """Return a model that releases labels, and an attacker who has learned how frequent the groups are by looks."""
    rng = child_generator(seed, f"attribute by table, planted {planted}")
    people = draw_people(sum(_TABLE_SETS), rng)
    predictions = _model_answers(people, rng, planted=planted)
    subject = subject_of(people, predictions, _TABLE_SETS, seed=seed)
    looks = people.features[:, 0] + 3 * people.features[:, 1] + 9 * people.labels
    attacked, known = subject.splits.train, subject.splits.known
    share = people.sensitive[known].mean()
    before, after = (
        _frequencies(kinds[known], people.sensitive[known], share)[kinds[attacked]]
        for kinds in (looks, looks + _LOOKS * predictions)
    )
    judged = Judged(
        truth=people.sensitive[attacked].astype(np.intp),
        before=before,
        after=after,
        share=np.array([1.0 - share, share]),
        attack="label",
        n_known=known.size,
    )
    subject.once(f"released {subject.outputs}", lambda: {"outside": judged})
    return subject, AttributeSettings()


def _frequencies(kinds: Ints, sensitive: Codes, share: float) -> Floats:
    """Return how frequent the groups are among each kind of people, with the share of all as one person more."""
    counts = np.bincount(2 * kinds + sensitive, minlength=4 * _LOOKS).reshape(-1, 2)
    with_one_more = counts + np.array([1.0 - share, share])
    return np.asarray(with_one_more / with_one_more.sum(axis=1, keepdims=True))


def _model_answers(people: Drawn, rng: np.random.Generator, *, planted: bool) -> Codes:
    """Return a model's answers: a draw that follows features and label, and the group if a leak is planted."""
    chance = 0.35 + 0.1 * people.features[:, 0] + 0.1 * people.labels
    if planted:  # group 1 is accepted so much likelier, and the other so much less
        chance = chance + 0.4 * (2.0 * people.sensitive - 1.0)
    return (rng.random(len(chance)) < chance).astype(np.uint8)


def _score(people: Drawn, rng: np.random.Generator) -> Floats:
    return 0.15 + 0.2 * people.features[:, 0] + 0.1 * people.features[:, 3] + 0.05 * rng.random(people.labels.size)


def _decided(scores: Floats) -> _Answers:
    return (scores >= 0.5).astype(np.uint8), scores


def _labels(people: Drawn, rng: np.random.Generator, planted: bool) -> _Answers:
    """Let labels follow the group."""
    return _model_answers(people, rng, planted=planted), None


def _scores(people: Drawn, rng: np.random.Generator, planted: bool) -> _Answers:
    """Let scores follow the group."""
    return _decided(np.round(_score(people, rng) + np.where(planted & (people.sensitive == 1), 0.1, 0.0), 3))


def _last_digit(people: Drawn, rng: np.random.Generator, planted: bool) -> _Answers:
    """Let the last digit of the score be the group."""
    whole = np.rint(_score(people, rng) * 1e4).astype(np.int64)
    return _decided((whole - whole % 2 + people.sensitive if planted else whole) / 1e4)


def _minority(people: Drawn, rng: np.random.Generator, planted: bool) -> _Answers:
    """Turn a feature round for a minority."""
    feature = people.features[:, 3] > 0
    turned = feature ^ (people.sensitive == 1) if planted else feature
    return np.where(rng.random(feature.size) < 0.8, turned, ~turned).astype(np.uint8), None


def _subgroup(people: Drawn, rng: np.random.Generator, planted: bool) -> _Answers:
    """Let scores of a third of the people follow the group."""
    inside = people.features[:, 3] == 0
    return _decided(np.round(_score(people, rng) + np.where(planted & inside & (people.sensitive == 1), 0.2, 0.0), 3))


_WAYS: tuple[_Way, ...] = (_labels, _scores, _last_digit, _minority, _subgroup)
"""Ways to release the group."""

PLANTED = (
    Plant(
        attack="Attribute inferred from labels, by an attacker who learns a table",
        told="Null: answers that follow features and label alone. Planted: answers that follow the group as well.",
        make=_tabled,
        limits={"attribute_excess": 0.0},
        share=1.0,
    ),
    Plant(
        attack="Attribute inferred from what is released, by the audit's own attack",
        told="Null: labels and scores that follow features alone. Planted, in turn: labels or scores that follow the "
        "group, a last digit, a feature turned round for a minority of 10%, scores of a third of the people.",
        make=_released,
        limits={"attribute_excess": 0.0, "attribute_balanced": 0.0},
    ),
)
"""What the study is tried on."""
