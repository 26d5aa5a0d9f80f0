"""What a ledger is asked and says: settings, registrations, quotes and answers."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated

from ..base.serialize import Result
from ..base.settings import Param, Settings
from ..datasets.roles import Roles
from ..stats.estimates import Estimate, not_measured

METRICS = ("statistical_parity", "equal_opportunity")
"""Gaps a ledger answers: of all people, and of those with label 1."""

NO_GAP = not_measured()


@dataclass(frozen=True, slots=True, kw_only=True)
class RegisterSettings(Settings):
    """What a test set is registered with, unchangeable; budgets are text, because they are counted to the millionth."""

    budget: Annotated[
        str,
        Param(
            "Total budget ε",
            "Total privacy budget (epsilon) of all answers; it cannot be increased.",
        ),
    ]
    count_epsilon: Annotated[
        str | None,
        Param(
            "Price of the count", "Price of the noisy group size (default: a tenth of the budget)."
        ),
    ] = None
    another_attribute: Annotated[
        bool,
        Param(
            "People registered before, for another attribute",
            "Statement, on record and believed, that people with a budget are registered for another attribute.",
        ),
    ] = False


@dataclass(frozen=True, slots=True, kw_only=True)
class AskSettings(Settings):
    """One question."""

    epsilon: Annotated[
        str,
        Param(
            "Price ε of a new answer",
            "Privacy budget of a new answer; half of it means twice the noise. Equal opportunity costs the count of "
            "its group besides, once.",
            flag="--answer-epsilon",
        ),
    ]
    metric: Annotated[
        str,
        Param(
            "Gap",
            "Gap between groups, of all people or of those with a positive label: {options}; of scores the answer is a "
            "difference of means, of labels one of rates.",
            options=METRICS,
        ),
    ] = METRICS[0]
    again: Annotated[
        bool,
        Param(
            "Pay for a new noisy answer",
            "New noisy answer, charged although earlier ones exist.",
            flag="--fresh",
        ),
    ] = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Registration(Result):
    """A test set and an attribute with a budget for their lifetime."""

    name: str
    registered: str
    """When, UTC, ISO 8601."""
    roles: Roles
    """How the test set's table is read."""
    n_people: int
    n_positive: int | None
    """People with label 1; None without labels, and then there is no equal opportunity to ask for."""
    budget: float
    """Epsilon for everything that is ever released."""
    count_epsilon: float
    """What the noisy size of the disadvantaged group was charged, and will be once for those with label 1."""
    least_epsilon: float
    """The least a question may offer, a thousandth of the budget."""
    n_disadvantaged: Estimate
    """The noisy size, with its interval."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Price(Result):
    """What a question costs and how precise its answer is."""

    reason: str | None = None
    """Why it is refused, in one sentence: it costs more than is left; never a matter of anybody's attribute."""
    charged: float = 0.0
    """Epsilon; 0 for a question that was answered before, and for scores that are all the same."""
    remaining: float
    """Budget that is left: now, or after an answer."""
    standard_error: float = math.nan
    """About how far the answer is from the truth."""

    @property
    def refused(self) -> bool:
        """Whether the question costs more than is left; then nothing is charged, released or written."""
        return self.reason is not None

    @property
    def from_past(self) -> bool:
        """Whether it costs nothing."""
        return self.charged == 0 and not self.refused


@dataclass(frozen=True, slots=True, kw_only=True)
class Quote(Price):
    """What a question would cost, and how precise its answer would be; nothing is charged or released for it."""

    fresh_error: float | None = None
    """The standard error of a new answer at the price offered (`again`), where there is an earlier one."""

    @property
    def coarse(self) -> bool:
        """Whether a new answer would be far more precise than the earlier one."""
        return self.fresh_error is not None and self.standard_error > 3 * self.fresh_error


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerAnswer(Price):
    """One question's answer, as it stands in the ledger; or why there is none."""

    metric: str
    asker: str
    time: str = ""
    """When, UTC, ISO 8601."""
    question: str = ""
    """SHA-256 of the predictions that enter the answer, in the order of the registered people."""
    gap: Estimate = NO_GAP
    """Advantaged minus disadvantaged, with an interval that follows from the public noise alone; nan where refused."""
    number: int | None = None
    """Its entry in the ledger; the earlier one if the same question was answered before."""
    seal: str | None = None
    """The hash of that entry; noted elsewhere, it proves later that nothing up to there was rewritten."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerStatus(Result):
    """The state of one budget."""

    registration: Registration
    spent: float
    remaining: float
    answers: tuple[LedgerAnswer, ...]
    """In the order they were given."""
    wrong_files: int
    """How many different files about these people were tried that were not the registered one."""
    seal: str
    """The ledger's last hash."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportVerification(Result):
    """Whether an export is consistent."""

    ok: bool
    reason: str | None
    """What is wrong, in one sentence."""
    n_entries: int
    """Entries that were found good, from the first."""
    seal: str | None
    """The last good hash."""
    budgets: tuple[LedgerStatus, ...]
    """What the good entries add up to, by name."""
