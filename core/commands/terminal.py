"""Text for a terminal: what comes from files must not steer it, hide in it, or look like a line of ours."""

from __future__ import annotations

import unicodedata


class Block(str):
    """Several lines that are fit for a terminal as they are."""

    __slots__ = ()

    @classmethod
    def of(cls, lines: list[str]) -> Block:
        """Return lines, each made `visible`, one under the other."""
        return cls("\n".join(map(visible, lines)))


def visible(text: str) -> str:
    """Return a text on one line: U+FFFD for characters that steer a terminal or the order of letters, or end a line."""
    return text if text.isprintable() else "".join(map(_shown, text))


def _shown(character: str) -> str:
    if character.isprintable():
        return character
    return " " if unicodedata.category(character) == "Zs" else "\ufffd"
