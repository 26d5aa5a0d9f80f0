"""The card "Sign-off" in-process: keep, sign, dissent, void; what is wrong is said there and nothing typed is lost."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.base.errors import FairLeakError
from core.store.history import History, default_history
from pages.shell import signin
from tests.app.conftest import Start
from tests.app.dashboard import Dashboard
from tests.app.deciding import Attacks, attacks, changed, section

__all__ = ["attacks"]


@pytest.fixture
def report(dashboard: Dashboard, attacks: Attacks, monkeypatch: pytest.MonkeyPatch) -> Dashboard:
    """The Report page, with an audit that nobody has kept."""
    monkeypatch.delenv("FAIRLEAK_HISTORY", raising=False)
    dashboard.open("report")
    return dashboard


def history() -> History:
    return History.open(default_history(), create=False)


def with_project(dashboard: Dashboard, project: str = "Loans") -> Dashboard:
    """Type the name of a project, which AppTest's select box takes from its options alone."""
    dashboard.widget("sign_project").options.append(project)
    return dashboard.choose(sign_project=project)


def signed(dashboard: Dashboard, decision: str, who: str, reason: str = "") -> Dashboard:
    """Fill in the card and sign."""
    return dashboard.choose(sign_decision=decision, sign_who=who, sign_reason=reason).click("sign_audit")


def test_an_audit_is_kept_once_and_what_is_kept_is_what_the_page_shows(report: Dashboard):
    assert "Not in the history yet" in report.page_text and report.button("keep_audit").disabled
    assert "Name a project to sign." in report.page_text and report.button("sign_audit").disabled
    assert not default_history().exists()  # looking makes nothing
    with_project(report).click("keep_audit")
    (entry,) = history().entries()
    assert (entry.project, entry.id) == ("Loans", 2)
    assert f"Kept as audit 2 on {entry.when[:10]} by Dashboard, not signed in" in report.page_text
    assert report.button("sign_audit").label == f"Sign {entry.short}" and report.button("keep_audit").disabled
    document = history().document(entry)
    assert document.verdict.headline in report.plain_finding and document.self_tests


def test_signing_keeps_dissent_stands_beside_it_and_a_changed_limit_voids_both(report: Dashboard):
    with_project(report)
    signed(report, "accept_risk", "Ada, DPO")
    assert "“Accept the risk” needs a reason." in report.plain_problem()
    assert report.widget("sign_who").value == "Ada, DPO"
    signed(report, "accept_risk", "Ada, DPO", "A pilot with 40 people.")
    assert not report.test.warning and "Accept the risk by Ada, DPO" in report.page_text.replace("*", "")
    report.choose(sign_decision="do_not_release", sign_reason="")
    assert "Ada signed “Accept the risk”: another decision needs a reason." in report.page_text
    signed(report, "do_not_release", "Bo, works council", "40 people are people.")
    (entry,) = history().entries()
    assert [(signature.title, signature.name, signature.void) for signature in history().signatures(entry)] == [
        ("Accept the risk", "Ada", ""),
        ("Do not release", "Bo", ""),
    ]
    assert "Void" not in report.page_text
    assert "They disagree: “Do not release”; “Accept the risk”." in report.page_text
    section(report, "judged")
    changed(report, "unfairness", value=0.06)
    assert report.page_text.count("Void: the audit changed since (policy).") == 2
    assert "Not in the history yet" in report.page_text and entry.short not in report.button("sign_audit").label
    assert [signature.void for signature in history().signatures(entry)] == [
        "",
        "",
    ]  # nothing was kept: back at it, they stand
    report.click("reset_policy")
    assert "Void" not in report.page_text
    changed(report, "unfairness", value=0.06)
    signed(report, "do_not_release", "Ada, DPO")
    assert len(history().entries()) == 2
    report.click("reset_policy")
    assert report.page_text.count("Void: the audit changed since (policy).") == 3


def test_release_says_what_is_missing(report: Dashboard):
    with_project(report).choose(sign_decision="release")
    assert report.button("sign_audit").disabled
    assert "Limits without a source: " in report.page_text and "Required and not passed: " in report.page_text


@pytest.mark.long
def test_name_and_role_are_both_asked_for(report: Dashboard):
    with_project(report)
    for who in ("", "Ada", ", DPO", "Ada, "):
        signed(report, "do_not_release", who)
        message = f"Name and role must be two parts with a comma between them, got '{who.strip()}'."
        assert message in report.plain_problem()
    assert history().signatures() == ()


def test_a_proven_name_cannot_be_typed(report: Dashboard, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(signin, "name", lambda: "ada@example.org")
    with_project(report)
    signed(report, "do_not_release", "Bo, works council")
    (signature,) = history().signatures()
    assert (signature.name, signature.role, signature.proven) == ("ada@example.org", "Bo, works council", True)
    assert history().entries()[0].who == "ada@example.org"


def test_a_history_that_cannot_be_used_costs_nothing_that_was_computed(
    start: Start, attacks: Attacks, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    (letter := tmp_path / "letter").write_text("Dear officer")
    monkeypatch.setenv("FAIRLEAK_HISTORY", str(letter))
    dashboard = start()
    dashboard.open("report")
    assert "is not a FairLeak history and was left as it is" in dashboard.plain_problem()
    finding = dashboard.finding
    letter.unlink()
    dashboard.click("history_again")
    assert not dashboard.test.warning
    with_project(dashboard)

    def full(*_: object, **__: object) -> None:
        raise FairLeakError("The history is full.")

    with monkeypatch.context() as patch:
        patch.setattr(History, "keep", full)
        signed(dashboard, "do_not_release", "Ada, DPO")
        assert dashboard.plain_problem() == "The history is full."
    assert dashboard.finding == finding and dashboard.widget("sign_who").value == "Ada, DPO"
    dashboard.click("sign_audit")
    assert not dashboard.test.warning and len(History.open(letter).signatures()) == 1
    assert len(attacks.plans) == 1


def test_another_session(report: Dashboard, start: Start):
    signed(with_project(report), "do_not_release", "Ada, DPO")
    session = start()
    session.open("report")
    assert session.widget("sign_project").value == "Loans" and "Kept as audit 2" in session.page_text
    assert "Do not release by Ada, DPO" in session.page_text.replace("*", "")
