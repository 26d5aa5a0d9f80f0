"""Files of every form there ever was are read, verified, or refused in one sentence.

`forms/` holds a file of each kind and form, the highest number being today's; none is ever changed or taken away. What
comes of each is a golden text; that it is no traceback and no more than a sentence is checked whatever that text says.

Plans and policies: 1 as audits began, then with what is released and what holds where a check cannot be run. Cards: 2
names a noise beside typed numbers. Ledgers and their exports: 1 before identifiers had a normal form; that ledger is
the one of tests/unit/desk. Maps and stored points: 1 without the difference between groups.
"""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from core.errors import FairLeakError
from tests.golden.make import compare, normal, printed

FORMS = Path(__file__).with_name("forms")
LEDGER_1 = Path(__file__).resolve().parents[1] / "unit" / "desk" / "old_form.sql"


def plan(path: Path, folder: Path) -> str:
    from core.release_audit import plan_text, read_plan

    return plan_text(read_plan(path.read_bytes(), name=path.name))


def policy(path: Path, folder: Path) -> str:
    from core.policy import policy_text, read_policy

    return policy_text(read_policy(path.read_bytes(), name=path.name))


def card(path: Path, folder: Path) -> str:
    from core.release_audit.card_plan import read_release, release_text

    return release_text(read_release(path.read_bytes(), name=path.name))


def landscape(path: Path, folder: Path) -> str:
    from core.sweep.landscape import read_landscape

    made = read_landscape(path)
    return f"{made.title}; {made.attribute}\n{made.to_frame().to_csv(index=False)}"


def ledger(path: Path, folder: Path) -> str:
    with sqlite3.connect(folder / "ledger.sqlite") as connection:
        connection.executescript(path.read_text(encoding="utf-8"))
    connection.close()
    lines = (["status"], ["status", "old" if path == LEDGER_1 else "loans"], ["export", "record.jsonl"])
    told = [_told(["desk", *line, "--ledger", "ledger.sqlite"], folder) for line in lines]
    return "\n".join([*told, _told(["desk", "verify", "record.jsonl"], folder)])


def export(path: Path, folder: Path) -> str:
    shutil.copy(path, folder / path.name)
    return _told(["desk", "verify", path.name], folder)


def record(path: Path, folder: Path) -> str:
    """Find a stored point in the folder of this version, and in that of another one."""
    from core.correction import LeakPoint
    from core.serialize import dumps
    from core.sweep import FolderStore, SweepPoint
    from core.sweep.point import environment_name

    kind = LeakPoint if path.name.startswith("record_leak") else SweepPoint
    key = json.loads(path.read_text(encoding="utf-8").partition("\n")[0])["key"]
    told = []
    for name in (environment_name(), "fairleak-0.0.0-00000000"):
        own = folder / name / name
        own.mkdir(parents=True)
        shutil.copy(path, own / f"{key}.jsonl")
        store = FolderStore(own.parent)
        found = store.load(key, kind)  # type: ignore[type-var]
        assert (found is None) == bool(store.notes) and all(note.endswith(".") for note in store.notes)
        told += ["not read" if found is None else json.dumps(json.loads(dumps(found)), indent=1), *store.notes]
    return "\n".join(told).replace(key, "<key>")


READ: dict[str, Callable[[Path, Path], str]] = {
    "plan": plan,
    "policy": policy,
    "card": card,
    "map": landscape,
    "ledger": ledger,
    "export": export,
    "record": record,
}
FILES = [*sorted(FORMS.iterdir()), LEDGER_1]


def _told(arguments: list[str], folder: Path) -> str:
    """Run a command, whose error is one sentence."""
    told = printed(arguments, folder)
    assert told.splitlines()[-1].removeprefix("--- exit code ") in ("0", "1", "3") and "Traceback" not in told
    if told.endswith("exit code 3\n"):
        (sentence,) = told.partition("--- beside it")[2].rpartition("--- exit code")[0].split("\n")[1:-2]
        assert sentence.endswith("."), told
    return told


def _sentence(error: FairLeakError) -> str:
    told = str(error)
    assert told.endswith(".") and "\n" not in told and len(told) < 400, told
    return f"refused: {told}"


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to work in."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    return tmp_path


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_forms(path: Path, own: Path):
    kind = "ledger" if path == LEDGER_1 else path.name.partition("_")[0]
    name = "ledger_1.sql" if path == LEDGER_1 else path.name
    try:
        told = READ[kind](path, own)
    except FairLeakError as error:
        told = _sentence(error)
    compare(f"forms/{name}.txt", normal(told, own))


@pytest.mark.parametrize("kind", ["plan", "policy", "card"])
def test_forms_to_come_are_refused(kind: str, own: Path):
    newest = max(FORMS.glob(f"{kind}_*.toml"))
    text = newest.read_text(encoding="utf-8")
    assert "schema = 1\n" in text
    later = own / newest.name
    later.write_text(text.replace("schema = 1\n", "schema = 2\n", 1), encoding="utf-8")
    with pytest.raises(FairLeakError) as refused:
        READ[kind](later, own)
    assert "schema" in _sentence(refused.value) and "2" in str(refused.value)
