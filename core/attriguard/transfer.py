"""Which noise fools which attacker: noise made against one classifier, shown to others.

Noise that makes one classifier read a wanted value need not make another one read it. A margin buys more of that.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from core.attriguard.changes import Report
from core.attriguard.ratings_study import Guarded
from core.estimates import Estimate, mean, mean_rate
from core.results import Result
from core.seeds import child_generator
from core.validation import choice

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

    Attributes
    ----------
    makers : tuple of str
        Keys of `MAKERS`: what the noise was made against.
    attackers : tuple of str
        Keys of `core.attriguard.ATTACKER_TITLES`: who reads the noisy records.
    share : dict of (maker, attacker) to Estimate
        Share read as the wanted value, over people and all values but the one the defender reads anyway.
    size : dict of maker to Estimate
        Ratings changed by the same noises, on average over people of their means.
    """

    makers: tuple[str, ...]
    attackers: tuple[str, ...]
    share: dict[tuple[str, str], Estimate] = field(repr=False)
    size: dict[str, Estimate] = field(repr=False)


def transfer(
    guarded: Guarded, *, makers: tuple[str, ...] = tuple(MAKERS), people: int = 300, report: Report | None = None
) -> Transfer:
    """Show every maker's noise to logistic regression, a forest and a network.

    Parameters
    ----------
    guarded : Guarded
        Whose policy, classifiers and people are used; her own defender and margin are not.
    makers : tuple of str
        Keys of `MAKERS`.
    people : int
        Most people taken, drawn with the settings' seed.
    report : callable, optional
        Called with (makers done, makers in all); may raise `core.errors.Cancelled`.

    Raises
    ------
    InputError
        If a maker is none of `MAKERS`.
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
