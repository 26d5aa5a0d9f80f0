"""A model file reaches nothing: it is refused in one sentence, and what lies on the server stays there."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from core.base.errors import InputError
from core.base.untrusted import ask_child
from core.models import model_files, onnx_model
from core.models.model_files import read_model
from tests.hostile.reaching_models import ENDLESS, ONNX, SECRET, SECRET_FILE, SKOPS, SLOW_TEXT
from tests.model_samples import NUMBERS, people

FILES = {
    **{f"{kind}.onnx": content for kind, content in ONNX.items()},
    **{f"{kind}.skops": content for kind, content in SKOPS.items()},
}


@pytest.fixture
def beside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Folder of the server with a secret, before the process that opens files is started."""
    (tmp_path / SECRET_FILE).write_text(SECRET)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("name", FILES)
def test_a_model_reaches_nothing(name: str, beside: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(model_files, "MAX_SECONDS", 2.0)
    kind = name.rpartition(".")[0]
    cell = SLOW_TEXT if kind in ENDLESS else str(beside / SECRET_FILE)
    cells, features = pd.DataFrame({"text": [cell] * 60}), ["text"]
    if name.endswith(".onnx"):
        cells, features = people(), NUMBERS[:2]
    with pytest.raises(InputError) as caught:
        read_model(FILES[name](), "m" + Path(name).suffix).answers(cells, features=features)
    message = str(caught.value)
    assert SECRET[:8] not in message
    assert "\n" not in message and message.endswith(".")
    if kind in ENDLESS:
        assert "was stopped after 2 seconds" in message
    else:
        assert "is refused because" in message


def run_unread(report: object, *, content: bytes) -> tuple[dict[str, str], None]:
    """Open a file with the runtime, without looking through it before."""
    session = onnx_model._session(content)
    (answer,) = session.run(["p"], {"x": np.zeros((2, 2), np.float32)})
    return {"answer": repr(answer)}, None


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux confines a process")
@pytest.mark.parametrize(
    "kind",
    ["weights in a file beside", "weights in a file by its path", "sparse weights in a file", "a constant in a file"],
)
def test_the_runtime_reads_no_file_even_of_a_model_that_was_let_in(kind: str, beside: Path):
    with pytest.raises(InputError, match="broke its reader"):
        ask_child(
            "The file 'a'",
            f"{__name__}:run_unread",
            {"content": ONNX[kind]()},
            seconds=20,
            modules=("core.models.onnx_model:rehearse",),
        )
