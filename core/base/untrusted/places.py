"""Texts that name a place: a path of a file, or an address."""

from __future__ import annotations

import re

_BEGINNING = re.compile(r"\s*(/|~[/\\]|\.\.?[/\\]|[a-z]:[/\\]|\\\\|file:|\w+://)", re.IGNORECASE)


def is_path_or_address(text: str) -> bool:
    r"""Whether a text begins like a path or an address: "/etc", "../a", "C:\a", "file:a", "https://a"."""
    return _BEGINNING.match(text) is not None
