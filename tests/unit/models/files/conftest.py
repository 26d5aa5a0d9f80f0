"""A file that hostile code would make."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture
def marker(tmp_path: Path) -> Path:
    """Return a file that hostile code would make."""
    path = tmp_path / "it ran"
    yield path
    assert not path.exists()
