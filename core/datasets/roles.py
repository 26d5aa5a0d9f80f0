"""What each column of a table is for: label, sensitive attribute and its groups, predictions, what to leave out."""

from __future__ import annotations

from dataclasses import dataclass

from core.results import Result


@dataclass(frozen=True, slots=True, kw_only=True)
class Roles(Result):
    """What each column is for.

    Attributes
    ----------
    label, sensitive : str
        Column names; both must exist and differ.
    positive : str
        The label value that counts as 1, as text.
    group : tuple of str
        Values of the sensitive column that form the first group (s = 1), as text; everybody else is group 0.
        Empty when the groups are told apart in another way.
    at_most : float or None
        For a numeric sensitive column: the first group is everybody with a value up to this one.
    each : bool
        Whether every value of the sensitive column is a group of its own (2 to 20; rare values are taken together).
    cuts : tuple of float
        For a numeric sensitive column: limits, rising, of as many groups and one more.
    excluded : tuple of str
        Columns neither the model nor the attacker sees.
    missing : {"keep", "drop"}
        What to do with a record that lacks a feature: keep it (median for numbers, a category of its own for
        text) or drop it. A record without label or sensitive value is always dropped.
    first_name, other_name : str
        How to call the two groups in sentences; made from the values when empty.
    attribute_name : str
        How to call the sensitive attribute in sentences; the column's name when empty.
    prediction, score : str
        Columns with a model's predicted labels, and with its scores in [0, 1]; empty if there are none. Either makes
        the model one that is given and not trained.
    sets : str
        Column that says train, attack or test for each record; empty to draw the sets with a seed.
    threshold : float in [0, 1]
        From which score on a prediction counts as 1, where only scores are given.
    """

    label: str
    positive: str
    sensitive: str
    group: tuple[str, ...] = ()
    at_most: float | None = None
    each: bool = False
    cuts: tuple[float, ...] = ()
    excluded: tuple[str, ...] = ()
    missing: str = "keep"
    first_name: str = ""
    other_name: str = ""
    attribute_name: str = ""
    prediction: str = ""
    score: str = ""
    sets: str = ""
    threshold: float = 0.5

    @property
    def given(self) -> tuple[str, ...]:
        """Columns that came with the table and are never features: predictions, scores, sets."""
        return tuple(column for column in (self.prediction, self.score, self.sets) if column)

    @property
    def gives_predictions(self) -> bool:
        """Whether a model's predictions or scores came with the table."""
        return bool(self.prediction or self.score)

    @property
    def attribute(self) -> str:
        """What to call the sensitive attribute."""
        return self.attribute_name or self.sensitive

    @property
    def key(self) -> str:
        """Name under which the grouping is chosen: the column, and how it is split where that is not in two."""
        return self.sensitive + ("/each" if self.each else "/ranges" if self.cuts else "")
