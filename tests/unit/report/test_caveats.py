"""Caveats: typed where they arise, in the order of their kinds, fixed sentences for others, verified."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from core.caveats import FIXED, OF_GROUPS, Caveat, CaveatKind, in_order
from core.datasets import Roles, Table, build_dataset
from core.policy import judge
from core.release_audit import verdict_caveats
from core.report import Reports, document, report_fingerprint, to_json, verify_report
from tests.judged_report import judged
from tests.samples_report import GROUPS, POLICY, SMALL_GROUPS, sample

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
    found = {caveat.kind: caveat for caveat in data.caveats}
    expected = {
        CaveatKind.TABLE_READING: (None, None),
        CaveatKind.RECORDS_DROPPED: (5, N),
        CaveatKind.COLUMNS_DROPPED: (None, None),
        CaveatKind.CONTRADICTIONS: (10, N - 8),
        CaveatKind.STAND_IN_LABELS: (3, N - 5),
        CaveatKind.VALUES_FILLED: (10, None),
    }
    assert {kind: (found[kind].count, found[kind].total) for kind in expected} == expected
    repeated = found[CaveatKind.RECORDS_REPEATED]
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


def external(groups, caveats: tuple[Caveat, ...]) -> dict:
    """Return the external report of the sample with these caveats."""
    audit = sample(groups)
    verdict = judge(POLICY, audit.measurements, attribute="sex", caveats=in_order(caveats))
    return document(replace(audit, verdict=verdict), edition="disclosure")


def test_others_get_kinds_without_number_and_name():
    told = tuple(Caveat(kind, f"Ada Lovelace, {kind}: 42 of 99.", count=42, total=99) for kind in CaveatKind)
    found = external(GROUPS, told)["caveats"]
    assert [caveat["kind"] for caveat in found] == list(CaveatKind)
    assert all(caveat["text"] == FIXED[CaveatKind(caveat["kind"])] for caveat in found)
    assert not any(caveat["count"] or caveat["total"] for caveat in found)


def test_where_counts_are_withheld_it_hangs_on_no_group_which_caveats_there_are():
    told = tuple(Caveat(kind, "x") for kind in CaveatKind)
    plain = tuple(caveat for caveat in told if caveat.kind not in OF_GROUPS)
    both = [external(SMALL_GROUPS, caveats) for caveats in (told, plain)]
    assert to_json(both[0]) == to_json(both[1])
    assert any("caveats on equal records" in note for note in both[0]["withheld"]["notes"])
    shown = external(GROUPS, told)
    assert {caveat["kind"] for caveat in shown["caveats"]} == set(CaveatKind)


def broken(found: dict) -> set[str]:
    """Return the parts of a report that do not hold, sealed with the fingerprint of what it says now."""
    found["fingerprint"] = report_fingerprint(found)
    return {finding.name for finding in verify_report(to_json(found)).findings if not finding.holds}


@pytest.mark.parametrize("edition", ["internal", "disclosure"])
def test_a_caveat_that_was_taken_away_or_changed_is_found(edition: str):
    audit = judged()
    unknown = replace(audit.plan, model=replace(audit.plan.model, kind="predictions"))
    told = (*audit.caveats, Caveat(CaveatKind.SETS_UNKNOWN, FIXED[CaveatKind.SETS_UNKNOWN]))
    verdict = replace(audit.verdict, caveats=verdict_caveats(told, chosen=False, self_tests=audit.self_tests))
    audit = replace(audit, plan=unknown, model=replace(audit.model, kind="predictions"), verdict=verdict, caveats=told)
    whole = json.loads(to_json(document(audit, edition=edition)))
    assert "numbers" not in broken(dict(whole)) or edition == "internal"  # the plan's fingerprint is another
    clauses = {finding.told for finding in verify_report(to_json(whole)).findings}
    assert not any("caveat" in clause for clause in clauses)
    for place in range(len(whole["caveats"])):
        less = {**whole, "caveats": whole["caveats"][:place] + whole["caveats"][place + 1 :]}
        less["fingerprint"] = report_fingerprint(less)
        clauses = {finding.told for finding in verify_report(to_json(less)).findings if not finding.holds}
        needed = whole["caveats"][place]["kind"] == "sets_unknown" or edition == "internal"
        assert any("caveat" in clause for clause in clauses) == needed, whole["caveats"][place]
    wrong = {**whole, "caveats": whole["caveats"][::-1]}
    assert "numbers" in broken(wrong)
    if edition == "disclosure":
        other = {**whole, "caveats": [{**whole["caveats"][0], "text": "42 people."}, *whole["caveats"][1:]]}
        assert "numbers" in broken(other)


def test_a_report_that_says_the_self_test_was_not_run_holds_no_results_of_it():
    whole = json.loads(to_json(Reports(judged()).document()))
    added = {"kind": "self_test_missing", "text": "It was not run.", "count": None, "total": None}
    assert "numbers" in broken({**whole, "caveats": [added, *whole["caveats"]]})
    assert "numbers" in broken({**whole, "self_tests": []})
