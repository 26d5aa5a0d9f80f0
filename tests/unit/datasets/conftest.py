"""Tables are read in the test's own process: a child takes longer to start than a table to be read."""

import importlib

import pytest

from core.base.untrusted import child


def _answer_in_process(what, function, arguments, **limits):
    """Answer as a child does, but for what no file should let happen: that is raised as it is."""
    module, _, name = function.partition(":")
    return getattr(importlib.import_module(module), name)(None, **arguments)


@pytest.fixture
def own_process():
    """Let each table be read in a process of its own, which begins with nothing imported, as a command does."""
    child._warm.end()


@pytest.fixture(autouse=True)
def _in_this_process(request, monkeypatch):
    if "own_process" not in request.fixturenames:
        for module in ("read_table", "ratings"):
            monkeypatch.setattr(importlib.import_module(f"core.datasets.{module}"), "ask_child", _answer_in_process)
