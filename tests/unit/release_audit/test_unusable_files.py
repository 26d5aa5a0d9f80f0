"""Unusable tables and models through ``python -m core audit``: exit code 3 and one sentence."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import pytest

from core.__main__ import main
from core.settings import toml_value
from tests.model_samples import NUMBERS, as_onnx, as_skops, logistic, numbers, people
from tests.unit.datasets.bad_tables import BAD_UPLOADS, BadUpload

Capture = pytest.CaptureFixture[str]

_SAID = "python -m core audit: "
_ROLES = 'positive = "yes"\nsensitive = "sex"\ngroup = ["F"]\n'
_KINDS = ("empty file", "unclosed quote", "Parquet damaged inside", "hostile name twice", "name of two lines twice")


def refused(folder: Path, plan: str, capsys: Capture) -> str:
    """Audit by a plan that must not work; return its one sentence."""
    (folder / "plan.toml").write_text(plan, encoding="utf-8")
    code = main(["audit", str(folder / "plan.toml"), "--out", str(folder / "out"), "--no-self-test"])
    told = capsys.readouterr()
    assert code == 3 and told.out == "" and not (folder / "out").exists()
    assert told.err.startswith(_SAID) and told.err.endswith(".\n") and "Traceback" not in told.err
    said = told.err[len(_SAID) : -1]
    assert said.isprintable() and len(said) < 420, said
    return said


@pytest.mark.parametrize("bad", [bad for bad in BAD_UPLOADS if bad.kind in _KINDS], ids=lambda bad: bad.kind)
def test_a_bad_table(bad: BadUpload, tmp_path: Path, capsys: Capture) -> None:
    (tmp_path / bad.file_name).write_bytes(bad.data)
    refused(tmp_path, f'[data]\nfile = {toml_value(bad.file_name)}\nlabel = "hired"\n{_ROLES}', capsys)


@pytest.mark.parametrize(
    ("name", "content", "plan", "words"),
    [
        ("m.pkl", pickle.dumps([1]), {}, "opening a pickle can run any code"),
        ("m.skops", as_skops(logistic())[:3000], {}, "cannot be unpacked"),
        ("m.onnx", as_onnx(logistic(), numbers()[:1]), {"features": ["age", "shoe size"]}, "'shoe size'"),
        ("m.onnx", as_onnx(logistic(), numbers()[:1]), {"features": NUMBERS, "threshold": 1.5}, "threshold"),
    ],
)
def test_an_unusable_model(
    name: str, content: bytes, plan: dict[str, Any], words: str, tmp_path: Path, capsys: Capture
) -> None:
    people().assign(sex=["F", "M", "M"] * 80).to_csv(tmp_path / "people.csv", index=False)
    (tmp_path / name).write_bytes(content)
    model = "".join(f"{key} = {toml_value(value)}\n" for key, value in ({"kind": "file", "file": name} | plan).items())
    data = f'[data]\nfile = "people.csv"\nlabel = "approved"\n{_ROLES}'
    assert words in refused(tmp_path, f"{data}[model]\n{model}", capsys)
