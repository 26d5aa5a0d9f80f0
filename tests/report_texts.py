"""What the tests of reports do to a sample: its texts changed."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Callable
from typing import Any

from core.base.settings import Settings

_FIXED = {
    "check", "verdict", "outcome", "basis", "overall", "kind", "metric", "method", "mechanism", "missing", "code",
    "policy", "plan", "fingerprint", "released",
}  # fmt: skip


def with_texts(value: Any, change: Callable[[str], str], name: str = "") -> Any:
    """Return the audit with every free text changed; names of checks, verdicts and fingerprints stay."""
    if isinstance(value, str):
        return value if name in _FIXED else change(value)
    if isinstance(value, Settings):
        return value  # a report's settings keep their rules
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        copied = copy.copy(value)
        for field in dataclasses.fields(value):  # past the rules of settings, which a damaged object breaks
            object.__setattr__(copied, field.name, with_texts(getattr(value, field.name), change, field.name))
        return copied
    if isinstance(value, dict):
        keeps_keys = name in ("sets", "times")
        return {(k if keeps_keys else change(k)): with_texts(v, change, name) for k, v in value.items()}
    if isinstance(value, (tuple, list)):
        return type(value)(with_texts(item, change, name) for item in value)
    return value
