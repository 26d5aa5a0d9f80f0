"""An entry of the bank: how a model comes about, and what is known of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tests.verdicts.people import People
from tests.verdicts.releases import Release, blind, fitted, informed

Case = tuple[People, Release]

MEANT = {
    "attribute": ("attribute_excess", "attribute_balanced"),
    "membership": ("membership_caught", "membership_auc", "membership_advantage"),
}
"""Kind of leak -> checks meant for it; one of them that fails is enough."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A model whose truth is known.

    Attributes
    ----------
    name : str
    leaks : tuple of str
        Keys of `MEANT`; () for a harmless model.
    reason : {"white box", "planted", "blind"}
        White box: what is released is known for each value of the attribute, or for members and non-members. Planted:
        the law is known by which the release depends on the attribute. Blind: it is a function of features alone, none
        of which is almost the attribute.
    why : str
        The reason in a sentence.
    make : callable
        Seed -> people and release.
    large_enough : bool
        Whether every required check can be decided on so many people.
    unfair : bool
        Whether a harmless model's unfairness is near its limit or beyond: then that check does not count.
    judged : bool
        False for a model near a limit: it is shown, and counted nowhere.
    quick : bool
        Whether every run of the tests takes it.
    """

    name: str
    leaks: tuple[str, ...]
    reason: str
    why: str
    make: Callable[[int], Case]
    large_enough: bool = True
    unfair: bool = False
    judged: bool = True
    quick: bool = False

    @property
    def needs(self) -> str:
        """Name of the table that must be there; "" if none."""
        return self.name.split("-")[0] if self.name.startswith(("adult-", "compas-")) else ""

    @property
    def meant(self) -> tuple[str, ...]:
        """Checks meant for the entry's leaks."""
        return tuple(check for kind in self.leaks for check in MEANT[kind])


def kind(leaks: tuple[str, ...], reason: str, because: str = "") -> Callable[..., Entry]:
    """Return what makes entries of one kind, from a name, a sentence and a function; `because` ends the sentence."""

    def entry(name: str, why: str, make: Callable[[int], Case], **more: bool) -> Entry:
        return Entry(name=name, leaks=leaks, reason=reason, why=f"{why} {because}".rstrip(), make=make, **more)

    return entry


def seeing(people: People, model: Any, decimals: int = 6) -> Case:
    """Return the case of a model that has the attribute among its inputs."""
    return people, informed(people, fitted(people, model, sees_attribute=True), decimals=decimals)


def not_seeing(people: People, model: Any, decimals: int = 6, threshold: float = 0.5) -> Case:
    """Return the case of a model that has not."""
    return people, blind(people, fitted(people, model), decimals=decimals, threshold=threshold)
