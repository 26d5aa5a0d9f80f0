"""The example for MLflow reads every number of a report; MLflow itself is not needed for that."""

from __future__ import annotations

import importlib.util
import json
import re
import sys
from pathlib import Path
from types import ModuleType

import pytest

from core.report import Reports, to_json
from tests.samples_report import SMALL_GROUPS, sample

SCRIPT = Path(__file__).parents[2] / "docs" / "how-to" / "log_to_mlflow.py"


@pytest.fixture(scope="module")
def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("log_to_mlflow", SCRIPT)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_metrics_and_tags_are_those_of_the_report(script: ModuleType):
    report = json.loads(to_json(Reports(sample()).document()))
    found = script.metrics_of(report)
    measured = {m["check"]: m["estimate"] for m in report["measurements"] if m["estimate"]}
    assert {name for name in found if "." not in name} == set(measured)
    assert found["correction_gain"] == 0.07 and found["correction_gain.low"] == 0.065
    assert found["correction_gain.limit"] == 0.05 and found["correction_gain.passes"] == 0.0
    assert found["targeted_leakage.passes"] == 1.0 and found["attriguard_exposure.passes"] == 0.0
    assert all(re.fullmatch(r"[/\w.\- ]+", name) for name in found)  # MLflow takes no other
    tags = script.tags_of(report)
    assert tags["fairleak.verdict"] == "fail" and tags["fairleak.fingerprint"] == report["fingerprint"]


def test_a_withheld_number_has_no_metric(script: ModuleType):
    report = json.loads(to_json(Reports(sample(SMALL_GROUPS)).document("disclosure")))
    found = script.metrics_of(report)
    assert "unfairness" not in found and "unfairness.low" not in found and "unfairness.limit" in found


def test_it_needs_nothing_of_fairleak():
    names = re.findall(r"^\s*(?:import|from) (\w+)", SCRIPT.read_text(encoding="utf-8"), re.MULTILINE)
    assert set(names) <= {*sys.stdlib_module_names, "mlflow"}
