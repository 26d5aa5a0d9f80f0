"""What pages offer to each role; without sign-in nothing is different, as all other tests here show."""

from __future__ import annotations

import pytest

from core.desk import default_ledger, open_ledger
from core.store.history import History, default_history
from pages.shell.signin import Role
from tests import desk_files
from tests.app.conftest import Be, Start
from tests.app.dashboard import Dashboard
from tests.app.deciding import Attacks, attacks, section
from tests.app.test_desk import from_file, sent
from tests.app.test_sign_off import with_model
from tests.browser.signing_in import addresses
from tests.samples_report import sample

__all__ = ["attacks"]

TO_FIRST = ("", "overview", "nowhere")


def test_an_asker_is_shown_no_page_but_the_desk(dashboard: Dashboard, be: Be):
    be(Role.ASKER)
    for address in addresses():
        dashboard.open(address or "overview", settled=False)
        if address == "desk" or address in TO_FIRST:
            assert "Private query desk" in dashboard.texts[0], address
        else:
            assert dashboard.texts[-1].endswith("This page is not open to the role *asker*."), address
        assert not dashboard.test.sidebar.selectbox, address


def sections(dashboard: Dashboard) -> list[str]:
    """Return what one can do at the desk."""
    (control,) = [group for group in dashboard.test.button_group if group.label == "At the desk"]
    return [option.content for option in control.proto.options]


def test_an_asker_asks_by_the_proven_name_once_an_officer_has_opened_the_test_set(start: Start, be: Be):
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
def test_an_auditor_reads_limits_and_the_record_and_changes_neither(start: Start, be: Be, attacks: Attacks):
    attacks.instead = sample()
    open_ledger(default_ledger(), create=True)
    be(Role.AUDITOR)
    auditor = start().open("desk")
    assert sections(auditor) == ["Export and verify"]
    assert not auditor.has_button("desk_open")
    section(auditor.open("report"), "judged")
    assert "The limits are an officer's to set." in auditor.page_text
    keys = {element.key for kind in ("selectbox", "file_uploader", "button") for element in getattr(auditor.test, kind)}
    assert not keys & {"policy_file", "release_limit", "release_policy_box", "reset_policy"}


def test_an_officer_whose_role_is_gone_changes_nothing(
    start: Start, be: Be, attacks: Attacks, monkeypatch: pytest.MonkeyPatch
):
    attacks.instead = sample()
    monkeypatch.delenv("FAIRLEAK_HISTORY", raising=False)
    be(Role.OFFICER)
    officer = with_model(start().open("report")).choose(sign_who="DPO")
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
