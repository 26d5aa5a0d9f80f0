"""Tables are read in the test's own process: a child takes longer to start than a table to be read."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Any

import pytest


class _Here:
    """Answers as a `Child` does, but for what no file should let happen: that is raised as it is."""

    def __init__(self, what: str, modules: tuple[str, ...] = ()) -> None:
        self.what = what

    def ask(self, function: str, arguments: Mapping[str, Any], *, seconds: float) -> Any:
        module, _, name = function.partition(":")
        return getattr(importlib.import_module(module), name)({}, None, **arguments)

    def close(self) -> None:
        """There is nothing to close."""


@pytest.fixture
def own_process() -> None:
    """Let each table of a test be read in a process of its own, as the product does."""


@pytest.fixture(autouse=True)
def _here(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if "own_process" not in request.fixturenames:
        monkeypatch.setattr(importlib.import_module("core.datasets.read_table"), "Child", _Here)
