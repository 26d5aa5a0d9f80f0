"""The card "Decision" in-process: keep, sign, ban; what is wrong is said there and nothing typed is lost."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from core.base.errors import FairLeakError
from core.store.history import History, default_history
from pages.shell import signin
from tests.app.conftest import Start
from tests.app.dashboard import Dashboard
from tests.app.deciding import Attacks, attacks, changed, section
from tests.samples_report import sample

__all__ = ["attacks"]


@pytest.fixture
def report(dashboard: Dashboard, attacks: Attacks, monkeypatch: pytest.MonkeyPatch) -> Dashboard:
    """The Report page, with an audit that nobody has kept."""
    attacks.instead = sample()
    monkeypatch.delenv("FAIRLEAK_HISTORY", raising=False)
    dashboard.open("report")
    return dashboard


def history() -> History:
    return History.open(default_history(), create=False)


def with_model(dashboard: Dashboard, model: str = "Loans", version: str = "1.0") -> Dashboard:
    """Type model and version; AppTest's select box takes a name from its options alone."""
    dashboard.widget("sign_model").options.append(model)
    dashboard.widget("sign_model").set_value(model)
    return dashboard.choose(sign_version=version)


def signed(dashboard: Dashboard, decision: str, who: str, reason: str = "") -> Dashboard:
    """Fill in the card and sign."""
    dashboard.choose(sign_decision=decision)
    for field, text in (("sign_who", who), ("sign_reason", reason)):
        dashboard.widget(field).set_value(text)
    return dashboard.click("sign_audit")


def test_an_audit_is_kept_once_and_what_is_kept_is_what_the_page_shows(report: Dashboard):
    assert report.button("keep_audit").disabled and report.button("sign_audit").disabled
    assert not default_history().exists()  # looking makes nothing
    with_model(report).click("keep_audit")
    (entry,) = history().entries()
    assert (entry.model, entry.version) == ("Loans", "1.0")
    assert f"Kept on {entry.when[:10]} by Dashboard, not signed in" in report.page_text
    assert report.button("sign_audit").label == f"Sign report {entry.short}" and report.button("keep_audit").disabled
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


def test_a_ban_stands_while_limits_and_versions_change(report: Dashboard, start: Start):
    with_model(report).choose(sign_decision="accept_risk")
    report.choose(sign_until=date(2031, 5, 1), sign_condition="No scores to partners.")
    signed(report, "accept_risk", "Ada, DPO")
    assert "“Accept the risk” needs a reason and a last day." in report.plain_problem()
    assert report.widget("sign_who").value == "Ada, DPO"
    signed(report, "accept_risk", "Ada, DPO", "A pilot with 40 people.")
    (signature,) = history().signatures()
    assert (signature.until, signature.condition) == ("2031-05-01", "No scores to partners.")
    report.choose(sign_decision="do_not_release", sign_reason="")
    assert "Ada signed “Accept the risk”: another decision needs a reason." in report.page_text
    signed(report, "do_not_release", "Bo, works council", "40 people are people.")
    (entry,) = history().entries()
    assert [(signature.title, signature.name, signature.stands) for signature in history().signatures(entry)] == [
        ("Accept the risk", "Ada", False),
        ("Do not release", "Bo", True),
    ]
    report.choose(sign_decision="accept_risk", sign_reason="A pilot.")
    assert "Loans 1.0 is banned by Bo since" in report.page_text and report.button("sign_audit").disabled
    section(report, "judged")
    changed(report, "unfairness", value=0.06)
    assert "different here: policy" in report.page_text and report.button("sign_audit").disabled
    session = start().open("report")
    assert session.widget("sign_model").value == "Loans"
    session.choose(sign_version="1.1")
    assert "Banned: 1.0." in session.page_text and "Bo, works council" not in session.page_text
    signed(session, "do_not_release", "Ada, DPO")
    assert [ban.version for ban in history().model("Loans").bans()] == ["1.1", "1.0"]


def test_a_proven_name_cannot_be_typed(report: Dashboard, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(signin, "name", lambda: "ada@example.org")
    with_model(report)
    signed(report, "do_not_release", "Bo, works council")
    (signature,) = history().signatures()
    assert (signature.name, signature.role, signature.proven) == ("ada@example.org", "Bo, works council", True)
    assert history().entries()[0].who == "ada@example.org"


def test_a_history_that_cannot_be_used_costs_nothing_that_was_computed(
    start: Start, attacks: Attacks, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    attacks.instead = sample()
    (letter := tmp_path / "letter").write_text("Dear officer")
    monkeypatch.setenv("FAIRLEAK_HISTORY", str(letter))
    dashboard = start().open("report")
    assert "is not a FairLeak history and was left as it is" in dashboard.plain_problem()
    letter.unlink()
    dashboard.click("history_again")
    finding = with_model(dashboard).finding

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
