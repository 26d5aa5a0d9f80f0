"""A fresh database on the PostgreSQL the environment names."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator

import pytest

WHY = "FAIRLEAK_POSTGRES names no PostgreSQL (.ci/postgresql starts one)"


@pytest.fixture
def database() -> Iterator[str]:
    """The URL of an empty database, dropped afterwards."""
    server = os.environ.get("FAIRLEAK_POSTGRES")
    if not server:
        pytest.skip(WHY)
    import psycopg

    name = f"fairleak_test_{secrets.token_hex(6)}"
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
        yield f"{server.rpartition('/')[0]}/{name}"
        connection.execute(f"DROP DATABASE {name} WITH (FORCE)")
