"""Malformed tables and models through ``python -m core audit``: exit code 3 and one sentence, whatever the file is."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.__main__ import main
from core.settings import toml_value
from tests.unit.datasets.malformed_tables import MALFORMED
from tests.unit.models.files.malformed_models import MALFORMED_MODELS, UNFIT_MODELS, table

Capture = pytest.CaptureFixture[str]

_SAID = "python -m core audit: "
_TABLE_ROLES = 'label = "hired"\npositive = "yes"\nsensitive = "sex"\ngroup = ["F"]\n'
_PEOPLE_ROLES = 'label = "approved"\npositive = "yes"\nsensitive = "sex"\ngroup = ["F"]\n'


@pytest.fixture(scope="module")
def people_csv() -> bytes:
    return table()


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


@pytest.mark.parametrize("kind", MALFORMED)
def test_a_malformed_table(kind: str, tmp_path: Path, capsys: Capture) -> None:
    content, name = MALFORMED[kind]
    (tmp_path / name).write_bytes(content)
    refused(tmp_path, f"[data]\nfile = {toml_value(name)}\n{_TABLE_ROLES}", capsys)


@pytest.mark.parametrize("kind", [*MALFORMED_MODELS, *UNFIT_MODELS])
def test_a_malformed_model(kind: str, people_csv: bytes, tmp_path: Path, capsys: Capture) -> None:
    bad = {**MALFORMED_MODELS, **UNFIT_MODELS}[kind]
    (tmp_path / "people.csv").write_bytes(people_csv)
    (tmp_path / bad.name).write_bytes(bad.content())
    told = {"kind": "file", "file": bad.name, **bad.plan}
    model = "".join(f"{key} = {toml_value(value)}\n" for key, value in told.items())
    said = refused(tmp_path, f'[data]\nfile = "people.csv"\n{_PEOPLE_ROLES}[model]\n{model}', capsys)
    assert bad.words in said


def test_there_are_enough_models() -> None:
    assert len(MALFORMED_MODELS) >= 40 and len(UNFIT_MODELS) >= 15
    assert not MALFORMED_MODELS.keys() & UNFIT_MODELS.keys()
