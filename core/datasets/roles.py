"""What each column of a table is for: label, sensitive attribute and its groups, predictions, what to leave out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from core.results import Result
from core.study import Param


@dataclass(frozen=True, slots=True, kw_only=True)
class Roles(Result):
    """What each column is for; label and sensitive column must exist and differ, values are text.

    Attributes
    ----------
    threshold : float in [0, 1]
        From which score on a prediction counts as 1, where only scores are given.
    """

    label: Annotated[str, Param("Label", "The column the model predicts.")]
    positive: Annotated[str, Param("Positive value", "Its value that counts as 1.")]
    sensitive: Annotated[str, Param("Sensitive attribute", "The column of the sensitive attribute.")]
    group: Annotated[
        tuple[str, ...],
        Param(
            "First group",
            "Its values that form the first group; everybody else is the second. Or: each = true for a group each "
            "value, at_most = 30 or cuts = [30, 50] for numbers.",
        ),
    ] = ()
    at_most: Annotated[float | None, Param("First group up to", "Everybody up to this number is the first group.")] = (
        None
    )
    each: Annotated[
        bool, Param("A group each value", "A group each value (2 to 20; rare values are taken together).", shown=False)
    ] = False
    cuts: Annotated[tuple[float, ...], Param("Cuts", "Limits between groups of a number, rising.")] = ()
    excluded: Annotated[
        tuple[str, ...], Param("Left out", "Columns that neither model nor attacker sees.", shown=True)
    ] = ()
    missing: Annotated[
        str,
        Param(
            "Missing values",
            'Records that lack a feature: "keep" or "drop".',
            options={"keep": "Keep: median for numbers, a category for text", "drop": "Drop"},
        ),
    ] = "keep"
    first_name: Annotated[str, Param("Name of the first group", "What sentences call the first group.")] = ""
    other_name: Annotated[str, Param("Name of the second group", "What sentences call everybody else.")] = ""
    attribute_name: Annotated[
        str, Param("Name of the attribute", "What sentences call the attribute; its column's name when left out.")
    ] = ""
    prediction: Annotated[
        str, Param("Predictions", "The column of predicted labels.", only=("model.kind", ("predictions",)))
    ] = ""
    score: Annotated[str, Param("Scores", "The column of scores in [0, 1].", only=("model.kind", ("predictions",)))] = (
        ""
    )
    sets: Annotated[
        str, Param("Sets", "The column that says train, attack or test for each record; without it the sets are drawn.")
    ] = ""
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
