"""Bad questions, registrations and places: one sentence each, nothing charged, no password told."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from core.desk import open_ledger
from core.errors import FairLeakError, InputError
from tests.ledger_work import ATTRIBUTE, NAME, people
from tests.unit.desk.questions import G, H, changed


@pytest.mark.parametrize(
    "changes, words",
    [
        ({"scores": H[:-1]}, "one value for each of 60 people, got 59"),
        ({"scores": H * 1.2}, r"must be in \[0, 1\]"),
        ({"scores": np.stack([H, G])}, "one value a person, got 2 dimensions"),
        ({"scores": np.full(60, np.nan)}, r"must be in \[0, 1\], got nan"),
        ({"epsilon": 0}, "epsilon must be a number above 0"),
        ({"epsilon": "much"}, "epsilon must be a number above 0"),
        ({"epsilon": 1e300}, "epsilon must be a number above 0 and at most 1000"),
        ({"epsilon": 0.1234567}, "epsilon must have at most six decimals, got 0.1234567"),
        ({"metric": "parity"}, "metric must be one of statistical_parity, equal_opportunity, got 'parity'"),
        ({"asker": " "}, "asker must be 1 to 80 printable characters"),
        ({"name": "nobody"}, "no registration 'nobody' in the ledger; registered: loans"),
    ],
)
def test_bad_questions(changes: dict[str, object], words: str, tmp_path: Path):
    ledger = open_ledger(tmp_path / "ledger", create=True)
    ledger.register(NAME, people(), budget=1, columns=ATTRIBUTE)
    asked = {"name": NAME, "scores": H, "epsilon": 0.1, "asker": "x"} | changes
    name, scores = asked.pop("name"), asked.pop("scores")
    with pytest.raises(InputError, match=words):
        ledger.ask(name, people(), scores, **asked)  # type: ignore[arg-type]
    assert ledger.status(NAME).spent == 0.1


@pytest.mark.parametrize(
    "changes, words",
    [
        ({"budget": 0}, "budget must be a number above 0"),
        ({"count_epsilon": 3}, "count_epsilon must be at most the budget of 2, got 3"),
        ({"name": "x" * 81}, "name must be 1 to 80 printable characters"),
    ],
)
def test_bad_registrations(changes: dict[str, object], words: str, tmp_path: Path):
    ledger = open_ledger(tmp_path / "ledger", create=True)
    asked = {"name": NAME, "budget": 2, "columns": ATTRIBUTE} | changes
    name = asked.pop("name")
    with pytest.raises(InputError, match=words):
        ledger.register(name, people(), **asked)  # type: ignore[arg-type]
    assert ledger.names() == ()


def test_equal_opportunity_needs_labels(tmp_path: Path):
    ledger = open_ledger(tmp_path / "ledger", create=True)
    for name, labels in (("none", None), ("one", np.eye(60, dtype=np.uint8)[0])):
        test_set = changed(labels=labels, ids=tuple(f"{name} {k}" for k in range(60)))
        ledger.register(name, test_set, budget=1, columns=ATTRIBUTE)
        with pytest.raises(InputError, match="Equal opportunity needs two people with label 1 at least"):
            ledger.ask(name, test_set, H, epsilon=0.1, metric="equal_opportunity", asker="x")


def test_places_that_are_none(tmp_path: Path):
    for place, words in (
        (tmp_path / "nothing", "There is no ledger at"),
        (tmp_path, "A ledger must be a file or a PostgreSQL URL"),
        ("mysql://localhost/x", "a URL of 'mysql'"),
        (Path(__file__).parent / "ledger.sqlite", "must not lie in FairLeak's own folder"),
    ):
        with pytest.raises(InputError, match=words):
            open_ledger(place, create=place != tmp_path / "nothing")
    assert list(tmp_path.iterdir()) == []


def test_a_password_among_a_urls_options_is_not_told_either():
    pytest.importorskip("psycopg")
    with pytest.raises(FairLeakError) as error:
        open_ledger("postgresql://someone@127.0.0.1:9/x?password=secret&connect_timeout=2&sslpassword=secret")
    assert "someone" in str(error.value) and "secret" not in str(error.value)


@pytest.mark.parametrize("name", ["x" * 400, "nul\0.sqlite", "~nobody-of-that-name/x" + "y" * 300])
@pytest.mark.parametrize("create", [False, True])
def test_paths_that_cannot_be_are_one_sentence(name: str, create: bool, tmp_path: Path):
    with pytest.raises(InputError) as error:
        open_ledger(tmp_path / name, create=create)
    assert str(error.value).count("\n") == 0 and "ledger" in str(error.value)


def test_a_database_without_a_ledger_is_refused_unless_one_may_be_made(database: str):
    with pytest.raises(FairLeakError, match="is not there, or is not a ledger"):
        open_ledger(database)
    assert open_ledger(database, create=True).names() == ()
    assert open_ledger(database).names() == ()
