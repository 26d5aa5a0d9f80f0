"""What is good for the person, who gets no answer, and who is one person: the three readings of a record."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from core.base.errors import InputError
from core.datasets.build import build_dataset
from core.datasets.dataset import AuditDataset
from core.datasets.splits import SETS, split, split_everybody
from tests.unit.datasets.bad_tables import GOOD_ROLES, assert_one_sentence
from tests.unit.datasets.small_tables import N, built, table_of

RNG = np.random.default_rng(5)
DECIDED = RNG.random(N) < 0.45
SCORES = np.round(np.where(DECIDED, 0.5, 0.0) + 0.499 * RNG.random(N), 3)
PREDICTED = replace(GOOD_ROLES, prediction="p", score="s")


def columns() -> dict[str, object]:
    return {"p": np.where(DECIDED, "yes", "no"), "s": SCORES}


def test_favourable_other_than_positive_turns_label_prediction_and_score():
    same = built(PREDICTED, **columns())
    turned = built(replace(PREDICTED, favourable="no"), **columns())
    assert same.label_names == ("no", "yes") and turned.label_names == ("yes", "no")
    assert np.array_equal(turned.labels, 1 - same.labels)
    assert np.array_equal(turned.predictions, 1 - same.predictions)  # type: ignore[operator]
    assert np.array_equal(turned.scores, np.round(1 - same.scores, 3))  # type: ignore[operator]
    assert turned.fingerprint != same.fingerprint


@pytest.mark.parametrize("favourable", ["", "maybe"])
def test_what_is_good_for_the_person_is_never_guessed(favourable: str):
    with pytest.raises(InputError) as caught:
        built(replace(GOOD_ROLES, favourable=favourable))
    assert_one_sentence(str(caught.value), ("data.favourable", "'hired'", "'yes'", favourable or "none"))


def test_people_without_an_answer_are_in_the_sets_of_everybody_alone():
    predictions = np.where(DECIDED, "yes", "no").astype(object)
    absent = np.arange(N) % 10 == 7
    predictions[absent] = None
    data = built(replace(GOOD_ROLES, prediction="p"), p=predictions)
    assert np.array_equal(data.answered, ~absent)  # type: ignore[arg-type]
    answered, everybody = split(data, seed=3), split_everybody(data, seed=3)
    for name in (*SETS, "validation"):
        rows = getattr(everybody, name)
        assert np.array_equal(getattr(answered, name), rows[~absent[rows]])
    assert sum(getattr(everybody, name).size for name in (*SETS, "validation")) == N


def people(who: object, **more: object) -> AuditDataset:
    """Build four times the small table, with a column that names people."""
    table = table_of()
    frame = pd.concat([table.frame] * 4, ignore_index=True).assign(who=who, **more)
    roles = replace(GOOD_ROLES, person="who", sets="part" if more else "")
    return build_dataset(replace(table, frame=frame), roles)


MANY = 4 * N


def test_a_person_with_several_rows_is_one_record():
    data = people(np.arange(MANY) // 2)
    assert data.n == MANY // 2 and "who" not in data.feature_names
    assert any("480 records belong to 240 people by who" in note for note in data.notes)


def test_nobody_stands_on_two_sides():
    who = np.arange(MANY) // 2
    sets = np.array(["train", "test", "attack"])[who % 3]
    sets[:120:4] = "train"  # one of the two records of each second of the first 60 people
    data = people(who, part=sets)
    trained = set(who[sets == "train"].tolist())
    assert data.n == MANY // 2 and data.sets is not None
    assert int((data.sets == "train").sum()) == len(trained)
    assert any("20 people have records in more than one set" in note for note in data.notes)


def test_a_record_that_names_nobody_is_a_person_by_itself():
    who = np.repeat(np.arange(48.0), 10)
    who[240:] = np.nan
    assert people(who).n == 24 + 240


def test_names_of_people_that_do_not_repeat_change_nothing():
    data = people(np.arange(MANY) * 7 % 1009)
    assert data.n == MANY and not any("belong to" in note for note in data.notes)
