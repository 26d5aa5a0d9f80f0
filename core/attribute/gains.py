"""What attackers make of everything a model releases, beside imputation, on the training records.

Two attackers: one stands outside and knows the attribute of the attack records; the other knows it of half of the
training records and judges the other half, in turn: a leak that only training records have is seen by this one alone.
The second is tried only where it is known which records the model was trained on; else both would see the same people.

One attack, three measures of what it adds to imputation. Accuracy cannot show what is revealed about a small group,
balanced accuracy can; bits count changes of probability that change no guess.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated

import numpy as np

from core.adversaries import Outputs, ReleasedAttack, attack_released, decimals_of
from core.arrays import Floats, Ints
from core.estimates import Estimate, accuracy, accuracy_gain, balanced_accuracy, balanced_gain, mean, strongest
from core.param import Param
from core.seeds import child_generator
from core.settings import Settings
from core.subject import OutputsPlan, Subject

PLACES = {"outside": "from outside", "inside": "knowing half of the training records"}
"""Where an attacker stands, and how a sentence says it."""

_LEAST_EACH = 20
"""Fewest people of a group in each half of the training records for the attacker who knows one half."""

CLOSED = 0.02
"""Largest gain with which a leak counts as closed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AttributeSettings(Settings):
    """When a leak counts as closed."""

    closed: Annotated[
        float,
        Param(
            "Closed from", "Largest gain, as a share, with which a coarser release closes a leak.", least=0.0, most=1.0
        ),
    ] = CLOSED


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Judged:
    """What one attacker believes of m training records, beside the truth.

    `before` and `after`, shape (m, K), are probabilities of the groups by imputation and with what is released;
    `share`, shape (K,), are the group proportions among the `n_known` people whose attribute the attacker knows.
    `attack` is one of `core.adversaries.ATTACKS`, or both where the halves chose differently.
    """

    truth: Ints = field(repr=False)
    before: Floats = field(repr=False)
    after: Floats = field(repr=False)
    share: Floats
    attack: str
    n_known: int

    def level(self, measure: str, probability: Floats) -> Estimate:
        """Return a measure of these probabilities."""
        if measure == "bits":
            return mean(self.bits(probability))
        balanced = measure == "balanced_accuracy"
        return (balanced_accuracy if balanced else accuracy)(self.truth, self.guess(probability, balanced=balanced))

    def gain(self, measure: str) -> Estimate:
        """Return what the release adds to a measure, on the same people."""
        if measure == "bits":
            return mean(self.bits(self.before) - self.bits(self.after))
        balanced = measure == "balanced_accuracy"
        before, after = (self.guess(p, balanced=balanced) for p in (self.before, self.after))
        return (balanced_gain if balanced else accuracy_gain)(self.truth, before, after)

    def guess(self, probability: Floats, *, balanced: bool = False) -> Ints:
        """Return the likeliest group, or the one whose probability is farthest above its share."""
        return np.asarray((probability / self.share if balanced else probability).argmax(axis=1))

    def bits(self, probability: Floats) -> Floats:
        """Return everybody's log-loss in bits."""
        return -np.log2(np.maximum(probability[np.arange(self.truth.size), self.truth], 1e-9))


def released_judged(subject: Subject, outputs: OutputsPlan | None = None) -> dict[str, Judged]:
    """Return what each attacker of `PLACES` makes of a release, the plan's unless another one is asked about."""
    plan = subject.outputs if outputs is None else outputs
    return subject.once(f"released {plan}", lambda: _judged(subject, plan))


def released_gain(
    subject: Subject, measure: str, outputs: OutputsPlan | None = None
) -> tuple[str, Estimate, dict[str, Judged]]:
    """Return who gains most by a measure, how much, with an interval for all tried, and what each believes."""
    found = released_judged(subject, outputs)
    within = (-1.0, 1.0) if measure != "bits" else (-10.0, 10.0)
    place, estimate = strongest({name: own.gain(measure) for name, own in found.items()}, within=within)
    return place, estimate, found


def closing_precision(subject: Subject, *, closed: float = CLOSED) -> list[tuple[str, Estimate, Estimate]]:
    """Return the gains in accuracy and balanced accuracy of coarser releases, finest first, until one is small.

    The last one is the finest whose gains, with their whole intervals, are at most `closed`, if there is one. Empty
    where labels alone are released, where what is released has no significant effect, or where any gain is small.
    """
    measures = ("accuracy", "balanced_accuracy")
    if closed >= 1.0 or subject.released_scores is None:
        return []
    if all(released_gain(subject, m)[1].low <= 0.0 for m in measures):
        return []
    shown = decimals_of(subject.released_scores)
    tried = []
    coarser = [OutputsPlan(decimals=d) for d in (4, 3, 2, 1) if d < shown] + [OutputsPlan(released="labels")]
    for plan in coarser:
        gains = [released_gain(subject, measure, plan)[1] for measure in measures]
        tried.append((plan.text, gains[0], gains[1]))
        if all(gain.high <= closed for gain in gains):
            break
    return tried


def _judged(subject: Subject, plan: OutputsPlan) -> dict[str, Judged]:
    dataset, splits, seed = subject.dataset, subject.splits, subject.config.seed
    x = np.column_stack([dataset.features, dataset.labels])
    categorical = np.append(dataset.categorical, False)
    sensitive = dataset.sensitive.astype(np.intp)
    scores = subject.scores_of(plan)
    if scores is not None and dataset.withheld is not None:
        scores = np.where(dataset.withheld, np.nan, scores)
    outputs = Outputs(
        labels=subject.model.predictions, scores=scores, decimals=0 if scores is None else decimals_of(scores)
    )

    def ask(known: Ints, judged: Ints) -> ReleasedAttack:
        return attack_released(
            x, outputs, sensitive, known, judged, n_groups=dataset.n_groups, categorical=categorical, seed=seed
        )

    made = {"outside": _together([(ask(splits.known, splits.train), splits.train)], sensitive)}
    first, second = _halves(splits.train, sensitive, seed)
    if subject.sets_known and min(np.bincount(sensitive[half]).min() for half in (first, second)) >= _LEAST_EACH:
        made["inside"] = _together([(ask(first, second), second), (ask(second, first), first)], sensitive)
    return made


def _halves(rows: Ints, sensitive: Ints, seed: int) -> tuple[Ints, Ints]:
    order = child_generator(seed, "halves of the training records").permutation(rows)
    order = order[np.argsort(sensitive[order], kind="stable")]  # every other one of each group
    return order[::2], order[1::2]


def _together(found: list[tuple[ReleasedAttack, Ints]], sensitive: Ints) -> Judged:
    return Judged(
        truth=np.concatenate([sensitive[rows] for _, rows in found]),
        before=np.concatenate([attack.before for attack, _ in found]),
        after=np.concatenate([attack.after for attack, _ in found]),
        share=found[0][0].share,
        attack=" and ".join(dict.fromkeys(attack.attack for attack, _ in found)),
        n_known=found[0][0].n_known,
    )
