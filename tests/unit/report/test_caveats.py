"""Caveats: typed where they arise, in the order of their kinds, with a fixed sentence for each kind."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest

from core.auditing import verdict_caveats
from core.base.caveats import FIXED, Caveat, CaveatKind, in_order
from core.datasets import Roles, Table, build_dataset
from tests.samples_report import sample

N = 200


def table() -> Table:
    """Return a table with everything that is noted of a table with given answers."""
    rng = np.random.default_rng(4)
    hired = rng.random(N) < 0.5
    frame = pd.DataFrame(
        {
            "pay": np.where(np.arange(N) % 20 == 0, np.nan, np.arange(N) % 7),
            "same": 1,
            "sex": np.where(rng.random(N) < 0.5, "f", "m"),
            "hired": np.where(hired, "yes", "no"),
            "said": np.where(hired, "yes", "no"),
            "score": np.where(np.arange(N) < 10, np.where(hired, 0.2, 0.9), np.where(hired, 0.9, 0.2)),
        }
    )
    frame.loc[10:14, "hired"] = None
    frame.loc[20:22, "score"] = np.nan
    return Table(name="t", title="T", frame=frame, source="Made.", notes=("Read as UTF-8.",))


def test_what_is_decided_about_a_table_is_typed_and_counted():
    answers = {"prediction": "said", "score": "score"}
    label = {"label": "hired", "positive": "yes", "favourable": "yes"}
    data = build_dataset(table(), Roles(sensitive="sex", group=("f",), **label, **answers))
    by_kind = {caveat.kind: caveat for caveat in data.caveats}
    expected = {
        CaveatKind.TABLE_PARSING: (None, None),
        CaveatKind.RECORDS_DROPPED: (5, N),
        CaveatKind.COLUMNS_DROPPED: (None, None),
        CaveatKind.CONTRADICTIONS: (10, N - 8),
        CaveatKind.STAND_IN_LABELS: (3, N - 5),
        CaveatKind.VALUES_FILLED: (10, None),
    }
    assert {kind: (by_kind[kind].count, by_kind[kind].total) for kind in expected} == expected
    repeated = by_kind[CaveatKind.RECORDS_REPEATED]
    assert repeated.total == N - 5 and repeated.count is not None and repeated.count > 100
    assert data.notes == tuple(caveat.text for caveat in data.caveats)


def test_every_kind_has_a_fixed_sentence_without_a_number():
    assert set(FIXED) == set(CaveatKind)
    for text in FIXED.values():
        assert text.endswith(".") and not re.search(r"\d", text)


def test_caveats_stand_in_the_order_of_their_kinds_and_once():
    last, first = Caveat(CaveatKind.INTERVAL_OVER_PEOPLE, "b"), Caveat(CaveatKind.SETS_UNKNOWN, "a")
    assert in_order([last, first, last]) == (first, last)
    assert Caveat("records_repeated", "c").kind is CaveatKind.RECORDS_REPEATED  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="no_kind"):
        Caveat("no_kind", "d")  # type: ignore[arg-type]


@pytest.mark.parametrize("chosen", [True, False])
@pytest.mark.parametrize("tested", [True, False])
def test_choice_and_self_test_are_caveats_of_the_judgement(chosen: bool, tested: bool):
    tests = sample().self_tests if tested else ()
    kinds = {caveat.kind for caveat in verdict_caveats(sample().caveats, chosen=chosen, self_tests=tests)}
    assert (CaveatKind.CHOSEN_ON_THESE_RECORDS in kinds) == chosen
    assert (CaveatKind.SELF_TEST_MISSING in kinds) == (not tested)
    assert {caveat.kind for caveat in sample().caveats} <= kinds
