"""Every hostile file is read, or refused in one sentence, and the process that asked goes on."""

from __future__ import annotations

import numpy as np
import pytest
from onnx import helper, numpy_helper

from core.datasets import read_table
from core.errors import InputError
from core.models import model_files as model_file
from core.models.model_files import MAX_BYTES, read_model
from tests.hostile.models import ENDLESS, MODELS
from tests.hostile.tables import TABLES
from tests.model_samples import NUMBERS, graph, people

SLOW = (
    "2 GB of blanks, packed",
    "an array of zeros, packed",
    "50 columns of ",
    "400 columns of numbers",
    "500 columns of one text",
    "half of a UTF-16",
    "every line another width",
    "40 columns, ",
    "a new word in every cell",
    "a long word in every cell",
)
"""Beginnings of the names of those that are made or read slowly."""


LARGEST = ("40 columns, as many lines as are read", "a long word in every cell")
"""As large as a table may be, in cells and in bytes."""


def tried(kind: str) -> str:
    """Return the sentence a file is refused with, or "" if it is read or answers."""
    name, made = {**MODELS, **TABLES}[kind]
    content = made()
    try:
        if kind in TABLES:
            read_table(content, name)
            return ""
        model = read_model(content, name)
        model.answers(people(), features=() if model.feature_names else NUMBERS[: model.width or 1])
    except InputError as error:
        told = str(error)
        assert told.endswith(".") and "\n" not in told and len(told) < 420, told
        return told
    return ""


def _each(kinds):
    return [pytest.param(one, marks=pytest.mark.long if one.startswith(SLOW) else ()) for one in kinds]


@pytest.mark.parametrize("kind", _each(MODELS))
def test_a_model(kind, monkeypatch):
    monkeypatch.setattr(model_file, "MAX_SECONDS", 1.0)
    told = tried(kind)
    if kind in ENDLESS:
        assert "was stopped after 1 seconds" in told
    if kind == "a matrix of 400 GB":
        assert "'m.onnx' needs more than 1,536 MB of memory" in told


@pytest.mark.parametrize("kind", _each(TABLES))
def test_a_table(kind):
    told = tried(kind)
    if kind in LARGEST:
        assert not told


@pytest.mark.long
def test_the_largest_model_answers():
    weights = numpy_helper.from_array(np.zeros((2, 24_000_000), np.float32), "w")
    nodes = [
        helper.make_node("ReduceMean", ["w"], ["m"], keepdims=0),
        helper.make_node("ReduceMean", ["x"], ["r"], axes=[1], keepdims=1),
        helper.make_node("Sigmoid", ["r"], ["s"]),
        helper.make_node("Add", ["s", "m"], ["p"]),
    ]
    content = graph(nodes, initializer=[weights])
    assert 180 * 1024**2 < len(content) < MAX_BYTES
    assert read_model(content, "m.onnx").answers(people(), features=NUMBERS[:2]).labels.shape == (240,)


def test_the_killer_is_named():
    assert "signal SIGFPE" in tried("Div of the smallest int64 by −1")
