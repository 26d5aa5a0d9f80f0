"""AttriGuard on ratings: the defender's classifier, its noise, the attackers, and transferability.

The defender's classifier is fitted once; an attacker of the same kind uses the very same one, however strongly it is
penalised, which is the worst case for the person attacked. Everybody learns from the people who publish their value;
accuracy is measured on the others. Noise that makes one classifier read a wanted value need not make another one read
it, which is why it is also shown to others; a margin buys more of that.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from core.attriguard.allocation import target_distribution
from core.attriguard.attackers import (
    Fitted,
    Known,
    RegionBased,
    fit_adversarial,
    fit_distilled,
    fit_dropping,
    fit_forest,
    fit_logistic,
    fit_low_rank,
    fit_network,
    fit_one_vs_rest,
    quiet_entries,
)
from core.attriguard.exposure import Guard
from core.attriguard.panda import representatives
from core.attriguard.records import Noise, Report
from core.attriguard.settings import GuardSettings
from core.datasets.ratings import Ratings
from core.estimates import Estimate, mean, mean_rate
from core.seeds import child_generator, child_seed
from core.serialize import Result
from core.validation import choice


class Guarded(Guard):
    """One defender and the attackers on one set of ratings; everything is fitted when it is first asked for, once."""

    unit, entry = "ratings", "item"
    search_steps = 10

    def __init__(self, ratings: Ratings, settings: GuardSettings) -> None:
        self.people = self.ratings = ratings
        self.settings = settings
        self.attackers, self.trained_at = settings.attackers, settings.trained_at
        self.sets = ratings.people_train, ratings.people_test, ratings.values_test
        self.names = ratings.items
        self.known = Known(records=ratings.people_train, values=ratings.values_train, n_values=len(ratings.values))
        self.target = target_distribution(settings.target, ratings.shares, settings.given)
        self._classifiers: dict[str, Any] = {}
        self._noise: dict[bool, Noise] = {}

    def classifier(self, kind: str) -> Any:
        """Return the fitted classifier of a kind: those of `DEFENDERS`, and "forest"."""
        if kind not in self._classifiers:
            self._classifiers[kind] = self._fitted(kind)
        return self._classifiers[kind]

    def reader(self, name: str) -> Any:
        """Return the fitted classifier an attacker of a name asks: the defender's own where hers is of the kind."""
        smooth = name == "logistic" and self.settings.defender == "logistic_smooth"
        return self.classifier("logistic_smooth" if smooth else name)

    @property
    def noise(self) -> Noise:
        """The representative noise of the people to protect."""
        return self.search()

    def search(self, report: Report | None = None, *, known: bool = False) -> Noise:
        """Look once for the noise of the people to protect, or of those attackers know."""
        if known not in self._noise:
            people = self.ratings.people_train if known else self.ratings.people_test
            self._noise[known] = self.noise_of(people, report=report)
        return self._noise[known]

    def noise_of(self, people: Any, settings: GuardSettings | None = None, report: Report | None = None) -> Noise:
        """Return the defender's noise for some people's records (u, d), or that of other settings."""
        settings = settings or self.settings
        return representatives(
            people,
            self.classifier(settings.defender),
            policy=settings.policy,
            margin=settings.margin,
            n_values=len(self.ratings.values),
            report=report,
        )

    def fitted(self, name: str) -> Iterator[tuple[float | None, Fitted]]:
        """Yield the fitted attackers of a name, with the budget each was trained against: one or several."""
        seed = self._seed(name)
        if name == "adversarial":
            for budget in self.settings.trained_at:
                yield budget, Fitted(fit_adversarial(self.known, self.seen, budget=budget, seed=seed))
        elif name == "dropping":
            kept = quiet_entries(self.known, self.seen, budget=max(self.settings.trained_at))
            yield None, fit_dropping(self.known, kept, seed=seed)
        elif name == "region":
            yield None, Fitted(RegionBased(self.classifier("network"), seed=seed))
        elif name == "distillation":
            teacher = self.classifier("network")
            yield None, Fitted(fit_distilled(self.known, teacher, seed=self._seed("network")))
        elif name == "low_rank":
            yield None, fit_low_rank(self.known, seed=seed)
        else:
            yield None, Fitted(self.reader(name))

    def _fitted(self, kind: str) -> Any:
        if kind == "logistic":
            return fit_logistic(self.known)
        if kind == "logistic_smooth":
            return fit_logistic(self.known, strength=0.1)
        if kind == "one_vs_rest":
            return fit_one_vs_rest(self.known)
        fit = fit_forest if kind == "forest" else fit_network
        return fit(self.known, seed=self._seed(kind))

    def _seed(self, name: str) -> int:
        return child_seed(self.settings.seed, f"guard {name}")


MAKERS = {
    "logistic": ("Logistic regression", "logistic", 0.0),
    "logistic_margin": ("Logistic regression, C = 0.1, margin 1.5", "logistic_smooth", 1.5),
    "network": ("Neural network", "network", 0.0),
}
"""Noise to try: what to call it, the defender's classifier, and the margin."""

READERS = ("logistic", "forest", "network")


@dataclass(frozen=True, slots=True, kw_only=True)
class Transfer(Result):
    """Shares of noisy records that are read as the defender wants.

    `makers` are keys of `MAKERS`, what the noise was made against; `attackers` of `ATTACKER_TITLES`, who reads the
    noisy records. `share` is by (maker, attacker), over people and all values but the one the defender reads anyway;
    `size` the ratings changed by the same noises, on average over people of their means.
    """

    makers: tuple[str, ...]
    attackers: tuple[str, ...]
    share: dict[tuple[str, str], Estimate] = field(repr=False)
    size: dict[str, Estimate] = field(repr=False)


def transfer(
    guarded: Guarded, *, makers: tuple[str, ...] = tuple(MAKERS), people: int = 300, report: Report | None = None
) -> Transfer:
    """Show every maker's noise to logistic regression, a forest and a network.

    Policy, classifiers and people are the guard's, of whom so many are drawn at most; its own defender and margin are
    not used. The report is called with (makers done, makers in all). InputError if a maker is none of `MAKERS`.
    """
    for maker in makers:
        choice(maker, MAKERS, name="makers")
    records = guarded.ratings.people_test
    rng = child_generator(guarded.settings.seed, "guard transfer")
    records = records[np.sort(rng.permutation(records.shape[0])[:people])]
    share, size = {}, {}
    for done, maker in enumerate(makers):
        if report is not None:
            report(done, len(makers))
        _, kind, margin = MAKERS[maker]
        noise = guarded.noise_of(records, replace(guarded.settings, defender=kind, margin=margin))
        counted = noise.found & (np.arange(noise.size.shape[1]) != noise.predicted[:, None])
        rows, own = np.flatnonzero(counted), counted.sum(axis=1)
        some = own > 0
        size[maker] = mean((noise.size * counted).sum(axis=1)[some] / own[some])
        for reader in READERS:
            named = np.zeros(counted.shape)
            if rows.size:
                named.ravel()[rows] = guarded.classifier(reader).predict(noise.noisy[rows]) == rows % counted.shape[1]
            share[maker, reader] = mean_rate(named.sum(axis=1)[some] / own[some])
    return Transfer(makers=makers, attackers=READERS, share=share, size=size)
