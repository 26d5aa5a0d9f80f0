"""What a user chooses about AttriGuard: in a plan, on ratings, and on a table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from ...base.errors import InputError
from ...base.param import Param
from ...base.serialize import Result
from ...base.settings import Settings, validate
from .allocation import TARGETS
from .attackers import ADAPTIVE, RATING_ATTACKERS
from .panda import POLICIES
from .table import LEAST_EXPECTED, Pair
from .table_search import TABLE_DEFENDERS

MOST_BUDGET = 1_000.0


@dataclass(frozen=True, slots=True, kw_only=True)
class GuardPlan(Settings):
    """AttriGuard, where records are published with its noise."""

    budget: Annotated[
        float,
        Param(
            "AttriGuard: columns changed per person",
            "Columns AttriGuard changes per person on average; 0 if it is not used.",
            least=0.0,
            most=MOST_BUDGET,
            step=0.5,
        ),
    ] = 0.0


DEFENDERS = {
    "logistic": "Logistic regression",
    "logistic_smooth": "Logistic regression, smoother (C = 0.1)",
    "one_vs_rest": "One-vs-rest logistic regression",
    "network": "Neural network",
}
"""What the defender looks for noise with, and what to call it."""


_Target = Annotated[
    str, Param("Target distribution", "Target distribution p of inferences: {options}.", options=TARGETS)
]
_Shares = Annotated[
    tuple[float, ...], Param("Shares", "The target's shares, one a value, where it is given.", least=0.0)
]
_Margin = Annotated[float, Param("Margin", "Lead of the target value.", least=0.0)]
_Seed = Annotated[int, Param("Seed", "Seed of every random number.", least=0, most=2**32 - 1)]


@dataclass(frozen=True, slots=True, kw_only=True)
class GuardSettings(Result):
    """Settings of the noise and of the attackers on ratings; `given` is empty where the target is another."""

    policy: Annotated[
        str,
        Param(
            "The noise may",
            "Changes that the noise may make to ratings: {options}.",
            options=POLICIES,
            flag="--noise-policy",
        ),
    ] = "modify_add"
    defender: Annotated[
        str,
        Param("Surrogate classifier", "Classifier that the noise is optimised against: {options}.", options=DEFENDERS),
    ] = "logistic"
    target: _Target = "train_shares"
    given: _Shares = ()
    margin: _Margin = 0.0
    attackers: Annotated[
        tuple[str, ...],
        Param("Attackers", "Attackers, in this order.", options=RATING_ATTACKERS),
    ] = RATING_ATTACKERS
    trained_at: Annotated[
        tuple[float, ...], Param("Trained at", "Noise budgets that adaptive attackers are trained at.", least=0.0)
    ] = (1.0, 3.0, 5.0)
    seed: _Seed = 42

    def __post_init__(self) -> None:
        validate(self)
        if self.given and self.target != "given":
            raise InputError(f"given shares must come with the target given, got the target {self.target}.")
        if ADAPTIVE & set(self.attackers) and not self.trained_at:
            raise InputError("trained_at must name a budget for the attackers who train against noise, got none.")


@dataclass(frozen=True, slots=True, kw_only=True)
class TableSettings(Settings):
    """Settings of the noise and of the adversarially trained attackers on a table.

    The target is uniform by default, for it tells nothing: with two unequal groups the known people's shares would
    still have most people inferred correctly. `least_expected` is what there were if a pair's values were independent;
    at 0 whatever nobody has is forbidden.
    """

    frozen: Annotated[tuple[str, ...], Param("Frozen columns", "Columns the noise leaves alone.")] = ()
    rules: Annotated[
        bool,
        Param(
            "Keep out pairs that never occur together",
            "Rules that keep pairs of values which never occur together out of changed records.",
        ),
    ] = True
    least_expected: Annotated[
        float,
        Param(
            "Least expected",
            "Least expected number of records with a pair for its absence to be a rule.",
            least=0.0,
        ),
    ] = LEAST_EXPECTED
    added: Annotated[
        tuple[Pair, ...],
        Param(
            "More pairs to keep out, a line each",
            "Pairs forbidden besides those in the data, such as [['relationship', 'Husband', 'education', '9th']].",
        ),
    ] = ()
    removed: Annotated[
        tuple[Pair, ...],
        Param("Found pairs to allow", "Pairs found in the data that are allowed all the same, as a list of lists."),
    ] = ()
    domain_share: Annotated[
        float,
        Param(
            "Least share",
            "Least share of the known people that a category needs for others to be moved to it.",
            least=0.0,
            most=1.0,
            below=True,
        ),
    ] = 0.01
    defender: Annotated[
        str,
        Param(
            "Surrogate classifier",
            "Classifier that the noise is optimised against: {options}.",
            options=TABLE_DEFENDERS,
        ),
    ] = "logistic"
    target: _Target = "uniform"
    given: _Shares = ()
    margin: _Margin = 0.0
    trained_budgets: Annotated[
        tuple[float, ...],
        Param("Trained at", "Noise budgets that adaptive attackers are trained at.", least=0.0, some=True),
    ] = (0.1, 0.25, 0.5, 0.75)
    seed: _Seed = 42


@dataclass(frozen=True, slots=True, kw_only=True)
class CurveSettings(Settings):
    """Where the curves are read off."""

    budgets: Annotated[
        tuple[float, ...] | None,
        Param("Budgets", "Entries changed per person on average, such as 0.5,1,2.", least=0.0, some=True),
    ] = None
