"""A table of a report, and how its cells are written."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from core.wording import count

Cell = str | float | int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportTable:
    """A table.

    Attributes
    ----------
    name : str
        Of its file, without an ending: small letters, digits and hyphens.
    rows : tuple of tuple
        Texts, numbers, or None.
    """

    name: str
    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]

    @property
    def numeric(self) -> frozenset[str]:
        """Columns that hold nothing but numbers."""
        return frozenset(
            name
            for i, name in enumerate(self.columns)
            if any(_is_number(row[i]) for row in self.rows)
            and all(row[i] is None or _is_number(row[i]) or row[i] in ("inf", "-inf") for row in self.rows)
        )

    @property
    def cells(self) -> tuple[tuple[str, ...], ...]:
        """The rows as they are shown."""
        return tuple(tuple(shown(cell) for cell in row) for row in self.rows)


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def shown(value: Cell) -> str:
    """Write a cell: four digits, a true minus, "–" for nothing."""
    if value is None:
        return "–"
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return {"inf": "∞", "-inf": "−∞"}.get(str(value), str(value))
    if isinstance(value, int):
        return count(value).replace("-", "−")
    text = f"{value:.4f}".rstrip("0").rstrip(".") if abs(value) < 1 else f"{value:.4g}"
    return ("0" if text in ("-0", "") else text).replace("-", "−")


def three(prefix: str) -> tuple[str, ...]:
    """Return the columns of an estimate."""
    return (prefix, f"{prefix} low", f"{prefix} high")


def ends(found: Mapping[str, Any] | None) -> tuple[Cell, ...]:
    """Return the cells of an estimate."""
    return (None, None, None) if found is None else (found["value"], found["low"], found["high"])
