"""Every hostile file is read, or refused in one sentence, and the process that asked goes on."""

from __future__ import annotations

import pytest

from core.models.files import model_file
from tests.hostile.models import ENDLESS, MODELS
from tests.hostile.run import tried
from tests.hostile.tables import TABLES

SLOW = (
    "2 GB of blanks, packed",
    "an array of zeros, packed",
    "50 columns of ",
    "400 columns of numbers",
    "500 columns of one text",
    "half of a UTF-16",
    "every line another width",
    "40 columns, two million lines",
    "a new word in every cell",
    "a long word in every cell",
)
"""Beginnings of the names of those that are made or read slowly."""


def _each(kinds):
    return [pytest.param(one, marks=pytest.mark.long if one.startswith(SLOW) else ()) for one in kinds]


@pytest.mark.parametrize("kind", _each(MODELS))
def test_a_model(kind, monkeypatch):
    monkeypatch.setattr(model_file, "MAX_SECONDS", 1.0)
    told = tried(kind)
    if kind in ENDLESS:
        assert "was stopped after 1 seconds" in told


@pytest.mark.parametrize("kind", _each(TABLES))
def test_a_table(kind):
    tried(kind)


def test_the_killer_is_named():
    assert "signal SIGFPE" in tried("Div of the smallest int64 by −1")
