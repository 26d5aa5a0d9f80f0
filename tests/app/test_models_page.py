"""The pages Models and Model card in-process: the register with its dialogs, and what a released card says."""

from datetime import date, timedelta

import pytest

from core.base.serialize import fingerprint
from core.store.events import BAN
from core.store.history import History, default_history, today
from core.studies.correction import audit_key
from core.studies.model_card import ModelCardSettings
from core.studies.model_card.study import STUDY
from pages.shell.signin import Role
from tests import expected
from tests.history_work import WHO, report

OFFICER = {"name": "M. Keller", "role": "DPO"}
VENDOR = "Vendor default"


@pytest.fixture
def history(dashboard):
    """A register: two banned versions of one model and a released one, whose review is due, and another."""
    history = History.open(default_history())
    for version in ("1.0", "2.0"):
        entry = history.keep(report(version), model=VENDOR, version=version, who=WHO)
        history.sign(entry, decision=BAN, reason="Checks fail.", **OFFICER)
    released = history.keep(report("2.1", releasable=True), model=VENDOR, version="2.1", who=WHO)
    soon = (date.fromisoformat(today()) + timedelta(days=12)).isoformat()
    history.sign(released, decision="release", until=soon, condition="No scores.", **OFFICER)
    history.register("Branch staffing", purpose="How many counters", owner="Operations", who=WHO)
    return history


def rows(dashboard):
    buttons = [button for button in dashboard.test.button if (button.key or "").startswith("open_model_")]
    return [button.label for button in buttons if button.key[-1].isdigit()]


def test_an_empty_register_and_a_model_registered_and_changed_in_a_dialog(dashboard):
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


def test_rows_say_what_stands_filters_leave_some_and_an_open_row_has_all(history, start):
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
    assert list(audits["Version"]) == ["2.1", "2.0", "1.0"]
    assert any({"Before", "After", "Change"} <= set(table.columns) for table in tables)
    assert [option.split(",")[0] for option in dashboard.widget("models_after").options] == ["2.1", "2.0", "1.0"]
    assert dashboard.test.query_params["model"] in (VENDOR, [VENDOR])
    dashboard.click("open_model_0")
    assert "checks over" not in dashboard.page_text  # closed


def test_a_ban_is_revoked_by_name_and_with_a_reason(history, start):
    dashboard = start({"model": VENDOR.lower()}).open("models").click("open_revocation")
    later, ban = history.model(VENDOR).bans()
    assert (later.version, ban.version) == ("2.0", "1.0")
    dashboard.choose(revoke_decision=ban.number).click("sign_revocation")
    assert "Name and role must be two parts" in dashboard.plain_problem()
    dashboard.choose(revoke_who="B. Officer, CRO").click("sign_revocation")
    assert "reason must be 1 to" in dashboard.plain_problem() and history.model(VENDOR).bans() == (later, ban)
    dashboard.choose(revoke_reason="It is switched off.").click("sign_revocation")
    assert history.model(VENDOR).bans() == (later,)
    assert "Revoked by B. Officer, CRO" in dashboard.page_text and "It is switched off" in dashboard.page_text


def test_a_report_is_deleted_by_name_and_with_a_reason(history, start):
    dashboard = start({"model": VENDOR}).open("models").click("open_deletion").click("remove_report")
    assert "Name and reason must be given" in dashboard.plain_problem()
    dashboard.choose(delete_who="B. Officer", delete_reason="Asked for by a customer.").click("remove_report")
    assert history.model(VENDOR).entries[0].deleted.who == "B. Officer"
    assert len(history.model(VENDOR).bans()) == 2


def test_roles_hold_on_the_register(history, start, be):
    be(Role.ASKER)
    asker = start({"model": VENDOR}).open("models", settled=False)
    assert asker.texts[-1].endswith("This page is not open to the role *asker*.") and VENDOR not in asker.page_text
    be(Role.AUDITOR)
    auditor = start({"model": VENDOR}).open("models")
    assert "2.0: Do not release" in auditor.page_text  # reads everything
    changes = ("register_model", "open_revocation", "open_model_change", "open_deletion")
    assert not any(auditor.has_button(key) for key in changes)
    be(Role.OFFICER)
    officer = start({"model": VENDOR}).open("models").click("open_revocation")
    officer.choose(revoke_who="DPO", revoke_reason="Why")
    be(Role.AUDITOR)  # the role is taken away while the dialog is open
    officer.click("sign_revocation")
    assert len(history.model(VENDOR).bans()) == 2


PEOPLE, COUNT = 200, 5


@pytest.fixture
def card_page(start, monkeypatch):
    """The page with a card of five models about 200 people; each card is measured once, for the page and for core."""
    measured, run = {}, STUDY.run

    def run_once(_, subject, settings, report=None):
        key = fingerprint(audit_key(subject.config, subject.dataset), settings)
        if key not in measured:
            measured[key] = list(run(subject, settings))
        yield from measured[key]

    monkeypatch.setattr(type(STUDY), "run", run_once)
    test = expected.subject().splits.test.size
    link = {f"release_people_{test}": str(PEOPLE), "release_count_models": str(COUNT)}
    return start(link).open("model_card")


def card(**changes):
    """Card of the demo with the page's settings but for some changes."""
    values = {"family": "mixed", "people": PEOPLE, "count": COUNT, "seed": 42} | changes
    *_, result = STUDY.run(expected.subject(), ModelCardSettings(**values))
    return result


def assert_tells(dashboard, result):
    headline, *statements = STUDY.findings(result, result.settings)
    assert dashboard.plain_finding.startswith(f"## {headline.point}"), dashboard.plain_finding
    assert headline.evidence in dashboard.plain_finding and headline.to_do in dashboard.page_text
    for statement in statements:
        assert statement.text.removeprefix(statement.point) in dashboard.page_text


def test_number_of_models_precision_and_statistics_move_the_finding(card_page):
    assert_tells(card_page, card())
    card_page.choose(release_count=10)
    ten = card(count=10)
    assert_tells(card_page, ten)
    assert [fewer.n_models for fewer in ten.fewer] == [1, 2, 5]
    assert card_page.test.get("download_button")
    card_page.choose(release_count=COUNT, release_precision="2 decimals", release_statistics=["sp_gap", "tpr_rate"])
    statistics = ("sp_gap", "tpr_rate")
    assert_tells(card_page, card(decimals=2, statistics=statistics, sizes=False))
    card_page.choose(release_precision="noise, ε = 0.1")
    noisy = card(epsilon=0.1, statistics=statistics)
    assert_tells(card_page, noisy)
    assert (noisy.most_pinned, noisy.worst.draws) == (0, 20)
    card_page.choose(release_statistics=["sizes"])
    assert "this card says nothing" in card_page.plain_problem() and not card_page.findings
