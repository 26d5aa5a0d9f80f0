"""The page Models in-process: rows, the open row, the dialogs of register and revoke, and who may do what there."""

from __future__ import annotations

from datetime import date, timedelta

import pytest

from core.store.events import BAN
from core.store.history import History, default_history, today
from pages.shell.signin import Role
from tests.app.conftest import Be, Start
from tests.app.dashboard import Dashboard
from tests.history_work import WHO, report

OFFICER = {"name": "M. Keller", "role": "DPO"}
VENDOR = "Vendor default"


@pytest.fixture
def history(monkeypatch: pytest.MonkeyPatch, dashboard: Dashboard) -> History:
    """A register: two banned versions of one model and a released one, whose review is due, and another."""
    monkeypatch.delenv("FAIRLEAK_HISTORY", raising=False)
    history = History.open(default_history())
    for version in ("1.0", "2.0"):
        entry = history.keep(report(version), model=VENDOR, version=version, who=WHO)
        history.sign(entry, decision=BAN, **OFFICER)
    released = history.keep(report("2.1", releasable=True), model=VENDOR, version="2.1", who=WHO)
    soon = (date.fromisoformat(today()) + timedelta(days=12)).isoformat()
    history.sign(released, decision="release", until=soon, condition="No scores.", **OFFICER)
    history.register("Branch staffing", purpose="How many counters", owner="Operations", who=WHO)
    return history


def rows(dashboard: Dashboard) -> list[str]:
    """Return the models whose rows are drawn."""
    buttons = [button for button in dashboard.test.button if (button.key or "").startswith("open_model_")]
    return [button.label for button in buttons if button.key[-1].isdigit()]


def test_an_empty_register_and_a_model_registered_and_changed_in_a_dialog(
    dashboard: Dashboard, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.delenv("FAIRLEAK_HISTORY", raising=False)
    dashboard.open("models")
    assert "No model is registered yet" in dashboard.plain_finding and rows(dashboard) == []
    assert not default_history().exists()  # looking makes nothing
    dashboard.click("register_model").choose(model_name="Churn").click("register_done")
    assert "purpose must be 1 to 200 printable characters" in dashboard.plain_problem()
    dashboard.choose(model_purpose="Whom to write to", model_owner="Marketing").click("register_done")
    assert dashboard.test.query_params["model"] in ("Churn", ["Churn"])  # its row is open
    dashboard.click("open_model_change")
    dashboard.choose(model_owner="Sales", model_review=date(2031, 5, 1)).click("register_done")
    (model,) = History.open(create=False).models()
    assert (model.name, model.purpose, model.owner) == ("Churn", "Whom to write to", "Sales")
    assert (model.review, model.who) == ("2031-05-01", "Dashboard, not signed in")


def test_rows_say_what_stands_filters_leave_some_and_an_open_row_has_all(history: History, start: Start):
    dashboard = start().open("models")
    assert "2 models: 2 versions banned, 1 review due in 12 days." in dashboard.plain_finding
    text = dashboard.page_text
    assert "Banned: 2.0, 1.0" in text and "Released: 2.1" in text and "not audited yet" in text
    assert "The ban on 1.0 stands although 2.1 exists" in text
    for name, models in (("banned", [VENDOR]), ("due", [VENDOR]), ("all", [VENDOR, "Branch staffing"])):
        assert rows(dashboard.choose(models_filter=name)) == models
    dashboard.click("open_model_0")
    text = dashboard.page_text
    assert f"{VENDOR}: checks over 3 versions" in text and len(dashboard.test.get("plotly_chart")) == 6
    assert text.index("2.1: Release") < text.index("2.0: Do not release") < text.index("1.0: Do not release")
    assert "Condition: No scores." in text
    tables = [frame.value for frame in dashboard.test.dataframe]
    (audits,) = (table for table in tables if "Fingerprint" in table.columns)
    assert list(audits["Version"]) == ["2.1", "2.0", "1.0"] and any(
        {"Before", "After", "Change"} <= set(table.columns) for table in tables
    )
    assert [option.split(",")[0] for option in dashboard.widget("models_after").options] == ["2.1", "2.0", "1.0"]
    assert dashboard.test.query_params["model"] in (VENDOR, [VENDOR])
    dashboard.click("open_model_0")
    assert "checks over" not in dashboard.page_text  # closed


def test_a_ban_is_revoked_by_name_and_with_a_reason(history: History, start: Start):
    dashboard = start({"model": VENDOR.lower()}).open("models").click("open_revocation")
    ban = history.model(VENDOR).bans("1.0")[0]
    dashboard.choose(revoke_decision=ban.number).click("sign_revocation")
    assert "Name and role must be two parts" in dashboard.plain_problem()
    dashboard.choose(revoke_who="B. Officer, CRO").click("sign_revocation")
    assert "reason must be 1 to" in dashboard.plain_problem() and history.model(VENDOR).bans("1.0") == (ban,)
    dashboard.choose(revoke_reason="It is switched off.").click("sign_revocation")
    assert history.model(VENDOR).bans("1.0") == () and len(history.model(VENDOR).bans("2.0")) == 1
    assert "Revoked by B. Officer, CRO" in dashboard.page_text and "It is switched off" in dashboard.page_text


def test_a_report_is_deleted_by_name_and_with_a_reason(history: History, start: Start):
    dashboard = start({"model": VENDOR}).open("models").click("open_deletion").click("remove_report")
    assert "Name and reason must be given" in dashboard.plain_problem()
    dashboard.choose(delete_who="B. Officer", delete_reason="Asked for by a customer.").click("remove_report")
    newest = history.model(VENDOR).entries[0]
    assert newest.deleted is not None and newest.deleted.who == "B. Officer"
    assert len(history.model(VENDOR).bans()) == 2


def test_roles_hold_on_the_register(history: History, start: Start, be: Be):
    be(Role.ASKER)
    asker = start({"model": VENDOR}).open("models", settled=False)
    assert asker.texts[-1].endswith("This page is not open to the role *asker*.") and VENDOR not in asker.page_text
    be(Role.AUDITOR)
    auditor = start({"model": VENDOR}).open("models")
    assert "2.0: Do not release" in auditor.page_text  # reads everything
    assert not any(
        auditor.has_button(key) for key in ("register_model", "open_revocation", "open_model_change", "open_deletion")
    )
    be(Role.OFFICER)
    officer = start({"model": VENDOR}).open("models").click("open_revocation")
    officer.choose(revoke_who="DPO", revoke_reason="Why")
    be(Role.AUDITOR)  # the role is taken away while the dialog is open
    officer.click("sign_revocation")
    assert len(history.model(VENDOR).bans()) == 2
