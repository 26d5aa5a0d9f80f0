"""Every check has its provisions or a reason for none, and the list names nothing that does not exist."""

from __future__ import annotations

import tomllib
from pathlib import Path

from core.policy import CHECKS

FOUND = tomllib.loads((Path(__file__).parents[2] / "core" / "policy" / "regulations.toml").read_text(encoding="utf-8"))


def test_every_check_is_mapped_or_said_not_to_be():
    assert set(FOUND["checks"]) == set(CHECKS)
    for check, one in FOUND["checks"].items():
        assert bool(one.get("provisions")) != bool(one.get("no_provision")), check
        assert set(one.get("provisions", ())) <= set(FOUND["provisions"]), check


def test_every_provision_has_a_source_and_is_used():
    used = {key for one in FOUND["checks"].values() for key in one.get("provisions", ())}
    used |= {key for keys in FOUND["report"].values() for key in keys}
    assert used == set(FOUND["provisions"])
    assert {one["framework"] for one in FOUND["provisions"].values()} == set(FOUND["frameworks"])
    for one in FOUND["frameworks"].values():
        assert one["source"].startswith("https://") and one["date"] and one["title"]
    places = {one["place"] for one in FOUND["provisions"].values()}
    assert {"Annex IV, point 2(g)", "Article 10(2)(f)", "Article 15(5)", "MEASURE 2.10", "MEASURE 2.11"} <= places
