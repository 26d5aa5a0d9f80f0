"""What a database's error says of the disk that it lies on."""

from __future__ import annotations


def disk_message(error: BaseException | None) -> str | None:
    """Return what a database's error says of its disk, and what to do; None if it is about something else."""
    name = getattr(error, "sqlite_errorname", "")
    state = getattr(error, "sqlstate", "")
    if name == "SQLITE_FULL" or state == "53100":
        return "the disk is full; nothing was changed, make room and try again"
    if name.startswith(
        "SQLITE_IOERR"
    ):  # also where there is no room for SQLite's files beside the ledger
        return f"the disk is full or fails ({error}); make room and try again"
    return None
