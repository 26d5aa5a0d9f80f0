"""What pages say beside core's numbers: guarantees, headings of curves."""

import math
import re

import numpy as np
import pytest

from core.desk import TestSet
from core.studies.membership import MembershipSettings, most_caught
from core.studies.membership.findings import guarantee
from core.studies.membership.study import STUDY
from core.studies.subject import AuditConfig, subject_of
from pages._desk.desk_forms import to_fill_in
from pages.shell.panels import csv_name
from tests import samples
from tests.unit.datasets.bad_tables import GOOD_ROLES, table_of


def attacked(method, epsilon=math.inf):
    subject = subject_of(AuditConfig(method=method, epsilon=epsilon, depth=4), samples.dataset(600))
    *_, last = STUDY.run(subject, MembershipSettings(shadows=0, attacks=("loss",)))
    return last


@pytest.mark.parametrize("epsilon", [0.01, 1.0, 2.0])
def test_the_guarantee_is_twice_epsilon_for_a_replaced_person(epsilon):
    last = attacked("dp_id3", epsilon)
    guarantee_text = guarantee(last)
    assert "somebody else takes the person's place, which doubles ε" in guarantee_text
    factors = re.findall(r"more than ([\d.,]+) times as", guarantee_text)
    once, twice = (float(number.replace(",", "")) for number in factors)
    assert math.exp(epsilon) <= once < math.exp(epsilon) + 0.11
    assert math.exp(2 * epsilon) <= twice < math.exp(2 * epsilon) + 0.11
    alarms = float(last.verdicts["loss"][last.member == 0].mean())
    (most,) = re.findall(r"a TPR of at most ([\d.]+)%", guarantee_text)
    assert 0 <= float(most) - 100 * most_caught(alarms, epsilon) < 0.1 + 1e-9


def test_a_file_is_called_like_its_page_and_table():
    names = {"First 20 rows": "first-20-rows", "Over ε": "over-ε", "../<b>Up</b> & *down*": "b-up-b-down"}
    names["x" * 500] = "x" * 60
    assert {title: csv_name("data", title) for title in names} == {
        title: f"fairleak-data-{name}.csv" for title, name in names.items()
    }


def test_numbers_to_fill_in_stand_beside_the_rows_of_the_table():
    """Rows 1, 4, 7 ... have no label: the records used are counted without them, the rows of the table with."""
    people = TestSet(ids=("1", "2", "3", "80"), attribute=np.array([0, 1, 0, 1]))
    lines = to_fill_in(people, (table_of(hired=[None, "yes", "no"]), GOOD_ROLES)).decode().splitlines()
    assert lines == ["record,score,row in the table", "1,0.5,2", "2,0.5,3", "3,0.5,5", "80,0.5,120"]
    assert to_fill_in(people, None).decode().splitlines()[:2] == ["record,score", "1,0.5"]
