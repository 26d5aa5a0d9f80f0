"""Public summary: no number measured on people, equal bytes for equal facts, documented whole, refused where judged."""

import random
import re
from copy import deepcopy
from dataclasses import replace
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

from core.auditing import MembershipSettings, check_plan, read_plan, run_audit
from core.auditing.policy import default_policy, read_policy
from core.base.caveats import FIXED, Caveat, CaveatKind, in_order
from core.base.settings import params
from core.cli.audit import check_folder, write_audit
from core.report import Reports, from_json, public_summary, report_document, summary_markdown, to_json, verify_report
from core.report.codec import report_of
from core.report.public_summary import CONTENTS, summary_html
from core.report.report import strict
from core.report.tables import csv_files
from core.studies.people import PEOPLE, PeopleSettings
from core.studies.study import Basis
from core.studies.subject import AuditConfig
from tests import samples
from tests.html_reader import Reader
from tests.refusals import refused
from tests.samples_report import HOSTILE, judged_audit, places, sample, with_basis, with_texts

PUBLISHED = re.compile(
    r"kind|schema|times/started|provenance/fairleak|data/(attribute|label|synthetic|n)|self_tests/\d+/passed"
    r"|policy/.*|verdict/overall|verdict/checks/\d+/(check|verdict)|caveats/\d+/kind"
    r"|measurements/\d+/(check|basis)"
    r"|plan/(title|data/dataset|data/file|model/(kind|threshold)|(outputs|bias_queries|membership|attriguard)/.*)"
    r"|plan/config/(method|epsilon|depth|metric|tolerance|train_share)"
    r"|plan/schema|measurements/\d+/outcome"
)
"""Places of an internal report that its summary may depend on; and the last, which hold one of a few words."""


def _altered(value, rng):
    """Return another value of the same type; None stays."""
    if value is None or isinstance(value, bool):
        return value if value is None else not value
    return f"{value}{rng.random()}" if isinstance(value, str) else type(value)(99 * rng.random())


def unlike(document, rng):
    """Return a document with every leaf changed that the summary may not depend on, and rows in another order."""
    changed = deepcopy(document)
    for holder, key, path in list(places(changed)):
        if not PUBLISHED.fullmatch(path):
            holder[key] = _altered(holder[key], rng)
    for rows in (changed["verdict"]["checks"], changed["measurements"], changed["groups"], changed["tables"]):
        rng.shuffle(rows)
    changed["data"]["features"] *= rng.randint(0, 3)
    changed["caveats"] += rng.sample(changed["caveats"], min(2, len(changed["caveats"])))
    changed["people_at_risk"] = {"findings": [], "tables": [{"title": "x", "columns": ["a"], "rows": [[rng.random()]]}]}
    changed["plan"]["register"] = {"model": f"m{rng.random()}", "version": "1", "owner": f"o{rng.random()}"}
    changed["plan"]["studies"] = [["people", {"shadows": 2 * rng.randint(2, 9)}]]
    return changed


def texts(document):
    """Return the three forms of a document's summary, without day and fingerprint."""
    summary = public_summary(report_of(document))
    mark = summary.fingerprint
    gone = re.compile("|".join((summary.day, mark, f"{mark[:8]} {mark[8:16]}")))
    return tuple(gone.sub("", form(summary)) for form in (to_json, summary_html, summary_markdown))


def judged_document():
    return strict(report_document(judged_audit()))


def synthetic(rng):
    """Return a report with verdict words, limits, caveats and settings drawn at random."""
    document = judged_document()
    verdicts = ("pass", "fail", "inconclusive", "not_run")
    for row in document["verdict"]["checks"]:
        row["verdict"] = rng.choice(verdicts)
    document["verdict"]["overall"] = rng.choice(verdicts)
    for measurement in document["measurements"]:
        measurement["basis"] = rng.choice(("measured", "declared", "not_released"))
    document["data"]["n"] = rng.randint(100, 100_000)
    kinds = rng.sample(list(CaveatKind), rng.randint(0, 8))
    document["caveats"] = [caveat.to_dict() for caveat in in_order(Caveat(kind, "x") for kind in kinds)]
    document["self_tests"] = document["self_tests"][: rng.randint(0, 2)]
    document["policy"]["limits"] = rng.sample(document["policy"]["limits"], rng.randint(1, 8))
    document["plan"]["bias_queries"]["questions"] = rng.randint(0, 99)
    document["plan"]["outputs"]["decimals"] = rng.choice([None, 1, 2])
    if rng.random() < 0.5:
        document["plan"]["model"]["kind"] = "predictions"
    return document


@pytest.mark.parametrize("seed", range(100))
def test_equal_facts_give_equal_bytes_whatever_else_the_reports_hold(seed):
    rng = random.Random(seed)
    document = synthetic(rng)
    twin = unlike(document, rng)
    if document["plan"]["model"]["kind"] == "predictions":
        twin["plan"]["config"]["tolerance"] = rng.random()
    twin["times"]["started"] = "2031-01-02T03:04:05Z"
    assert texts(twin) == texts(document)


@pytest.mark.parametrize("kind", ["train", "predictions", "file"])
def test_settings_of_the_training_are_those_of_a_trained_model(kind):
    document = judged_document()
    document["plan"]["model"]["kind"] = kind
    document["plan"]["config"]["tolerance"] = 0.0417
    of_model = {row.setting for row in public_summary(report_of(document)).settings if row.part == "Model"}
    titles = {name: setting.param.title for name, setting in params(AuditConfig).items()}
    assert (titles["method"] in of_model) == (kind == "train")
    assert {titles["metric"], titles["tolerance"]} <= of_model
    assert all(("0.0417" in text) == (kind == "train") for text in texts(document))


FACTS = {
    "records": lambda d: d["data"].update(n=17),
    "verdict word": lambda d: d["verdict"]["checks"][0].update(verdict="pass"),
    "decision": lambda d: d["verdict"].update(overall="not_run"),
    "limit": lambda d: d["policy"]["limits"][0].update(value=0.5),
    "setting": lambda d: d["plan"]["membership"].update(shadows=64),
    "tolerance": lambda d: d["plan"]["config"].update(tolerance=0.2),
    "kind of caveat": lambda d: d["caveats"].append({"kind": "labels_only", "text": "x", "count": None, "total": None}),
    "self-test": lambda d: d.update(self_tests=[]),
}


@pytest.mark.parametrize("name", FACTS)
def test_another_fact_gives_another_summary_in_every_form(name):
    document = judged_document()
    changed = deepcopy(document)
    FACTS[name](changed)
    assert all(before != after for before, after in zip(texts(document), texts(changed), strict=True))


def test_the_docs_list_all_that_it_tells_and_every_kind_of_caveat():
    page = Path(__file__).parents[3] / "docs" / "how-to" / "public-summary.md"
    rows = dict(re.findall(r"^\| `(\w+)` \| (.*) \|$", page.read_text("utf-8"), re.MULTILINE))
    assert rows == {**CONTENTS, **{str(kind): text for kind, text in FIXED.items()}}
    assert set(strict(public_summary(report_document(judged_audit())))) == {"kind", "schema", *CONTENTS}


def test_a_pass_of_what_is_not_released_counts_as_not_attacked():
    audit = judged_audit()
    passed = next(check.check for check in Reports(audit).summary.checks if check.verdict == "pass")
    summary = Reports(with_basis(audit, passed, Basis.NOT_RELEASED)).summary
    assert {check.check: check.verdict for check in summary.checks}[passed] == "not_attacked"
    assert summary.decision.counts == "Fail 3 · Inconclusive 1 · Not run 1 · Pass 2 · Not attacked 1"
    assert any(text.endswith("not attacked, as nothing of the kind is released.") for text in summary.not_tested)


def test_names_stay_names_in_markdown_and_html():
    markup = "[a](http://x.example) | b **c** `d` <b>e</b> ![f](g) www.example.org h@example.org $i$ ~~j~~"
    audit = with_texts(sample(), lambda text: f"{text} {markup} {HOSTILE}" if text else text)
    summary = Reports(replace(audit, provenance=sample().provenance)).summary
    page = MarkdownIt("gfm-like", {"html": True, "linkify": False}).render(summary_markdown(summary))
    assert not [tag for tag in ("<a ", "<img", "<script", "<b>", "<s>", "<strong>c") if tag in page]
    plain, hostile = (Reader(summary_html(text)) for text in (Reports(sample()).summary, summary))
    assert set(hostile.tags) == set(plain.tags) and hostile.comments == []


@pytest.fixture(scope="module")
def out(tmp_path_factory):
    folder = tmp_path_factory.mktemp("audit") / "out"
    write_audit(Reports(judged_audit()), folder)
    return folder


def test_an_audit_writes_an_internal_report_and_a_public_summary(out):
    inside, public = ({path.name for path in (out / name).iterdir()} for name in ("internal", "public"))
    tables = csv_files(report_document(judged_audit()))
    texts = {"report.json", "report.html", "brief.html", "brief.pdf", "policy.toml", "plan.toml"}
    assert inside == texts | tables.keys()
    assert public == {"model-card.md", "summary.html", "summary.json"}
    check_folder(out, force=True)


def test_internal_files_say_which_plan_was_judged_by_which_policy():
    audit = judged_audit(policy=default_policy())
    files = {name: content.decode() for name, content in Reports(audit).internal_files.items()}
    assert from_json(files["report.json"]) == report_document(audit)
    assert read_policy(files["policy.toml"], name="policy") == audit.verdict.policy
    assert read_plan(files["plan.toml"]) == replace(audit.plan, policy="policy.toml")


@pytest.mark.parametrize("name", ["summary.json", "summary.html"])
@pytest.mark.parametrize("command", ["report verify", "report replay", "report brief", "report card", "compare"])
def test_every_command_refuses_a_summary_in_one_sentence(out, command, name, capsys):
    more = [out] if command == "compare" else []
    sentence = refused(capsys, *command.split(), out / "public" / name, *more)
    reason = "must be an internal report, got a public summary, which holds no number that can be verified, judged"
    assert reason in sentence or (command, name) == ("report replay", "summary.html")


@pytest.mark.long
def test_people_at_risk_stand_in_the_internal_report_and_change_no_byte_of_the_public_summary():
    plan = replace(samples.plan(), membership=MembershipSettings(shadows=4))
    settings = PeopleSettings(people=40, answers=15, models=2, shadows=4)
    audit = run_audit(replace(plan, studies=((PEOPLE.name, settings),)), samples.table(3600), default_policy())
    reports, without_people = Reports(audit), Reports(replace(audit, plan=plan, people=None))
    inside, public = reports.internal_files, reports.public_files
    assert any(name.startswith("people-") for name in inside.keys() - without_people.internal_files.keys())
    assert public == without_people.public_files
    assert not any(b"eople at risk" in content.partition(b"## Caveats")[0] for content in public.values())
    page, point = inside["report.html"].decode(), audit.people.findings[0].point
    assert "People at risk (internal report only)" in page and point in page
    for name in ("report.json", "report.html"):
        assert all(finding.holds for finding in verify_report(inside[name].decode()).findings)
    plan = from_json(inside["report.json"].decode()).plan
    check_plan(plan)
    assert plan.people == settings
