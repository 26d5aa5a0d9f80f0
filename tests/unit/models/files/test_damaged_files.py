"""Random and damaged bytes are refused or answer, and nothing is written to disk."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from core.errors import InputError
from core.models.model_files import read_model
from tests.model_samples import (
    NUMBERS,
    as_onnx,
    as_skops,
    logistic,
    numbers,
    people,
)
from tests.unit.models.files.refusals import refusal


@settings(deadline=None, max_examples=40)
@given(content=st.binary(max_size=300), name=st.sampled_from(["m.onnx", "m.skops"]), zipped=st.booleans())
def test_random_bytes_are_refused(content, name, zipped):
    refusal(b"PK\x03\x04" + content if zipped else content, name)


GOOD = {"m.onnx": as_onnx(logistic(), numbers()[:1]), "m.skops": as_skops(logistic())}


@settings(deadline=None, max_examples=40)
@given(st.sampled_from(sorted(GOOD)), st.data())
def test_damaged_files_are_refused_or_answer(name, data):
    content = bytearray(GOOD[name])
    for _ in range(data.draw(st.integers(1, 4))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    damaged = bytes(content[: data.draw(st.integers(1, len(content)))]) if data.draw(st.booleans()) else bytes(content)
    try:
        answers = read_model(damaged, name).answers(people(), features=NUMBERS)
    except InputError as error:
        assert "\n" not in str(error)
    else:
        assert answers.labels.shape == (240,)
