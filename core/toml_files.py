"""TOML files that a user writes: read with one sentence an error, and written so that they read back equal.

A file is small, flat and UTF-8. What is larger, or nested deeper than any plan or policy is, is refused before it is
parsed, because the parser's time grows with the square of a key's parts.
"""

from __future__ import annotations

import re
import tomllib
import unicodedata
from typing import Any

from core.errors import InputError

LARGEST = 65_536
"""Characters of the largest file that is read."""

NO_LIMIT = "none"
"""How a value without limit is written."""

_DOTS = 500
"""Full stops a line may hold; each one may be a level of nesting to the parser."""

_PLACE = re.compile(r"^(?P<what>.*?) \(at (?:line (?P<line>\d+), column \d+|end of document)\)$", re.DOTALL)

_SHORT = {"\b": "\\b", "\t": "\\t", "\n": "\\n", "\f": "\\f", "\r": "\\r", '"': '\\"', "\\": "\\\\"}

_UNSEEN = ("Cc", "Cf", "Zl", "Zp")
"""Categories of characters that steer how text is shown."""


def parsed(content: str | bytes, *, name: str) -> dict[str, Any]:
    """Return a TOML file's content.

    Parameters
    ----------
    content : str or bytes
        The file, whole; bytes are read as UTF-8, with or without a byte order mark.
    name : str
        The file's name, for messages.

    Raises
    ------
    InputError
        The file is too large, not UTF-8, not TOML, or nested too deeply.
    """
    if len(content) > LARGEST:
        raise InputError(f"{name} must have at most {LARGEST:,} characters, got {len(content):,}.")
    text = _decoded(content, name)
    for number, line in enumerate(text.split("\n"), start=1):
        if line.count(".") > _DOTS:
            raise InputError(
                f"{name} must have at most {_DOTS} full stops a line, got {line.count('.')} in line {number}."
            )
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise InputError(f"{name} is nested too deeply for a file of settings.") from None
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{name} is not TOML: {_reason(str(error))}.") from None
    except ValueError:  # a whole number of thousands of digits
        raise InputError(f"{name} is not TOML: it holds a number that is too long.") from None


def told(value: object) -> str:
    """Return a value from a file as a message quotes it: short, whatever it is."""
    if isinstance(value, dict):
        return "a table"
    if isinstance(value, (list, tuple)):
        return "a list" if value else "an empty list"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int) and value.bit_length() > 64:
        return "a number of more than 19 digits"
    text = repr(value) if isinstance(value, (int, float, str)) else str(value)
    return text if len(text) <= 80 else f"{text[:60]}… ({len(text):,} characters)"


def quoted(text: str) -> str:
    """Return a text as a TOML string: on one line, or between three quotation marks where it has several.

    Characters that are not seen, or change the order in which others are, are written by their numbers.
    """
    if "\n" not in text:
        return f'"{_escaped(text)}"'
    lines = "\n".join(_escaped(line) for line in text.split("\n"))
    return f'"""\n{lines}"""'


def toml_value(value: Any) -> str:
    """Return a text, number, flag or list as TOML; None, which TOML has not, as `NO_LIMIT`."""
    if value is None:
        return quoted(NO_LIMIT)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return quoted(value)
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(toml_value, value))}]"
    return repr(value)


def _decoded(content: str | bytes, name: str) -> str:
    try:
        text = content.decode("utf-8") if isinstance(content, bytes) else content.encode("utf-8").decode("utf-8")
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise InputError(f"{name} must be UTF-8 text, got a byte that is not in line {line}.") from None
    except UnicodeEncodeError:  # half a surrogate pair
        raise InputError(f"{name} must be UTF-8 text, got a character that is not.") from None
    return text.removeprefix("\ufeff")


def _reason(message: str) -> str:
    found = _PLACE.match(message)
    if not found:
        return message
    what = found["what"]
    where = f"in line {found['line']}" if found["line"] else "at the end of the file"
    return f"{what[:1].lower()}{what[1:]}, {where}"


def _escaped(text: str) -> str:
    return "".join(_SHORT.get(c) or (_numbered(c) if unicodedata.category(c) in _UNSEEN else c) for c in text)


def _numbered(character: str) -> str:
    number = ord(character)
    return f"\\u{number:04X}" if number < 2**16 else f"\\U{number:08X}"
