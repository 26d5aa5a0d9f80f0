"""A ledger as a file that can be checked without the ledger.

The file holds no attribute, no predictions (only their digests) and no key. Checking it follows the chain of hashes,
adds up every budget, and computes every gap and standard error again from the noisy numbers they name. What follows
from the predictions is taken as written: the bounds of the intervals, the scores' totals, the reach of the noise.
"""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from core.datasets.columns import quoted
from core.desk.budget import Books
from core.desk.noise import epsilon_of
from core.desk.record import TIME, Damaged, Entry, Verification, VerifiedBudget, canonical
from core.errors import InputError
from core.files import content_of

_KIND = "FairLeak ledger export"
_CLOCKS = timedelta(hours=1)
"""How far the clocks of machines that share a ledger may lie apart."""

_NOTED = 32  # digits: who forges a chain can try many, and must not meet so many by chance


def export_bytes(entries: list[Entry]) -> bytes:
    """Return the export of all entries as the bytes of a file."""
    lines = [_header(len(entries), entries[-1].hash), *(_line(entry) for entry in entries)]
    return ("\n".join(lines) + "\n").encode("ascii")


def _header(entries: int, last: str) -> str:
    return canonical({"kind": _KIND, "version": 1, "entries": entries, "hash": last})


def _line(entry: Entry) -> str:
    return canonical({"entry": json.loads(entry.text), "hash": entry.hash})


def verify_export(export: str | Path | bytes, *, noted: str | None = None) -> Verification:
    """Return whether an export holds together.

    Raises `InputError` if the file cannot be read or is no export at all, or `noted` is too short.

    Parameters
    ----------
    export : path or bytes
        The file, or what is in it.
    noted : str or None
        A hash somebody noted earlier (at least its first 32 digits); the chain must contain it. Without one, an export
        whose whole chain was written anew by a forger would pass.
    """
    if noted is not None and (len(noted) < _NOTED or set(noted.lower()) - set("0123456789abcdef")):
        raise InputError(f"A noted hash must be at least {_NOTED} hex digits, got {noted!r}.")
    header, first, lines = _read(export)
    books, seen, reason = Books(), False, None
    latest = datetime.min
    try:
        for number, line in enumerate(lines, 1):
            entry = _entry(number, line)
            books.add(entry)
            latest = max(latest, _time(number, entry, latest))
            seen = seen or (noted is not None and entry.hash.startswith(noted.lower()))
        if (header.get("entries"), header.get("hash")) != (books.number, books.hash):
            raise Damaged(f"it ends with entry {books.number} and should end with entry {header.get('entries')}")
        if first != _header(books.number, books.hash):
            raise Damaged("its first line holds something else than those of exports do")
        if noted is not None and not seen:
            raise Damaged("it does not contain the noted hash")
    except Damaged as error:
        reason = f"Verification failed: {error}."
    return Verification(
        ok=reason is None,
        reason=reason,
        n_entries=books.number,
        seal=books.hash if books.number else None,
        budgets=tuple(
            VerifiedBudget(
                name=name,
                form=account.form,
                budget=epsilon_of(account.budget),
                spent=epsilon_of(account.spent),
                n_answers=len(account.answers),
                n_charged=sum(answer.charged > 0 for answer in account.answers),
            )
            for name, account in sorted(books.accounts.items())
        ),
    )


def _read(export: str | Path | bytes) -> tuple[dict[str, Any], str, list[str]]:
    """Return an export's header, the line it stands on, and the lines of its entries."""
    name = "given" if isinstance(export, bytes) else quoted(export, 200)
    content = export if isinstance(export, bytes) else content_of(export, what="The export")
    first, _, rest = content.partition(b"\n")
    try:
        header = json.loads(first)
    except (ValueError, RecursionError):
        header = None
    if not isinstance(header, dict) or header.get("kind") != _KIND:
        raise InputError(f"The file {name} is not an export of a FairLeak ledger.")
    lines = rest.decode("utf-8", "replace").removesuffix("\n").split("\n") if rest else []
    return header, first.decode("utf-8", "replace"), lines


def _entry(number: int, line: str) -> Entry:
    try:
        told = json.loads(line)
        entry = Entry(number, canonical(told["entry"]), str(told["hash"]))
    except (ValueError, TypeError, KeyError, RecursionError):
        raise Damaged(f"entry {number} cannot be read") from None
    if line != _line(entry):  # the same key twice, other spaces: what is seen must be what is hashed
        raise Damaged(f"entry {number} is not written as exports are")
    return entry


def _time(number: int, entry: Entry, latest: datetime) -> datetime:
    """Return when an entry was written, which is not before the latest one of those above it."""
    told = json.loads(entry.text).get("time")
    try:
        time = datetime.strptime(told, TIME)
    except (TypeError, ValueError):
        raise Damaged(f"entry {number} does not say when it was written") from None
    if latest - time > _CLOCKS:
        raise Damaged(f"entry {number} was written at {told}, and one before it at {latest:%Y-%m-%dT%H:%M:%SZ}")
    return time
