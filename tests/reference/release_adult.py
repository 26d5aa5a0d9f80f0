"""The release meter on Adult: 50 natural models that see neither sex nor race, released over the test records.

Each split (a seed) trains the models on the training records, the attacker of each attribute on the attack and
validation records, and releases numbers about the test records, or about 1,000 of them.
"""

from dataclasses import dataclass

import numpy as np

from core.datasets import build_dataset, load
from core.datasets.splits import split
from core.studies.model_card import Release, measured, meter, pinned, project
from core.studies.model_card.card_result import natural_models
from core.studies.subject import prior_of
from tests.release_samples import invented, moved_bits

COUNTS = (1, 5, 20, 50)
PRECISIONS = {
    "exact": {},
    "4 decimals": {"decimals": 4},
    "3 decimals": {"decimals": 3},
    "2 decimals": {"decimals": 2},
    "epsilon 10": {"epsilon": 10.0},
    "epsilon 1": {"epsilon": 1.0},
}

INDEPENDENT = {
    ("sex", 1000): "sizes 2.3 | bits 3.6  7.7 18.5 32 ± 6  | pinned  .4 5.5  22 | accuracy +.0125",
    ("sex", 14924): "sizes 3.2 | bits 4.3 10.6 31   75 ± 13 | pinned 0    .4 2.8 | accuracy +.0028",
    ("race", 1000): "sizes 1.6 | bits 3.1  8.8 30   76 ± 15 | pinned 2.6 39  127 | accuracy +.014",
    ("race", 14924): "sizes 5.8 | bits 7.9 15.1 38   82 ± 11 | pinned 0   1.4  10 | accuracy +.0001",
}
"""Figures got independently, ten splits, k = 1, 5, 20, 50 models (pinned without k = 1)."""

INDEPENDENT_PRECISIONS = {
    14924: "exact 30.9, 4 decimals 30.8, 3: 28.0, 2: 13.0, epsilon 10: 13.4, epsilon 1: 1.1",
    1000: "exact 18.5, 4 decimals 18.4, 3: 17.7, 2: 14.0, epsilon 10: 3.4, epsilon 1: -.3",
}
"""The same for sex, 20 models."""

HEAD = "  k  bits  ±   | moved predicted joint | pinned right | accuracy balanced  gained"


@dataclass(frozen=True, kw_only=True, eq=False)
class Split:
    """The released records of one split: predictions of the models, labels, and by attribute posterior and truth."""

    seed: int
    predictions: np.ndarray
    labels: np.ndarray
    posterior: dict[str, np.ndarray]
    sensitive: dict[str, np.ndarray]

    def some(self, n, draw=0):
        """Return n of the people, or all where there are no more."""
        if n >= self.labels.size:
            return self
        chosen = np.random.default_rng([self.seed, draw]).choice(self.labels.size, n, replace=False)
        return Split(
            seed=self.seed,
            predictions=self.predictions[:, chosen],
            labels=self.labels[chosen],
            posterior={name: q[chosen] for name, q in self.posterior.items()},
            sensitive={name: s[chosen] for name, s in self.sensitive.items()},
        )


def splits_of(folder, seeds, *, count=50):
    """Train, split after split."""
    table = load("adult", data_folder=folder)
    datasets = {"sex": build_dataset(table, table.roles[0]), "race": build_dataset(table, table.roles[1])}
    for seed in seeds:
        parts = split(datasets["sex"], seed=seed)
        models, _ = natural_models(datasets["sex"], parts, parts.test, count=count, without=["race"], seed=seed)
        yield Split(
            seed=seed,
            predictions=models,
            labels=datasets["sex"].labels[parts.test],
            posterior={
                name: prior_of(dataset, parts, parts.test, seed=seed)[:, 1] for name, dataset in datasets.items()
            },
            sensitive={name: dataset.sensitive[parts.test] for name, dataset in datasets.items()},
        )


def row_of(people, attribute, k, **precision):
    """Release k models' gaps and the group sizes, and say what came of it."""
    q, s = people.posterior[attribute], people.sensitive[attribute]
    release = Release(people.predictions[:k], labels=people.labels, **precision)
    projection = project(q, release.publish(s, rng=np.random.default_rng(people.seed)))
    got, told_by, pinned_people = (
        measured(q, projection.probability, s),
        meter(q, release),
        pinned(q, projection.probability, sensitive=s),
    )
    assert projection.converged and pinned_people.right is not None
    return {
        "bits": got.bits.value,
        "moved": moved_bits(q, projection.probability),
        "df_bits": told_by.df_bits,
        "joint_bits": told_by.joint_bits,
        "pinned": float(pinned_people.count),
        "right": pinned_people.right.value * pinned_people.count if pinned_people.count else 0.0,
        "accuracy": got.accuracy_before.value,
        "balanced": got.balanced_before.value,
        "gain": got.accuracy_gain.value,
    }


def sizes_only(people, attribute):
    """Return the bits the two group sizes give alone."""
    q, s, y = people.posterior[attribute], people.sensitive[attribute], people.labels
    release = Release(np.zeros((1, s.size), dtype=np.uint8), labels=y)
    sizes = {("", f"size_label_{label}"): int(s[y == label].sum()) for label in (1, 0)}
    return measured(q, project(q, invented(release, sizes)).probability, s).bits.value


def _line(name, rows):
    mean = {key: float(np.mean([row[key] for row in rows])) for key in rows[0]}
    spread = float(np.std([row["bits"] for row in rows], ddof=1)) if len(rows) > 1 else float("nan")
    right = mean["right"] / mean["pinned"] if mean["pinned"] else float("nan")
    return (
        f"{name:>3} {mean['bits']:>5.1f} {spread:>4.1f} | {mean['moved']:>5.1f} {mean['df_bits']:>9.1f} "
        f"{mean['joint_bits']:>5.0f} | {mean['pinned']:>6.1f} {right:>5.3f} | {mean['accuracy']:>8.3f} "
        f"{mean['balanced']:>8.3f} {mean['gain']:>+7.4f}"
    )


def long_table(folder, *, splits):
    """Yield the whole table, ours beside the independent figures."""
    people = list(splits_of(folder, range(splits)))
    for (attribute, n), figures in INDEPENDENT.items():
        samples = [split.some(n) for split in people]
        alone = np.mean([sizes_only(split, attribute) for split in samples])
        yield f"\n{attribute}, N = {n:,}; independent: {figures}\nours: sizes {alone:.1f}\n{HEAD}"
        for k in COUNTS:
            yield _line(str(k), [row_of(split, attribute, k) for split in samples])
    for n, figures in INDEPENDENT_PRECISIONS.items():
        yield f"\nsex, N = {n:,}, k = 20; independent: {figures}\n{HEAD}"
        for name, precision in PRECISIONS.items():
            yield f"{name}\n" + _line("", [row_of(split.some(n), "sex", 20, **precision) for split in people])
