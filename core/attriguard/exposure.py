"""Expected inference accuracy of every attacker as a function of the noise budget β.

An attacker's guess about a person depends on which noise was drawn for them. All their m noisy records are shown to
every attacker beforehand; at a budget β their exposure is the probability, over the draw of the noise, that the
attacker names their true value, Σ_i M_i [guess_i = truth]. So moving the budget computes a new mechanism M and a
weighted mean, nothing else, and nothing depends on one lucky draw.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt

from core.attriguard.allocation import allocate, expected_size
from core.attriguard.attackers import ADAPTIVE, Fitted, NoiseSeen
from core.attriguard.records import Floats, Ints, Noise, Report
from core.errors import InputError
from core.estimates import Estimate, accuracy, mean, mean_rate
from core.serialize import Result

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True, slots=True, kw_only=True)
class Guesses(Result):
    """What one attacker names, with every noise."""

    attacker: str
    """A key of `core.attriguard.ATTACKER_TITLES`."""
    trained_at: float | None = None
    """Budget of the noise the attacker was trained against; None for attackers that do not know any."""
    clean: Ints = field(repr=False)
    noisy: Ints = field(repr=False)
    """Guesses from the records without noise, (u,), and with the noise for value i, (u, m)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Point(Result):
    """One attacker at one budget β, in entries changed per person on average."""

    attacker: str
    budget: float
    accuracy: Estimate
    balanced: Estimate
    """Probability that the true value is named, over people and draws: the mean over people, and over the values."""
    reported: Estimate
    """The larger of `accuracy` and the majority guess: an attacker who does worse would give up and guess."""
    trained_at: float | None = None

    def rate(self, *, balanced: bool) -> Estimate:
        """Return `balanced` or `accuracy`."""
        return self.balanced if balanced else self.accuracy


def strongest_point(points: Sequence[Point], *, balanced: bool) -> Point:
    """Return the attacker who is right most often: whom a chart shows highest and a sentence calls the best."""
    return max(points, key=lambda point: point.rate(balanced=balanced).value)


@dataclass(frozen=True, kw_only=True)
class Exposure(Result):
    """Everything a defender's noise does to a list of attackers, on the same u people."""

    title: str
    attribute: str
    unit: str
    """What the data are, which attribute is private, and what one unit of noise is ("ratings", "columns")."""
    values: tuple[str, ...]
    """The attribute's m values."""
    truth: Ints = field(repr=False)
    predicted: Ints = field(repr=False)
    """True value, and what the defender's classifier reads off the clean record, (u,)."""
    size: Ints = field(repr=False)
    found: npt.NDArray[np.bool_] = field(repr=False)
    """Entries changed by each noise, and whether there is one, (u, m)."""
    target: Floats = field(repr=False)
    shares: Floats = field(repr=False)
    """Target distribution p, and the values' shares among the people everybody trains on, (m,)."""
    n_known: int = 0
    n_entries: int = 0
    """People everybody trains on, and entries of a record."""
    guesses: tuple[Guesses, ...] = ()

    @property
    def attackers(self) -> tuple[str, ...]:
        """The attackers, in the order they were added; "majority" is not among them."""
        return tuple(dict.fromkeys(guess.attacker for guess in self.guesses))

    @cached_property
    def majority(self) -> Estimate:
        """Accuracy of naming the value most frequent among the training people for everybody."""
        return accuracy(self.truth, np.full(self.truth.size, int(np.argmax(self.shares))))

    def baseline(self, *, balanced: bool) -> Estimate:
        """Return how often naming the most frequent value for everybody is right, as it is counted."""
        even = 1.0 / len(self.values)
        return Estimate(value=even, low=even, high=even, n=self.truth.size) if balanced else self.majority

    def mechanism(self, budget: float) -> Floats:
        """Return how often each noise is used at a budget, (u, m); see `allocate`."""
        return allocate(self.size, self.target, budget, found=self.found)

    def at(self, budget: float) -> tuple[Point, ...]:
        """Return every attacker at a budget."""
        used = self.mechanism(budget)
        right = self.truth[:, None]
        return tuple(
            self._point(guess, np.einsum("ki,ki->k", used, guess.noisy == right), budget)
            for guess in self._attacking(budget)
        )

    def curves(self, budgets: Sequence[float]) -> dict[str, tuple[Point, ...]]:
        """Return every attacker's points at these budgets."""
        rows = [self.at(budget) for budget in budgets]
        return {name: tuple(row[i] for row in rows) for i, name in enumerate(self.attackers)}

    def undefended(self) -> tuple[Point, ...]:
        """Return every attacker on the clean records, at budget 0."""
        return tuple(
            self._point(guess, (guess.clean == self.truth).astype(float), 0.0) for guess in self._attacking(0.0)
        )

    def spent(self, budget: float) -> Estimate:
        """Return the entries changed per person on average, over people."""
        return mean(expected_size(self.mechanism(budget), self.size))

    def _attacking(self, budget: float) -> list[Guesses]:
        """Return each attacker's guesses; of one trained against noise, those trained nearest to this budget."""
        own = [[guess for guess in self.guesses if guess.attacker == name] for name in self.attackers]
        return [min(guesses, key=lambda guess: abs((guess.trained_at or 0.0) - budget)) for guesses in own]

    def _point(self, guess: Guesses, named: Floats, budget: float) -> Point:
        """Return the point of an attacker who names each person's true value this often, (u,)."""
        right = mean_rate(named)
        return Point(
            attacker=guess.attacker,
            budget=budget,
            accuracy=right,
            balanced=self._balanced(named),
            reported=right if right.value >= self.majority.value else self.majority,
            trained_at=guess.trained_at,
        )

    def _balanced(self, named: Floats) -> Estimate:
        """Return the mean over the values of their people's means; the distances to the limits add as squares."""
        own = [mean_rate(named[self.truth == value]) for value in np.unique(self.truth)]
        k = len(own)
        value = sum(rate.value for rate in own) / k
        below = sum((rate.value - rate.low) ** 2 for rate in own) ** 0.5 / k
        above = sum((rate.high - rate.value) ** 2 for rate in own) ** 0.5 / k
        return Estimate(value=value, low=max(0.0, value - below), high=min(1.0, value + above), n=named.size)

    def to_frame(self) -> pandas.DataFrame:
        """Return one row a value: how many people have it, and how much noise it takes to be read as it, if any."""
        import pandas as pd

        rows, mean_size = [], f"{self.unit} changed, mean"
        for i, name in enumerate(self.values):
            others = self.predicted != i
            there = others & self.found[:, i]
            rows.append(
                {
                    self.attribute: name,
                    "share of training people": float(self.shares[i]),
                    "target share": float(self.target[i]),
                    "people read otherwise": int(others.sum()),
                    "noise found for": int(there.sum()),
                    mean_size: float(self.size[there, i].mean()) if there.any() else None,
                }
            )
        sizes = pd.Series([row[mean_size] for row in rows], dtype=object)  # numbers alone would turn None into nan
        return pd.DataFrame(rows).assign(**{mean_size: sizes})


class Guard:
    """A defender with the noise of the people to protect, and the attackers tried on it, on ratings or a table."""

    unit: ClassVar[str]
    entry: ClassVar[str]
    """What entries of a record are called when they change, and what one is."""
    search_steps: ClassVar[int] = 0
    """Steps of `expose` each search for noise counts as; 0 where it is over when the guard is made."""

    people: Any
    """A `core.datasets.Ratings`, or a `core.attriguard.table_people.TablePeople`."""
    sets: tuple[Any, Any, Ints]
    """Records of the known and of the protected people, (n, d) and (u, d), and the protected people's values."""
    names: tuple[str, ...]
    """Of the entries of a record."""
    target: Floats
    attackers: tuple[str, ...]
    """Keys of `ATTACKER_TITLES`, in the order they are tried."""
    trained_at: tuple[float, ...]
    """Budgets of the noise that adversarial attackers are trained against."""

    def search(self, report: Report | None = None, *, known: bool = False) -> Noise:
        """Return the noise of the people to protect, or of those attackers know (`known`), searched for once.

        The report is told how many of the searches are done, and may raise `core.errors.Cancelled`.
        """
        raise NotImplementedError

    @cached_property
    def seen(self) -> NoiseSeen:
        """What attackers who run the defence themselves see on the people they know."""
        return NoiseSeen(noise=self.search(known=True), target=self.target)

    def mechanism(self, budget: float) -> Floats:
        """Return how often each noise is used at a budget, (u, m)."""
        noise = self.search()
        return allocate(noise.size, self.target, budget, found=noise.found)

    def fitted(self, name: str) -> Iterator[tuple[float | None, Fitted]]:
        """Yield the fitted attackers of a name, with the budget each was trained against: one or several."""
        raise NotImplementedError

    def guesses(self, name: str) -> Iterator[Guesses]:
        """Yield what the attackers of a name say about every person with every noise."""
        noise, public = self.search(), self.sets[1]
        changed = np.flatnonzero(noise.size.ravel() > 0)
        for budget, attacker in self.fitted(name):
            clean = attacker.guess(public)
            noisy = np.repeat(clean, noise.size.shape[1])
            noisy[changed] = attacker.guess(noise.noisy[changed])
            yield Guesses(attacker=name, trained_at=budget, clean=clean, noisy=noisy.reshape(noise.size.shape))

    def unattacked(self) -> Exposure:
        """Return the exposure before anybody attacks."""
        noise, (known, _, truth) = self.search(), self.sets
        return Exposure(
            title=self.people.title,
            attribute=self.people.attribute,
            unit=self.unit,
            values=self.people.values,
            truth=truth,
            predicted=noise.predicted,
            size=noise.size,
            found=noise.found,
            target=self.target,
            shares=self.people.shares,
            n_known=known.shape[0],
            n_entries=known.shape[1],
        )

    def card(self, person: int) -> pandas.DataFrame:
        """Return what the noise changes in one protected person's record, a row an entry: as it is, and by value.

        What is changed for most values comes first; where a value's noise changes nothing, the cell is empty.
        """
        import pandas as pd

        noise = self.search()
        u, m = noise.size.shape
        if isinstance(person, bool) or not isinstance(person, (int, np.integer)) or not 0 <= person < u:
            raise InputError(f"The person must be one of 0 to {u - 1}, got {person!r}.")
        before, after = _dense(self.sets[1][[person]])[0], _dense(noise.noisy[person * m : (person + 1) * m])
        often = (after != before).sum(axis=0)
        changed = [int(j) for j in np.argsort(-often, kind="stable") if often[j]]
        cells = {self.entry: [self.names[j] for j in changed]}
        cells["without noise"] = [self.cell(j, before[j]) for j in changed]
        for value, record in zip(self.people.values, after, strict=True):
            cells[value] = [self.cell(j, record[j]) if record[j] != before[j] else "" for j in changed]
        return pd.DataFrame(cells)

    def cell(self, column: int, value: float) -> str:
        """Return how an entry reads."""
        return f"{value:g}" if value else "–"

    @property
    def steps(self) -> int:
        """Number of steps of `expose`: those of the searches for noise, and every attacker fitted."""
        searches = 1 + bool(ADAPTIVE & set(self.attackers))
        return self.search_steps * searches + attackers_fitted(self.attackers, self.trained_at)

    def expose(self, report: Report | None = None) -> Iterator[Exposure]:
        """Yield the exposure as it grows: first without attackers, then with one more fitted attacker each time.

        The report is called with (steps done, steps in all) after each step; it may raise `core.errors.Cancelled`.
        """
        done, steps = 0, self.steps

        def tell(part: int = 0) -> None:
            if report is not None:
                report(done + part, steps)

        def search(*, known: bool) -> None:
            nonlocal done
            if self.search_steps:
                self.search(lambda found, total: tell(self.search_steps * found // (total + 1)), known=known)
                done += self.search_steps
                tell()

        if self.search_steps:
            tell()
        search(known=False)
        exposure, searched = self.unattacked(), False
        yield exposure
        for name in self.attackers:
            if name in ADAPTIVE and not searched:
                search(known=True)
                searched = True
            for guesses in self.guesses(name):
                exposure = replace(exposure, guesses=(*exposure.guesses, guesses))
                done += 1
                tell()
                yield exposure


def _dense(records: Any) -> Floats:
    return np.asarray(records.toarray() if hasattr(records, "toarray") else records)


def attackers_fitted(attackers: Sequence[str], trained_at: Sequence[float]) -> int:
    """Return how many attackers are fitted: an adversarial one at each budget, any other once."""
    return sum(len(trained_at) if name.startswith("adversarial") else 1 for name in attackers)


PUBLISHED_CURVE = {0.3: 0.41, 0.5: 0.37, 1.0: 0.30, 2.0: 0.18, 3.0: 0.12, 4.0: 0.09, 5.0: 0.08}
"""Accuracy of the authors' neural network, by budget, against noise found with another neural network."""
