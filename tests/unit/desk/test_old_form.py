"""Ledgers of earlier editions open, verify, and keep what was spent: without the normal form, and with combinations."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import numpy as np
import pytest

from core.desk import Columns, TestSet, open_ledger, predictions_of, verify_export
from core.desk import test_set_of as made_of
from core.errors import InputError

COLUMNS = Columns(id="person", attribute="sex", advantaged="M")
PEOPLE = "person,sex\nZoe,F\nZOE,M\nzoe,F\nP 007,M\nAda  L,F\nbob,M\nm7,F\nm07,M\n"
SCORES = "person,score\nzoe,0.1\nZOE,0.9\nZoe,0.25\nP 007,0.75\nAda  L,0.5\nm7,0.625\nm07,1\nbob,0\n"
PLAIN = "id,sex\n1,1\n2,0\n3,1\n4,0\n10,1\n"


def filled(folder: Path, script: str) -> Path:
    path = folder / "ledger.sqlite"
    connection = sqlite3.connect(path)
    connection.executescript(Path(__file__).with_name(script).read_text(encoding="utf-8"))
    connection.close()
    return path


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """The ledger, as an earlier edition left it: one answer about "old", none about "plain"."""
    return filled(tmp_path, "old_form.sql")


def test_a_ledger_with_combinations_opens_verifies_and_keeps_what_was_spent(tmp_path: Path):
    """Its answers, two of them sums of earlier ones and one of two looks, are repeated for free, the best one first."""
    ledger = open_ledger(filled(tmp_path, "old_combinations.sql"))
    before = ledger.status("loans")
    assert (before.spent, before.remaining, before.wrong_files) == (2.6, 1.4, 1)
    assert [one.charged for one in before.answers] == [0.3, 0, 0.9, 0, 0.9, 0]
    attribute, labels = np.array([1, 1, 0, 1, 0, 0, 1, 1]), np.array([1, 0, 1, 1, 0, 1, 1, 0])
    test_set = TestSet(ids=tuple(f"p{k}" for k in range(8)), attribute=attribute, labels=labels)
    h, g = np.arange(8) / 8, (np.arange(8) % 3) / 2
    by_number = {one.number: one for one in before.answers}
    for scores, metric, number in (
        (h, "statistical_parity", 7),
        (1 - h, "statistical_parity", 4),
        (0.5 * h + 0.25, "statistical_parity", 6),
        (np.full(8, 0.5), "statistical_parity", 8),
        (g, "equal_opportunity", 5),
    ):
        again = ledger.ask("loans", test_set, scores, epsilon=0.5, metric=metric, asker="team C")
        assert (again.number, again.gap, again.charged) == (number, by_number[number].gap, 0)
    assert ledger.status("loans") == before
    assert ledger.ask("loans", test_set, h, epsilon=0.4, metric="equal_opportunity", asker="x").charged == 0.4
    assert ledger.ask("loans", test_set, 0.5 * h, epsilon=0.9, asker="x").charged == 0.9
    assert ledger.ask("loans", test_set, g, epsilon=0.2, asker="x").reason is not None
    found = verify_export(ledger.record()[0])
    assert found.ok and found.budgets[0].spent == 3.9 and found.n_entries == 11


def test_an_old_ledger_opens_answers_and_holds(place: Path, tmp_path: Path):
    ledger = open_ledger(place)
    test_set = made_of(PEOPLE.encode(), "people.csv", COLUMNS)
    scores = predictions_of(SCORES.encode(), "model.csv", test_set.ids, id_column="person")
    before = ledger.status("old")
    assert (before.spent, before.registration.form) == (0.7, 1)
    again = ledger.ask("old", test_set, scores, epsilon="0.5", asker="team B")
    assert again.from_past and again.gap == before.answers[0].gap  # so people come in the order of that time
    assert ledger.ask("old", test_set, 1 - scores[::-1], epsilon="0.5", asker="team B").charged == 0.5
    ledger.export(tmp_path / "export")
    found = verify_export(tmp_path / "export")
    assert found.ok and [(one.registration.name, one.spent, one.registration.form) for one in found.budgets] == [
        ("old", 1.2, 1),
        ("plain", 0.1, 1),
    ]


def test_wrong_files_about_old_people_still_count(place: Path):
    ledger = open_ledger(place)
    guess = made_of(PEOPLE.replace("bob,M", "bob,F").encode(), "people.csv", COLUMNS)
    for _ in range(2):
        with pytest.raises(InputError, match="this file is not the registered one"):
            ledger.quote("old", guess, [0.5] * 8, epsilon=0.5)
    assert ledger.status("old").wrong_files == 1


@pytest.mark.parametrize("text", [PLAIN, PLAIN.replace("\n", " \n").replace(",", " ,"), PLAIN.replace("10,", "１０,")])
def test_people_registered_in_the_old_form_get_no_second_budget(text: str, place: Path):
    ledger, columns = open_ledger(place), Columns(attribute="sex")
    with pytest.raises(InputError, match="under the name 'plain'"):
        ledger.register("again", made_of(text.encode(), "people.csv", columns), budget=1, columns=columns)
    new = made_of(PLAIN.replace("10,", "11,").encode(), "people.csv", columns)
    assert ledger.register("new", new, budget=1, columns=columns).form == 2
