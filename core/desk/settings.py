"""What a user chooses at the desk: what a test set is registered with, and each question's price and metric."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from core.desk.record import METRICS
from core.param import Param
from core.settings import Settings


@dataclass(frozen=True, slots=True, kw_only=True)
class RegisterSettings(Settings):
    """What a test set is registered with, for good; budgets are text, because they are counted to the millionth."""

    budget: Annotated[str, Param("Total budget ε", "Epsilon for everything ever answered; it cannot be increased.")]
    count_epsilon: Annotated[
        str | None, Param("Price of the count", "What the noisy group size costs of it; a tenth when left out.")
    ] = None
    another_attribute: Annotated[
        bool,
        Param(
            "People registered before, for another attribute",
            "Say, on record, that people who have a budget are registered for another attribute; it is believed.",
        ),
    ] = False


@dataclass(frozen=True, slots=True, kw_only=True)
class AskSettings(Settings):
    """One question."""

    epsilon: Annotated[
        str,
        Param(
            "Price ε of a new answer",
            "Price of a new answer; half of it means twice the noise. Equal opportunity costs the count of its group "
            "besides, once.",
        ),
    ]
    metric: Annotated[
        str,
        Param(
            "Gap",
            "Who is compared, all people or those with a positive label: {options}; of scores the answer is a "
            "difference of means, of labels one of rates.",
            options=METRICS,
        ),
    ] = METRICS[0]
    again: Annotated[
        bool,
        Param("Pay for a new noisy answer", "Pay for a new noisy answer although earlier ones give it."),
    ] = False
