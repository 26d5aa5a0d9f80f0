"""Where the query desk's ledger lies, in-process: bad places leave the open one alone, and no password is ever told."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from core.desk import default_ledger, open_ledger
from tests.app.dashboard import APP, Dashboard
from tests.app.desk import ask, audited, desk, plain, told
from tests.unit.datasets.bad_tables import assert_one_sentence


def open_place(dashboard: Dashboard, place: str, *, create: bool = False) -> Dashboard:
    dashboard.test.text_input(key="desk_place").set_value(place)
    dashboard.test.run()
    dashboard.test.button(key="desk_create" if create else "desk_open").click()
    return dashboard.settle()


def bad_places(folder: Path) -> list[tuple[str, bool, str]]:
    foreign, damaged = folder / "notes.txt", folder / "damaged.sqlite"
    foreign.write_text("no ledger at all\n" * 100)
    open_ledger(damaged, create=True)
    content = bytearray(damaged.read_bytes())
    content[3000:4000] = os.urandom(1000)
    damaged.write_bytes(content)
    return [
        (str(foreign), False, "not a FairLeak ledger"),
        (str(damaged), False, "damaged"),
        (str(folder / "none.sqlite"), False, "press Create to make one"),
        (str(APP.parent / "ledger.sqlite"), True, "must not lie"),
        ("nul\0.sqlite", True, "path"),
        ("postgresql://ann@127.0.0.1:1/db", False, "cannot be used"),
    ]


def test_bad_places_are_one_sentence_and_the_open_ledger_stays(dashboard: Dashboard, tmp_path: Path):
    audited(dashboard)
    before = dashboard.finding
    for place, create, expected_words in bad_places(tmp_path):
        at = Path(place)
        content = at.read_bytes() if "\0" not in place and len(at.name) < 200 and at.is_file() else None
        open_place(dashboard, place, create=create)
        assert_one_sentence(dashboard.plain_problem(), (expected_words,))
        assert dashboard.finding == before
        told_still = f"Everything here is still about the ledger '{default_ledger()}'."
        assert any(told_still in plain(caption.value) for caption in dashboard.test.caption)
        assert "registering a test set makes one" not in dashboard.plain_problem()
        if content is not None:
            assert at.read_bytes() == content
    assert not (APP.parent / "ledger.sqlite").exists()
    open_place(dashboard, str(default_ledger()))
    assert not dashboard.test.warning and dashboard.finding == before
    assert not any("still about" in caption.value for caption in dashboard.test.caption)


@pytest.mark.parametrize(
    "typed",
    [
        "postgresql://ann:S3cret-Wort@127.0.0.1:1/db",
        "postgresql://ann:S3cret-Wort@host:port@:1/db",
        "postgresql://ann@127.0.0.1:1/db?password=S3cret-Wort&connect_timeout=2",
        "mysql://ann:S3cret-Wort@127.0.0.1:1/db",
    ],
)
def test_a_password_in_a_url_is_never_told(dashboard: Dashboard, typed: str, caplog: pytest.LogCaptureFixture):
    desk(dashboard, create=False)
    dashboard.test.text_input(key="desk_place").set_value(typed)
    dashboard.settle()
    assert "S3cret" not in told(dashboard) and "S3cret" not in dashboard.test.text_input(key="desk_place").value
    open_place(dashboard, typed)
    assert_one_sentence(dashboard.plain_problem())
    assert "S3cret" not in told(dashboard) and "S3cret" not in caplog.text
    assert "S3cret" not in str(dict(dashboard.test.query_params))
    assert "S3cret" not in dashboard.test.text_input(key="desk_place").value


def test_a_password_of_its_own_field_is_used_and_never_told(dashboard: Dashboard, monkeypatch: pytest.MonkeyPatch):
    from pages.common import desk_ledger as module

    asked_for: list[str] = []
    monkeypatch.setattr(module, "open_ledger", lambda place, **_: asked_for.append(str(place)) or None)
    desk(dashboard, create=False)
    dashboard.test.text_input(key="desk_place").set_value("postgresql://ann@host/db")
    dashboard.settle()
    dashboard.test.text_input(key="desk_password_field").set_value("p@ss/w:rd")
    dashboard.settle()
    dashboard.test.button(key="desk_open").click()
    dashboard.settle()
    assert asked_for == ["postgresql://ann:p%40ss%2Fw%3Ard@host/db"]
    assert "p@ss" not in told(dashboard) and "p%40ss" not in told(dashboard)


def test_a_pinned_ledger_is_the_only_one(dashboard: Dashboard, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("FAIRLEAK_LEDGER", str(tmp_path / "pinned.sqlite"))
    desk(dashboard)
    assert (tmp_path / "pinned.sqlite").is_file() and not default_ledger().exists()
    assert "holds no test set yet" in dashboard.finding
    assert not [field for field in dashboard.test.text_input if field.key in ("desk_place", "desk_password_field")]
    assert any("FAIRLEAK_LEDGER names" in caption.value for caption in dashboard.test.caption)


def test_a_pinned_password_is_never_told(dashboard: Dashboard, monkeypatch: pytest.MonkeyPatch):
    for url in ("postgresql://ann:S3cret-Wort@127.0.0.1:1/db", "postgresql://127.0.0.1:1/db?password=S3cret-Wort"):
        monkeypatch.setenv("FAIRLEAK_LEDGER", url)
        desk(dashboard, create=False)
        dashboard.test.button(key="desk_open").click()
        dashboard.settle()
        assert_one_sentence(dashboard.plain_problem(), ("cannot be used",))
        assert "S3cret" not in told(dashboard)


@pytest.mark.skipif("FAIRLEAK_POSTGRES" not in os.environ, reason="FAIRLEAK_POSTGRES names no PostgreSQL")
def test_a_ledger_in_postgresql(dashboard: Dashboard):
    import secrets

    import psycopg

    server, name = os.environ["FAIRLEAK_POSTGRES"], f"fairleak_desk_{secrets.token_hex(6)}"
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
        desk(dashboard, create=False)
        open_place(dashboard, f"{server.rpartition('/')[0]}/{name}", create=True)
        dashboard.test.button(key="desk_register").click()
        ask(dashboard.settle())
        assert "ε 0.8 of 1 is left" in plain(dashboard.finding)
        connection.execute(f"DROP DATABASE {name} WITH (FORCE)")
        dashboard.settle()
        assert_one_sentence(dashboard.plain_problem())


def test_a_ledger_that_went_away(dashboard: Dashboard):
    audited(dashboard)
    away = default_ledger().with_suffix(".away")
    default_ledger().rename(away)
    dashboard.settle()
    assert "cannot be read now" in dashboard.finding
    assert_one_sentence(dashboard.plain_problem())
    away.rename(default_ledger())
    dashboard.test.button(key="desk_try_again").click()
    dashboard.settle()
    assert "ε 0.9 of 1 is left" in plain(dashboard.finding)
