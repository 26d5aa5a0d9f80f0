"""Findings as strict JSON: one text for one content, and the fingerprint that shows whether it was altered.

Python writes nan and infinity into JSON, which no standard knows. Here

- nan, "nothing was measured", becomes null;
- infinity becomes the text "inf" or "-inf" (a privacy budget without noise is infinite, and that is a number to state);
- a whole float is written as a whole number and −0 as 0, so that equal numbers look equal (as in RFC 8785);
- half of a surrogate pair, which is no character, becomes U+FFFD;
- characters that steer how text is shown (RFC 9839's problematic ones, bidirectional marks) are escaped.

Keys are sorted. Lists, and so the rows and columns of tables, keep their order, which is content.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from typing import Any

from core.errors import InputError
from core.results import plain

__all__ = ["OUTSIDE", "json_text", "parse_json", "report_fingerprint", "strict"]

OUTSIDE = ("fingerprint", "times")
"""What the fingerprint leaves out: itself, and what differs between two runs that found the same."""

_WHOLE = 2**53

_HALF = re.compile("[\ud800-\udfff]")

_STEERING = re.compile("[\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]")


def strict(value: Any) -> Any:
    """Turn results, arrays, lists and dicts into what strict JSON can say; see the module's docstring."""
    return _strict(plain(value))


def _strict(value: Any) -> Any:
    if isinstance(value, dict):
        return {_text(key): _strict(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_strict(item) for item in value]
    if value is None or isinstance(value, (bool, int)):
        return value
    return _number(value) if isinstance(value, float) else _text(str(value))


def _number(value: float) -> float | int | str | None:
    if math.isnan(value):
        return None
    if math.isinf(value):
        return "inf" if value > 0 else "-inf"
    return int(value) if value.is_integer() and abs(value) < _WHOLE else value


def _text(value: str) -> str:
    return _HALF.sub("\ufffd", value)


def json_text(document: dict[str, Any]) -> str:
    """Return a strict document as JSON text with sorted keys, one line an entry, ending in a line break."""
    return f"{_dumped(document, indent=1)}\n"


def report_fingerprint(document: dict[str, Any]) -> str:
    """Return the SHA-256 (64 hex digits) over a document without `OUTSIDE`, in compact JSON with sorted keys.

    It shows a report that was altered by accident or by somebody who left the fingerprint as it was. Whoever can
    write a report can also write its fingerprint: only one kept elsewhere, such as on a signed page, tells of that.
    """
    inside = {key: value for key, value in document.items() if key not in OUTSIDE}
    return hashlib.sha256(_dumped(inside, indent=None).encode("utf-8")).hexdigest()


def _dumped(document: dict[str, Any], *, indent: int | None) -> str:
    separators = (",", ": ") if indent is not None else (",", ":")
    text = json.dumps(
        document, sort_keys=True, ensure_ascii=False, allow_nan=False, indent=indent, separators=separators
    )
    return _STEERING.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def parse_json(text: str) -> dict[str, Any]:
    """Read strict JSON that holds one object.

    Raises
    ------
    InputError
        If it is no JSON, holds nan, infinity or a key twice, is nested too deeply, or is not an object.
    """
    try:
        found = json.loads(text, object_pairs_hook=_once, parse_constant=_refuse, parse_float=_finite, parse_int=_whole)
    except RecursionError:
        raise InputError("A report must not be nested as deeply as this one.") from None
    except InputError:
        raise
    except ValueError:
        raise InputError("A report must be JSON, got something else.") from None
    if not isinstance(found, dict):
        raise InputError(f"A report must be a JSON object, got {type(found).__name__}.")
    return found


def _finite(text: str) -> float:
    found = float(text)
    if not math.isfinite(found):
        raise InputError(f"A report must hold finite numbers, got {text[:20]}.")
    return found


def _whole(text: str) -> int:
    _finite(text)
    return int(text)


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                raise InputError(f"A report must hold each key once, got {key[:80]!r} twice.")
            seen.add(key)
    return found


def _refuse(constant: str) -> None:
    raise InputError(f"A report must be strict JSON, got the number {constant}.")
