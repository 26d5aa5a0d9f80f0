"""Where a ledger lies, and opening it."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from pathlib import Path

from core.queries.ledger.desk import Ledger
from core.queries.ledger.noise import RandBelow


def default_ledger() -> Path:
    """Return where a user's ledger lies unless she says otherwise: in her data folder, outside any repository."""
    from platformdirs import user_data_path

    return user_data_path("fairleak") / "ledger.sqlite"


def open_ledger(
    place: str | Path,
    *,
    create: bool = False,
    randbelow: RandBelow = secrets.randbelow,
    on_step: Callable[[str], None] = lambda step: None,
) -> Ledger:
    """Open a ledger, after checking it whole.

    Parameters
    ----------
    place : path or URL
        A SQLite file on a disk of this machine (its locks do not hold on network drives), or a PostgreSQL database
        such as postgresql://user@host/database for several machines.
    create : bool
        Make it if it is not there. What is there is never replaced.
    randbelow : callable
        Where noise comes from: the operating system's entropy. Anything that can be repeated is for tests only.
    on_step : callable
        Told the name of each step of a change as soon as it is done.

    Raises
    ------
    InputError
        If there is none, it is damaged or something else; the file then stays as it is, byte by byte.
    FairLeakError
        If the database cannot be reached or stays busy.
    """
    from core.queries.ledger.places import open_store

    return Ledger(open_store(place, create=create, on_step=on_step), randbelow)
