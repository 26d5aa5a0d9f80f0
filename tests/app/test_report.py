"""The Report page in-process: it says what core's verdict says, follows the policy, and gives its files."""

from __future__ import annotations

import io
import itertools
import json
import re
import time
import zipfile
from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace

import pytest
import skops.io

import core.auditing
from core.auditing import AuditPlan, plan_text, read_plan, verdict_caveats
from core.auditing.policy import (
    Alternative,
    LimitUse,
    Policy,
    Verdict,
    default_policy,
    estimate_text,
    judge,
    limit_text,
    next_step,
    policy_text,
    predictions_policy,
)
from core.base.caveats import CONSTANT_TEXT, FIXED, Caveat, CaveatKind, in_order
from core.cli.audit import _printed as audit_lines
from core.cli.console import Console
from core.report import Reports, report_document, to_json
from core.report.brief import brief_content
from core.report.brief_files import brief_html
from core.report.policy_templates import policy_templates
from core.store.history import History, default_history
from core.studies.subject import OutputsPlan
from pages._report import report_audit
from pages.shell.shell import escape
from tests import model_samples
from tests.app.conftest import Start
from tests.app.dashboard import Dashboard, RecordedJob
from tests.app.deciding import SELF_TESTS, Attacks, attacks, board, changed, section
from tests.app.test_own_table import bring_scored
from tests.browser.tables import HOSTILE_CELL
from tests.html_reader import Reader
from tests.policy_samples import done
from tests.samples_report import POLICY, sample
from tests.unit.datasets.bad_tables import assert_one_sentence
from tests.unit.policy.test_files import comfortable

__all__ = ["attacks"]


LATER = "Two models released: gain over the better one; Privacy mechanisms that exceed their stated ε (0.0%)."


def expected(attacks: Attacks, policy: Policy | None = None) -> Verdict:
    """Return core's verdict on what was found last."""
    audit = attacks.audits[-1]
    return judge(
        policy or default_policy(),
        audit.measurements,
        attribute=audit.data.attribute,
        alternatives=audit.alternatives,
    )


def assert_shows(dashboard: Dashboard, verdict: Verdict) -> None:
    """Check that the page says what a verdict says: required checks, what is not released, then advisory ones."""
    assert escape(verdict.headline) in dashboard.finding
    assert verdict.detail in dashboard.page_text
    reader = Reader(board(dashboard))
    limited = [row for row in verdict.rows if row.limit is not None]
    rows = sorted(limited, key=lambda row: (not row.is_decisive, not row.is_attacked))
    places = [reader.text.index(row.title) for row in rows]
    attacked = [row for row in rows if row.is_attacked]
    labels = [label for label in reader.labels if "Limit:" in label]
    assert places == sorted(places) and len(labels) == len(attacked)
    for row in rows:
        assert row.limit is not None
        assert limit_text(row.check, row.limit.value) in reader.text and row.why in reader.text
        remedy_instead = verdict.headline.endswith("would pass.")
        assert row.verdict == "pass" or remedy_instead or next_step(row) in reader.text
        if row.measurement and row.measurement.estimate:
            assert row.measurement.attacked in reader.text and row.measurement.knows in reader.text
    for row, label in zip(attacked, labels, strict=True):
        assert row.limit is not None and limit_text(row.check, row.limit.value) in label
        if row.measurement and row.measurement.estimate:
            assert estimate_text(row.check, row.measurement.estimate)[0] in label
    decisive = [row for row in rows if row.is_decisive]
    counts = [int(number) for number in re.findall(r"\d+", " ".join(filter_options(dashboard)))]
    assert counts[0] == len(decisive) == sum(counts[1:])


def filter_options(dashboard: Dashboard) -> list[str]:
    """Return the options of the filter: verdicts with their numbers."""
    (group,) = [group for group in dashboard.test.button_group if group.key == "release_filter"]
    return list(group.options)


def test_the_finding_is_cores_verdict(dashboard: Dashboard, attacks: Attacks):
    dashboard.open("report")
    verdict = expected(attacks)
    assert_shows(dashboard, verdict)
    internal = ("internal_html", "internal_json", "internal_tables", "internal_brief")
    for key in (*internal, "public_html", "public_json", "public_md"):
        assert f"download_{key}" in str(dashboard.test.get("download_button"))
    attacked = [job for job in RecordedJob.started if job.lane in ("decision", "self_test")]
    dashboard.open("data")  # which may have arrays of its own to prepare
    dashboard.open("report")
    assert attacked == [job for job in RecordedJob.started if job.lane in ("decision", "self_test")]
    assert [job.lane for job in attacked] == ["decision", "self_test"]
    (plan,) = attacks.plans
    assert plan.data.dataset == "demo" and plan.bias_queries.questions == 0 and plan.membership.shadows == 16


def test_the_finding_says_that_a_model_gives_everybody_the_same_answer(dashboard: Dashboard, attacks: Attacks):
    attacks.instead = replace(sample(), caveats=(Caveat(CaveatKind.CONSTANT_MODEL, CONSTANT_TEXT),))
    assert escape(CONSTANT_TEXT) in dashboard.open("report").finding


def test_the_first_release_that_passes_is_shown_with_its_numbers_and_adopted(dashboard: Dashboard, attacks: Attacks):
    rest = [measurement for measurement in comfortable(default_policy()) if measurement.check != "membership_auc"]
    labels = OutputsPlan(released="labels")
    alternative = Alternative(outputs=labels, measurements=(done("membership_auc", 0.503, 0.001),), tries=2)
    attacks.instead = replace(
        sample(), measurements=(*rest, done("membership_auc", 0.7, 0.01)), alternatives=(alternative,)
    )
    dashboard.open("report")
    assert dashboard.finding.count("Labels alone would pass.") == 1
    card = dashboard.test.main.markdown
    (changes,) = [text.value for text in card if "0.700 → 0.503" in text.value]
    assert "limit at most 0.55" in changes
    dashboard.click("use_way_out")
    dashboard.settle()
    assert attacks.plans[-1].outputs == labels


NAME = "<b>Bob & Co.</b>"
EVERY_KIND = tuple(Caveat(kind, f"{NAME}: 1,234 of {kind}.", count=1234) for kind in CaveatKind)
"""A caveat of each kind, with a number and a name that nothing else has."""


def artefacts(dashboard: Dashboard, reports: Reports) -> dict[str, str]:
    """Return what a reader inside has of a verdict, as text."""
    document = reports.document
    printed = io.StringIO()
    Console(out=printed, err=io.StringIO()).results(audit_lines(reports))
    html_elements = [element.proto.body for element in dashboard.test.get("html")]
    texts = {
        "JSON": "\n".join(caveat["text"] for caveat in json.loads(to_json(document))["caveats"]),
        "HTML": Reader(reports.internal_files["report.html"].decode().partition('id="json"')[0]).text,
        "terminal": printed.getvalue(),
        "page": "\n".join(Reader(body).text for body in html_elements),
    }
    return {name: "".join(text.split()) for name, text in texts.items()}


def public_texts(reports: Reports) -> dict[str, str]:
    """Return what a reader outside has of a verdict, as text."""
    files = reports.public_files
    texts = {
        "JSON": files["summary.json"].decode(),
        "HTML": Reader(files["summary.html"].decode()).text,
        "Markdown": files["model-card.md"].decode(),
    }
    return {name: "".join(text.split()) for name, text in texts.items()}


def test_every_kind_of_caveat_stands_in_every_artefact(dashboard: Dashboard, attacks: Attacks):
    attacks.instead = replace(sample(), caveats=EVERY_KIND)
    dashboard.open("report")
    verdict = judge(POLICY, sample().measurements, attribute="sex", caveats=in_order(EVERY_KIND))
    reports = Reports(replace(attacks.instead, verdict=verdict))
    internal, public = artefacts(dashboard, reports), public_texts(reports)
    for caveat in EVERY_KIND:
        phrase = "".join(caveat.text.split())
        assert {name: phrase in text for name, text in internal.items()} == dict.fromkeys(internal, True), caveat.kind
        fixed = "".join(FIXED[caveat.kind].split())
        assert {name: fixed in text for name, text in public.items()} == dict.fromkeys(public, True), caveat.kind
    lines = brief_content(reports.document)["caveats"]
    brief = Reader(brief_html(reports.document)).text
    assert len({entry["text"] for entry in lines}) >= len(CaveatKind) - 2  # drift and unknown sets share a line
    assert all(entry["term"] in brief for entry in lines)
    assert not any("1,234of" in text or "Bob" in text for text in public.values())


def test_the_summary_is_downloaded_and_the_internal_report_says_that_it_is_for_internal_use(
    dashboard: Dashboard, attacks: Attacks
):
    attacks.instead = sample()
    dashboard.open("report")
    texts = " ".join(dashboard.texts)
    assert "Internal report" in texts and "Do not send outside." in texts
    assert "Public summary" in texts and "no number measured on people" in texts
    keys = {button.proto.id.rpartition("-")[2] for button in dashboard.test.get("download_button")}
    assert {"download_public_html", "download_public_json", "download_public_md", "download_internal_html"} <= keys


def test_what_was_picked_and_not_tried_on_itself_is_a_caveat_of_the_report(dashboard: Dashboard, attacks: Attacks):
    attacks.instead = sample()
    dashboard.open("report")
    work = SimpleNamespace(
        result=Reports(attacks.audits[-1]),
        subject=SimpleNamespace(plan=AuditPlan(), chosen=None, picked=True),
        key="of this test",
        store=SimpleNamespace(remember=lambda key, make: make()),
    )
    caveats = report_audit.judged_reports(work, default_policy(), ()).document.caveats  # type: ignore[arg-type]
    kinds = [caveat.kind for caveat in caveats]
    assert kinds[:2] == ["chosen_on_these_records", "self_test_missing"]
    work.subject.picked = False
    caveats = report_audit.judged_reports(work, default_policy(), SELF_TESTS).document.caveats  # type: ignore[arg-type]
    assert {"chosen_on_these_records", "self_test_missing"}.isdisjoint(caveat.kind for caveat in caveats)


def test_a_changed_limit_is_judged_without_an_attack_and_needs_reason_and_source(
    dashboard: Dashboard, attacks: Attacks
):
    dashboard.open("report")
    before = expected(attacks)
    section(dashboard, "judged")
    check = "unfairness"
    check_row = next(row for row in before.rows if row.check == check)
    jobs = len(RecordedJob.started)
    finding = dashboard.finding
    value = 1.0 if check_row.verdict != "pass" else 0.0
    for missing, phrases in (
        ({"source": ""}, ("Unfairness", "source")),
        ({"rationale": ""}, ("Unfairness", "reason")),
        ({"version": "3"}, ("version of its own", "'3'")),
        ({"author": "FairLeak"}, ("author", "answers")),
    ):
        changed(dashboard, check, value=value, **missing)
        assert_one_sentence(dashboard.plain_problem(), phrases)
        assert dashboard.finding == finding
    changed(dashboard, check, value=value)
    page_text = Reader(board(dashboard)).text
    assert "set by A. Officer" in page_text and "Law, § 3" in page_text and "Our own law." in page_text
    limits = tuple(replace(limit, value=value) if limit.check == check else limit for limit in default_policy().limits)
    after = expected(attacks, replace(default_policy(), limits=limits))
    now = next(row for row in after.rows if row.check == check)
    assert now.verdict == ("pass" if value else "fail") != check_row.verdict
    assert escape(after.headline) in dashboard.finding and "FairLeak default, version 4" in dashboard.plain_finding
    assert len(RecordedJob.started) == jobs
    dashboard.click("reset_policy")
    assert_shows(dashboard, before)
    changed(dashboard, "attribute_excess", status=LimitUse.ADVISORY)
    assert "not required" in Reader(board(dashboard)).text


def test_a_policy_is_saved_in_the_history_and_chosen_by_another_session(
    dashboard: Dashboard, attacks: Attacks, start: Start
):
    dashboard.open("report")
    section(dashboard, "judged")
    dashboard.widget("policy_name_").set_value("Consumer credit")
    dashboard.widget("policy_author_").set_value("A. Officer")
    dashboard.click("policy_register_")
    assert not dashboard.test.warning
    (saved,) = History.open(default_history()).policies()
    assert (saved.name, saved.version, saved.who) == ("Consumer credit", "3", "A. Officer")
    assert dashboard.test.selectbox(key="release_policy_box").value == f"saved {saved.number}"
    assert "policy Consumer credit, version 3" in dashboard.plain_finding
    second = start()
    second.open("report")
    section(second, "judged")
    second.choose(release_policy_box=f"saved {saved.number}")
    assert "policy Consumer credit, version 3" in second.plain_finding


@pytest.mark.parametrize("key", ["strict", "gdpr"])
def test_a_template_judges_without_a_new_attack(key: str, dashboard: Dashboard, attacks: Attacks):
    dashboard.open("report")
    section(dashboard, "judged")
    dashboard.choose(release_policy_box=key)
    assert policy_templates()[key].make().name in dashboard.plain_finding
    assert len(attacks.plans) == 1


def test_narrower_releases_are_tried_where_a_stricter_policy_was_chosen_after_the_audit(
    dashboard: Dashboard, attacks: Attacks
):
    """Nothing was tried while the audit passed; the card says so, and its button attacks again."""
    measured = tuple(
        done(item.check, 0.54, 0.001) if item.check == "membership_auc" else item
        for item in comfortable(default_policy())
    )
    attacks.instead = replace(sample(), measurements=measured)
    dashboard.open("report")
    assert "use_narrower" not in str(dashboard.test.button)
    section(dashboard, "judged")
    dashboard.choose(release_policy_box="strict")
    assert "releasing less is yet to be tried" in dashboard.page_text
    plans = len(attacks.plans)
    dashboard.click("use_narrower")
    assert len(attacks.plans) == plans + 1


def test_a_model_to_try_is_audited_when_somebody_asks_and_adopted(dashboard: Dashboard, attacks: Attacks):
    rest = [measurement for measurement in comfortable(default_policy()) if measurement.check != "membership_auc"]
    attacks.instead = replace(sample(), measurements=(*rest, done("membership_auc", 0.7, 0.01)))
    dashboard.open("report")
    assert "Train with depth 4 instead of 8: not tried yet." in dashboard.page_text.replace("*", "")
    assert {plan.config.depth for plan in attacks.plans} == {8}
    attacks.instead = replace(sample(), measurements=tuple(comfortable(default_policy())))
    dashboard.click("use_try")
    assert attacks.plans[-1].config.depth == 4
    assert "Every required limit is kept" in dashboard.page_text
    dashboard.click("use_trial")
    assert "depth 4" in dashboard.plain_finding and "Every required limit is kept" in dashboard.plain_finding


def test_a_policy_file(dashboard: Dashboard, attacks: Attacks):
    dashboard.open("report")
    section(dashboard, "judged")
    finding = dashboard.finding
    usual = policy_text(default_policy())
    for content, phrases in (
        (b"schema = 1\nname = ", ("bad.toml", "TOML")),
        (usual.replace('check = "unfairness"', 'check = "fairness"').encode(), ("bad.toml", "fairness")),
        (b"\xff\xfe\x00", ("bad.toml",)),
    ):
        dashboard.give("policy_file", "bad.toml", content)
        assert_one_sentence(dashboard.plain_problem(), phrases)
        assert dashboard.finding == finding
    policy = replace(default_policy(), name=f"Bank {HOSTILE_CELL}"[:200], limits=tuple(default_policy().limits[6:7]))
    dashboard.give("policy_file", "bank.toml", policy_text(policy).encode())
    assert not dashboard.test.warning
    assert_shows(dashboard, expected(attacks, policy))
    assert "Limit and source · 1 to set" in Reader(board(dashboard)).text
    assert dashboard.test.selectbox(key="release_policy_box").value == "own"
    dashboard.choose(release_policy_box="predictions")
    assert_shows(dashboard, expected(attacks, predictions_policy()))
    assert len(attacks.plans) == 1


def test_the_note_of_the_summary_says_that_the_self_test_still_runs_and_that_a_title_is_missing():
    reports = Reports(sample())
    note = report_audit.public_note(reports, testing=False)
    assert note == "Settings, limits, verdict words and caveats; no number measured on people."
    running = report_audit.public_note(reports, testing=True)
    assert running == f"{note} Self-test still running: a report made now says that it was not run."
    untitled = Reports(replace(sample(), plan=replace(sample().plan, title="")))
    assert "Give it a title" in report_audit.public_note(untitled, testing=False)


def test_who_stops_the_self_test_sees_no_more_of_it_though_another_session_begins_it_again(
    start: Start, attacks: Attacks, monkeypatch: pytest.MonkeyPatch
):
    def endless(folder: object, report: Callable[[int, int], None]) -> None:
        for step in itertools.count():
            report(step, 10**6)
            time.sleep(0.01)

    monkeypatch.setattr(core.auditing, "self_test_in_subprocess", endless)
    first, second = start(), start()
    for session in (first, second):
        session.open("report", settled=False)
        session.until(lambda session=session: session.has_button("cancel_self_test"))
    first.press("cancel_self_test")
    second.until(lambda: [job.busy for job in RecordedJob.started if job.lane == "self_test"] == [False, True])
    first.test.run()
    assert not first.has_button("cancel_self_test") and second.has_button("cancel_self_test")


def test_other_attacks_by_the_form(dashboard: Dashboard, attacks: Attacks):
    attacks.instead = sample()
    dashboard.open("report")
    section(dashboard, "attacked")
    dashboard.widget("asked_questions").set_value(4)
    dashboard.widget("asked_title").set_value("Loans, spring")
    dashboard.click("asked_keep")
    assert [plan.bias_queries.questions for plan in attacks.plans] == [0, 4]
    assert_shows(dashboard, expected(attacks))


def test_given_predictions_without_scores_are_judged_as_init_suggests(dashboard: Dashboard, attacks: Attacks):
    attacks.instead = sample()
    bring_scored(dashboard, score="", excluded="probability")
    dashboard.open("report")
    (plan,) = attacks.plans
    assert (plan.model.kind, plan.config.method, plan.data.file) == ("predictions", "given", "scored.csv")
    assert read_plan(plan_text(plan)) == plan  # the command reads it
    assert not plan.bias_queries.questions and not plan.membership.shadows
    assert_shows(dashboard, expected(attacks, predictions_policy()))
    assert "FairLeak for given predictions" in dashboard.plain_finding


def test_hostile_names_are_shown_and_never_obeyed(dashboard: Dashboard, attacks: Attacks):
    attacks.instead = replace(sample(), data=replace(sample().data, attribute="<b>sex"))
    markup = board(dashboard.open("report"))
    allowed = {"div", "span", "details", "summary", "dl", "dt", "dd", "ul", "li", "b", "p"}  # st.html keeps no drawing
    assert {"details"} <= set(Reader(markup).tags) <= allowed
    assert "<b>sex" not in markup and "<b>sex" in Reader(markup).text


def test_the_tables_of_a_report_are_an_archive_for_spreadsheets_and_its_plan_can_be_read():
    audit = sample()
    reports = Reports(audit)
    with zipfile.ZipFile(io.BytesIO(report_audit.file(reports, "tables.zip"))) as archive:
        assert "checks.csv" in archive.namelist()
        assert all(name.endswith(".csv") for name in archive.namelist())
        assert archive.read("checks.csv").startswith("\ufeff".encode())
    assert report_audit.file(reports, "tables.zip") == report_audit.file(reports, "tables.zip")
    assert read_plan(report_audit.file(Reports(replace(audit, plan=AuditPlan())), "plan.toml")).policy


@pytest.mark.long
def test_a_model_file_beside_a_table(dashboard: Dashboard, attacks: Attacks):
    people = model_samples.people().copy()
    people["sex"] = ["F" if i % 2 else "M" for i in range(len(people))]
    people["land"] = ["N" if i % 3 else "S" for i in range(len(people))]
    people["decision"] = people["approved"].to_numpy()[::-1]
    dashboard.open("data").upload("people.csv", people.to_csv(index=False).encode())
    dashboard.give("model_file", "model.pkl", b"\x80\x04.")
    assert_one_sentence(dashboard.plain_problem(), ("pkl",))
    content = skops.io.dumps(model_samples.pipeline(texts=False))
    dashboard.give("model_file", "model.skops", content)
    assert not dashboard.test.warning
    assert dashboard.column_roles()["decision"] == "excluded"
    dashboard.assign(label="approved", positive="yes", sensitive="sex")
    dashboard.open("report")
    (plan,) = attacks.plans
    assert (plan.model.kind, plan.model.file, plan.data.file) == ("file", "model.skops", "people.csv")
    assert plan.config.roles is not None and not plan.config.roles.gives_predictions
    assert_shows(dashboard, expected(attacks, default_policy()))
    dashboard.open("data").assign(sensitive="land")
    dashboard.click("remove_model")
    for attribute in ("land", "sex"):
        dashboard.choose(attribute=attribute)
        assert not dashboard.has_button("remove_model") and not dashboard.test.warning
        assert "model prediction" not in dashboard.column_roles()
    dashboard.give("model_file", "again.skops", content)
    for attribute in ("land", "sex"):
        dashboard.choose(attribute=attribute)
        roles = dashboard.column_roles()
        assert [roles[name] for name in (attribute, "model prediction", "model score")] == [
            "sensitive",
            "prediction",
            "score",
        ]
    dashboard.upload("more.csv", people[::-1].to_csv(index=False).encode())
    assert "As in your table before it" in dashboard.page_text
    assert dashboard.column_roles() == {name: role for name, role in roles.items() if not name.startswith("model ")}


@pytest.mark.long
def test_a_model_file_is_asked_about_one_label_and_value(dashboard: Dashboard):
    people = model_samples.people().copy()
    people["sex"] = ["F" if i % 2 else "M" for i in range(len(people))]
    people["approved"] = [*people["approved"][:-1], "open"]  # a third value: no column is guessed to be the label
    people["later"] = people["approved"].to_numpy()[::-1]
    dashboard.open("data").upload("people.csv", people.to_csv(index=False).encode())
    dashboard.give("model_file", "model.skops", skops.io.dumps(model_samples.pipeline(texts=False)))
    assert "The model is asked once a label and its positive value are chosen." in dashboard.page_text
    assert "model score" not in dashboard.column_roles()
    dashboard.assign(label="approved", positive="yes", sensitive="sex")
    assert dashboard.column_roles()["model score"] == "score"
    for columns in ({"label": "later"}, {"label": "approved", "positive": "no"}):
        dashboard.assign(**columns)
        assert "model.skops was asked for 'yes' of 'approved'" in dashboard.plain_problem()
    dashboard.assign(label="approved", positive="yes")
    assert not dashboard.test.warning


def test_an_earlier_report_fills_the_column_since_and_a_bad_one_gets_a_sentence(dashboard: Dashboard, attacks: Attacks):
    dashboard.open("report")
    assert "Since" not in board(dashboard) and "compare_file" not in str(dashboard.test.get("file_uploader"))
    dashboard.choose(compare_with="brought")
    dashboard.give("compare_file", "bad.json", b'{"kind": "x"}')
    assert "The file must be a report of FairLeak" in dashboard.test.warning[-1].value
    assert "Since" not in board(dashboard)
    audit = attacks.audits[-1]
    lower = tuple(
        replace(measurement, estimate=replace(measurement.estimate, value=0.3, low=0.29, high=0.31))
        if measurement.check == "membership_auc"
        else measurement
        for measurement in audit.measurements
    )
    caveats = verdict_caveats(audit.caveats, chosen=False, self_tests=audit.self_tests)
    verdict = judge(default_policy(), lower, attribute=audit.data.attribute, caveats=caveats)
    earlier = report_document(replace(audit, measurements=lower, verdict=verdict))
    dashboard.give("compare_file", "report.json", to_json(earlier).encode())
    assert "The file must be" not in str(dashboard.test.warning)
    page_text = Reader(board(dashboard)).text
    assert "Since " in page_text and "worse" in page_text and page_text.count("unchanged") == 12
    assert "Worse: 1 of 11 required checks." in dashboard.page_text
    dashboard.choose(compare_with="")
    assert "Since" not in board(dashboard)
