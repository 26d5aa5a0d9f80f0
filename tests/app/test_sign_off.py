"""The dialog "Decide and sign" in-process, and what pages offer to each role; all other tests have no sign-in."""

import re
import threading
from datetime import date
from unittest.mock import Mock

import pytest

import core.auditing
from core.base.errors import FairLeakError
from core.desk import default_ledger, open_ledger
from core.store.history import History, default_history
from pages.shell import signin
from pages.shell.signin import Role
from tests import desk_files
from tests.app.deciding import SELF_TESTS, changed
from tests.app.test_desk import from_file, sent
from tests.browser.signing_in import addresses
from tests.samples_report import sample


@pytest.fixture
def report(dashboard, attacks):
    """The Report page, with an audit that nobody has kept."""
    attacks.instead = sample()
    return dashboard.open("report").click("open_decision")


def history():
    return History.open(default_history(), create=False)


def with_model(dashboard):
    """Type model and version; AppTest's select box takes a name from its options alone."""
    dashboard.widget("sign_model").options.append("Loans")
    dashboard.widget("sign_model").set_value("Loans")
    return dashboard.choose(sign_version="1.0")


def signed(dashboard, decision, who, reason="Checks fail."):
    if dashboard.has_button("sign_again_button"):
        dashboard.click("sign_again_button")
    dashboard.choose(sign_decision=decision)
    return dashboard.submit("sign_audit", sign_who=who, sign_reason=reason)


def test_an_audit_is_kept_once_and_what_is_kept_is_what_the_page_shows(report):
    assert report.button("keep_audit").disabled and report.button("sign_audit").disabled
    assert not default_history().exists()  # looking makes nothing
    with_model(report).click("keep_audit")
    (entry,) = history().entries()
    assert (entry.model, entry.version) == ("Loans", "1.0")
    assert f"Kept on {entry.when[:10]} by Dashboard, not signed in" in report.page_text
    assert f"has the fingerprint {entry.short}" in report.page_text and report.button("keep_audit").disabled
    document = history().document(entry)
    assert document.verdict.headline in report.plain_finding and document.self_tests
    assert (document.plan.register.model, document.plan.register.version) == ("Loans", "1.0")
    report.choose(sign_decision="release")
    assert report.button("sign_audit").disabled
    assert "Limits without a source: " in report.page_text and "Required and not passed: " in report.page_text
    for who in ("Ada", ", DPO"):
        signed(report, "do_not_release", who)
        assert "Name and role must be two parts with a comma between them" in report.plain_problem()
    assert history().signatures() == ()


def test_a_ban_stands_while_limits_and_versions_change(report, start):
    with_model(report).choose(sign_decision="accept_risk")
    report.choose(sign_until=date(2031, 5, 1), sign_condition="No scores to partners.")
    signed(report, "accept_risk", "Ada, DPO", "")
    assert "“Accept the risk” needs a reason." in report.plain_problem()
    assert report.widget("sign_who").value == "Ada, DPO"
    signed(report, "accept_risk", "Ada, DPO", "A pilot with 40 people.")
    (signature,) = history().signatures()
    assert (signature.until, signature.condition) == ("2031-05-01", "No scores to partners.")
    assert not report.has_button("sign_audit")
    assert signature.short in report.test.success[0].value and "Accept the risk** by Ada, DPO" in report.page_text
    report.click("sign_again_button")
    report.choose(sign_decision="do_not_release", sign_reason="")
    assert "Ada signed “Accept the risk”: another decision needs a reason." in report.page_text
    signed(report, "do_not_release", "Bo, works council", "40 people are people.")
    (entry,) = history().entries()
    decisions = [(signature.title, signature.name, signature.stands) for signature in history().signatures(entry)]
    assert decisions == [("Accept the risk", "Ada", False), ("Do not release", "Bo", True)]
    report.click("sign_again_button").choose(sign_decision="accept_risk", sign_reason="A pilot.")
    assert "Loans 1.0 is banned by Bo since" in report.page_text and report.button("sign_audit").disabled
    report.choose(further_release="judged")
    changed(report, "unfairness", value=0.06)
    assert "different here: policy" in report.page_text and report.button("sign_audit").disabled
    session = start().open("report").click("open_decision")
    assert session.widget("sign_model").value == "Loans"
    session.choose(sign_version="1.1", sign_decision="accept_risk")
    assert "The same answers were banned as 1.0 by Bo on" in session.page_text and session.button("sign_audit").disabled
    assert "Banned: 1.0." in session.page_text
    assert "Loans 1.0: " in session.page_text and "Bo, works council" in session.page_text  # beside the new verdict
    signed(session, "do_not_release", "Ada, DPO", "")
    assert "“Do not release” needs a reason." in session.plain_problem()
    signed(session, "do_not_release", "Ada, DPO")
    assert [ban.version for ban in history().model("Loans").bans()] == ["1.1", "1.0"]


def test_the_dialog_says_the_fingerprint_that_is_signed_and_none_before_the_model_has_a_name(report):
    unnamed = report.page_text
    (digits,) = re.findall(r"has the fingerprint (\w{4} \w{4})", with_model(report).page_text)
    assert digits not in unnamed and "has the fingerprint" not in unnamed
    signed(report, "do_not_release", "Ada, DPO")
    (signature,) = history().signatures()
    assert signature.short == digits
    report.click("sign_close")
    assert not report.has_button("sign_audit") and "Loans 1.0: " in report.page_text
    report.click("open_decision")  # what was signed, and no form
    assert digits in report.test.success[0].value and not report.has_button("sign_audit")


def test_a_report_signed_while_the_self_test_runs_stays_on_the_page_when_it_has_ended(start, attacks, monkeypatch):
    ended = threading.Event()

    def self_test(folder, report=None):
        ended.wait(60)
        return SELF_TESTS

    attacks.instead = sample()
    monkeypatch.setattr(core.auditing, "self_test_in_subprocess", self_test)
    dashboard = start().open("report", settled=False)
    dashboard.until(lambda: dashboard.has_button("open_decision"))
    dashboard.press("open_decision")
    dashboard.widget("sign_model").options.append("Loans")
    for key, value in {"model": "Loans", "version": "1.0", "who": "Ada, DPO", "reason": "-"}.items():
        dashboard.widget(f"sign_{key}").set_value(value)
    dashboard.test.run()
    dashboard.press("sign_audit")
    (entry,) = history().entries()
    assert not history().document(entry).self_tests
    ended.set()
    dashboard.until(lambda: not dashboard.has_button("cancel_self_test"))
    dashboard.test.run()
    assert dashboard.has_button("sign_again_button")
    assert entry.short in dashboard.test.success[0].value


def test_a_proven_name_cannot_be_typed(report, monkeypatch):
    monkeypatch.setattr(signin, "name", lambda: "ada@example.org")
    with_model(report)
    signed(report, "do_not_release", "Bo, works council")
    (signature,) = history().signatures()
    assert (signature.name, signature.role, signature.proven) == ("ada@example.org", "Bo, works council", True)
    assert history().entries()[0].who == "ada@example.org"


def test_a_history_that_cannot_be_used_costs_nothing_that_was_computed(start, attacks, tmp_path, monkeypatch):
    attacks.instead = sample()
    (letter := tmp_path / "letter").write_text("Dear officer")
    monkeypatch.setenv("FAIRLEAK_HISTORY", str(letter))
    dashboard = start().open("report")
    assert "is not a FairLeak history and was left as it is" in dashboard.plain_problem()
    letter.unlink()
    dashboard.click("history_again").click("open_decision")
    finding = with_model(dashboard).finding

    with monkeypatch.context() as patch:
        patch.setattr(History, "keep", Mock(side_effect=FairLeakError("The history is full.")))
        signed(dashboard, "do_not_release", "Ada, DPO")
        assert dashboard.plain_problem() == "The history is full."
    assert dashboard.finding == finding and dashboard.widget("sign_who").value == "Ada, DPO"
    dashboard.click("sign_audit")
    assert not dashboard.test.warning and len(History.open(letter).signatures()) == 1
    assert len(attacks.plans) == 1


def test_an_asker_is_shown_no_page_but_the_desk(dashboard, be):
    be(Role.ASKER)
    for address in addresses():
        dashboard.open(address or "overview", settled=False)
        if address in ("desk", "", "overview", "nowhere"):  # as the first page
            assert "Private query desk" in dashboard.texts[0], address
        else:
            assert dashboard.texts[-1].endswith("This page is not open to the role *asker*."), address
        assert not dashboard.test.sidebar.selectbox, address


def sections(dashboard):
    (control,) = [group for group in dashboard.test.button_group if group.label == "At the desk"]
    return [option.content for option in control.proto.options]


def test_an_asker_asks_by_the_proven_name_once_an_officer_has_opened_the_test_set(start, be):
    be(Role.OFFICER)
    officer = from_file(start())
    assert len(sections(officer)) == 4

    be(Role.ASKER)
    asker = start().open("desk")
    assert "An officer has not opened this test set" in asker.page_text
    assert sections(asker) == ["Ask a question", "Answered questions"]
    assert not asker.has_button("desk_open") and not asker.test.file_uploader

    be(Role.OFFICER)
    officer.choose(desk_opened=True)
    be(Role.ASKER)
    asker.settle()
    asker.give("desk_predictions", "model.csv", desk_files.predictions())
    asker.choose(desk_epsilon=0.05, desk_asker="model 7").click("desk_ask")
    assert asker.test.success
    (answer,) = open_ledger(default_ledger()).status("loans").answers
    assert answer.asker == "asker@example.org: model 7"
    assert sent(asker).count("Male") < 10  # of 400 people: the groups' names alone

    be(Role.OFFICER)
    officer.settle().choose(desk_opened=False)
    be(Role.ASKER)
    assert "An officer has not opened this test set" in asker.settle().page_text


@pytest.mark.long
def test_an_auditor_reads_limits_and_the_record_and_changes_neither(start, be, attacks):
    attacks.instead = sample()
    open_ledger(default_ledger(), create=True)
    be(Role.AUDITOR)
    auditor = start().open("desk")
    assert sections(auditor) == ["Export and verify"]
    assert not auditor.has_button("desk_open")
    auditor.open("report").choose(further_release="judged")
    assert "The limits are an officer's to set." in auditor.page_text
    keys = {element.key for kind in ("selectbox", "file_uploader", "button") for element in getattr(auditor.test, kind)}
    assert not keys & {"policy_file", "release_limit", "release_policy_box", "reset_policy"}


def test_an_officer_whose_role_is_gone_changes_nothing(start, be, attacks):
    attacks.instead = sample()
    be(Role.OFFICER)
    officer = with_model(start().open("report").click("open_decision")).choose(sign_who="DPO")
    be(Role.ASKER)
    officer.click("sign_audit")
    assert not default_history().exists() or not History.open(default_history(), create=False).entries()
    assert officer.texts[-1].endswith("This page is not open to the role *asker*.")
    be(Role.OFFICER)
    officer.open("desk")
    be(Role.ASKER)
    officer.click("desk_create")
    assert not default_ledger().exists()
    be(Role.OFFICER)
    from_file(officer)
    be(Role.ASKER)
    officer.choose(desk_opened=True)
    assert "An officer has not opened this test set" in start().open("desk").page_text
