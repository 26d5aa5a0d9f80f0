"""How a model was chosen is a section of its report; the external report says only that it was chosen."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from core.choose import ChooseSettings, choose
from core.choose.findings import report_section
from core.config import AuditConfig
from core.release_audit.result import StudyFindings
from core.report import from_json
from core.report.canonical import read
from core.report.editions import Reports
from core.report.schema import to_json
from tests.samples_report import sample
from tests.unit.choose.made import POLICY, SAFE, point

CHOICE = choose(
    [point(k, 0.75, SAFE, np.random.default_rng(k)) for k in range(3)], POLICY, ChooseSettings(), attribute="sex"
)


def reports() -> Reports:
    return Reports(replace(sample(), findings=(report_section(CHOICE),)), "there are no people here")


def test_the_internal_report_says_how_it_was_chosen_and_reads_back():
    made = reports()
    page = made.files("internal")["report.html"].decode()
    assert "How this model was chosen" in page and CHOICE.chosen.title in page
    document = from_json(made.files("internal")["report.json"].decode())
    (section,) = [read(each, StudyFindings) for each in document["findings"]]
    assert section == report_section(CHOICE)


def test_the_external_report_has_no_number_of_the_choice():
    made = from_json(reports().files("disclosure")["report.json"].decode())
    (section,) = made["findings"]
    (finding,) = section["findings"]
    assert finding["point"] == "The model was chosen among several by the same policy."
    assert finding["evidence"] == "" and finding["caveats"] == [] and finding["estimate"] is None


def test_a_depth_stands_in_a_report_only_where_it_was_chosen():
    audit = sample()
    plain = Reports(audit, "there are no people here").document()
    assert "depth" not in plain["plan"]["config"]
    deep = replace(audit, plan=replace(audit.plan, config=replace(audit.plan.config, depth=4)))
    document = from_json(to_json(Reports(deep, "there are no people here").document()))
    assert document["plan"]["config"]["depth"] == 4 != AuditConfig().depth
