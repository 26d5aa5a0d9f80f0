"""What a user chooses about AttriGuard on a table."""

from __future__ import annotations

from dataclasses import dataclass

from core.attriguard.table.defender import DEFENDERS
from core.attriguard.table.rules import LEAST_EXPECTED, Pair
from core.attriguard.targets import TARGETS
from core.errors import InputError
from core.results import Result
from core.validation import at_least_zero, choice, seed_value


@dataclass(frozen=True, slots=True, kw_only=True)
class TableSettings(Result):
    """Settings of the noise and of the attackers trained against it.

    Attributes
    ----------
    frozen : tuple of str
        Columns the noise leaves alone.
    rules : bool
        Whether pairs of values that never occur together are kept out of changed records.
    least_expected : float, at least 0
        How many known people must be expected with a pair, if its values were independent, for its absence to be a
        rule; at 0 whatever nobody has is forbidden.
    added, removed : tuple of (column, value, column, value)
        Pairs forbidden besides those found in the data; pairs found there that are allowed all the same.
    domain_share : float in [0, 1)
        Least share of the known people that a category needs for others to be moved to it.
    defender : {"logistic", "ranges"}
        The classifier the noise is found against.
    target : {"uniform", "train_shares", "given"}
        What attackers' inferences should look like. Uniform by default, for it tells nothing: with two unequal groups
        the known people's shares would still have most people named rightly.
    given : tuple of float
        The shares, for "given".
    margin : float, at least 0
        Least lead of the target's score in the defender's classifier.
    trained_budgets : tuple of float, each at least 0
        Budgets of the noise that some attackers are trained against.

    Raises
    ------
    InputError
        If a setting is out of range, or a single name or number where several are asked for.
    """

    frozen: tuple[str, ...] = ()
    rules: bool = True
    least_expected: float = LEAST_EXPECTED
    added: tuple[Pair, ...] = ()
    removed: tuple[Pair, ...] = ()
    domain_share: float = 0.01
    defender: str = "logistic"
    target: str = "uniform"
    given: tuple[float, ...] = ()
    margin: float = 0.0
    trained_budgets: tuple[float, ...] = (0.1, 0.25, 0.5, 0.75)
    seed: int = 42

    def __post_init__(self) -> None:
        choice(self.defender, DEFENDERS, name="defender")
        choice(self.target, TARGETS, name="target")
        seed_value(self.seed)
        if not (isinstance(self.domain_share, (int, float)) and 0 <= self.domain_share < 1):
            raise InputError(f"The least share of a category must be in [0, 1), got {self.domain_share!r}.")
        for name in ("margin", "least_expected"):
            at_least_zero(getattr(self, name), name=name)
        for name in ("frozen", "added", "removed", "given", "trained_budgets"):
            if not isinstance(getattr(self, name), tuple):
                raise InputError(f"{name} must be a tuple, got {getattr(self, name)!r}.")
        if not self.trained_budgets:
            raise InputError("At least one budget must be given to train an attacker against, got none.")
        for budget in self.trained_budgets:
            at_least_zero(budget, name="A budget to train against")
