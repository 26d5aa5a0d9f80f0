"""Changed limits: nobody's name, reason or source is kept for a value these were not about."""

from __future__ import annotations

from dataclasses import replace

import pytest

from core.policy import Limit, bullet, default_policy
from core.report import check_rows, document
from pages.common.report_board import bullet as drawn
from pages.common.report_policy import changed_limit, with_limit, without_limit
from tests.samples_report import sample

LIMIT = Limit(
    check="four_fifths",
    value=0.8,
    required=False,
    author="A. Officer",
    date="2026-03-01",
    rationale="The rule of thumb.",
    source="29 CFR 1607.4(D)",
)


def test_an_unchanged_value_keeps_everything():
    words = replace(LIMIT, rationale="Said better.")
    assert changed_limit(LIMIT, words) == words


def test_a_changed_value_does_not_keep_another_s_reason():
    new = changed_limit(LIMIT, replace(LIMIT, value=0.9))
    assert new.value == 0.9 and new.source == ""
    assert new.author == "A. Officer, changed on the Report page"
    assert new.rationale == ("Changed on the Report page from at least 0.8, not required; no reason was given.")
    assert new.date > LIMIT.date
    again = changed_limit(new, replace(new, value=0.7))
    assert again.author == new.author


def test_what_is_filled_in_anew_stays():
    after = replace(LIMIT, value=0.9, author="B", date="2026-04-01", rationale="Stricter.", source="Ours")
    assert changed_limit(LIMIT, after) == after


def test_a_limit_that_is_required_now_keeps_its_source():
    new = changed_limit(LIMIT, replace(LIMIT, required=True))
    assert new.required and new.source == LIMIT.source and new.author != LIMIT.author


def test_limits_are_replaced_in_their_place_added_at_the_end_and_taken_away():
    policy = default_policy()
    checks = [limit.check for limit in policy.limits]
    stricter = replace(policy.limits[1], value=0.01)
    assert [limit.check for limit in with_limit(policy, stricter).limits] == checks
    assert with_limit(policy, stricter).limits[1] == stricter
    cost = Limit(check="attriguard_cost", value=3.0)
    assert with_limit(policy, cost).limits == (*policy.limits, cost)
    assert without_limit(with_limit(policy, cost), "attriguard_cost") == policy


@pytest.mark.parametrize("row", check_rows(document(sample())), ids=lambda row: row.verdict.check)
def test_a_bar_shows_what_core_places(row):
    if row.verdict.limit is None:
        return
    places, html = bullet(row.verdict), drawn(row.verdict, 'a "label" <b>')
    assert 'role="img" aria-label="a &quot;label&quot; &lt;b&gt;"' in html
    assert html.count('class="limit"') == 1
    if places is None:
        assert "dot" not in html and "allowed" not in html
        return
    assert f'class="dot" style="left: {100 * places.value:.2f}%"' in html
    assert ("▸" in html or "◂" in html) == (places.value_beyond or places.low_beyond or places.high_beyond)
    assert ("side right allowed" in html) == (row.verdict.check == "four_fifths")
