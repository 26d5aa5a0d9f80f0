"""How a model file is refused, and what would run if it were not."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from core.errors import InputError
from core.models.model_files import read_model
from tests.model_samples import (
    as_skops,
    closed,
    nodes_of,
    opened,
)


def refusal(content: bytes, name: str) -> str:
    """Return why a file is refused, in one sentence."""
    with pytest.raises(InputError) as caught:
        read_model(content, name)
    told = str(caught.value)
    assert told.endswith(".") and "\n" not in told and "Traceback" not in told and len(told) < 400
    return told


class Hostile:
    def __init__(self, marker: Path) -> None:
        self.command = f"touch '{marker}'"

    def __reduce__(self):
        return os.system, (self.command,)


def changed(model: object, kind: str, change) -> bytes:
    """Return a model's file after a change to the first of its nodes of a class."""
    schema, members = opened(as_skops(model))
    change(nodes_of(schema, kind)[0], members)
    return closed(schema, members)
