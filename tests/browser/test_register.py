"""The register by clicks: a model registered in its dialog, its row opened, a ban revoked."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import expect

from core.store.history import History
from tests.browser.conftest import Open, Start
from tests.browser.driver import Server
from tests.history_work import WHO, report


@pytest.fixture
def server(start_server: Start, tmp_path: Path) -> Server:
    """A server whose register has a model with a banned version."""
    history = History.open(tmp_path / "history.sqlite")
    entry = history.keep(report(), model="Vendor default", version="1.0", who=WHO)
    history.sign(entry, decision="do_not_release", name="M. Keller", role="DPO", reason="Checks fail.")
    return start_server(FAIRLEAK_HISTORY=str(tmp_path / "history.sqlite"))


def test_a_model_is_registered_and_a_ban_is_revoked(look: Open, server: Server, tmp_path: Path):
    history = History.open(tmp_path / "history.sqlite")
    view = look("models", at=server)
    view.finding_with("1 model: 1 version banned")
    dialog = view.page.get_by_role("dialog")
    view.press("register_model")
    for key, value in (("model_name", "Churn score"), ("model_purpose", "Whom to write to")):
        view.enter(key, value)
    view.press("register_done")
    expect(dialog).to_contain_text("owner must be 1 to 80 printable characters")
    view.enter("model_owner", "Marketing")
    view.press("register_done")
    expect(dialog).to_have_count(0)
    view.finding_with("2 models")
    assert history.model("churn score").owner == "Marketing" and "model=Churn" in view.page.url

    view.press("open_model_0")
    expect(view.keyed("model_versions")).to_contain_text("1.0: Do not release")
    view.press("open_revocation")
    view.enter("revoke_who", "B. Officer, CRO")
    view.enter("revoke_reason", "It is switched off.")
    view.press("sign_revocation")
    expect(dialog).to_have_count(0)
    view.finding_with("no version is banned")
    assert history.model("Vendor default").bans() == ()
    expect(view.keyed("model_decisions")).to_contain_text("Revoked by B. Officer, CRO")
    view.in_order()
