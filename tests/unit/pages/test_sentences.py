"""What pages say beside core's numbers: guarantees, headings of curves."""

from __future__ import annotations

import math
import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from core.desk import TestSet
from core.studies.membership import MembershipResult, MembershipSettings, most_caught
from core.studies.membership.disparity import COMPLEMENT, Disparities
from core.studies.membership.findings import CurvePoint, epsilon_heading, groups_heading, guarantee, picking_heading
from core.studies.membership.study import STUDY
from core.studies.subject import AuditConfig, subject_of
from pages._attriguard.attriguard_analyses import by_value
from pages._desk.desk_forms import to_fill_in
from pages.shell.panels import csv_name
from tests import samples
from tests.unit.attriguard.conftest import exposure
from tests.unit.charts.membership_samples import bands, compared, result
from tests.unit.datasets.bad_tables import GOOD_ROLES
from tests.unit.datasets.small_tables import table_of


def attacked(method: str, epsilon: float = math.inf) -> MembershipResult:
    """Return what the loss threshold finds of a model."""
    subject = subject_of(AuditConfig(method=method, epsilon=epsilon, depth=4), samples.dataset(600))
    *_, last = STUDY.run(subject, MembershipSettings(shadows=0, attacks=("loss",)))
    return last


@pytest.mark.parametrize("epsilon", [0.01, 1.0, 2.0])
def test_the_guarantee_is_twice_epsilon_for_a_replaced_person(epsilon: float):
    last = attacked("dp_id3", epsilon)
    guarantee_text = guarantee(last)
    assert "somebody else takes the person's place, which doubles ε" in guarantee_text
    once, twice = (
        float(number.replace(",", "")) for number in re.findall(r"more than ([\d.,]+) times as", guarantee_text)
    )
    assert math.exp(epsilon) <= once < math.exp(epsilon) + 0.11
    assert math.exp(2 * epsilon) <= twice < math.exp(2 * epsilon) + 0.11
    inside = last.inside(last.guesses["loss"])
    alarms = float(last.verdicts["loss"][inside == 0].mean())
    (most,) = re.findall(r"a TPR of at most ([\d.]+)%", guarantee_text)
    assert 0 <= float(most) - 100 * most_caught(alarms, epsilon) < 0.1 + 1e-9


def test_a_model_without_a_budget_has_no_guarantee():
    assert guarantee(attacked("unmitigated")).startswith("No DP guarantee (trained without a privacy budget).")
    assert guarantee(attacked("dp_id3")).startswith("No DP guarantee (ε = ∞).")


def test_the_curve_names_the_largest_budget_at_which_the_attack_is_chance():
    drawn = bands((0.01, 0.1, 1.0, 10.0, math.inf))
    chance = [band.at for band in drawn if band.values["auc"].low <= 0.5]
    heading = epsilon_heading(drawn, ("women", "men"))
    assert 1 < len(chance) < len(drawn)
    assert heading.startswith(f"Up to ε = {max(chance):g} the attack is not significantly better than random guessing")
    assert "so far" not in heading and "so far" in epsilon_heading(drawn, ("women", "men"), growing=True)
    assert epsilon_heading(drawn[:2], ("women", "men")).startswith("At every ε the attack is not significantly")
    assert epsilon_heading(drawn[-2:], ("women", "men")).startswith("Membership-advantage gap, women − men: ")
    below = replace(drawn[0].values["auc"], value=0.48, low=0.47, high=0.49)
    worse = replace(drawn[0], values={**drawn[0].values, "auc": below})
    assert epsilon_heading([worse, *drawn[1:]], ("women", "men")) == heading  # worse than chance is no better than it


@pytest.mark.parametrize("complement", ["men", COMPLEMENT])
def test_the_heading_counts_significant_differences_and_names_the_largest(complement: str):
    measured = Disparities(results=(compared(reference=complement),))
    heading = groups_heading(result(disparities=measured), "sex")
    assert heading.startswith("Statistically significant differences in membership advantage by sex: 1 of 1, largest “")


def points(repeats: int, *, difference: float) -> list[CurvePoint]:
    """Return points whose repeats differ far more than FairPick and its control do within them."""
    curve_points = []
    for repeat in range(repeats):
        for variant, extra in (("random", 0.0), ("fairpick", difference + 0.001 * (repeat % 3 - 1))):
            vd = 0.2 * (repeat % 2) + extra
            rates = dict.fromkeys(("accuracy_train", "accuracy_test", "auc", "precision", "recall"), 0.5)
            gaps = {"vd": vd, "fpr_gap": 0.0, "advantage_gap": vd}
            curve_points.append(CurvePoint(at=0.4, repeat=repeat, variant=variant, **rates, **gaps))
    return curve_points


def test_fairpick_is_told_within_the_repeats_that_have_both_and_not_of_too_few():
    assert "−0.010 (95% CI −0.011 to −0.009) within repeats" in picking_heading(points(6, difference=-0.01), "vd")
    assert "no statistically significant" not in picking_heading(points(6, difference=-0.01), "vd")
    finished = picking_heading(points(6, difference=0.0), "vd")
    assert "no statistically significant difference" in finished and "(mean, repeats: 6)" in finished
    half = points(7, difference=0.0)[:-1]  # the seventh has no FairPick yet
    assert picking_heading(half, "vd", growing=True) == finished.replace("repeats: 6", "repeats so far: 6")
    short_heading = picking_heading(points(4, difference=0.0), "vd")
    assert short_heading.startswith("VD +0.1") and "within" not in short_heading and "significant" not in short_heading
    assert picking_heading(points(4, difference=0.0)[:1], "vd") == "What FairPick changes"


def test_a_card_of_many_values_has_a_row_a_value():
    cells = {"item": ["app 1", "app 2"], "without noise": ["–", "0.4"], "Ulm": ["1", ""], "Bonn": ["", ""]}
    listed = by_value(pd.DataFrame(cells | {"Kiel": ["1", "–"]}))
    assert listed["target value"].tolist() == ["Ulm", "Bonn", "Kiel"]
    assert listed["what changes"].tolist() == ["app 1: – → 1", "nothing", "app 1: – → 1, app 2: 0.4 → –"]


def test_the_budget_reaches_what_people_change_where_a_value_has_no_noise():
    """The share of the value without noise goes to the others: 1.5 changes on average, not 1."""
    size, reachable = np.tile([0, 3, 0], (8, 1)), np.tile([True, True, False], (8, 1))
    study = exposure(np.zeros(8, dtype=np.int64), (0.3, 0.3, 0.4), size=size, reached=reachable)
    assert study.last_budget == 2.0


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("First 20 rows", "fairleak-data-first-20-rows.csv"),
        ("Over ε", "fairleak-data-over-ε.csv"),
        ("../<b>Up</b> & *down*", "fairleak-data-b-up-b-down.csv"),
        ("x" * 500, f"fairleak-data-{'x' * 60}.csv"),
    ],
)
def test_a_file_is_called_like_its_page_and_table(title: str, name: str):
    assert csv_name("data", title) == name


def test_numbers_to_fill_in_stand_beside_the_rows_of_the_table():
    """Rows 1, 4, 7 ... have no label: the records used are counted without them, the rows of the table with."""
    people = TestSet(ids=("1", "2", "3", "80"), attribute=np.array([0, 1, 0, 1]))
    lines = to_fill_in(people, (table_of(hired=[None, "yes", "no"]), GOOD_ROLES)).decode().splitlines()
    assert lines == ["record,score,row in the table", "1,0.5,2", "2,0.5,3", "3,0.5,5", "80,0.5,120"]
    assert to_fill_in(people, None).decode().splitlines()[:2] == ["record,score", "1,0.5"]
