"""The edition for others: when counts are withheld, what goes with them, and what stands in it in no case."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import partial

import pytest

from core.policy import CHECKS
from core.report import board_html, check_rows, document
from core.report.document import internal_document
from core.report.editions import cut_edition, has_small_count
from core.report.page import constraint_words
from tests.judged_report import judged
from tests.leaky_report import groups_of
from tests.samples_report import GROUPS, SMALL_GROUPS, not_there, sample

disclosure_edition = partial(document, edition="disclosure")

CELLS = (60, 70, 80, 90, 50, 40)


def counted(cells: tuple[int, ...] = CELLS, *, people: int = 100, accepted: int = 50):
    """Return an audit of two groups, one with these cells and training records."""
    audit = sample(groups_of({"Female": cells, "Male": CELLS}))
    rows = tuple(
        {**row, "people": people, "positive predictions": accepted / people}
        if (row["records"], row["group"]) == ("training", "Female")
        else row
        for row in audit.tables["Rates by group"]
    )
    return replace(audit, tables={**audit.tables, "Rates by group": rows})


def one_label(n: int):
    """Return an audit by equalized odds; of one group n training records have a positive label."""
    audit, rates = counted(), "Rates by group"
    both = [row | {"among": f"label {label}"} for label in (0, 1) for row in audit.tables[rates]]
    few = {"people": 2 * n, "positive predictions": 0.5} if n else None
    last = max(i for i, row in enumerate(both) if row["records"] == "training")
    rows = tuple(row | (few or {}) if i == last else row for i, row in enumerate(both) if few or i != last)
    return replace(audit, tables={**audit.tables, rates: rows})


PLACES = {
    **{f"cell {i}": lambda n, i=i: counted((*CELLS[:i], n, *CELLS[i + 1 :])) for i in range(6)},
    "training, accepted": lambda n: counted(accepted=n),
    "training, refused": lambda n: counted(accepted=100 - n),
    "training, one label": lambda n: one_label(n),
}
"""Where there are n people of a group -> the audit."""


@pytest.mark.parametrize("place", PLACES)
def test_a_count_below_the_threshold_hides_all_groups_wherever_it_is(place: str):
    for n, small in ((0, True), (9, True), (10, False)):
        audit = PLACES[place](n)
        assert has_small_count(internal_document(audit)) == small
        found = disclosure_edition(audit)
        told = {m["check"]: m["estimate"] for m in found["measurements"] if m["outcome"] == "done"}
        numbers = [value for group in found["groups"] for name, value in group.items() if name != "group"]
        of_groups = [estimate for name, estimate in told.items() if CHECKS[name].of_groups]
        hanging = [*numbers, *of_groups, found["model"]["unfairness_test"]]
        assert [value is None for value in [*hanging, found["model"]["achieved"]]] == [small] * (len(hanging) + 1)
        others = {"membership_caught", "membership_auc", "membership_advantage", "targeted_leakage", "measured_epsilon"}
        assert {name for name in told if not CHECKS[name].of_groups} == others & set(told)
        assert told["membership_caught"] is not None and told["targeted_leakage"] is not None
        assert [table["title"] for table in found["tables"]] == ([] if small else ["Corrections over tolerances"])


@pytest.mark.parametrize("audit", [sample((*GROUPS, not_there("others"))), replace(sample(), tables={})])
def test_groups_that_nobody_counted_are_taken_to_be_small(audit):
    assert {group["count"] for group in disclosure_edition(audit)["groups"]} == {None}


def test_a_withheld_number_gives_the_rule_that_withholds_it_and_keeps_its_verdict():
    found = disclosure_edition(sample(SMALL_GROUPS))
    rule = "counts of a group are withheld here, and with them every number that hangs on who is in which group"
    rows = {row["check"]: row for row in found["verdict"]["checks"]}
    assert rows["unfairness"]["verdict"] == "fail" and rows["unfairness"]["decided"] is None
    told = {m["check"]: m for m in found["measurements"]}
    for words in (rows["unfairness"]["why"], told["correction_gain"]["reason"]):
        assert words == f"The number is withheld here because {rule}; the verdict is that of the whole audit."
    assert told["correction_gain"]["control"] is None and told["correction_gain"]["control_name"] == ""
    board = board_html(check_rows(found))
    assert board.count("<b>withheld</b>") == board.count('aria-label="Withheld. Limit: ') == 5
    assert told["attribute_bits"]["reason"].startswith("It could not be run on these people; the reason stands in")
    (note,) = [note for note in found["withheld"]["notes"] if "below 10" in note]
    assert "always all of them" in note and not any(g["group"] in note for g in found["groups"])
    few = tuple(
        replace(m, estimate=replace(m.estimate, n=9)) if m.check == "membership_caught" else m
        for m in sample().measurements
    )
    lone = {m["check"]: m for m in disclosure_edition(replace(sample(), measurements=few))["measurements"]}
    assert "because it comes from fewer than 10 people" in lone["membership_caught"]["reason"]


@pytest.mark.parametrize(
    ("mechanism", "how"),
    [("exact", "exact"), ("rounded", "rounded to 3 decimals"), ("noisy_sums", "noisy sums at ε = 0.5")],
)
def test_only_answers_with_noise_have_a_privacy_budget(mechanism: str, how: str):
    audit = sample()
    answers = replace(audit.plan.answers, mechanism=mechanism, epsilon=0.5)
    found = disclosure_edition(replace(audit, plan=replace(audit.plan, answers=answers)))
    told = {m["check"]: m for m in found["measurements"]}
    for check in ("answers_excess", "targeted_leakage"):
        assert f" answers to bias queries ({how})." in told[check]["attacked"]
    assert ("0.5" in json.dumps(told["targeted_leakage"])) == (mechanism == "noisy_sums")


def test_nothing_of_single_people_paths_or_seeds_stands_in_the_edition():
    found = disclosure_edition(sample())
    text = str(found)
    for secret in ("people.csv", "/home/officer", "bank.toml", "d" * 64, "e" * 64, "a" * 64, "'changed guesses'"):
        assert secret not in text, secret
    assert "seed 42" not in text and "a seed that is withheld" in found["data"]["split"]
    assert "c" * 64 in text and "f" * 64 in text  # code and policy
    assert found["plan"]["config"]["seed"] is None and found["provenance"]["seeds"] == {}
    assert found["data"]["notes"] == ["What was left out, filled in or duplicated stands in the internal report."]
    audit = sample()
    for few, hidden in ((9, True), (10, False)):
        sets = audit.data.sets | {"validation": few}
        found = disclosure_edition(replace(audit, data=replace(audit.data, sets=sets)))["data"]["sets"]
        assert found == (dict.fromkeys(sets) if hidden else sets)
    audit = sample()
    plan = replace(audit.plan, data=replace(audit.plan.data, dataset="adult", file=""))
    found = disclosure_edition(replace(audit, plan=plan, data=replace(audit.data, source="1994 census, UCI.")))
    assert (found["data"]["title"], found["data"]["source"]) == ("Adult census", "1994 census, UCI.")
    for title in ("People", "Spring, PEOPLE.CSV", "Peoples"):
        named = replace(audit, plan=replace(audit.plan, title=title))
        assert disclosure_edition(named)["plan"]["title"] == ("" if title != "Peoples" else title)
    own = disclosure_edition(audit)["data"]
    assert own["title"] == "A table of the auditor's own" and own["source"] == f"{own['title']}, not named here."


OTHERS_GET = {
    "data": "title source attribute label synthetic n sets split features notes fingerprint",
    "groups": "group count label_rate test_rate test_tpr test_fpr",
    "model": "kind title metric tolerance achieved unfairness_test accuracy_train accuracy_test majority_test "
    "fingerprint notes",
    "measurements": "check outcome basis estimate freedom control control_name attacked knows assumptions reason "
    "details",
    "plan": "schema title policy data model config outputs answers membership guard",
    "provenance": "fairleak python platform packages code policy plan seeds",
    "verdict": "overall headline detail checks",
    "caveats": "kind text count total",
    "self_tests": "attack false_alarms detected passed told",
}
"""Part of the external report -> its fields: of a new one `core.report.editions` must say what others get."""


def test_nothing_new_gets_out_unless_the_edition_says_so():
    audit = sample()
    whole = internal_document(audit)
    found = cut_edition(whole, audit)
    assert cut_edition({**whole, "new": "about single people"}, audit) == found
    first = {name: found[name][0] if isinstance(found[name], list) else found[name] for name in OTHERS_GET}
    assert {name: " ".join(part) for name, part in first.items()} == OTHERS_GET
    (row,) = {tuple(row) for row in found["verdict"]["checks"]}
    fields = "check verdict limit item decided p_value p_adjusted why blocks title definition unit at_least"
    assert " ".join(row) == fields


@pytest.mark.parametrize(("achieved", "smallest"), [(0.0492, True), (0.0498, True), (0.0504, False), (0.0486, False)])
def test_rounding_does_not_change_whether_a_tolerance_is_the_smallest_that_holds(achieved: float, smallest: bool):
    audit = sample()
    plan = replace(audit.plan, config=replace(audit.plan.config, tolerance=0.05))
    model = replace(audit.model, kind="predictions", achieved=achieved, tolerance=0.05)
    for edition in ("internal", "disclosure"):
        found = document(replace(audit, plan=plan, model=model), edition=edition)
        assert ("smallest tolerance that holds" in constraint_words(found["model"])) == smallest


def test_what_would_settle_a_check_hangs_on_nothing_that_is_withheld():
    """Two audits whose withheld numbers differ, with the same verdicts, promise the same in the external report."""
    said = []
    for value in (0.03, 0.045):
        few = tuple(
            replace(m, estimate=replace(m.estimate, value=value, low=-0.2, high=0.3)) if m.check == "unfairness" else m
            for m in sample(SMALL_GROUPS).measurements
        )
        audit = judged(replace(sample(SMALL_GROUPS), measurements=few))
        inside, outside = (
            {row.check: row for row in check_rows(document(audit, edition=edition))}
            for edition in ("internal", "disclosure")
        )
        assert outside["unfairness"].verdict == "inconclusive"
        assert "times the records" in inside["unfairness"].settling
        said.append({check: row.settling for check, row in outside.items()})
    assert said[0] == said[1]
    assert said[0]["unfairness"] == "The number is withheld here; the internal report says it."
