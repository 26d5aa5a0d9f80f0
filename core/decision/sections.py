"""Tables of a TOML file, read field by field: every wrong key, type or value is one sentence that names its place."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection
from pathlib import PurePosixPath, PureWindowsPath
from typing import Any

from core.errors import InputError
from core.toml_files import told

__all__ = ["Section", "inside"]

_BITS = 1_000
"""Of the largest whole number that is read as a float."""


class Section:
    """One table of a file; its fields are taken out one by one, and `end` refuses what is left.

    Parameters
    ----------
    content : object
        What stands in the file; None for a table that is not there.
    name : str
        The file's name.
    title : str
        The table's name, "" for the outermost.
    """

    def __init__(self, content: Any, *, name: str, title: str = "") -> None:
        self.name, self.title = name, title
        if content is not None and not isinstance(content, dict):
            raise InputError(f"{name}: [{title}] must be a table, got {told(content)}.")
        self._left: dict[str, Any] = dict(content or {})
        self._known: list[str] = []

    def __contains__(self, key: str) -> bool:
        return key in self._left

    def error(self, key: str, rule: str, value: object) -> InputError:
        """Return the one sentence: file, key, rule, value."""
        return InputError(f"{self.name}: {self._place(key)} must {rule}, got {told(value)}.")

    def _place(self, key: str) -> str:
        return f"{self.title}.{key}" if self.title else key

    def _taken(self, key: str, default: Any) -> Any:
        self._known.append(key)
        return self._left.pop(key, default)

    def section(self, key: str) -> Section:
        """Return an inner table."""
        return Section(self._taken(key, None), name=self.name, title=self._place(key))

    def tables(self, key: str, *, most: int) -> tuple[Section, ...]:
        """Return a list of inner tables, () where the key is not there."""
        value = self._taken(key, [])
        if not isinstance(value, list):
            raise self.error(key, "be a list of tables", value)
        if len(value) > most:
            raise self.error(key, f"hold at most {most:,} tables", len(value))
        place = self._place(key)
        return tuple(Section(one, name=self.name, title=f"{place} {i}") for i, one in enumerate(value, start=1))

    def mapping(self, key: str) -> dict[str, Any]:
        """Return an inner table as it is."""
        value = self._taken(key, {})
        if not isinstance(value, dict):
            raise self.error(key, "be a table", value)
        return value

    def text(self, key: str, default: str = "", *, options: Collection[str] | None = None) -> str:
        """Return a text, one of the options where there are some."""
        value = self._taken(key, default)
        if not isinstance(value, str):
            raise self.error(key, "be text", value)
        if "\x00" in value:
            raise self.error(key, "not hold a zero byte", value)
        if options is not None and value not in options:
            raise self.error(key, f"be one of {', '.join(options)}", value)
        return value

    def whole(self, key: str, default: int, *, least: int, most: int) -> int:
        """Return a whole number in a range."""
        value = self._taken(key, default)
        if isinstance(value, bool) or not isinstance(value, int):
            raise self.error(key, "be a whole number", value)
        if not least <= value <= most:
            rule = f"be {least:,}" if least == most else f"be from {least:,} to {most:,}"
            raise self.error(key, rule, value)
        return value

    def number(
        self, key: str, default: float, *, least: float = 0.0, most: float = math.inf, infinite: bool = False
    ) -> float:
        """Return a number in a range; infinity only where it is allowed."""
        value = self._taken(key, default)
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise self.error(key, "be a number", value)
        huge = isinstance(value, int) and value.bit_length() > _BITS
        if huge or not (least <= value <= most) or (math.isinf(value) and not infinite):  # also catches nan
            rule = f"be at least {least:g}" if math.isinf(most) else f"be in [{least:g}, {most:g}]"
            rule = "be a finite number" if math.isinf(least) else rule
            raise self.error(key, rule, value)
        return float(value)

    def maybe_number(self, key: str) -> float | None:
        """Return a finite number, or None where the key is not there."""
        return None if key not in self else self.number(key, 0.0, least=-math.inf)

    def maybe_whole(self, key: str, *, least: int, most: int) -> int | None:
        """Return a whole number in a range, or None where the key is not there."""
        return None if key not in self else self.whole(key, least, least=least, most=most)

    def flag(self, key: str, default: bool) -> bool:
        """Return true or false."""
        value = self._taken(key, default)
        if not isinstance(value, bool):
            raise self.error(key, "be true or false", value)
        return value

    def texts(self, key: str) -> tuple[str, ...]:
        """Return a list of texts, () where the key is not there."""
        return self._list(key, lambda value: isinstance(value, str), "texts")

    def numbers(self, key: str) -> tuple[float, ...]:
        """Return a list of finite numbers, () where the key is not there."""
        found = self._list(
            key,
            lambda v: isinstance(v, (int, float)) and not isinstance(v, bool) and math.isfinite(v),
            "finite numbers",
        )
        return tuple(float(value) for value in found)

    def _list(self, key: str, fits: Callable[[Any], bool], what: str) -> tuple[Any, ...]:
        value = self._taken(key, [])
        if not isinstance(value, list):
            raise self.error(key, f"be a list of {what}", value)
        for item in value:
            if not fits(item):
                raise self.error(key, f"be a list of {what}", item)
        return tuple(value)

    def path(self, key: str) -> str:
        """Return the path of a file inside the file's own folder, "" where the key is not there."""
        value = self.text(key)
        if value and not inside(value):
            raise self.error(key, "be a file inside the folder of this one, told from there", value)
        return value

    def refuse(self, key: str, rule: str) -> None:
        """Refuse a key that does not go with the others."""
        if key in self:
            raise self.error(key, rule, self._left[key])

    def end(self, known: Collection[str] = ()) -> None:
        """Refuse keys that were not asked for; `known` are those that could have been."""
        if self._left:
            key = next(iter(self._left))
            where = f"[{self.title}]" if self.title else "the outermost table"
            keys = ", ".join(dict.fromkeys((*known, *self._known)))
            raise InputError(f"{self.name}: {where} must hold only the keys {keys}, got {told(key)}.")


def inside(path: str) -> bool:
    """Return whether a path, as it is written, stays inside the folder it starts from."""
    for kind in (PurePosixPath, PureWindowsPath):
        parts = kind(path)
        if parts.is_absolute() or parts.drive or parts.root or ".." in parts.parts:
            return False
    return bool(PurePosixPath(path).name)
