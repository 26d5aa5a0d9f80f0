"""Every hostile file is read, or refused in one sentence, and the process that asked goes on."""

from __future__ import annotations

import pytest

from core.models.files import model_file
from tests.hostile.models import ENDLESS, MODELS
from tests.hostile.run import tried
from tests.hostile.tables import TABLES

SLOW = {"2 GB of blanks, packed", "an array of zeros, packed", "matrices multiplied 100,000 times"}


@pytest.mark.parametrize("kind", [pytest.param(one, marks=pytest.mark.long if one in SLOW else ()) for one in MODELS])
def test_a_model(kind, monkeypatch):
    monkeypatch.setattr(model_file, "MAX_SECONDS", 1.0)
    told = tried(kind)
    if kind in ENDLESS:
        assert "was stopped after 1 seconds" in told


@pytest.mark.parametrize("kind", TABLES)
def test_a_table(kind):
    tried(kind)


def test_the_killer_is_named():
    assert "signal SIGFPE" in tried("Div of the smallest int64 by −1")
