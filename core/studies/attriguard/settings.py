"""What a plan, a command and a page set of AttriGuard, on a table and on ratings."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated

from ...base.param import Param
from ...base.serialize import UNSAID
from ...base.settings import Settings
from .allocation import TARGETS
from .attackers import ATTACKER_TITLES
from .panda import POLICIES
from .table import Pair
from .table_search import TABLE_DEFENDERS

MOST_BUDGET = 1_000.0

RATING_DEFENDERS = {
    "logistic": "Logistic regression",
    "logistic_smooth": "Logistic regression, smoother (C = 0.1)",
    "one_vs_rest": "One-vs-rest logistic regression",
    "network": "Neural network",
}
"""What the defender finds noise against on ratings, and what to call it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AttriGuardSettings(Settings):
    """AttriGuard, where records are published with its noise.

    The target is uniform by default, for it tells nothing: with two unequal groups the shares of the attacker's records
    would still have most people inferred correctly.
    """

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
    defender: Annotated[
        str,
        Param(
            "Surrogate classifier",
            f"Classifier that the noise is optimised against: {{options}}; on a table {' or '.join(TABLE_DEFENDERS)}.",
            options=RATING_DEFENDERS | TABLE_DEFENDERS,
            written=False,
        ),
    ] = field(default="logistic", metadata=UNSAID)
    target: Annotated[
        str,
        Param(
            "Target distribution",
            "Target distribution p of inferences: {options}.",
            options=TARGETS,
            written=False,
        ),
    ] = field(default="uniform", metadata=UNSAID)
    margin: Annotated[
        float, Param("Margin", "Lead of the target value.", least=0.0, written=False)
    ] = field(default=0.0, metadata=UNSAID)
    attackers: Annotated[
        tuple[str, ...],
        Param(
            "Attackers",
            "Attackers, in this order; left out: all of a table, or of ratings.",
            options=ATTACKER_TITLES,
            written=False,
        ),
    ] = field(default=(), metadata=UNSAID)
    trained_budgets: Annotated[
        tuple[float, ...],
        Param(
            "Trained at",
            "Noise budgets that adaptive attackers are trained at, of which the nearest counts; left out: the budget.",
            least=0.0,
            written=False,
        ),
    ] = field(default=(), metadata=UNSAID)
    balanced: Annotated[
        bool,
        Param(
            "Count each value alike",
            "Findings and charts count each value alike (balanced accuracy); checks count people.",
            written=False,
        ),
    ] = field(default=False, metadata=UNSAID)
    frozen: Annotated[
        tuple[str, ...], Param("Frozen columns", "Columns the noise leaves alone.", written=False)
    ] = field(default=(), metadata=UNSAID)
    rules: Annotated[
        bool,
        Param(
            "Keep out pairs that never occur together",
            "Rules that keep pairs of values which never occur together out of changed records.",
            written=False,
        ),
    ] = field(default=True, metadata=UNSAID)
    forbidden_pairs: Annotated[
        tuple[Pair, ...],
        Param(
            "More pairs to keep out, a line each",
            "Pairs forbidden besides those in the data, such as [['relationship', 'Husband', 'education', '9th']].",
            written=False,
        ),
    ] = field(default=(), metadata=UNSAID)
    allowed_pairs: Annotated[
        tuple[Pair, ...],
        Param(
            "Found pairs to allow",
            "Pairs found in the data that are allowed all the same, as a list of lists.",
            written=False,
        ),
    ] = field(default=(), metadata=UNSAID)
    noise_policy: Annotated[
        str,
        Param(
            "The noise may",
            "Changes that the noise may make to ratings: {options}.",
            options=POLICIES,
            written=False,
        ),
    ] = field(default="modify_add", metadata=UNSAID)

    @property
    def trained_at(self) -> tuple[float, ...]:
        """Noise budgets that adversarial attackers are trained at."""
        return self.trained_budgets or (self.budget,)
