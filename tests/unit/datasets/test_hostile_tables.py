"""Hostile names and values are names and values, and what is said of them stays a sentence."""

from __future__ import annotations

import random

import pytest

from core.datasets.build import build_dataset
from core.datasets.read_table import read_table
from core.datasets.roles import Roles
from core.errors import InputError
from tests.unit.datasets.bad_tables import GOOD
from tests.unit.datasets.hostile_tables import HOSTILE, HOSTILE_NAMES, hostile_table

ROLES = Roles(
    label=HOSTILE["label"],
    positive=HOSTILE["positive"],
    sensitive=HOSTILE["sensitive"],
    group=(HOSTILE["group"],),
    excluded=(HOSTILE["prediction"], HOSTILE["score"], HOSTILE["sets"]),
)


def test_hostile_names_and_values_are_read_as_they_are() -> None:
    table = read_table(hostile_table(), "hostile.csv")
    assert set(table.frame.columns) == {*HOSTILE_NAMES, HOSTILE["sets"]} and len(table.frame) == 400
    assert table.notes == ()
    assert set(table.frame["{{7*7}}"]) == {"@SUM(1+1)*cmd|' /C calc'!A0", "+1+1", "-2+3", "${jndi:x}"}
    assert set(table.frame[HOSTILE["label"]]) == {"\\u0000 no", "{{7*7}}"}
    assert table.frame[HOSTILE["score"]].between(0, 1).all()
    data = build_dataset(table, ROLES)
    assert data.n == 400 and set(data.feature_names) == set(HOSTILE_NAMES) - set(ROLES.excluded) - {
        ROLES.label,
        ROLES.sensitive,
    }
    assert 30 < data.labels.sum() < 370 and 30 < data.sensitive.sum() < 370


@pytest.mark.parametrize("seed", range(3))
def test_sentences_about_hostile_tables_are_single_sentences(seed: int) -> None:
    """Whatever is wrong with a hostile table, the answer and the notes are sentences on one printable line."""
    chance = random.Random(seed)
    table = read_table(hostile_table(), "hostile.csv")
    names = list(table.frame.columns)
    values = [str(value) for value in table.frame[chance.choice(names)].unique()[:4]]
    for _ in range(60):
        roles = Roles(
            label=chance.choice(names),
            positive=chance.choice([*values, "yes", HOSTILE["positive"]]),
            sensitive=chance.choice(names),
            group=tuple(chance.sample([*values, HOSTILE["group"]], 1)),
            each=False,
            excluded=tuple(chance.sample([*names, "gone\n"], 2)),
        )
        try:
            told = build_dataset(table, roles).notes
        except InputError as error:
            told = (str(error),)
        for sentence in told:
            assert sentence.isprintable() and sentence.endswith(".") and len(sentence) < 400, sentence


def test_notes_on_hostile_names_are_printable() -> None:
    name = "two\nlines \u202e" + "x" * 300
    lines = [f'"{name}",b,id', *[f'"1,234,567",{"Yes" if i % 2 else "yes"},{1000 + 7 * i}' for i in range(60)]]
    table = read_table("\n".join(lines).encode(), "a.csv")
    assert len(table.notes) == 2 and all(note.isprintable() and len(note) < 300 for note in table.notes)
    assert len(read_table(GOOD, "good.csv").frame) == 80
