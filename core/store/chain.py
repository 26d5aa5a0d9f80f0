"""Entries that are chained by their hashes: the record of everything that was ever done, to which one can only add.

Each hash covers an entry's text and the hash before it: to change, drop or insert an entry changes every hash
after it. Hashes without a key do not stop somebody who rewrites the whole chain: that shows when the last hash was
noted elsewhere before.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Self

from ..base.errors import check_format

TIME = "%Y-%m-%dT%H:%M:%SZ"

FIRST = "0" * 64
"""What stands for the hash before the first entry."""


class Damaged(Exception):
    """A chain does not hold together; ``str(error)`` is a clause such as "entry 7 does not follow from entry 6"."""


@dataclass(frozen=True, slots=True)
class Link:
    """One entry of a chain: its number, from 1, its text and its hash."""

    number: int
    text: str
    hash: str


def now() -> str:
    """Return the time, UTC, ISO 8601 to the second."""
    return datetime.now(UTC).strftime(TIME)


def canonical(body: dict[str, Any]) -> str:
    """Return a body as the one text that is hashed and stored: JSON, keys sorted, ASCII, on one line."""
    return json.dumps(
        body, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False
    )


def chained(previous: str, text: str) -> str:
    """Return the hash (64 hex digits) of an entry that follows a hash."""
    return hashlib.sha256(f"{previous}\n{text}".encode()).hexdigest()


def linked(number: int, previous: str, body: dict[str, Any]) -> Link:
    """Return a body as the entry with this number that follows a hash."""
    text = canonical(body)
    return Link(number, text, chained(previous, text))


def checked_body(link: Link, number: int, previous: str) -> dict[str, Any]:
    """Return an entry's body if it is the next one of the chain, or raise `Damaged`."""
    if link.number != number:
        raise Damaged(f"entry {number} is missing")
    if link.hash != chained(previous, link.text):
        raise Damaged(
            f"the hash of entry {number} does not follow from its text and the entry before"
        )
    try:
        body = json.loads(link.text)
    except ValueError:
        raise Damaged(f"entry {number} is not JSON") from None
    if not isinstance(body, dict):
        raise Damaged(f"entry {number} is not a record")
    return body


@dataclass(slots=True, kw_only=True)
class Record:
    """What the entries of a chain say, followed from the first; a subclass knows its kinds of entries."""

    number: int = 0
    hash: str = FIRST
    """Of the last entry followed."""
    latest: str = ""
    """Latest time that an entry followed says it was written at."""

    def next_time(self) -> str:
        """Return the time for the next entry: now, or the latest time of those before, if a clock was ahead then."""
        return max(now(), self.latest)

    @classmethod
    def of(cls, links: Iterable[Link]) -> Self:
        """Follow all entries from the first; raise `Damaged` at one that does not follow."""
        record = cls()
        for link in links:
            record.add(link)
        if not record.number:
            raise Damaged("it has no entries")
        return record

    def add(self, link: Link) -> None:
        """Follow one more entry, or raise `Damaged`, `FormatError` at the first, and leave everything as it was."""
        number = self.number + 1
        body = checked_body(link, number, self.hash)
        if (body.get("kind") == "opened") != (number == 1):
            raise Damaged(f"entry {number} is not of a kind that may stand there")
        if number == 1:
            check_format(body.get("format"), thing="A chain of entries")
        try:
            self.follow(body.pop("kind"), link, body)
        except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError):
            raise Damaged(
                f"entry {number} lacks something or holds something of another kind"
            ) from None
        self.number = number
        self.hash = link.hash
        self.latest = max(self.latest, str(body.get("time", "")))

    def follow(self, kind: str, link: Link, body: dict[str, Any]) -> None:
        """Take in what an entry of some kind says; what its body lacks, or a kind that is not known, is an error."""
        raise NotImplementedError
