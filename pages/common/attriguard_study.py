"""The study of a defence, attacker by attacker in the background, and its curves, computed where the attacker is.

Everything is kept in the store of the people it comes from. A move of the slider weighs guesses that are there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

import numpy as np

from core.attriguard import Exposure, Guard, GuardSettings, Point
from core.fingerprint import fingerprint
from pages.common.attriguard_controls import Defence, People, last_budget
from pages.common.background import Background, Job, need, time_left

_POINTS = 25  # steps of a curve


@dataclass(frozen=True, slots=True, kw_only=True)
class Grown:
    """A study as far as it has come."""

    exposure: Exposure
    curves: Mapping[str, tuple[Point, ...]]  # by attacker
    guard: Any  # a `core.attriguard.TableGuard` or `Guarded`
    learning: str  # an attacker who is there but not trained at all budgets yet; empty if there is none


class DefenceStudy(Background):
    """The study of one defence of some people."""

    def __init__(self, who: People, defence: Defence) -> None:
        self.who, self.defence = who, defence
        key = fingerprint("attriguard", *who.fingerprint, defence.settings)
        super().__init__(
            "guard", who.store, key, self._collect, lane="questions", total=self._total(), widget="attackers"
        )

    def there(self) -> list[Grown]:
        """Return what is there, with the steps to go on with; one without the other is of no use."""
        key, there = fingerprint("steps", self.key), self.partial
        if not there or self.store.get(key) is None:
            self.store.put(key, self._steps())
            return []
        return there

    def _collect(self, job: Job) -> list[Any]:
        return job.collect(self.store.remember(fingerprint("steps", self.key), self._steps))

    def _steps(self) -> Iterator[Grown]:
        """Return the study step by step; a job that stops leaves it open (a chain), for the next to go on."""
        return chain(self._grow())

    def wait_for_first(self) -> Grown:
        """Return what is there; ends the page, with progress, a problem or an offer to go on, while nothing is."""
        return self.first(self.show_progress)  # type: ignore[no-any-return]

    def show_progress(self) -> None:
        """Show how far the study is, with a button that stops it, or that lets it go on."""
        self.show(self._doing, f"Stopped after {self._attackers()}. Go on", again="Try again")

    def _doing(self, job: Job) -> str:
        doing = f"{self._attackers()} drawn" if job.partial else "Looking for the noise"
        return f"{doing}, {'stopping after this attacker' if job.stopping else time_left(job, but_first=True)}"

    def need(self, name: str, label: str, make: Callable[[Callable[[int, int], None]], Any]) -> Any:
        """Return something else about these people, made by a function that reports; waits while it is computed."""
        key = fingerprint(name, self.key, repr(self.who.config))
        return need(self.store, key, label, lambda job: make(job.report))

    def _attackers(self) -> str:
        """Say how many attackers are drawn; one trained at several budgets is one."""
        there = self.partial[-1].exposure.attackers if self.partial else ()
        return f"{len(there)} of {self._total(budgets=1)} attackers"

    def _total(self, budgets: int | None = None) -> int:
        """Return the number of steps, if attackers are trained at so many budgets only."""
        from core.attriguard import attackers_fitted

        return attackers_fitted(self.defence.settings, budgets)

    def _guard(self) -> Guard:
        from core.attriguard import Guarded, table_guard

        who, settings = self.who, self.defence.settings
        if isinstance(settings, GuardSettings):
            assert who.ratings is not None
            return Guarded(who.ratings, settings)
        assert who.dataset is not None and who.config is not None
        return table_guard(who.dataset, who.config, settings)

    def _grow(self) -> Iterator[Grown]:
        """Yield the study after each attacker, with the curves."""
        curves: dict[str, tuple[Point, ...]] = {}
        guard = self._guard()
        for exposure in guard.expose():
            if not exposure.guesses:
                continue
            newest = exposure.guesses[-1].attacker
            budgets = np.linspace(0.0, last_budget(exposure), _POINTS + 1).tolist()
            own = tuple(guess for guess in exposure.guesses if guess.attacker == newest)
            curves[newest] = replace(exposure, guesses=own).curves(budgets)[newest]
            budgets_left = {guess.trained_at for guess in own} != set(guard.trained_at)
            learning = newest if own[0].trained_at is not None and budgets_left else ""
            yield Grown(exposure=exposure, curves=dict(curves), guard=guard, learning=learning)
