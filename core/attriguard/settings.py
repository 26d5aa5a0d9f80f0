"""How the defender defends and whom she is tried against: one frozen object, the key of everything computed from it."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from core.attriguard.attackers import ADAPTIVE, ATTACKER_TITLES
from core.attriguard.policies import POLICIES
from core.attriguard.targets import TARGETS
from core.errors import InputError
from core.results import Result
from core.validation import choice, seed_value

DEFENDERS = {
    "logistic": "Logistic regression",
    "logistic_smooth": "Logistic regression, smoother (C = 0.1)",
    "one_vs_rest": "One-vs-rest logistic regression",
    "network": "Neural network",
}
"""What the defender looks for noise with, and what to call it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GuardSettings(Result):
    """Settings of a study on ratings.

    Attributes
    ----------
    policy : str
        Which entries the noise may change (`core.attriguard.POLICIES`).
    defender : str
        A key of `DEFENDERS`.
    target : str
        One of `core.attriguard.TARGETS`: all values alike, their shares among the people everybody trains on, or given.
    given : tuple of float
        The target's shares, one a value, where `target` is "given"; must be empty otherwise.
    margin : float, at least 0
        By how much the wanted value's score must lead on a noisy record.
    attackers : tuple of str
        Keys of `core.attriguard.ATTACKER_TITLES`, in the order they are tried.
    trained_at : tuple of float, at least 0
        Budgets of the noise the adversarially trained attackers learn from.

    Raises
    ------
    InputError
        If a setting is out of range.
    """

    policy: str = "modify_add"
    defender: str = "logistic"
    target: str = "train_shares"
    given: tuple[float, ...] = ()
    margin: float = 0.0
    attackers: tuple[str, ...] = tuple(ATTACKER_TITLES)
    trained_at: tuple[float, ...] = (1.0, 3.0, 5.0)
    seed: int = 42

    def __post_init__(self) -> None:
        choice(self.policy, POLICIES, name="policy")
        choice(self.defender, DEFENDERS, name="defender")
        choice(self.target, TARGETS, name="target")
        if self.given and self.target != "given":
            raise InputError(f"given shares must come with the target given, got the target {self.target}.")
        if not _at_least_0([self.margin]):
            raise InputError(f"margin must be a number of at least 0, got {self.margin!r}.")
        for attacker in self.attackers:
            choice(attacker, ATTACKER_TITLES, name="attackers")
        if not _at_least_0(self.trained_at):
            raise InputError(f"trained_at must be budgets of at least 0, got {self.trained_at!r}.")
        if ADAPTIVE & set(self.attackers) and not self.trained_at:
            raise InputError("trained_at must name a budget for the attackers who train against noise, got none.")
        seed_value(self.seed)


def _at_least_0(numbers: Iterable[object]) -> bool:
    """Return whether all of these are numbers, finite and at least 0."""
    try:
        return all(math.isfinite(number) and number >= 0 for number in numbers)  # type: ignore[arg-type, operator]
    except TypeError:
        return False
