"""What the register says as a whole, and a model's versions on the report's scale."""

from __future__ import annotations

from dataclasses import replace

import pytest

from core.auditing.policy import Status, bullet
from core.report import Report
from core.store.events import BAN, RegisteredModel
from core.store.history import History
from core.store.register import (
    MOST_CHECKS,
    MOST_VERSIONS,
    VersionAudit,
    draw_check,
    register_finding,
    review_text,
    version_audits,
    version_rows,
    visible_checks,
)
from core.studies.subject import OutputsPlan
from tests.history_work import WHO, report
from tests.unit.charts.checks import check, dots

TODAY = "2030-01-01"
OFFICER = {"name": "A. Officer", "role": "DPO"}


def keep(history: History, version: str, document: Report | None = None, *, model: str = "Loans"):
    return history.keep(document or report(version), model=model, version=version, who=WHO)


def released_as_labels(document: Report) -> Report:
    """Return the report of an audit of labels alone."""
    document = replace(document, plan=replace(document.plan, outputs=OutputsPlan(released="labels")))
    return replace(document, fingerprint=document.content_fingerprint)


@pytest.mark.parametrize(
    ("day", "text"),
    [
        ("2029-12-31", "1 day overdue"),
        (TODAY, "today"),
        ("2030-01-02", "in 1 day"),
        ("2030-01-13", "in 12 days"),
        ("2030-07-01", "in 6 months"),
        ("2034-01-01", "in 4 years"),
    ],
)
def test_review_text_counts_from_today(day, text):
    assert review_text(day, TODAY) == text


def test_register_finding_counts_bans_and_due_reviews(history):
    assert register_finding((), TODAY).point == "No model is registered yet."
    for version in ("1.0", "2.0"):
        history.sign(keep(history, version), decision=BAN, **OFFICER)
    keep(history, "2.1")
    for name, review in (("Cards", "2030-01-13"), ("Churn", "2029-12-30"), ("Later", "2031-01-01")):
        history.register(name, purpose="p", owner="o", review=review, who=WHO)
    finding = register_finding(history.models(), TODAY)
    assert finding.point == "4 models: 2 versions banned, 2 reviews due, the first 2 days overdue."
    assert finding.evidence.startswith("3 audits of 3 versions.")
    assert "Loans: 2.0, 1.0 may not be used." in finding.so_what
    assert "The ban on 1.0 stands although 2.1 exists" in finding.so_what
    assert finding.to_do.startswith("Review Churn by 30 Dec 2029. Review Cards by 13 Jan 2030.")


def test_register_finding_says_what_contradicts_a_release_first(history):
    history.sign(keep(history, "1.0", report("a", releasable=True)), decision="release", **OFFICER)
    keep(history, "1.0", report("b"))
    finding = register_finding(history.models(), TODAY)
    assert finding.so_what.startswith("Loans 1.0 is released, and its last audit says: fail.")


def audits_of(history: History) -> tuple[RegisteredModel, list[VersionAudit]]:
    model = history.model("Loans")
    return model, version_audits(model, history.document)


def test_version_audits_are_the_last_of_each_version_and_release(history):
    keep(history, "1.0")
    again = keep(history, "1.0", report("again"))
    scores, labels = keep(history, "2.0"), keep(history, "2.0", released_as_labels(report("labels")))
    _, audits = audits_of(history)
    assert [audit.entry for audit in audits] == [again, scores, labels]
    assert [audit.label for audit in audits] == ["1.0", "2.0, scores", "2.0, labels"]
    history.delete(scores, who=WHO)
    assert [audit.label for audit in audits_of(history)[1]] == ["1.0", "2.0"]
    for number in range(3, 9):
        keep(history, f"{number}.0")
    assert [audit.label for audit in audits_of(history)[1]] == [f"{number}.0" for number in range(3, 9)]
    assert len(audits_of(history)[1]) == MOST_VERSIONS


def test_draw_check_puts_values_where_the_report_has_them(history):
    keep(history, "1.0")
    keep(history, "2.0", report("b", releasable=True))
    _, audits = audits_of(history)
    checks = visible_checks(audits)
    assert len(checks) == MOST_CHECKS
    symbols = {Status.PASS: "circle", Status.INCONCLUSIVE: "diamond", Status.FAIL: "x"}
    for name in checks:
        drawing = draw_check(name, audits)
        markers = [(trace["x"], trace["y"], trace["marker"]["symbol"]) for trace in dots(check(drawing))]
        expected = []
        for at, audit in enumerate(audits):
            row = audit.checks[name]
            places = bullet(row)
            if places:
                symbol = "triangle-up" if places.value >= 1 else symbols[row.verdict]
                expected.append(((at,), (2 * places.value,), symbol))
            assert row.number in drawing.alt
        assert markers == expected
    limited = {name for audit in audits for name, row in audit.checks.items() if row.limit}
    assert len(version_rows(audits)) == 2 * len(limited)
