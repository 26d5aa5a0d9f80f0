"""Small counts withheld: held against every table of numbers that agrees with what is published."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.errors import InputError
from core.report import document
from core.report.canonical import strict
from core.report.document import internal_document
from core.report.suppression import _counts, least_and_most, redacted_groups, withheld_counts
from tests.samples_report import GROUPS, SMALL_GROUPS, group, not_there, sample

disclosure_edition = partial(document, edition="disclosure")


def compositions(total: int, parts: int):
    """Yield every way of writing a number as so many numbers of at least 0."""
    if parts == 1:
        yield (total,)
        return
    for first in range(total + 1):
        for rest in compositions(total - first, parts - 1):
            yield (first, *rest)


def test_one_small_count_takes_another_with_it():
    counts = {"a": 3, "b": 40, "c": 25, "all": 68}
    sums = [("all", ("a", "b", "c"))]
    assert withheld_counts(counts, sums, threshold=10, public=["all"]) == {"a", "c"}
    assert least_and_most("a", counts, sums, {"a", "c"}) == (0.0, 28.0)
    assert least_and_most("a", counts, sums, {"a"}) == (3.0, 3.0)


def test_two_small_counts_whose_sum_says_too_much():
    counts = {"a": 3, "b": 4, "c": 25, "d": 80, "all": 112}
    assert withheld_counts(counts, [("all", ("a", "b", "c", "d"))], threshold=10, public=["all"]) == {"a", "b", "c"}


def test_nothing_small_and_everything_small():
    sums = [("all", ("a", "b"))]
    assert withheld_counts({"a": 10, "b": 11, "all": 21}, sums, threshold=10) == frozenset()
    assert withheld_counts({"a": 0, "b": 11, "all": 11}, sums, threshold=10, public=["all"]) == {"a", "b"}
    assert withheld_counts({"a": 1, "b": 2, "all": 3}, sums, threshold=10, public=["all"]) == {"a", "b"}


TABLES = st.sampled_from([(2, 3), (3, 2), (4, 2)]).flatmap(
    lambda shape: st.lists(
        st.lists(st.integers(0, 5), min_size=shape[1], max_size=shape[1]), min_size=shape[0], max_size=shape[0]
    )
)


@settings(max_examples=20)
@given(TABLES)
def test_no_withheld_cell_of_a_table_can_be_worked_out(table):
    rows, columns, threshold = len(table), len(table[0]), 3
    cells = {(i, j): table[i][j] for i in range(rows) for j in range(columns)}
    margins = {(i, "all"): sum(table[i]) for i in range(rows)}
    margins |= {("all", j): sum(row[j] for row in table) for j in range(columns)}
    sums = [((i, "all"), tuple((i, j) for j in range(columns))) for i in range(rows)]
    sums += [(("all", j), tuple((i, j) for i in range(rows))) for j in range(columns)]
    hidden = withheld_counts(cells | margins, sums, threshold=threshold, public=list(margins))
    assert {cell for cell, count in cells.items() if count < threshold} <= hidden

    possible: dict[tuple[int, int], set[int]] = {cell: set() for cell in cells}
    for candidate in product(*(list(compositions(margins[i, "all"], columns)) for i in range(rows))):
        if any(sum(row[j] for row in candidate) != margins["all", j] for j in range(columns)):
            continue
        if all(candidate[i][j] == cells[i, j] for i, j in cells if (i, j) not in hidden):
            for i, j in cells:
                possible[i, j].add(candidate[i][j])
    everything = hidden >= set(cells)
    for cell in cells:
        if cell in hidden and cells[cell] < threshold and not everything:
            assert max(possible[cell]) - min(possible[cell]) >= threshold


@settings(max_examples=12)
@given(st.lists(st.tuples(*[st.integers(0, 6)] * 4), min_size=2, max_size=2))
def test_no_withheld_count_of_two_groups_can_be_worked_out(cells):
    threshold = 3
    groups = [group(f"g{i}", c, 50, 100) for i, c in enumerate(cells)]
    document = {"groups": strict(groups)}
    shown, hidden = redacted_groups(document, threshold, [])
    counts = _counts(document["groups"])
    totals = [sum(group_[k] for group_ in cells) for k in range(4)]

    def published(first):
        """Return what the shown rates say of groups with these cells: their counts."""
        both = (first, tuple(t - f for t, f in zip(totals, first, strict=True)))
        told = []
        for summary, (tp, fn, fp, tn) in zip(shown, both, strict=True):
            for rate, pair in (("test_rate", (tp + fp, fn + tn)), ("test_tpr", (tp, fn)), ("test_fpr", (fp, tn))):
                told.append(None if summary[rate] is None else pair)
        return told

    truth = published(cells[0])
    agree = [first for first in product(*(range(t + 1) for t in totals)) if published(first) == truth]
    for place, name in enumerate(("true positive", "false negative", "false positive", "true negative")):
        values = [first[place] for first in agree]
        small = counts["0", name] < threshold
        assert ("0", name) in hidden or not small
        if small and totals[place] >= threshold:
            assert max(values) - min(values) >= threshold


def test_the_sample_with_a_small_group():
    found = disclosure_edition(sample(SMALL_GROUPS))
    north, formula, east, west = found["groups"]
    assert north["test_tpr"] is None and north["test_fpr"] is None
    assert north["label_rate"] is not None and north["count"] == 210
    assert formula["test_tpr"] is None
    assert east["test_rate"] is not None and west["test_rate"] is not None
    notes = " ".join(found["withheld"]["notes"])
    assert "because a count behind them is below 10: north" in notes
    comparing = [m for m in found["measurements"] if m["check"] in ("unfairness", "four_fifths", "membership_gap")]
    assert [m["estimate"] for m in comparing] == [None] * 3
    assert found["model"]["unfairness_test"] is None and found["model"]["achieved"] is None
    rows = {row["check"]: row for row in found["verdict"]["checks"]}
    assert rows["unfairness"]["verdict"] == "pass" and "withheld" in rows["unfairness"]["why"]


def test_a_group_nobody_of_whom_is_tested_is_withheld():
    found = disclosure_edition(sample((*GROUPS, not_there("others"))))
    assert found["groups"][2]["test_rate"] is None and found["groups"][2]["count"] == 40


def test_nothing_of_single_people_paths_or_seeds_stands_in_the_edition():
    audit = sample()
    found = disclosure_edition(audit)
    text = str(found)
    for secret in ("people.csv", "/home/officer", "bank.toml", "d" * 64, "e" * 64, "a" * 64, "'changed guesses'"):
        assert secret not in text, secret
    assert "seed 42" not in text and "a seed that is withheld" in found["data"]["split"]
    assert "c" * 64 in text and "f" * 64 in text  # code and policy
    assert found["plan"]["config"]["seed"] is None and found["provenance"]["seeds"] == {}
    assert found["data"]["notes"] == ["What was left out, filled in or duplicated stands in the internal report."]
    assert [table["title"] for table in found["tables"]] == ["Corrections over tolerances"]


def test_numbers_keep_the_digits_a_reader_needs_and_intervals_grow():
    whole, cut = internal_document(sample()), disclosure_edition(sample())
    for before, after in zip(whole["measurements"], cut["measurements"], strict=True):
        old, new = before["estimate"], after["estimate"]
        if old is None:
            continue
        assert abs(old["value"] - new["value"]) <= 0.005
        assert new["low"] <= old["low"] and old["high"] <= new["high"]
        assert all(round(new[name], 3) == new[name] for name in ("value", "low", "high"))


@pytest.mark.parametrize("threshold", [1, 2.5, True, "10"])
def test_a_threshold_is_a_whole_number_of_at_least_2(threshold):
    with pytest.raises(InputError, match="threshold must be a whole number of at least 2"):
        disclosure_edition(sample(), threshold=threshold)


def test_a_count_that_a_difference_tells_is_protected_like_one_that_is_printed():
    found = disclosure_edition(sample((group("a", (30, 40, 50, 60), 73, 300), group("b", (90, 80, 70, 60), 400, 900))))
    first = found["groups"][0]
    assert first["label_rate"] is None or first["test_tpr"] is None  # 73 − 70 = 3 labelled outside the test
    assert found["model"]["unfairness_test"] is None
    fine = disclosure_edition(sample((group("a", (30, 40, 50, 60), 93, 300), group("b", (90, 80, 70, 60), 400, 900))))
    assert fine["groups"][0]["label_rate"] is not None and fine["groups"][0]["test_tpr"] is not None


def test_a_small_count_of_training_records_takes_their_unfairness_with_it():
    audit = sample()
    rows = tuple(
        {**row, "people": 20, "positive predictions": 0.2} if i == 0 else row
        for i, row in enumerate(audit.tables["Rates by group"])
    )
    small = replace(audit, tables={**audit.tables, "Rates by group": rows})
    for one, there in ((audit, True), (small, False), (replace(audit, tables={}), False)):
        found = disclosure_edition(one)
        assert (found["model"]["achieved"] is not None) == there
        columns = [name for table in found["tables"] for name in table["columns"]]
        assert ("true" in columns) == there and ("gain" in columns) == bool(one.tables)


def test_a_small_set_takes_another_one_with_it():
    audit = sample()
    n = audit.data.n
    sets = {"train": n - 22_018, "attack": 12, "validation": 6, "test": 22_000}
    found = disclosure_edition(replace(audit, data=replace(audit.data, sets=sets)))
    assert found["data"]["sets"] == {"train": n - 22_018, "attack": None, "validation": None, "test": 22_000}


def test_of_a_known_dataset_title_and_source_stand():
    audit = sample()
    plan = replace(audit.plan, data=replace(audit.plan.data, dataset="adult", file=""))
    found = disclosure_edition(replace(audit, plan=plan, data=replace(audit.data, source="1994 census, UCI.")))
    assert (found["data"]["title"], found["data"]["source"]) == ("Adult census", "1994 census, UCI.")
    own = disclosure_edition(audit)["data"]
    assert own["title"] == "A table of the auditor's own" and own["source"] == f"{own['title']}, not named here."


ONE_SMALL_CELL = (group("women", (10, 19, 2, 211), 115, 1003), group("men", (103, 70, 26, 309), 629, 1997))
"""Few women are accepted wrongly; who is accepted at all, of women and of men, stands far above the threshold."""


def test_a_withheld_number_gives_the_rule_that_withholds_it_and_no_rate_that_is_printed():
    found = disclosure_edition(sample(ONE_SMALL_CELL))
    women, men = found["groups"]
    assert women["test_rate"]["n"] == 242 and men["test_rate"]["n"] == 508
    assert women["test_tpr"] is women["test_fpr"] is None
    told = {m["check"]: m for m in found["measurements"]}
    rule = "counts of a group are withheld here, and with them every number that compares groups"
    for check in ("unfairness", "four_fifths", "membership_gap"):
        assert told[check]["estimate"] is None
        assert f"withheld from this edition because {rule};" in told[check]["reason"]
    (row,) = [row for row in found["verdict"]["checks"] if row["check"] == "four_fifths"]
    assert rule in row["why"]
    assert "how many people of a group there are is withheld here" in told["answers_excess"]["reason"]
    assert "Comparisons between groups are withheld too, always" in " ".join(found["withheld"]["notes"])
    assert "rate of a group that is withheld" not in str(found)


def test_a_small_group_among_the_training_records_is_the_reason_given():
    audit = sample()
    rates = audit.tables["Rates by group"]
    few = tuple(
        {**row, "people": 7} if row["records"] == "training" and row["group"] == "women" else row for row in rates
    )
    found = disclosure_edition(replace(audit, tables={**audit.tables, "Rates by group": few}))
    told = {m["check"]: m for m in found["measurements"]}
    assert told["four_fifths"]["estimate"] is not None
    assert "among the training records is withheld here" in told["membership_gap"]["reason"]
