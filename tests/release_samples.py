"""Releases over invented people: models that are nearly alike, small ones to visit every vector of, larger ones."""

from functools import cache
from types import SimpleNamespace

import numpy as np
import pandas as pd

from core.studies.model_card import ModelCardSettings, Published, Release, ReleasedPeople, measure_card
from core.studies.model_card.release import PublishedNumber


@cache
def people(n=300, k=12):
    """Return n people and k models, each of which differs from the one before in a few people."""
    rng = np.random.default_rng(3)
    posterior = np.clip(rng.beta(1.2, 2.0, n), 0.01, 0.99)
    sensitive = (rng.random(n) < posterior).astype(np.uint8)
    labels = (rng.random(n) < 0.4).astype(np.uint8)
    rows = [np.where(rng.random(n) < 0.2, 1 - labels, labels)]
    for _ in range(k - 1):
        flipped = rng.random(n) < 1.5 / n
        rows.append(np.where(flipped, 1 - rows[-1], rows[-1]))
    columns = pd.DataFrame({"age": rng.integers(18, 70, n), "town": rng.choice(["North", "South <b>", "*West*"], n)})
    return ReleasedPeople(
        attribute="origin",
        group="north",
        group_names=("south", "north"),
        rows=np.arange(n)[::-1].copy(),
        posteriors=np.column_stack([1 - posterior, posterior]),
        codes=sensitive,
        predictions=np.array(rows, dtype=np.uint8),
        names=tuple(f"model {i + 1}" for i in range(k)),
        labels=labels,
        columns=columns,
    )


@cache
def card(count, *, decimals=None, epsilon=None, n=300):
    return measure_card(people(n), ModelCardSettings(family="mixed", count=count, decimals=decimals, epsilon=epsilon))


GAPS = ("sp_gap", "tpr_gap", "fpr_gap")
RATES = ("sp_rate", "tpr_rate", "fpr_rate")


def _case(posterior, sensitive, release, rng):
    published = release.publish(sensitive, rng=rng)
    return SimpleNamespace(posterior=posterior, sensitive=sensitive, release=release, published=published)


def small_case(seed, *, precision="", sizes=True):
    """Return 6 to 12 people, what the attacker believes of them, and what is published of 1 to 3 models.

    The precision is "exact", "rounded" or "noisy", and drawn when left out.
    """
    rng = np.random.default_rng(seed)
    precision = precision or str(rng.choice(["exact", "rounded", "noisy"]))
    n, k = int(rng.integers(6, 13)), int(rng.integers(1, 4))
    while True:
        posterior, labels = rng.uniform(0.05, 0.95, n), rng.integers(0, 2, n)
        sensitive = (rng.random(n) < posterior).astype(np.uint8)
        if all(0 < sensitive[part].sum() < part.sum() for part in (labels == 1, labels == 0)):
            break
    options = {"rounded": {"decimals": 0}, "noisy": {"epsilon": 10.0 * (k + 1)}}.get(precision, {})
    options["statistics"] = GAPS if rng.random() < 0.5 else (RATES if rng.random() < 0.5 else ("sp_gap",))
    sizes = sizes or precision == "noisy"
    release = Release(rng.integers(0, 2, (k, n)), labels=labels, sizes=sizes, **options)
    return _case(posterior, sensitive, release, rng)


def large_case(seed, *, n=1000, k=10, **options):
    """Return n people whose features move predictions and attribute, and k models that resemble each other."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 6))
    labels = (x[:, 0] + 0.5 * x[:, 1] + rng.normal(size=n) > 0.5).astype(np.uint8)
    posterior = 1 / (1 + np.exp(-(rng.uniform(0.5, 2.5) * x[:, 1] + rng.normal(size=n) - rng.uniform(0, 2))))
    weights = np.array([1.0, 0.5, 0.2, 0.1, 0.0, 0.0]) + rng.normal(scale=0.25, size=(k, 6))
    predictions = (weights @ x.T > 0.5).astype(np.uint8)
    sensitive = (rng.random(n) < posterior).astype(np.uint8)
    return _case(posterior, sensitive, Release(predictions, labels=labels, **options), rng)


def invented(release, values):
    """Return a card with invented numbers: (model, statistic) -> a number, or the interval that holds it."""
    numbers = []
    for (model, statistic), value in values.items():
        low, high = value if isinstance(value, tuple) else (value, value)
        numbers.append(PublishedNumber(model=model, statistic=statistic, value=(low + high) / 2, low=low, high=high))
    return Published(release=release, numbers=tuple(numbers))


def moved_bits(before, after):
    """Return KL(after‖before) in bits, people independent; 0 log 0 counts as 0."""
    total = 0.0
    for to, of in ((after, before), (1.0 - after, 1.0 - before)):
        positive = to > 0
        total += float((to[positive] * np.log2(to[positive] / of[positive])).sum())
    return total


def part_mask(release, part):
    return release.cells.inside(part)[release.cells.pattern]
