"""What every policy keeps to, whether it was read from a file or built in Python."""

from __future__ import annotations

import datetime
import math
import re
import unicodedata

from core.errors import InputError
from core.policy.checks import CHECKS
from core.policy.limits import POLICY_SCHEMA, Limit, Policy
from core.toml_files import told

RANGES = {
    "points": (-1.0, 1.0),
    "percent": (0.0, 1.0),
    "gap": (0.0, 1.0),
    "ratio": (0.0, 1.0),
    "bits": (-10.0, 10.0),
    "columns": (0.0, math.inf),
}
"""Unit of a check -> its least and largest possible value."""

_LONGEST = {"name": 200, "version": 200, "author": 200, "date": 200, "rationale": 10_000, "source": 2_000}

_UNSEEN = ("Cc", "Cs", "Zl", "Zp")
"""Unicode's categories of control characters, of halves of a pair, and of separators of lines."""

_MIRRORED = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
"""Characters that turn the direction of writing, and so can make a text read as another."""

_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")


def check_policy(policy: Policy) -> None:
    """Raise `InputError` with one sentence if a policy cannot be judged by.

    Author, date, rationale and source may be empty here; what a file must give is up to `read_policy`.
    """
    if policy.schema != POLICY_SCHEMA or isinstance(policy.schema, bool):
        raise InputError(f"schema of a policy must be {POLICY_SCHEMA}, got {told(policy.schema)}.")
    level = policy.level
    if isinstance(level, bool) or not isinstance(level, (int, float)) or not 0.5 <= level < 1.0:
        raise InputError(f"level must be a number from 0.5 to below 1, such as 0.95, got {told(level)}.")
    for key in ("name", "version", "author", "date", "rationale"):
        check_text(getattr(policy, key), key)
    check_date(policy.date, "date")
    for item, limit in enumerate(policy.limits, start=1):
        _check_limit(limit, f"limit {item}")
    _check_together(policy.limits)


def check_text(value: object, key: str, where: str = "") -> None:
    """Raise `InputError` unless a value is text that can be shown: not too long, nothing invisible."""
    label = f"{key} of {where}" if where else key
    if not isinstance(value, str):
        raise InputError(f"{label} must be text, got {told(value)}.")
    if len(value) > _LONGEST[key]:
        raise InputError(f"{label} must have at most {_LONGEST[key]:,} characters, got {len(value):,}.")
    allowed = "\n\t" if key in ("rationale", "source") else ""
    for character in value:
        if (unicodedata.category(character) in _UNSEEN and character not in allowed) or character in _MIRRORED:
            raise InputError(f"{label} must not hold control characters, got U+{ord(character):04X}.")


def check_date(value: str, key: str, where: str = "") -> None:
    """Raise `InputError` unless a text is empty or a day of the calendar, YYYY-MM-DD."""
    label = f"{key} of {where}" if where else key
    if not value:
        return
    try:
        if not _DAY.fullmatch(value) or not value.isascii():
            raise ValueError
        datetime.date.fromisoformat(value)
    except ValueError:
        raise InputError(f"{label} must be a day written YYYY-MM-DD, got {told(value)}.") from None


def in_range(value: object, check: str) -> bool:
    """Return whether a value is a finite number that the check can take."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return False
    low, high = RANGES[CHECKS[check].unit]
    return low <= value <= high and abs(value) < 1e9  # also leaves out nan and inf


def _check_limit(limit: Limit, where: str) -> None:
    if limit.check not in CHECKS:
        raise InputError(f"check of {where} must be one of {', '.join(CHECKS)}, got {told(limit.check)}.")
    where = f"{where} ({limit.check})"
    if not in_range(limit.value, limit.check):
        raise InputError(f"value of {where} must be {_rule(limit.check)}, got {told(limit.value)}.")
    if not isinstance(limit.required, bool):
        raise InputError(f"required of {where} must be true or false, got {told(limit.required)}.")
    if limit.if_not_run not in ("blocks", "allowed"):
        raise InputError(f'if_not_run of {where} must be "blocks" or "allowed", got {told(limit.if_not_run)}.')
    for key in ("author", "date", "rationale", "source"):
        check_text(getattr(limit, key), key, where)
    check_date(limit.date, "date", where)


def _check_together(limits: tuple[Limit, ...]) -> None:
    if not limits:
        raise InputError("A policy must set at least one limit, got none.")
    seen: dict[str, int] = {}
    for item, limit in enumerate(limits, start=1):
        if limit.check in seen:
            both = f"{seen[limit.check]} and {item}"
            raise InputError(f"A check must have one limit at most, got limits {both} to {limit.check}.")
        seen[limit.check] = item
    if not any(limit.required for limit in limits):
        raise InputError("A policy must require at least one of its limits, got none that is required.")


def _rule(check: str) -> str:
    return {
        "points": "a share from −1 to 1, such as 0.05 for 5 points",
        "percent": "a share from 0 to 1, such as 0.05 for 5%",
        "gap": "a number from 0 to 1",
        "ratio": "a number from 0 to 1",
        "bits": "a number of bits a person from −10 to 10",
        "columns": "a number from 0 to below 1e9",
    }[CHECKS[check].unit]
