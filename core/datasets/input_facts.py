"""Facts about a table that bear on a verdict: how grave each is, and what can be done about it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from ..base.serialize import Result


class Severity(StrEnum):
    """What a fact asks of the user."""

    BLOCKING = "blocking"
    """Nothing is audited until it is repaired, or confirmed as right."""
    QUESTION = "question"
    """It has a default, which is said, and an answer of the user's changes it."""
    NOTE = "note"
    """It is said, and nothing is asked."""


Changes = Mapping[str, str | tuple[str, ...]]
"""Fields of `core.datasets.Roles` with their new values."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Repair(Result):
    """A change of the roles that removes a fact.

    `title` is what a button says. A fact whose repairs change nothing but `confirmed` says that the user takes the data
    to be right as they are.
    """

    title: str
    changes: Changes


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
