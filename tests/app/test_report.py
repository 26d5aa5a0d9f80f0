"""The Report page in-process: it says what core's verdict says, follows the policy, and gives its files."""

import io
import itertools
import re
import time
import zipfile
from dataclasses import replace
from types import SimpleNamespace

import skops.io

import core.auditing
from core.auditing import AuditPlan, RegisterPlan, plan_text, read_plan
from core.auditing.policy import (
    VERDICT_TITLES,
    Alternative,
    default_policy,
    estimate_text,
    judge,
    limit_text,
    next_step,
    policy_text,
    predictions_policy,
)
from core.base.caveats import CONSTANT_TEXT, Caveat, CaveatKind, in_order
from core.cli.audit import _printed as audit_lines
from core.cli.console import Console
from core.report import Reports, to_json
from core.report.brief_files import brief_html
from core.report.policy_drafts import LimitUse, policy_templates
from core.store.history import History, default_history
from core.studies.subject import OutputsPlan
from pages._report import report_audit, report_history
from pages.shell.shell import escape
from tests import model_samples
from tests.app.dashboard import RecordedJob
from tests.app.deciding import board, changed
from tests.app.test_own_table import bring_scored
from tests.browser.tables import HOSTILE_CELL
from tests.html_reader import Reader
from tests.policy_samples import done
from tests.samples_report import POLICY, estimate, report, sample
from tests.unit.datasets.bad_tables import assert_one_sentence
from tests.unit.policy.test_files import comfortable


def expected(attacks, policy=None):
    audit = attacks.audits[-1]
    return judge(
        policy or default_policy(), audit.measurements, attribute=audit.data.attribute, alternatives=audit.alternatives
    )


def assert_shows(dashboard, attacks, policy=None):
    """Check that the page says what core's verdict says: required checks, what is not released, then the others."""
    verdict = expected(attacks, policy)
    measured_again = {m.check for narrower in attacks.audits[-1].alternatives for m in narrower.measurements}
    assert escape(verdict.headline) in dashboard.finding
    assert verdict.detail in dashboard.page_text
    reader = Reader(board(dashboard))
    limited = [row for row in verdict.rows if row.limit is not None]
    rows = sorted(limited, key=lambda row: (not row.is_decisive, not row.is_attacked))
    places = [reader.text.index(row.title) for row in rows]
    labels = [label for label in reader.labels if "Limit:" in label]
    assert places == sorted(places)
    for row in rows:
        assert limit_text(row.check, row.limit.value) in reader.text and row.why in reader.text
        assert row.verdict == "pass" or row.check in measured_again or next_step(row) in reader.text
        if row.measurement and row.measurement.estimate:
            assert row.measurement.attacked in reader.text and row.measurement.knows in reader.text
    for row, label in zip([row for row in rows if row.is_attacked], labels, strict=True):
        assert limit_text(row.check, row.limit.value) in label
        if row.measurement and row.measurement.estimate:
            assert estimate_text(row.check, row.measurement.estimate)[0] in label
    (group,) = [group for group in dashboard.test.button_group if group.key == "release_filter"]
    total, *counts = [int(number) for number in re.findall(r"\d+", " ".join(group.options))]
    assert total == sum(row.is_decisive for row in rows) == sum(counts)


def test_who_stops_the_self_test_sees_no_more_of_it_though_another_session_begins_it_again(start, attacks, monkeypatch):
    def endless(folder, report):
        for step in itertools.count():
            report(step, 10**6)
            time.sleep(0.01)

    attacks.instead = sample()
    monkeypatch.setattr(core.auditing, "self_test_in_subprocess", endless)
    first, second = start(), start()
    for session in (first, second):
        session.open("report", settled=False)
        session.until(lambda session=session: session.has_button("cancel_self_test"))
    first.press("cancel_self_test")
    second.until(lambda: [job.busy for job in RecordedJob.started if job.lane == "self_test"] == [False, True])
    first.test.run()
    assert not first.has_button("cancel_self_test") and second.has_button("cancel_self_test")


def test_every_kind_of_caveat_stands_on_page_in_report_and_terminal(dashboard, attacks):
    # With a number and a name that nothing else has.
    caveats = tuple(Caveat(kind, f"<b>Bob & Co.</b>: 1,234 of {kind}.", count=1234) for kind in CaveatKind)
    attacks.instead = replace(sample(), caveats=caveats)
    dashboard.open("report")
    verdict = judge(POLICY, sample().measurements, attribute="sex", caveats=in_order(caveats))
    reports, printed = Reports(replace(attacks.instead, verdict=verdict)), io.StringIO()
    Console(out=printed, err=io.StringIO()).results(audit_lines(reports))
    texts = {
        "report": Reader(reports.internal_files["report.html"].decode().partition('id="json"')[0]).text,
        "terminal": printed.getvalue(),
        "page": "\n".join(Reader(element.proto.body).text for element in dashboard.test.get("html")),
    }
    for caveat in caveats:
        for name, text in texts.items():
            assert "".join(caveat.text.split()) in "".join(text.split()), (caveat.kind, name)


def test_the_finding_is_cores_verdict(dashboard, attacks):
    dashboard.open("report")
    assert_shows(dashboard, attacks)
    keys = {button.proto.id.rpartition("-")[2] for button in dashboard.test.get("download_button")}
    internal = {f"download_internal_{name}" for name in ("html", "json", "tables", "brief")}
    assert internal | {"download_public_html", "download_public_json", "download_public_md"} <= keys
    dashboard.open("data").open("report")
    lanes = [job.lane for job in RecordedJob.started if job.lane in ("decision", "self_test")]
    assert lanes == ["decision", "self_test"]  # nothing is attacked twice
    (plan,) = attacks.plans
    assert (plan.data.dataset, plan.bias_queries.questions, plan.membership.shadows) == ("demo", 0, 16)


def test_hostile_names_and_a_constant_model(dashboard, attacks):
    attacks.instead = replace(
        sample(),
        data=replace(sample().data, attribute="<b>sex"),
        caveats=(Caveat(CaveatKind.CONSTANT_MODEL, CONSTANT_TEXT),),
    )
    markup = board(dashboard.open("report"))
    allowed = {"div", "span", "details", "summary", "dl", "dt", "dd", "ul", "li", "b", "p"}  # st.html keeps no drawing
    assert {"details"} <= set(Reader(markup).tags) <= allowed
    assert "<b>sex" not in markup and "<b>sex" in Reader(markup).text
    assert escape(CONSTANT_TEXT) in dashboard.finding


AUC = "membership_auc"


def with_auc(value):
    """Return measurements inside every limit but for the AUC of membership."""
    rest = [measurement for measurement in comfortable(default_policy()) if measurement.check != AUC]
    return (*rest, done(AUC, value, 0.001))


def test_the_first_release_that_passes_is_shown_with_its_numbers_and_adopted(dashboard, attacks):
    labels = OutputsPlan(released="labels")
    alternative = Alternative(outputs=labels, measurements=(done(AUC, 0.503, 0.001),), tries=2)
    attacks.instead = replace(sample(), measurements=with_auc(0.7), alternatives=(alternative,))
    dashboard.open("report")
    assert dashboard.finding.count("Labels alone would pass.") == 1
    (changes,) = [text.value for text in dashboard.test.main.markdown if "0.700 → 0.503" in text.value]
    assert "limit at most 0.55" in changes
    dashboard.click("use_way_out").settle()
    assert attacks.plans[-1].outputs == labels


def test_a_model_to_try_is_audited_when_somebody_asks_and_adopted(dashboard, attacks):
    attacks.instead = replace(sample(), measurements=with_auc(0.7))
    dashboard.open("report")
    assert "Train with depth 4 instead of 8: not tried yet." in dashboard.page_text.replace("*", "")
    assert {plan.config.depth for plan in attacks.plans} == {8}
    attacks.instead = replace(sample(), measurements=tuple(comfortable(default_policy())))
    dashboard.click("use_try")
    assert attacks.plans[-1].config.depth == 4
    dashboard.click("use_trial")
    assert "depth 4" in dashboard.plain_finding and "Every required limit is kept" in dashboard.plain_finding


def test_narrower_releases_are_tried_where_a_stricter_policy_was_chosen_after_the_audit(dashboard, attacks):
    attacks.instead = replace(sample(), measurements=with_auc(0.54))
    dashboard.open("report")
    assert not dashboard.has_button("use_narrower")
    dashboard.choose(further_release="judged")
    for key in ("gdpr", "strict"):
        dashboard.choose(release_policy_box=key)
        _, make = policy_templates()[key]
        assert make().name in dashboard.plain_finding
    assert len(attacks.plans) == 1  # judging attacks nothing anew
    assert "releasing less is yet to be tried" in dashboard.page_text
    dashboard.click("use_narrower")
    assert len(attacks.plans) == 2


def test_a_changed_limit_is_judged_without_an_attack_and_needs_reason_and_source(dashboard, attacks):
    dashboard.open("report")
    before = expected(attacks)
    dashboard.choose(further_release="judged")
    check = "unfairness"
    verdict_before = next(row for row in before.rows if row.check == check).verdict
    jobs, finding = len(RecordedJob.started), dashboard.finding
    value = 1.0 if verdict_before != "pass" else 0.0
    for missing, phrase in ({"source": ""}, "source"), ({"version": default_policy().version}, "version of its own"):
        changed(dashboard, check, value=value, **missing)
        assert_one_sentence(dashboard.plain_problem(), (phrase,))
        assert dashboard.finding == finding
    changed(dashboard, check, value=value)
    page_text = Reader(board(dashboard)).text
    assert "set by A. Officer" in page_text and "Law, § 3" in page_text and "Our own law." in page_text
    limits = tuple(replace(limit, value=value) if limit.check == check else limit for limit in default_policy().limits)
    after = expected(attacks, replace(default_policy(), limits=limits))
    assert next(row for row in after.rows if row.check == check).verdict != verdict_before
    assert escape(after.headline) in dashboard.finding and len(RecordedJob.started) == jobs
    dashboard.click("reset_policy")
    assert_shows(dashboard, attacks)
    changed(dashboard, "attribute_excess", status=LimitUse.INFORMATION)
    assert "for information" in Reader(board(dashboard)).text


def test_a_policy_is_saved_in_the_history_and_chosen_by_another_session(dashboard, attacks, start):
    dashboard.open("report").choose(further_release="judged")
    dashboard.submit("policy_register_", policy_name_="Consumer credit", policy_author_="A. Officer")
    (saved,) = History.open(default_history()).policies()
    assert (saved.name, saved.version, saved.who) == ("Consumer credit", default_policy().version, "A. Officer")
    assert dashboard.test.selectbox(key="release_policy_box").value == f"saved {saved.number}"
    second = start().open("report")
    second.choose(further_release="judged")
    second.choose(release_policy_box=f"saved {saved.number}")
    assert f"policy Consumer credit, version {saved.version}" in second.plain_finding


def test_a_policy_file(dashboard, attacks):
    dashboard.open("report").choose(further_release="judged")
    finding = dashboard.finding
    usual = policy_text(default_policy())
    dashboard.give("policy_file", "bad.toml", usual.replace('"unfairness"', '"fairness"').encode())
    assert_one_sentence(dashboard.plain_problem(), ("bad.toml", "fairness"))
    assert dashboard.finding == finding
    policy = replace(default_policy(), name=f"Bank {HOSTILE_CELL}"[:200], limits=tuple(default_policy().limits[6:7]))
    dashboard.give("policy_file", "bank.toml", policy_text(policy).encode())
    assert not dashboard.test.warning
    assert_shows(dashboard, attacks, policy)
    dashboard.choose(release_policy_box="predictions")
    assert_shows(dashboard, attacks, predictions_policy())
    assert len(attacks.plans) == 1


def test_files_and_what_their_notes_say():
    audit = sample()
    note = report_audit.public_note(Reports(audit), testing=False)
    assert "Self-test still running" in report_audit.public_note(Reports(audit), testing=True).removeprefix(note)
    untitled = Reports(replace(audit, plan=replace(audit.plan, title="")))
    assert "Give it a title" in report_audit.public_note(untitled, testing=False)
    plan = replace(untitled.audit.plan, register=RegisterPlan(model="Loans", version="2"))
    registered = Reports(replace(audit, plan=plan))
    assert "Give it a title" not in report_audit.public_note(registered, testing=False)
    assert registered.summary.title == "Loans 2"
    tables = report_audit.file(Reports(audit), "tables.zip")
    with zipfile.ZipFile(io.BytesIO(tables)) as archive:
        assert all(name.endswith(".csv") for name in archive.namelist())
        assert archive.read("checks.csv").startswith("\ufeff".encode())
    assert report_audit.file(Reports(audit), "tables.zip") == tables
    assert read_plan(report_audit.file(Reports(replace(audit, plan=AuditPlan())), "plan.toml")).policy


def test_given_predictions_are_judged_as_init_suggests_and_other_attacks_by_the_form(dashboard, attacks):
    attacks.instead = sample()
    bring_scored(dashboard, score="", excluded="probability")
    dashboard.open("report")
    (plan,) = attacks.plans
    assert (plan.model.kind, plan.config.method, plan.data.file) == ("predictions", "given", "scored.csv")
    assert read_plan(plan_text(plan)) == plan  # the command reads it
    assert not plan.bias_queries.questions and not plan.membership.shadows
    assert_shows(dashboard, attacks, predictions_policy())
    dashboard.choose(dataset="demo")
    dashboard.choose(further_release="attacked")
    dashboard.submit("asked_keep", asked_questions=4, asked_title="Loans, spring")
    assert [plan.bias_queries.questions for plan in attacks.plans] == [0, 0, 4]
    assert attacks.plans[-1].title == "Loans, spring"


def test_the_sidebar_has_the_verdict_until_something_else_is_audited(dashboard, attacks):
    attacks.instead = sample()
    dashboard.open("report")
    title = VERDICT_TITLES[judge(default_policy(), sample().measurements, attribute="sex").overall]
    for page in ("report", "data"):
        sidebar = " ".join(entry.value for entry in dashboard.open(page).test.sidebar.markdown)
        assert "Verdict: " in sidebar and f"**{title}**" in sidebar
    dashboard.choose(seed=7)
    assert "Verdict: " not in " ".join(entry.value for entry in dashboard.test.sidebar.markdown)


def test_an_owners_statement_reaches_the_brief_without_a_new_attack(dashboard, attacks, monkeypatch):
    attacks.instead = sample()
    reports = []
    judge_again = report_audit.judged_reports
    monkeypatch.setattr(report_audit, "judged_reports", lambda *args: reports.append(judge_again(*args)) or reports[-1])
    dashboard.open("report")
    dashboard.choose(further_release="stated")
    dashboard.submit("keep_statement", stated_met_partner="yes", stated_why_partner="2 partners get " + "scores " * 20)
    assert_one_sentence(dashboard.plain_problem(), ("partner", "120"))
    dashboard.submit("keep_statement", stated_why_partner="2 partners get scores", stated_owner="Credit unit")
    assert not dashboard.test.warning and len(attacks.plans) == 1
    (stated,) = dashboard.test.success
    assert "1 of 7 attackers" in stated.value and "owner given" in stated.value
    brief = brief_html(reports[-1].document)
    assert "2 partners get scores" in brief and "Credit unit" in brief
    assert read_plan(plan_text(reports[-1].document.plan)).attackers.partner == "yes: 2 partners get scores"


def test_the_report_says_that_it_is_not_of_the_table_that_is_gone(start, attacks):
    attacks.instead = sample()
    dashboard = start({"dataset": "Your table"}).open("report").click("use_demo_report")
    assert "Do not release" in dashboard.finding and "not of your uploaded table" in dashboard.plain_problem()
    assert not dashboard.open("glossary").test.warning


def test_a_brief_has_the_signatures_of_when_its_button_was_drawn(monkeypatch):
    """A file is made in a thread that has no session."""
    signature = SimpleNamespace(
        **{"decision": "accept_risk", "title": "Accept the risk", "name": "Ada", "role": "DPO", "proven": True},
        **{"when": "2026-11-22T10:00:00Z", "until": "", "end": "", "stands": True, "reason": "Pilot.", "condition": ""},
    )
    with monkeypatch.context() as patch:
        patch.setattr(report_history, "signatures_of", lambda fingerprint: (signature,))
        patch.setattr(report_history, "next_review", lambda signatures: "")
        make = report_audit._brief(Reports(sample()), ".html")
    assert "Ada" in make().decode()


def test_a_model_file_beside_a_table(dashboard, attacks):
    attacks.instead = sample()
    people = model_samples.people().copy()
    people["sex"] = ["F" if i % 2 else "M" for i in range(len(people))]
    people["approved"] = [*people["approved"][:-1], "open"]  # a third value: no column is guessed to be the label
    people["later"] = people["approved"].to_numpy()[::-1]
    dashboard.open("data").upload("people.csv", people.to_csv(index=False).encode())
    dashboard.give("model_file", "model.pkl", b"\x80\x04.")
    assert_one_sentence(dashboard.plain_problem(), ("pkl",))
    dashboard.give("model_file", "model.skops", skops.io.dumps(model_samples.pipeline(texts=False)))
    assert "The model is asked once a label and its positive value are chosen." in dashboard.page_text
    dashboard.assign(label="approved", positive="yes", sensitive="sex")
    roles = dashboard.column_roles()
    assert (roles["model prediction"], roles["model score"]) == ("prediction", "score")
    dashboard.open("report")
    (plan,) = attacks.plans
    assert (plan.model.kind, plan.model.file, plan.data.file) == ("file", "model.skops", "people.csv")
    assert not plan.config.roles.gives_predictions
    assert_shows(dashboard, attacks, default_policy())
    dashboard.open("data")
    for columns in ({"label": "later"}, {"label": "approved", "positive": "no"}):
        dashboard.assign(**columns)
        assert "model.skops was asked for 'yes' of 'approved'" in dashboard.plain_problem()
    dashboard.assign(label="approved", positive="yes").click("remove_model")
    assert not dashboard.has_button("remove_model") and "model score" not in dashboard.column_roles()


def test_an_earlier_report_fills_the_column_since_and_a_bad_one_gets_a_sentence(dashboard, attacks):
    attacks.instead = sample()
    dashboard.open("report").choose(compare_with="brought")
    dashboard.give("compare_file", "bad.json", b'{"kind": "x"}')
    assert "The file must be a report of FairLeak" in dashboard.test.warning[-1].value
    assert "Since" not in board(dashboard)
    earlier = report({"membership_caught": estimate(0.02, 0.001)}, policy=default_policy())
    dashboard.give("compare_file", "report.json", to_json(earlier).encode())
    page_text = Reader(board(dashboard)).text
    assert "Since " in page_text and page_text.count("unchanged") == 7
    assert "Worse: 1 of 11 required checks." in dashboard.page_text
    dashboard.choose(compare_with="")
    assert "Since" not in board(dashboard)
