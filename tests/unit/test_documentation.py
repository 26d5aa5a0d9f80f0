"""The documentation: pages are as the code makes them, figures as recorded, provisions have sources."""

import json
import re
import runpy
import sys

import pytest

from core.auditing.policy import CHECKS
from core.learn.reference_pages import PAGES, page
from core.report import Reports, to_json
from core.report.regulations import law_of_checks, law_of_parts, legal_texts, provisions
from tests.patience import entries, finished
from tests.reference.figures import FIGURE_MARK, ROOT, TABLE, filled, recorded, texts
from tests.reference.recordings import RECORDINGS
from tests.samples_report import sample


@pytest.mark.parametrize("name", PAGES)
def test_a_reference_page_is_as_the_code_makes_it(name):
    assert (ROOT / "docs" / "reference" / name).read_text("utf-8") == page(name), "make docs"


def test_every_link_and_path_leads_to_a_file():
    links = []
    for document in (*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")):
        text = document.read_text("utf-8")
        links += [document.parent / link for link in re.findall(r"\]\((?!https?:)([^)# ]+)", text)]
        if document.name != "CHANGELOG.md":  # which names what is gone
            links += [ROOT / path for path in re.findall(r"`((?:core|pages|tests)/[\w/]*\.py)`", text)]
    assert len(links) > 60 and [link for link in links if not link.exists()] == []


@pytest.mark.long
def test_the_site_is_built_without_a_warning(tmp_path):
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-c", "docs", "-d", tmp_path / "cache"]
    done = finished([*command, ".", tmp_path / "site"], progress=lambda: entries(tmp_path), cwd=ROOT)
    assert done.returncode == 0, done.stderr
    home = (tmp_path / "site" / "docs" / "contents.html").read_text("utf-8")
    for text in (ROOT / "docs").rglob("*.md"):
        address = text.relative_to(ROOT / "docs").with_suffix(".html").as_posix()
        assert address == "contents.html" or f'href="{address}"' in home


def test_law_every_check_and_provision_is_mapped():
    rows, parts = law_of_checks(), law_of_parts()
    assert set(rows) == set(CHECKS)
    assert [check for check, row in rows.items() if not (row.provisions or row.note)] == []
    for row in (*rows.values(), *parts.values()):
        last_first = {"GDPR": row.provisions, "EU AI Act": row.provisions[::-1]}
        leading = [{entry.text.name: entry for entry in entries}.get(text) for text, entries in last_first.items()]
        assert list(row.leading) == [entry for entry in leading if entry]
    used = {entry.key for row in (*rows.values(), *parts.values()) for entry in row.provisions}
    assert used == set(provisions())
    assert {entry.text.name for entry in provisions().values()} == set(legal_texts())


def test_metrics_and_tags_are_those_of_the_summary_and_need_nothing_of_fairleak():
    path, reports = ROOT / "docs" / "how-to" / "log_to_mlflow.py", Reports(sample())
    script = runpy.run_path(str(path))
    summary = json.loads(to_json(reports.summary))
    metrics, tags = script["metrics_of"](summary), script["tags_of"](summary)
    checks = [check["check"] for check in summary["checks"]]
    assert set(metrics) == {f"{check}.{name}" for check in checks for name in ("limit", "passes")}
    passes = [metrics[f"{check}.passes"] for check in ("correction_gain", "targeted_leakage")]
    assert (metrics["correction_gain.limit"], passes) == (0.05, [0.0, 1.0])
    assert tags["fairleak.verdict"] == "fail" and tags["fairleak.fingerprint"] == summary["fingerprint"]
    assert set(script["FILES"]) == set(reports.public_files)
    names = re.findall(r"^\s*(?:import|from) (\w+)", path.read_text("utf-8"), re.MULTILINE)
    assert set(names) <= {*sys.stdlib_module_names, "mlflow"}


GROUPS = recorded()
TEXTS = list(texts())


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_a_text_shows_what_is_recorded(path):
    text = path.read_text("utf-8")
    assert filled(text, GROUPS) == text, "make docs"


def test_every_group_is_recorded_as_its_recording_says_and_shown_somewhere():
    assert set(GROUPS) == set(RECORDINGS)
    for name, group in GROUPS.items():
        assert (group.command, group.seed) == (RECORDINGS[name].command, RECORDINGS[name].seed), name
        assert group.measured in ("by this command", "earlier") and group.version
        assert group.figures or group.tables
    all_texts = "\n".join(path.read_text("utf-8") for path in TEXTS)
    group_names = {match[1] for match in [*FIGURE_MARK.finditer(all_texts), *TABLE.finditer(all_texts)]}
    assert group_names == set(GROUPS)


def test_every_figure_of_the_readme_is_recorded():
    readme = (ROOT / "README.md").read_text("utf-8")
    section = readme.partition("## What it found\n")[2].partition("\n[All results]")[0]
    assert section.count("\n- ") >= 4 and len(FIGURE_MARK.findall(section)) >= 8
    broken = section.replace("<!-- /figure -->", "<!-- /figure --> of 17", 1)
    assert [re.findall(r"\d+", FIGURE_MARK.sub("", text)) for text in (section, broken)] == [[], ["17"]]
