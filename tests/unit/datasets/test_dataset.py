"""From a table and roles to the arrays of an audit and four disjoint sets: outcomes, people, crossed columns."""

import itertools
from collections import Counter
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.auditing import commented_plan, read_plan, suggested_plan
from core.base.errors import InputError
from core.datasets import Roles, Table, build_dataset, cautions, read_table, suggest_roles
from core.datasets.columns import identifier_reason
from core.datasets.dataset import MAX_CACHED
from core.datasets.role_suggestion import names_attribute, suggested_limit
from core.datasets.splits import (
    SETS,
    kinds_of_records,
    repeated_records,
    shared_records,
    sharing,
    split,
    split_everybody,
)
from tests import samples
from tests.unit.datasets.bad_tables import BAD_ROLES, GOOD, GOOD_ROLES, N, assert_one_sentence, built, table_of


@pytest.mark.parametrize("bad", BAD_ROLES, ids=lambda bad: bad.kind)
def test_bad_roles_give_one_sentence(bad):
    table = read_table(bad.content, "good.csv")
    with pytest.raises(InputError) as caught:
        build_dataset(table, bad.roles)
    assert type(caught.value) is InputError
    assert_one_sentence(str(caught.value), bad.words_expected)
    assert build_dataset(read_table(GOOD, "good.csv"), GOOD_ROLES).n == 80


def test_a_dataset_keeps_the_results_asked_for_last():
    data = built(GOOD_ROLES)
    for key in (*range(MAX_CACHED), 0):
        data.once(key, lambda key=key: key)
    assert data.once(0, lambda: -1) == 0 and set(data.cached_results()) == set(range(MAX_CACHED))
    data.once("another", lambda: 1)
    assert set(data.cached_results()) == {0, *range(2, MAX_CACHED), "another"}
    data.keep({"more": 1})
    assert set(data.cached_results()) == {0, *range(3, MAX_CACHED), "another", "more"}


def test_missing_features_are_filled_or_dropped():
    cells = {"pay": [1.0, 2.0, 9.0, np.nan, 4.0], "job": ["b", "a", None]}
    filled, nullable = built(**cells), built(pay=pd.array([1, 2, 9, None, 4], "Int64"), job=cells["job"])
    assert filled.notes == ("24 missing numbers are filled with their column's median.",)
    assert filled.features[:4, 1:].tolist() == [[1, 1], [2, 0], [9, -1], [3, 1]]
    np.testing.assert_array_equal(nullable.features, filled.features)
    dropped = built(replace(GOOD_ROLES, missing="drop"), **cells)
    assert dropped.notes == ("56 records with a missing feature are left out.",)
    assert dropped.features[:3, 2].tolist() == [1, 0, 0]


def test_columns_that_dropping_makes_constant_are_set_aside():
    flag = ["a"] * 4 + ["b", "b"]
    roles = replace(GOOD_ROLES, missing="drop", excluded=("left",))
    data = built(roles, pay=[1.0, 2.0, 3.0, 4.0, None, None], flag=flag, left=[None, 1], empty=[None])
    assert (data.n, data.feature_names) == (80, ("age", "pay"))
    assert "Column flag holds the same value in every record and is left out." in data.notes


def test_codes_do_not_depend_on_the_order_of_records():
    table = table_of(job=["cook", "nurse", None, "Äbtissin", "clerk"], pay=[3.5, None, 1.5])
    order = np.random.default_rng(0).permutation(N)
    categories = table.frame.astype({"job": pd.CategoricalDtype(["nurse", "cook", "clerk", "Äbtissin"])})
    frames = (table.frame, table.frame.iloc[order], categories)
    straight, mixed, coded = (build_dataset(replace(table, frame=frame), GOOD_ROLES) for frame in frames)
    np.testing.assert_array_equal(straight.features[order], mixed.features)
    np.testing.assert_array_equal(straight.sensitive[order], mixed.sensitive)
    np.testing.assert_array_equal(straight.features, coded.features)


NAMES = ("train", "attack", "validation", "test")


def with_first_in_group(data, size):
    return replace(data, sensitive=(np.arange(data.n) < size).astype(np.uint8))


def together(splits):
    return np.concatenate([getattr(splits, name) for name in NAMES])


@settings(max_examples=20)
@given(st.integers(800, 3000), st.floats(0.1, 0.7), st.integers(0, 2**32 - 1))
def test_everybody_exactly_once_and_drawn_without_looking_at_them(n, share, seed):
    data, settings = samples.dataset(n), {"train_share": share, "seed": seed}
    splits, again = (split(people, **settings) for people in (data, with_first_in_group(data, n // 3)))
    np.testing.assert_array_equal(np.sort(together(splits)), np.arange(n))
    np.testing.assert_array_equal(together(splits), together(again))
    assert abs(len(splits.train) - share * n) <= 1
    assert 0 <= len(splits.test) - len(splits.attacker_rows) <= 1
    np.testing.assert_array_equal(splits.attacker_rows, np.concatenate([splits.attack, splits.validation]))


def test_a_set_without_enough_of_a_group_or_label_is_refused():
    data = samples.dataset(1000)
    few = with_first_in_group(data, 5)
    relabelled = replace(data, labels=few.sensitive)
    for data, pattern in ((few, "group; .* group north"), (relabelled, "label; .* label yes")):
        with pytest.raises(InputError, match=rf"records must hold at least 3 people of each {pattern} has [012]"):
            split(data)


@given(st.lists(st.tuples(*[st.sampled_from([0.0, -0.0, 1.5])] * 2, st.integers(0, 1), st.integers(0, 2)), min_size=1))
def test_kinds_by_brute_force(records):
    table = np.array(records)
    kinds = kinds_of_records(table[:, :2], table[:, 2].astype(np.uint8), table[:, 3].astype(np.uint8))
    same = [[first == second for second in records] for first in records]
    assert np.equal.outer(kinds, kinds).tolist() == same
    repeated = sum(sum(row) > 1 for row in same)
    caveat = repeated_records(kinds)
    assert (caveat is None) == (repeated == 0)
    if caveat is not None:
        assert (caveat.kind, caveat.count, caveat.total) == ("records_repeated", repeated, len(records))
        assert caveat.text.startswith(f"{repeated} of {len(records)} records are equal")


def test_repeated_records_are_noted_and_counted_between_the_sets():
    frame = pd.DataFrame({"f": [*range(300), *range(0, 300, 10)], "g": [0.5, 7.0] * 165, "s": ["a", "b", "a"] * 110})
    table = replace(table_of(), frame=frame.assign(y=["1", "0"] * 165))
    data = build_dataset(table, Roles(label="y", positive="1", favourable="1", sensitive="s", group=("a",)))
    records = [tuple(row) for row in np.column_stack([data.features, data.labels, data.sensitive])]
    repeated = sum(size for size in Counter(records).values() if size > 1)
    assert data.notes[-1].startswith(f"{repeated} of 330 records are equal to another one in every column used")
    splits = split(data, seed=1)
    trained = {records[i] for i in splits.train}
    sets = ("attack", "validation", "test")
    expected = {name: sum(records[i] in trained for i in getattr(splits, name)) for name in sets}
    assert shared_records(data, splits) == expected and min(repeated, expected["test"]) > 0
    caveat = sharing(data, splits)
    assert (caveat.kind, caveat.count) == ("records_shared", sum(expected.values()))
    assert caveat.total == splits.test.size + splits.attacker_rows.size


def test_fingerprint_changes_with_every_part_and_answers_are_no_features():
    jobs = ["cook", "nurse"]
    variants = ({}, {"job": jobs}, {"job": jobs * 59 + ["nurse", "nurse"]}, {"trade": jobs})
    changes = ({"positive": "no"}, {"group": ("M",)}, {"first_name": "women"})
    prints = [built(**columns).fingerprint for columns in variants]
    prints += [built(replace(GOOD_ROLES, **change)).fingerprint for change in changes]
    sets = np.array(SETS)[np.arange(N) % 3]
    answers = {"p": PREDICTED, "s": np.where(PREDICTED, 0.8, 0.1), "part": sets}
    others_of = {"p": ~PREDICTED, "s": np.where(PREDICTED, 0.8, 0.2), "part": sets[::-1]}
    with_answers = [answers, *({**answers, name: cells} for name, cells in others_of.items())]
    data = [built(replace(GOOD_ROLES, prediction="p", score="s", sets="part"), **columns) for columns in with_answers]
    prints += [dataset.fingerprint for dataset in data]
    assert len(set(prints)) == len(prints)
    assert prints[0] == built().fingerprint
    assert data[0].feature_names == ("age",) and np.array_equal(data[0].sets, sets)


PREDICTED = np.arange(N) % 5 < 2
RNG = np.random.default_rng(5)
DECIDED = RNG.random(N) < 0.45
SCORES = np.round(np.where(DECIDED, 0.5, 0.0) + 0.499 * RNG.random(N), 3)


def test_favourable_other_than_positive_turns_label_prediction_and_score():
    columns = {"p": np.where(DECIDED, "yes", "no"), "s": SCORES}
    roles = replace(GOOD_ROLES, prediction="p", score="s")
    same, turned = (built(replace(roles, favourable=value), **columns) for value in ("yes", "no"))
    assert same.label_names == ("no", "yes") and turned.label_names == ("yes", "no")
    assert np.array_equal(turned.labels, 1 - same.labels)
    assert np.array_equal(turned.predictions, 1 - same.predictions)
    assert np.array_equal(turned.scores, np.round(1 - same.scores, 3))
    assert turned.fingerprint != same.fingerprint


def test_people_without_an_answer_are_in_the_sets_of_everybody_alone():
    absent = np.arange(N) % 10 == 7
    data = built(replace(GOOD_ROLES, prediction="p"), p=np.where(absent, None, np.where(DECIDED, "yes", "no")))
    assert np.array_equal(data.answered, ~absent)
    answered, everybody = split(data, seed=3), split_everybody(data, seed=3)
    for name in NAMES:
        rows = getattr(everybody, name)
        assert np.array_equal(getattr(answered, name), rows[~absent[rows]])
    assert sum(getattr(everybody, name).size for name in NAMES) == N


def people_with_rows(who, **more):
    """Build four times the small table, with a column that names people."""
    table = table_of()
    frame = pd.concat([table.frame] * 4, ignore_index=True).assign(who=who, **more)
    roles = replace(GOOD_ROLES, person="who", sets="part" if more else "")
    return build_dataset(replace(table, frame=frame), roles)


MANY = 4 * N


def test_nobody_stands_on_two_sides():
    who = np.arange(MANY) // 2
    sets = np.array(["train", "test", "attack"])[who % 3]
    sets[:120:4] = "train"  # one of the two records of each second of the first 60 people
    data = people_with_rows(who, part=sets)
    trained = set(who[sets == "train"].tolist())
    assert data.n == MANY // 2 and data.sets is not None
    assert int((data.sets == "train").sum()) == len(trained)
    assert any("20 people have records in more than one set" in note for note in data.notes)


def test_a_record_that_names_nobody_is_a_person_by_itself():
    who = np.repeat(np.arange(48.0), 10)
    who[240:] = np.nan
    assert people_with_rows(who).n == 24 + 240
    assert people_with_rows(np.arange(MANY) * 7 % 1009).n == MANY  # nobody stands twice


CROSSED = Roles(label="hired", positive="yes", favourable="yes", sensitive="sex × race")


def people_in_cells(cells):
    rows = [pair for pair, size in cells.items() for _ in range(size)]
    frame = pd.DataFrame(rows, columns=["sex", "race"]).sample(frac=1, random_state=1, ignore_index=True)
    frame["age"] = 20 + frame.index % 41
    frame["hired"] = np.where(frame.index % 3 == 0, "yes", "no")
    return Table(name="upload", title="T", frame=frame, source="Made up.")


FULL = {("F", "a"): 40, ("F", "b"): 31, ("F", "c"): 33, ("M", "a"): 60, ("M", "b"): 30, ("M", "c"): 50}


def test_groups_of_two_columns_are_the_pairs_of_those_who_have_both():
    table = people_in_cells({**FULL, ("F", None): 5, (None, "a"): 4})
    data = build_dataset(table, CROSSED)
    pairs = table.frame.dropna()["sex"] + " × " + table.frame.dropna()["race"]
    assert [data.group_names[code] for code in data.sensitive] == pairs.tolist()
    assert (data.n, data.feature_names) == (244, ("age",))
    assert cautions(table.frame, CROSSED) == ()


@pytest.mark.parametrize(
    ("cells", "changes", "message"),
    [
        (FULL | {("M", "b"): 29}, {}, "Every cell of 'sex × race' must have at least 30 people, got 29 in 'M × b'."),
        (dict.fromkeys(FULL, 5) | {("F", "a"): 100}, {}, "and fewer than 30 in 2 more"),
        (FULL, {"sensitive": "sex × age"}, "'sex × age' must have 2 to 20 cells, got 82"),
        (FULL, {"sensitive": "sex × hired"}, "must be two different columns, got 'hired' twice"),
        (FULL, {"sensitive": "sex × sex"}, "must be a column of the table, got 'sex × sex'"),
        (FULL, {"sensitive": "sex × race × age"}, "must be a column of the table, got 'sex × race × age'"),
    ],
)
def test_what_cannot_be_crossed_is_said_in_a_sentence(cells, changes, message):
    with pytest.raises(InputError, match=message):
        build_dataset(people_in_cells(cells), replace(CROSSED, each=not changes, **changes))


def test_roles_for_two_columns_are_those_the_table_suggests_first():
    """But for the groups; the second suggestion is about another label."""
    first = replace(CROSSED, sensitive="sex", group=("F",), first_name="women", other_name="men")
    second = Roles(label="age", positive="30", favourable="30", sensitive="race")
    table = replace(people_in_cells(FULL), roles=(first, second))
    expected = {"sex × race": CROSSED, "": first, "town": None}
    assert {attribute: table.roles_for(attribute) for attribute in expected} == expected
    assert replace(table, roles=(first,)).roles_for("sex × race") == CROSSED
    assert replace(table, roles=()).roles_for("sex × race") is None


def test_ranges_of_whole_numbers_are_named_by_their_ends():
    names = {30: "age up to 30", 31: "age 31", 35: "age 32 to 40", 41: "age above 40"}
    ages, labels = [*names] * (N // 4), ["no", "yes", "no", "yes", "yes", "no", "yes", "no"]
    data = built(replace(GOOD_ROLES, sensitive="age", group=(), cuts=(30.0, 31.0, 40.0)), age=ages, hired=labels)
    assert data.group_names == tuple(names.values())
    assert [data.group_names[code] for code in data.sensitive] == [names[age] for age in ages]


def test_a_plan_of_a_file_is_suggested_with_two_columns():
    table = people_in_cells(FULL)
    suggestion = suggested_plan(table, "people.csv", attribute="sex × race")
    roles = suggestion.plan.config.roles
    assert (roles.sensitive, roles.favourable) == ("sex × race", "")  # which is never guessed
    assert suggestion.reasons["group"] == "a group for each pair of values"
    assert read_plan(commented_plan(suggestion.plan)).config == suggestion.plan.config
    assert build_dataset(table, replace(roles, favourable="yes")).n_groups == 6


SCORE = ((np.arange(N) * 37 % N) / N).round(2)


def guessed(order=(), **columns):
    """Guess for people with age, sex, hired and more columns, in this order where it matters."""
    frame = table_of(**columns).frame
    return suggest_roles(frame[list(order)] if order else frame)


@pytest.mark.parametrize(("score", "answers"), [([0, 1], ["yes", "no"]), ([0.2, 0.8], [1, 0]), ([0.0, 1.0], [1, 0])])
def test_a_score_of_two_values_is_no_label(score, answers):
    for order in list(itertools.permutations(("sex", "hired", "score", "prediction")))[::5]:
        roles = guessed(order, score=score, prediction=answers).roles
        assert (roles.label, roles.positive, roles.sensitive) == ("hired", "yes", "sex")
        assert (roles.prediction, roles.score) == ("prediction", "score")


@pytest.mark.parametrize("name", ["risk_score", "Score 2", "prob_default", "predictedClass", "y_pred_forest", "split"])
def test_what_is_called_like_an_output_is_never_the_label(name):
    for columns in ({name: [0, 1]}, {name: ["a", "b"]}):
        assert guessed(**columns).roles.label == "hired"
        suggestion = suggest_roles(table_of(**columns).frame.drop(columns="hired"))
        assert suggestion.roles.label == "" and "no column has two values" in suggestion.reasons["label"]


@pytest.mark.parametrize(
    ("values", "groups", "reason"),
    [
        (["a", "b", "b"], {"group": ("a",)}, "group 1 is a, the smaller one"),
        (["a", "b", "c", "d"], {"each": True}, "a group for each value, all of 30 people or more"),
        ([*"wwwwwwbbbboo"], {"group": ("w",)}, "w, the most frequent value, against the others"),
        (list(range(60)), {"at_most": 14.0}, "a number, so the lowest quarter against the others"),
    ],
)
def test_the_groups_can_be_audited(values, groups, reason):
    table = table_of(gender=values)
    suggestion = suggest_roles(table.frame, attribute="gender")
    assert {name: getattr(suggestion.roles, name) for name in groups} == groups
    assert suggestion.reasons["group"] == reason
    build_dataset(table, replace(suggestion.roles, favourable=suggestion.roles.positive))


def test_what_names_the_records_or_another_model_s_answer_is_left_out():
    names = {"case_id": [1000 + 3 * i for i in range(N)], "name": [f"P{i}" for i in range(N)]}
    pay = [str(i) if i else "unknown" for i in range(N)]  # numbers with a typing error: said when it is built
    answers = {"prediction": ["yes", "no"], "y_pred": [1, 0], "score": SCORE, "proba": SCORE / 2}
    frame = table_of(**names, pay=pay, **answers).frame
    suggestion, with_model = suggest_roles(frame), suggest_roles(frame, model=True)
    assert suggestion.roles.excluded == (*names, "y_pred", "proba")
    assert suggestion.reasons["excluded"] == "another prediction or score, by its name; names the records"
    assert with_model.roles.excluded == (*names, *answers)
    assert not with_model.roles.gives_predictions and not {"prediction", "score"} & with_model.reasons.keys()


def test_identifier_reason_of_whole_numbers_without_a_gap():
    consecutive = np.arange(60.0)[::-1] + 7
    assert "numbers the records" in identifier_reason(consecutive, 60, "height")
    assert "numbers the records" not in identifier_reason(2 * consecutive, 60, "height")


def test_suggested_limit_is_of_more_than_ten_numbers():
    """A quarter of the way from 1 to 11 is 3.5; the number below it is 3."""
    assert suggested_limit(pd.Series([*range(10, 0, -1)])) is None
    assert suggested_limit(pd.Series([*range(11, 0, -1)])) == 3


def test_names_attribute_of_names_of_sensitive_attributes():
    names = ("migration_background", "Age_Group", "sexual orientation", "place_of_birth", "CountryOfBirth")
    assert all(map(names_attribute, (*names, "birthplace_group")))
    assert not names_attribute("migration_date") and not names_attribute("birth_date")
