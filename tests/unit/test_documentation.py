"""The documentation: reference pages are as the code makes them, provisions have sources, its script reads reports."""

from __future__ import annotations

import importlib.util
import json
import re
import sys
from pathlib import Path
from types import ModuleType

import pytest

from core.auditing.policy import CHECKS
from core.learn.reference_pages import PAGES, page
from core.report import Reports, to_json
from core.report.regulations import law_of_checks, law_of_parts, legal_texts, provisions
from tests.patience import entries, finished
from tests.samples_report import sample

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "docs" / "how-to" / "log_to_mlflow.py"


@pytest.mark.parametrize("name", PAGES)
def test_a_reference_page_is_as_the_code_makes_it(name: str):
    assert (ROOT / "docs" / "reference" / name).read_text(encoding="utf-8") == page(name), "make docs"


def test_every_link_and_path_leads_to_a_file():
    links = []
    for document in (*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")):
        text = document.read_text(encoding="utf-8")
        links += [document.parent / link for link in re.findall(r"\]\((?!https?:)([^)# ]+)", text)]
        if document.name != "CHANGELOG.md":  # which names what is gone
            links += [ROOT / path for path in re.findall(r"`((?:core|pages|tests)/[\w/]*\.py)`", text)]
    assert len(links) > 60 and [link for link in links if not link.exists()] == []


@pytest.mark.long
def test_the_site_is_built_without_a_warning(tmp_path: Path):
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-c", "docs", "-d", tmp_path / "cache"]
    done = finished([*command, ".", tmp_path / "site"], progress=lambda: entries(tmp_path), cwd=ROOT)
    assert done.returncode == 0, done.stderr
    home = (tmp_path / "site" / "docs" / "contents.html").read_text(encoding="utf-8")
    for text in (ROOT / "docs").rglob("*.md"):
        address = text.relative_to(ROOT / "docs").with_suffix(".html").as_posix()
        assert address == "contents.html" or f'href="{address}"' in home


def test_law_every_check_and_provision_is_mapped():
    rows = law_of_checks()
    assert set(rows) == set(CHECKS)
    for check, row in rows.items():
        assert row.provisions or row.note, check
    for row in (*rows.values(), *law_of_parts().values()):
        last_first = {"GDPR": row.provisions, "EU AI Act": row.provisions[::-1]}
        leading = [{entry.text.name: entry for entry in entries}.get(text) for text, entries in last_first.items()]
        assert list(row.leading) == [entry for entry in leading if entry]
    used = {entry.key for row in (*rows.values(), *law_of_parts().values()) for entry in row.provisions}
    assert used == set(provisions())
    assert {entry.text.name for entry in provisions().values()} == set(legal_texts())
    articles = {entry.article for entry in provisions().values()}
    assert {
        "Annex IV, point 2(g)",
        "Article 10(2)(f)",
        "Article 15(5)",
        "Article 35(7)(d)",
        "Article 25(1)",
    } <= articles


@pytest.fixture(scope="module")
def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("log_to_mlflow", SCRIPT)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_metrics_and_tags_are_those_of_the_summary_and_need_nothing_of_fairleak(script: ModuleType):
    summary = json.loads(to_json(Reports(sample()).summary))
    metrics = script.metrics_of(summary)
    checks = {check["check"] for check in summary["checks"]}
    assert set(metrics) == {f"{check}.{name}" for check in checks for name in ("limit", "passes")}
    assert metrics["correction_gain.limit"] == 0.05 and metrics["correction_gain.passes"] == 0.0
    assert metrics["targeted_leakage.passes"] == 1.0 and metrics["attriguard_exposure.passes"] == 0.0
    assert all(re.fullmatch(r"[/\w.\- ]+", name) for name in metrics)  # MLflow takes no other
    tags = script.tags_of(summary)
    assert tags["fairleak.verdict"] == "fail" and tags["fairleak.fingerprint"] == summary["fingerprint"]
    assert set(script.FILES) == set(Reports(sample()).public_files)
    names = re.findall(r"^\s*(?:import|from) (\w+)", SCRIPT.read_text(encoding="utf-8"), re.MULTILINE)
    assert set(names) <= {*sys.stdlib_module_names, "mlflow"}
