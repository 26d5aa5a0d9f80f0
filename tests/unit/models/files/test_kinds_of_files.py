"""Files by their names and first bytes: what is neither ONNX nor skops is refused, and nothing in it is run."""

from __future__ import annotations

import io
import pickle
import zipfile

import pytest

from core.errors import InputError
from core.models.model_files import read_model
from tests.model_samples import (
    as_onnx,
    as_skops,
    closed,
    logistic,
    numbers,
    opened,
)
from tests.unit.models.files.refusals import Hostile, refusal


@pytest.mark.parametrize("name", ["m.onnx", "m.skops", "m.pkl", "m.joblib", "M.PT", "m.sav"])
@pytest.mark.parametrize("protocol", range(6))
def test_a_pickle_is_refused_whatever_its_name(marker, name, protocol):
    content = pickle.dumps(Hostile(marker), protocol=protocol)
    assert "opening a pickle can run any code hidden in it" in refusal(content, name)


@pytest.mark.parametrize("name", ["m.h5", "m.keras", "m.ort", "m.zip", "m.txt", "m", "m.onnx.gz", ".onnx"])
def test_other_endings_are_refused(name):
    assert "ONNX or skops" in refusal(b"anything", name)


@pytest.mark.parametrize(
    ("start", "what"),
    [
        (b"\x89HDF\r\n\x1a\n", "Keras"),
        (b"\x1f\x8b\x08", "compressed"),
        (b"\x78\x9c\x00", "compressed"),
        (b"\x93NUMPY\x01", "numpy array"),
        (b"\x08\x00\x00\x00ORTM", "onnxruntime's own format"),
        (b"\x1c\x00\x00\x00TFL3", "TensorFlow Lite"),
        (b"\x7fELF", "a program"),
    ],
)
@pytest.mark.parametrize("name", ["m.onnx", "m.skops"])
def test_other_contents_are_refused(start, what, name):
    assert what in refusal(start + bytes(100), name)


def test_an_archive_with_a_pickle_is_refused(marker):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as packed:
        packed.writestr("archive/data.pkl", pickle.dumps(Hostile(marker)))
    assert "PyTorch" in refusal(buffer.getvalue(), "m.skops")
    extra = closed(opened(as_skops(logistic()))[0], {"more.joblib": pickle.dumps(Hostile(marker))})
    assert "holds a pickle" in refusal(extra, "m.skops")


def test_empty_large_and_misnamed_files_are_refused():
    skops, onnx = as_skops(logistic()), as_onnx(logistic(), numbers()[:1])
    assert "is empty" in refusal(b"", "m.onnx") and "is empty" in refusal(b"", "m.skops")
    assert "let its name end in .skops" in refusal(skops, "m.onnx")
    assert "let its name end in .onnx" in refusal(onnx, "m.skops")
    with pytest.raises(InputError, match="must not be larger than"):
        read_model(skops, "m.skops", max_bytes=1000)
