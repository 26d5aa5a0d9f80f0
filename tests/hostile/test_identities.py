"""Spellings by which somebody might get a second budget for the same people, or be several people of one test set."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from core.__main__ import main
from core.base.errors import InputError
from core.desk import Ledger, TestSet, desk_roles, open_ledger, people_table, predictions_of
from core.desk import test_set_of as read_test_set

IDS = ("Ada L 1", "bob", "17", "Zoe", "P-4", "250")
ROLES = desk_roles("sex")
ATTRIBUTE = np.array([0, 1, 0, 1, 1, 0])

SPELLED = (
    "A\N{ZERO WIDTH SPACE}da  L 1",
    "\N{RIGHT-TO-LEFT OVERRIDE}BOB\N{POP DIRECTIONAL FORMATTING}",
    "１７",
    "ZOE",
    "p-4",
    "250\0",
)
"""The same six people in other spellings; the normal form's own tests know more."""


def file_of(ids: tuple[str, ...], column: str, values: object) -> bytes:
    cells = zip(ids, values, strict=True)  # type: ignore[call-overload]
    return "\n".join([f"id,{column}", *(f'"{identifier}",{value}' for identifier, value in cells), ""]).encode()


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    opened = open_ledger(tmp_path / "ledger", create=True)
    opened.register("first", TestSet(ids=IDS, attribute=ATTRIBUTE), budget=2, roles=ROLES)
    return opened


def test_spellings_of_the_same_people(ledger: Ledger):
    """Registering is refused, and asking is charged to, and answered from, the one budget there is."""
    scores = np.linspace(0, 1, 6)
    ledger.ask("first", TestSet(ids=IDS, attribute=ATTRIBUTE), scores, epsilon=0.5, asker="x")
    respelled = TestSet(ids=SPELLED[::-1], attribute=ATTRIBUTE[::-1])
    for another in (False, True):
        with pytest.raises(InputError, match="have a budget for this attribute already, under the name 'first'"):
            ledger.register("second", respelled, budget=2, roles=ROLES, another_attribute=another)
    again = ledger.ask("first", respelled, scores[::-1], epsilon=0.5, asker="x")
    assert (again.from_past, again.remaining, len(ledger.statuses())) == (True, 1.3, 1)


def test_predictions_are_matched_whatever_the_spelling():
    scores = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6]
    test_set = read_test_set(people_table(file_of(IDS, "sex", ATTRIBUTE), "people.csv"), ROLES)
    parquet = io.BytesIO()
    pq.write_table(pa.table({"id": SPELLED[::-1], "score": scores[::-1]}), parquet)
    assert predictions_of(people_table(parquet.getvalue(), "model.parquet"), test_set).tolist() == scores
    text = file_of((IDS[-1], *SPELLED[-2::-1]), "score", scores[::-1])  # what holds a NUL is not taken for text
    assert predictions_of(people_table(text, "model.csv"), test_set).tolist() == scores


def test_look_alikes_are_named_by_their_characters(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    (tmp_path / "people.csv").write_bytes(file_of(("Ada", "\N{CYRILLIC CAPITAL LETTER A}da", "c"), "sex", "010"))
    register = ["desk", "register", "x", "--test-set", str(tmp_path / "people.csv"), "--attribute", "sex"]
    assert main([*register, "--budget", "1", "--ledger", str(tmp_path / "ledger")]) == 3
    sentence = "An identifier must hold letters of one script and plain signs, as others only look equal, got 'аda'"
    assert sentence in capsys.readouterr().err


def test_an_attribute_has_one_budget_however_it_is_written(ledger: Ledger):
    people = TestSet(ids=IDS, attribute=1 - ATTRIBUTE)
    for name in ("SEX", " sex ", "ｓｅｘ", "se\N{ZERO WIDTH SPACE}x"):
        with pytest.raises(InputError, match="have a budget for this attribute already"):
            ledger.register("second", people, budget=1, roles=desk_roles(name), another_attribute=True)
    with pytest.raises(InputError, match="The name of the sensitive attribute must hold letters of one script"):
        roles = desk_roles("s\N{CYRILLIC SMALL LETTER IE}x")
        ledger.register("second", people, budget=1, roles=roles, another_attribute=True)
