"""Numbers of what is gained from model cards are as they were: bits, ceilings, people disclosed, advice."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, replace

import numpy as np
import pandas as pd
import pytest

from core.stats.estimates import Estimate
from core.studies.model_card import (
    ModelCardResult,
    ModelCardSettings,
    Release,
    ReleasedPeople,
    advise,
    ceiling,
    measure_cards,
    measured,
    pinned,
    predict,
    release_of,
)
from core.studies.model_card.meter import Chance, _controlled, entropy_bits, gained_bits
from core.studies.model_card.pinned_people import Tried, _finest, _split, common_values, noise_generator
from tests.golden.numbers import NamedValues, compare_numbers, refused
from tests.golden.test_numbers_model_card import cards
from tests.release_samples import moved_bits


def in_gains() -> NamedValues:
    """What a card is expected to tell, and what it told."""
    before = np.array([0.0, 1.0, 0.5, 0.25, 0.9, 0.05, 0.95, 0.3])
    after = np.array([0.0, 1.0, 0.5, 0.75, 0.5, 0.005, 0.995, 0.0])
    for s in ([0, 1, 1, 0, 1, 0, 1, 1], [1, 1, 0, 1, 1, 1, 0, 0], [1] * 8):
        truth = np.array(s, dtype=np.uint8)
        yield f"gained {s}", [gained_bits(before, after, truth), measured(before, after, truth)]
        chance = Chance(mean=1.5, deviation=0.8, skewness=0.6, noise=False)
        yield f"measured {s}", measured(before, after, truth, chance=chance).bits
    yield "moved", [moved_bits(before, after), moved_bits(after[:7], before[:7]), entropy_bits(before)]
    for mean, deviation, skewness in ((2.0, 1.0, 0.0), (2.0, 1.5, 0.9), (0.3, 0.9, 2.0), (1.0, 0.0, 0.0), (4, 2, 9e-4)):
        for noise in (False, True):
            chance = Chance(mean=mean, deviation=deviation, skewness=skewness, noise=noise)
            places = (-1.0, 0.0, 2.5) if deviation else ()
            yield f"{chance}", [*chance.range(), [chance._quantile(0.3, mean + more) for more in places]]
            gains = [chance.expected(gain, 50, most=6.0) for gain in (-3.0, 0.0, 1.0, 2.0, 5.0, 9.0)]
            yield f"{chance} expected", [[gain.low, gain.high, gain.value] for gain in gains]
    gains, distances = np.array([1.0, 2.5, 2.0, 4.0]), np.array([0.5, 2.0, 2.5, 3.5])
    yield "controlled", [_controlled(gains, distances, 1.7, 2.0), _controlled(gains, np.ones(4), 1.0, 0.0)]
    for name, (q, _, published) in list(cards())[::3]:
        yield f"{name}, as planned", predict(q, published.release, seed=2)


def in_attacks() -> NamedValues:
    """What no attacker exceeds, and who is disclosed."""
    for n, k in ((400, 1), (401, 1), (297, 2), (300, 2)):  # the most people, the most vectors of counts
        models = np.stack([np.arange(n) < n // 3, np.arange(n) < 2 * n // 3])[:k]
        published = Release(models, statistics=("sp_gap",), decimals=2).publish(np.arange(n) % 3 == 0)
        yield f"{n} people, {k} models", ceiling(np.full(n, 0.3), published)
    then = np.array([0.05, 0.95, 0.0499, 0.9501, 0.5, 0.5, 0.5, 0.3])
    now = np.array([0, 1, 0, 1, 0.005, 0.995, 0.5, 1.0])
    yield "pinned", [pinned(then, now), pinned(then, now, sensitive=[0, 0, 0, 0, 0, 0, 0, 1])]


def table(n: int = 40) -> pd.DataFrame:
    """Return columns of few and of many values, with gaps, of which the first of the people share some."""
    index = np.arange(n)
    return pd.DataFrame(
        {
            "town": np.where(index < n // 4, "north", np.where(index % 3 == 0, "south", "west")),
            "age": np.where(index < n // 4, index % 4 + 60.0, index + 0.5),
            "eight": index % 8,
            "gap": np.where(index % 9 == 0, np.nan, index % 10),
            "member": index < n // 4,
        }
    )


def card_people(n: int = 40, names: tuple[str, ...] = ("south", "north")) -> ReleasedPeople:
    """Return people of two groups or more with three models, of whom some are nearly known."""
    rng = np.random.default_rng(3)
    codes = (rng.random(n) < 0.35).astype(np.uint8) + (len(names) > 2) * (np.arange(n) % 5 == 0).astype(np.uint8)
    posteriors = rng.dirichlet(np.ones(len(names)), n)
    models = np.stack([codes > 0, rng.random(n) < 0.4, np.where(rng.random(n) < 0.1, codes == 0, codes > 0)])
    return ReleasedPeople(
        attribute="origin",
        group=names[1],
        group_names=names,
        rows=3 * np.arange(n),
        posteriors=posteriors,
        codes=codes,
        predictions=models.astype(np.uint8),
        names=("a", "b", "c"),
        labels=(rng.random(n) < 0.5).astype(np.uint8),
        columns=table(n),
    )


def figures(study: ModelCardResult) -> np.ndarray:
    """Return value, low and high of every number of a card."""
    prediction, pinned_people, draws = study.prediction, study.pinned, study.draws
    rows = [
        *(study.meter.df_bits, study.meter.joint_bits, study.meter.prior_bits, study.meter.person_bits),
        prediction.bits,
        (prediction.bits.value, prediction.low, prediction.high),
        prediction.draws,
        *(getattr(study.measured, field.name) for field in fields(study.measured)),
        moved_bits(study.people.posterior, study.probability),
        *(pinned_people.n_unsure, pinned_people.count),
        *(() if draws is None else (draws.count, study.most_pinned)),
        pinned_people.right,
    ]
    triples = [(row.value, row.low, row.high) if isinstance(row, Estimate) else row for row in rows if row is not None]
    return np.array([triple if isinstance(triple, tuple) else (triple,) * 3 for triple in triples], dtype=float)


def in_disclosed() -> NamedValues:
    """Whom a card discloses, what they share, and the precision that discloses nobody."""
    columns, chosen = table(), np.arange(40) < 12
    for name in columns:
        held = [f"{value}: {np.flatnonzero(who).sum()} of {who.sum()}" for value, who in _split(columns[name])]
        yield f"split {name}", held
    yield "common", common_values(columns, chosen)
    yield "common, two", common_values(columns, np.arange(40) < 2)
    rows = [
        Tried(decimals=d, epsilon=None, pinned=p, df_bits=1.0, converged=k)
        for d, p, k in ((None, 1, 1), (4, 0, 1), (3, 0, 0))
    ]
    more = [Tried(decimals=d, epsilon=None, pinned=p, df_bits=1.0) for d, p in ((2, 0), (1, 0))]
    yield "finest", [str(_finest(some)) for some in (rows + more, rows, more, rows[:2], [])]
    draws = ((None, 0), (2.0, 0), (2.0, 1), (2.0, 2))
    yield "noise", [noise_generator(1, epsilon=epsilon, draw=draw).random() for epsilon, draw in draws]
    cards_of = {
        "exact": ModelCardSettings(family="mixed", count=3, decimals=None),
        "one decimal": ModelCardSettings(family="mixed", count=2, decimals=1, statistics=("sp_rate", "fpr_gap")),
        "unsized": ModelCardSettings(family="mixed", count=2, decimals=2, sizes=False, statistics=("sp_gap",)),
        "noisy": ModelCardSettings(family="mixed", count=3, decimals=None, epsilon=60.0, seed=5),
    }
    for names in (("south", "north"), ("south", "north", "east")):
        people = card_people(names=names)
        yield (
            f"people {names}",
            [people.other_group, people.n, people.posterior, people.sensitive, people.some(7, seed=2).rows],
        )
        for told_of, settings in cards_of.items():
            study = measure_cards(people, settings)
            title, numbers = f"{told_of} {names}", figures(study)
            yield title, [numbers, study.unpredicted, study.ceiling]
            yield (
                f"{title}, disclosed",
                [study.pinned, study.in_common, study.draws, study.most_pinned, study.n_numbers],
            )
            if "east" in names or told_of == "unsized":
                continue
            truth = people.sensitive
            advised = advise(people.posterior, release_of(people, replace(settings, count=1)), sensitive=truth)
            yield f"{title}, advice", [advised.exact, advised.misled, advised.decimals, advised.epsilon]
            yield (
                f"{title}, tried",
                [
                    [
                        [candidate.pinned, candidate.draws, candidate.converged, candidate.df_bits]
                        for candidate in advised.tried
                    ]
                ],
            )
    yield "4 models", refused(release_of, card_people(), ModelCardSettings(family="mixed", count=4))


CASES: dict[str, Callable[[], NamedValues]] = {"gains": in_gains, "attacks": in_attacks, "disclosed": in_disclosed}


@pytest.mark.long
@pytest.mark.parametrize("case", CASES)
def test_numbers_of_attacks_on_model_cards(case: str) -> None:
    compare_numbers(f"model_card_attacks_{case}", CASES[case]())
