"""The whole experiment on ratings: defender, noise, attackers, rival defences, transfer.

The defender's classifier is fitted once; an attacker of the same kind uses the very same one, however strongly it is
penalised, which is the worst case for the person attacked. Everybody learns from the people who publish their value;
accuracy is measured on the others. Noise that makes one classifier read a wanted value need not make another one read
it, which is why it is also shown to others; a margin buys more of that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any, NamedTuple

import numpy as np

from core.attriguard.allocation import target_distribution
from core.attriguard.attackers import (
    ADAPTIVE,
    Fitted,
    Known,
    NoiseSeen,
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
from core.attriguard.comparators import blurme, chisquare, local_dp, qpm
from core.attriguard.panda import representatives
from core.attriguard.records import Noise, Report
from core.attriguard.settings import GuardSettings
from core.attriguard.study import Guesses, Study, guesses_of, unattacked
from core.datasets.ratings import Ratings
from core.estimates import Estimate, accuracy, mean, mean_rate
from core.seeds import child_generator, child_seed
from core.serialize import Result
from core.validation import choice

_SEARCH_STEPS = 10
"""Steps of a study each of its two searches for noise counts as."""


class Guarded:
    """One defender and the attackers on one set of ratings; everything is fitted when it is first asked for, once."""

    def __init__(self, ratings: Ratings, settings: GuardSettings) -> None:
        self.ratings = ratings
        self.settings = settings
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

    @cached_property
    def seen(self) -> NoiseSeen:
        """What attackers who run the defence themselves see on the people they know."""
        return NoiseSeen(noise=self.search(known=True), target=self.target)

    def search(self, report: Report | None = None, *, known: bool = False) -> Noise:
        """Look once for the noise of the people to protect, or of those attackers know (`known`).

        The report is told how many of the searches are done, and may raise `core.errors.Cancelled`.
        """
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

    def attackers(self, name: str) -> Iterator[tuple[float | None, Fitted]]:
        """Yield the fitted attackers of a name, with the budget each was trained against: one or several."""
        seed = self._seed(name)
        if name == "adversarial":
            for budget in self.settings.trained_at:
                fitted = fit_adversarial(self.known, self.seen, budget=budget, seed=seed)
                yield budget, Fitted(fitted)
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

    def guesses(self, name: str) -> Iterator[Guesses]:
        """Yield what the attackers of a name say about every person with every noise."""
        for budget, attacker in self.attackers(name):
            yield guesses_of(name, attacker, self.ratings.people_test, self.noise, trained_at=budget)

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


def study_ratings(guarded: Guarded, report: Report | None = None) -> Iterator[Study]:
    """Yield the study as it grows: first without attackers, then with one more each time.

    Parameters
    ----------
    report : callable, optional
        Called with (steps done, steps in all) after each step; may raise `core.errors.Cancelled` to stop.

    Yields
    ------
    Study
        The last one is complete.
    """
    done, steps, searched = 0, _steps(guarded.settings), False

    def tell(part: int = 0) -> None:
        if report is not None:
            report(done + part, steps)

    def search(*, known: bool) -> None:
        nonlocal done
        guarded.search(lambda found, total: tell(_SEARCH_STEPS * found // (total + 1)), known=known)
        done += _SEARCH_STEPS
        tell()

    tell()
    search(known=False)
    ratings, noise, target = guarded.ratings, guarded.noise, guarded.target
    study = unattacked(ratings, unit="ratings", truth=ratings.values_test, noise=noise, target=target)
    yield study
    for name in guarded.settings.attackers:
        if name in ADAPTIVE and not searched:
            search(known=True)
            searched = True
        for guesses in guarded.guesses(name):
            study = replace(study, guesses=(*study.guesses, guesses))
            done += 1
            tell()
        yield study


def _steps(settings: GuardSettings) -> int:
    """Return the number of steps: those of the searches for noise, and every attacker fitted."""
    again = len(settings.trained_at) - 1 if "adversarial" in settings.attackers else 0
    searches = 1 + bool(ADAPTIVE & set(settings.attackers))
    return _SEARCH_STEPS * searches + len(settings.attackers) + again


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


_EPSILONS = (7.0, 8.0, 9.0)
_SLACKS = (0.25, 0.5, 1.0)
_ADDED = (1, 3, 5)


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared(Result):
    """One defence with one parameter.

    Attributes
    ----------
    method : str
        A key of `core.attriguard.comparators.COMPARATOR_TITLES`.
    parameter : str
        What it was set to, in words.
    knows_truth : bool
        Whether it was told everybody's true value; BlurMe and ChiSquare ask for it.
    size : Estimate
        Ratings changed per person.
    accuracy : dict of str to Estimate
        Share of people whose value is named, by attacker (logistic, forest, network).
    """

    method: str
    parameter: str
    knows_truth: bool
    size: Estimate
    accuracy: dict[str, Estimate]


def comparison(guarded: Guarded, report: Report | None = None) -> Iterator[Compared]:
    """Yield every other defence at some of its settings.

    Parameters
    ----------
    guarded : Guarded
        The people, and the attackers who learned from the clean ratings.
    report : callable, optional
        Called with (defences done, defences in all); may raise `core.errors.Cancelled`.
    """
    tasks, ratings = _tasks(guarded), guarded.ratings
    for done, task in enumerate(tasks):
        if report is not None:
            report(done, len(tasks))
        noisy = task.make()
        changed = (noisy != ratings.people_test).sum(axis=1)
        read = {reader: guarded.reader(reader).predict(noisy) for reader in READERS}
        yield Compared(
            method=task.method,
            parameter=task.parameter,
            knows_truth=task.knows_truth,
            size=mean(np.asarray(changed, dtype=np.float64).ravel()),
            accuracy={reader: accuracy(ratings.values_test, values) for reader, values in read.items()},
        )


class _Task(NamedTuple):
    """One defence to try, not tried yet."""

    method: str
    parameter: str
    make: Callable[[], Any]
    knows_truth: bool = False


def _tasks(guarded: Guarded) -> list[_Task]:
    known, records, seed = guarded.known, guarded.ratings.people_test, guarded.settings.seed
    tasks = []
    for knows in (True, False):
        for n in _ADDED:
            tasks += _additions(guarded, n, knows)
    for slack in _SLACKS:
        rng = child_generator(seed, f"guard qpm {slack}")
        tasks.append(_Task("qpm", f"slack {slack:g}", partial(qpm, records, known, slack=slack, rng=rng)))
    for epsilon in _EPSILONS:
        rng = child_generator(seed, f"guard local dp {epsilon}")
        make = partial(local_dp, records, epsilon=epsilon, rng=rng)
        tasks.append(_Task("local_dp", f"epsilon {epsilon:g} an entry", make))
    return tasks


def _additions(guarded: Guarded, n: int, knows_truth: bool) -> list[_Task]:
    """Return BlurMe and ChiSquare with n items, told the truth or what logistic regression takes for it."""
    records, known = guarded.ratings.people_test, guarded.known
    logistic = guarded.classifier("logistic")
    value = guarded.ratings.values_test if knows_truth else logistic.predict(records).astype(np.int64)
    makes = {
        "blurme": partial(blurme, records, value, known, logistic, n_added=n),
        "chisquare": partial(chisquare, records, value, known, n_added=n),
    }
    return [_Task(name, f"{n} added", make, knows_truth) for name, make in makes.items()]
