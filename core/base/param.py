"""What a study is declared with: `Param`, the one declaration of a setting."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Literal

Form = Literal["text", "path", "day", "line", "prose", "table"]
"""What a text is; see `Param.form`."""


@dataclass(frozen=True, slots=True)
class Param:
    """A setting, declared once: its widget, flag, TOML key with comment, bounds, and row of the reference.

    It stands beside the type of a frozen dataclass's field, ``Annotated[float, Param("Tolerance", ...)]``;
    `core.base.settings` reads it there.
    """

    title: str
    """What to call it."""
    help: str
    """What it does, in whole sentences; "{options}" stands for the names that can be chosen."""
    least: float | None = None
    most: float | None = None
    """Bounds of a number or of each number of a list; of a text the most characters it may have."""
    step: float | None = None
    """Of a slider."""
    options: Collection[str] | None = None
    """The names that can be chosen, with what to call each where that is said."""
    above: bool = False
    below: bool = False
    """Whether the least, or the most, is itself left out."""
    infinite: bool = False
    """Whether infinity is a value too."""
    some: bool = False
    """Whether a list must hold one item at least."""
    form: Form = "text"
    """Of a text: "path" is a file in the folder of the one that names it, "day" one of the calendar, "line" and "prose"
    are shown to people and so hold nothing invisible. "table" is a mapping, kept as pairs."""
    only: tuple[str, tuple[str, ...]] | None = None
    """Key and values: the setting is written only where that key has one of these. The key is one of the same table, or
    of another, as in "model.kind"."""
    written: bool | None = None
    """Whether a file tells it where it is empty (True), or only where it is not its default (False); by itself it is
    written unless it is empty."""
    flag: str = ""
    """Its flag, where that is not its name."""
