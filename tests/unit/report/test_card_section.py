"""The section for a model card: from an external report alone, with groups' numbers only where nobody is exposed."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import replace
from typing import Any

import pytest
from markdown_it import MarkdownIt

from core.errors import InputError
from core.report import Reports
from core.report.card_section import card_section
from tests.report_people import people_of, with_texts
from tests.samples_report import HOSTILE, SMALL_GROUPS, sample

MARKUP = "[a](http://x.example) | b **c** `d` <b>e</b> ![f](g) www.example.org h@example.org $i$ ~~j~~"


def external(**pinned: Any) -> dict[str, Any]:
    """Return an external report whose leakage estimate is as stated."""
    document = deepcopy(Reports(sample(), people_of()).document("disclosure"))
    assert document["release_meter"]["outcome"] == "done"
    (form,) = document["release_meter"]["forms"]
    form |= {"status": "converged", "pinned": 0, **pinned}
    return document


def test_it_has_verdict_checks_and_groups_where_nobody_is_exposed():
    document = external()
    told = card_section(document)
    assert "**Fail.** Do not release: two of seven checks fail." in told
    women, men = document["groups"]
    for group in (women, men):
        rate = group["test_rate"]
        assert f"| {group['group']} | {rate['n']:,} | {100 * rate['value']:.1f}% (" in told
    assert "nearly certain of nobody's sex" in told and "not legal advice" in told
    assert document["fingerprint"] in told and "29 CFR 1607.4 (D)" in told
    assert "left out" not in told


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"pinned": 3}, "with them, a reader could be nearly certain of the sex of 3 people"),
        ({"status": "infeasible"}, "what these numbers reveal could not be estimated"),
    ],
)
def test_it_has_no_number_of_a_group_where_somebody_is_exposed(change: dict[str, Any], words: str):
    document = external(**change)
    told = card_section(document)
    assert f"Left out: {words}" in told and told.count("left out") == 2
    for group in document["groups"]:
        for name in ("test_rate", "test_tpr", "test_fpr"):
            assert f"{100 * group[name]['value']:.1f}%" not in told and f"{group[name]['n']:,}" not in told
    for check in ("unfairness", "four_fifths"):
        value = next(m["estimate"]["value"] for m in document["measurements"] if m["check"] == check)
        assert f"{value:.3f}" not in told


def test_withheld_counts_and_internal_reports():
    told = card_section(Reports(sample(SMALL_GROUPS), people_of(SMALL_GROUPS)).document("disclosure"))
    assert "Left out: a count of a group is below 10." in told and "| withheld |" in told
    with pytest.raises(InputError, match="REPORT must be the external report"):
        card_section(Reports(sample()).document())
    without = external()
    del without["release_meter"]  # of an earlier version
    assert "could not be estimated" in card_section(without)


def test_names_stay_names_in_markdown():
    audit = with_texts(sample(), lambda text: f"{text} {MARKUP} {HOSTILE}" if text else text)
    told = card_section(Reports(replace(audit, provenance=sample().provenance)).document("disclosure"))
    page = MarkdownIt("gfm-like", {"html": True, "linkify": False}).render(told)
    for tag in ("<a ", "<img", "<script", "<b>", "<s>", "<strong>c"):
        assert tag not in page, tag
    assert page.count("<h2>") == 1 and page.count("<h3>") == 3
    assert {line.count("|") - line.count("\\|") for line in told.splitlines() if line.startswith("| ")} == {6}
