"""How the defender defends and whom she is tried against: one frozen object, the key of everything computed from it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from core.attriguard.attackers import ADAPTIVE, ATTACKER_TITLES
from core.attriguard.policies import POLICIES
from core.attriguard.targets import TARGETS
from core.errors import InputError
from core.results import Result
from core.settings import validate
from core.study import Param

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
    target : str
        All values alike, their shares among the people everybody trains on, or `given`.
    given : tuple of float
        Must be empty where `target` is not "given".

    Raises
    ------
    InputError
        If a setting is out of range.
    """

    policy: Annotated[str, Param("Policy", "What may change in ratings: {options}.", options=POLICIES)] = "modify_add"
    defender: Annotated[
        str, Param("Defender", "What the defender looks for noise with: {options}.", options=DEFENDERS)
    ] = "logistic"
    target: Annotated[str, Param("Target", "What inferences should look like: {options}.", options=TARGETS)] = (
        "train_shares"
    )
    given: Annotated[
        tuple[float, ...], Param("Shares", "The target's shares, one a value, where it is given.", least=0.0)
    ] = ()
    margin: Annotated[float, Param("Margin", "Lead of the wanted value.", least=0.0)] = 0.0
    attackers: Annotated[
        tuple[str, ...], Param("Attackers", "Who attacks, in this order.", options=ATTACKER_TITLES)
    ] = tuple(ATTACKER_TITLES)
    trained_at: Annotated[
        tuple[float, ...], Param("Trained at", "Budgets of the noise that some attackers learn from.", least=0.0)
    ] = (1.0, 3.0, 5.0)
    seed: Annotated[int, Param("Seed", "Fixes every draw.", least=0, most=2**32 - 1)] = 42

    def __post_init__(self) -> None:
        validate(self)
        if self.given and self.target != "given":
            raise InputError(f"given shares must come with the target given, got the target {self.target}.")
        if ADAPTIVE & set(self.attackers) and not self.trained_at:
            raise InputError("trained_at must name a budget for the attackers who train against noise, got none.")
