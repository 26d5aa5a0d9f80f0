"""Registrations: one budget for the same people, and files that are not the registered one learn nothing."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from core.desk import Columns, Ledger, TestSet, open_ledger, verify_export
from core.errors import InputError
from tests.ledger_work import ATTRIBUTE, NAME, people, question
from tests.unit.desk.questions import H, ask, changed


def second_budgets() -> list[tuple[str, TestSet, Columns, str]]:
    one = people()
    flipped = one.attribute.copy()
    flipped[3] ^= 1
    order = np.arange(60)[::-1]
    shuffled = TestSet(ids=one.ids[::-1], attribute=one.attribute[order])
    corrected = TestSet(ids=one.ids, attribute=flipped)
    blanks = TestSet(ids=tuple(f" {name}\N{NO-BREAK SPACE}" for name in one.ids), attribute=one.attribute)
    capitals = TestSet(ids=tuple(name.upper() for name in one.ids), attribute=one.attribute)
    return [
        (NAME, people(30, seed=4), ATTRIBUTE, "registered already"),
        ("again", one, ATTRIBUTE, "have a budget for this attribute already, under the name 'loans'"),
        ("again", shuffled, Columns(attribute="gender"), "have a budget"),
        ("again", corrected, Columns(attribute="SEX"), "have a budget"),
        ("again", corrected, Columns(attribute="gender"), "have a budget already, as 'loans' for 'sex'"),
        ("again", blanks, ATTRIBUTE, "have a budget for this attribute"),
        ("again", capitals, ATTRIBUTE, "have a budget for this attribute"),
    ]


@pytest.mark.parametrize("name, test_set, columns, words", second_budgets())
def test_nobody_gets_a_second_budget(name: str, test_set: TestSet, columns: Columns, words: str, tmp_path: Path):
    ledger = open_ledger(tmp_path / "ledger", create=True)
    ledger.register(NAME, people(), budget=1, columns=ATTRIBUTE)
    with pytest.raises(InputError, match=words):
        ledger.register(name, test_set, budget=1, columns=columns)
    assert ledger.names() == (NAME,)


def test_another_attribute_of_the_same_people_has_a_budget_of_its_own(ledger: Ledger):
    race = TestSet(ids=people().ids, attribute=np.arange(60) % 2)
    with pytest.raises(InputError, match="have a budget already, as 'loans' for 'sex'; if 'race' is another attribute"):
        ledger.register("race", race, budget=1, columns=Columns(attribute="race"))
    ledger.register("race", race, budget=1, columns=Columns(attribute="race"), another_attribute=True)
    assert ledger.status("race").remaining == 0.9
    assert b'"another_attribute":true' in ledger.record()[0]


WRONG = "The test set must be the one registered as 'loans'; this file is not the registered one."


def guesses(n: int) -> list[TestSet]:
    """The registered people with one attribute flipped each."""
    return [
        changed(attribute=np.where(np.arange(60) == k, 1 - people().attribute, people().attribute)) for k in range(n)
    ]


@pytest.mark.parametrize(
    "test_set, counted",
    [
        (people(61), 0),
        (changed(ids=("stranger", *people().ids[1:])), 0),
        (changed(attribute=np.roll(people().attribute, 1)), 1),
        (changed(labels=np.roll(people().labels, 1)), 1),  # type: ignore[arg-type]
        (changed(attribute=1 - people().attribute), 1),
        (changed(attribute=np.ones(60, dtype=int)), 1),
    ],
)
def test_all_wrong_files_are_told_the_same_and_guesses_go_on_record(test_set: TestSet, counted: int, tmp_path: Path):
    ledger = open_ledger(tmp_path / "ledger", create=True)
    ledger.register(NAME, people(), budget=1, columns=ATTRIBUTE)
    for _ in range(2):  # the same file twice tells nothing new
        with pytest.raises(InputError) as asked:
            ledger.ask(NAME, test_set, question(1, test_set.n), epsilon=0.1, asker="x")
        with pytest.raises(InputError) as quoted:
            ledger.quote(NAME, test_set, question(1, test_set.n), epsilon=0.1)
        assert str(asked.value) == str(quoted.value) == WRONG
    status = ledger.status(NAME)
    assert status.answers == () and status.wrong_files == counted and status.spent == 0.1
    ledger.export(tmp_path / "export")
    assert verify_export(tmp_path / "export").n_entries == 2 + counted


def test_after_twenty_guesses_within_a_day_no_file_is_looked_at(ledger: Ledger, monkeypatch: pytest.MonkeyPatch):
    now = ["2031-05-01T10:00:00Z"]
    monkeypatch.setattr("core.desk.ledger.now", lambda: now[0])
    for k, guess in enumerate(guesses(20)):
        now[0] = f"2031-05-01T10:{k:02}:00Z"
        with pytest.raises(InputError, match="this file is not the registered one"):
            ledger.quote(NAME, guess, H, epsilon=0.1)
    before = ledger.status(NAME)
    assert before.wrong_files == 20
    for test_set in (people(), guesses(1)[0], guesses(21)[20], people(61)):  # right and wrong files hear the same
        with pytest.raises(InputError, match="'loans' is closed until 2031-05-02T10:00:00Z: 20 files that were not"):
            ledger.ask(NAME, test_set, question(1, test_set.n), epsilon=0.1, asker="x")
    assert ledger.status(NAME) == before
    now[0] = "2031-05-02T10:00:00Z"
    assert not ask(ledger, H).refused
    with pytest.raises(InputError, match="not the registered one"):  # closed again by the next one
        ledger.quote(NAME, guesses(21)[20], H, epsilon=0.1)
    with pytest.raises(InputError, match="closed until 2031-05-02T10:01:00Z"):
        ask(ledger, H)


def test_a_registration_tells_nothing_about_a_guessed_attribute(tmp_path: Path):
    told = []
    for k, test_set in enumerate((people(), guesses(1)[0])):
        ledger = open_ledger(tmp_path / str(k), create=True)
        ledger.register(NAME, people(), budget=1, columns=ATTRIBUTE)
        for name, another in (("sex", False), ("gender", False), ("gender", True)):
            try:
                ledger.register("x", test_set, budget=1, columns=Columns(attribute=name), another_attribute=another)
                told.append("registered")
            except InputError as error:
                told.append(str(error))
    assert told[:3] == told[3:] and told[2] == "registered"


def test_an_empty_group_is_accepted_and_answered_like_any_other(ledger: Ledger, tmp_path: Path):
    """Otherwise a registration that succeeds would tell that both groups occur."""
    for k, attribute in enumerate((np.zeros(60, dtype=int), np.ones(60, dtype=int))):
        test_set = TestSet(ids=people().ids, attribute=attribute, labels=people().labels)
        other = open_ledger(tmp_path / f"empty {k}", create=True)
        size = other.register(NAME, test_set, budget=5, columns=ATTRIBUTE, count_epsilon=1).n_disadvantaged
        assert 0 <= size.low <= 60 * (1 - k) <= size.high <= 60
        for metric in ("statistical_parity", "equal_opportunity"):
            answer = other.ask(NAME, test_set, H, epsilon=0.1, metric=metric, asker="x")
            assert not answer.refused and -1 <= answer.gap.low <= answer.gap.high <= 1  # type: ignore[union-attr]
