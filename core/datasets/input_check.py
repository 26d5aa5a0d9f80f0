"""What a table must be asked before it is audited: facts with evidence, a severity and repairs.

A verdict is only as good as what it was told: which value a score predicts, which outcome is good for a person, which
columns a model wrote, who is who. Each of these is measured here where it can be, and asked where it cannot. The Data
page, ``fairleak init``, ``fairleak audit`` and the notebook read this one function.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

from core.serialize import Result

if TYPE_CHECKING:
    import pandas

    from core.datasets.roles import Roles


class Severity(StrEnum):
    """What a fact asks of the user."""

    BLOCKING = "blocking"
    """Nothing is audited until it is repaired, or confirmed as right."""
    QUESTION = "question"
    """It has a default, which is said, and an answer of the user's changes it."""
    NOTE = "note"
    """It is said, and nothing is asked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Repair(Result):
    """A change of the roles that removes a fact.

    `title` is what a button says; `changes` are fields of `core.datasets.Roles` with their new values. A fact whose
    repairs change nothing but `confirmed` says that the user takes the data to be right as they are.
    """

    title: str
    changes: Mapping[str, str | tuple[str, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact(Result):
    """Something measured in a table that bears on the verdict.

    Attributes
    ----------
    kind : str
        Its name, such as "reversed_score"; the word by which a plan confirms it.
    severity : Severity
    text : str
        One or two sentences with the evidence: what was measured, in how many records.
    key : str
        The plan's key that answers it, such as "data.favourable".
    columns : tuple of str
        The columns it is about.
    repairs : tuple of Repair
        What can be done, the likeliest first.
    """

    kind: str
    severity: Severity
    text: str
    key: str = ""
    columns: tuple[str, ...] = ()
    repairs: tuple[Repair, ...] = field(default=())


def check_input(frame: pandas.DataFrame, roles: Roles) -> tuple[Fact, ...]:
    """Return what to confirm, answer or know before an audit with these roles: blocking facts first.

    Parameters
    ----------
    frame : DataFrame
        As it was read; with a model file's answers as columns where there is one.
    roles : Roles
        `favourable` may be empty, which is a blocking fact; facts whose kind is in `roles.confirmed` are notes.
    """
    raise NotImplementedError
