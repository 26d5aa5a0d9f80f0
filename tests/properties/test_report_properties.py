"""What holds for every policy and audit."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from core.auditing.policy import CHECKS, Limit, Policy, Status, bullet, judge, policy_text, read_policy
from core.studies.study import Measurement
from tests.policy_samples import measurements, policies, values

TURNING = "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
SHOWN = st.characters(exclude_categories=["Cc", "Cs", "Zl", "Zp"], exclude_characters=TURNING)
TEXT = st.text(SHOWN, min_size=1, max_size=12).filter(str.strip)
LINES = st.lists(TEXT, min_size=1, max_size=3).map("\n".join)
DAYS = st.dates().map(lambda day: day.isoformat())

Found = tuple[Measurement, ...]


def verdicts(asked: Policy, found: Found) -> dict[str, str]:
    """Return each check's verdict."""
    return {row.check: row.verdict for row in judge(asked, found, attribute="sex").rows}


def tightened(limit: Limit, share: float) -> Limit:
    """Return a limit moved by a share of the way to the strictest its unit has."""
    strictest = 1.0 if CHECKS[limit.check].at_least else -1.0 if CHECKS[limit.check].unit == "points" else 0.0
    return replace(limit, value=limit.value + share * (strictest - limit.value))


@settings(max_examples=50)
@given(policies(), measurements(), st.integers(0, 5), st.floats(0, 1))
def test_a_tighter_limit_never_turns_fail_to_pass(asked: Policy, found: Found, item: int, share: float) -> None:
    item %= len(asked.limits)
    tight = replace(asked, limits=tuple(tightened(x, share) if i == item else x for i, x in enumerate(asked.limits)))
    before, after = verdicts(asked, found), verdicts(tight, found)
    assert all(after[check] != "pass" for check, verdict in before.items() if verdict == "fail")
    if asked.limits[item].required and judge(asked, found, attribute="sex").overall != "pass":
        assert judge(tight, found, attribute="sex").overall != "pass"


@settings(max_examples=50)
@given(policies(), measurements(), st.data())
def test_another_limit_never_makes_an_inconclusive_one_pass(asked: Policy, found: Found, data: st.DataObject) -> None:
    check = data.draw(st.sampled_from([check for check in CHECKS if check not in {x.check for x in asked.limits}]))
    more = replace(asked, limits=(*asked.limits, Limit(check=check, value=data.draw(values(check)))))
    before, after = verdicts(asked, found), verdicts(more, found)
    for limit in asked.limits:
        was, now = before[limit.check], after[limit.check]
        assert now == was or (now == "inconclusive" and was in ("pass", "fail"))


@settings(max_examples=80)
@given(policies(), measurements())
def test_a_verdict_agrees_with_its_interval_and_its_p_value(asked: Policy, found: Found) -> None:
    verdict = judge(asked, found, attribute="sex")
    assert [list(Status).index(row.verdict) for row in verdict.rows] == sorted(
        list(Status).index(row.verdict) for row in verdict.rows
    )
    assert {row.check for row in verdict.rows} == set(CHECKS)
    assert (verdict.overall == "pass") == (not any(row.blocks for row in verdict.rows))
    for row in verdict.rows:
        assert row.why.endswith(".") and "\n" not in row.why
        place = bullet(row)
        assert place is None or 0.0 <= min(place.low, place.value, place.high) <= max(place.low, place.high) <= 1.0
        if row.decided is None or row.limit is None:
            continue
        assert (row.p_adjusted < 1 - asked.level) == (row.verdict != "inconclusive")
        assert 0.0 <= row.p_value <= row.p_adjusted <= 1.0
        below, above = row.decided.high <= row.limit.value, row.decided.low >= row.limit.value
        if CHECKS[row.check].at_least:
            below, above = above, below
        assert row.verdict != "pass" or below
        assert row.verdict != "fail" or above
        assert row.verdict != "inconclusive" or row.decided.low <= row.limit.value <= row.decided.high


@settings(max_examples=30)
@given(policies(), measurements(), st.randoms(use_true_random=False))
def test_the_order_of_limits_and_measurements_does_not_matter(asked: Policy, found: Found, order) -> None:
    limits, mixed = list(asked.limits), list(found)
    order.shuffle(limits)
    order.shuffle(mixed)
    other = judge(replace(asked, limits=tuple(limits)), mixed, attribute="sex")
    same = judge(asked, found, attribute="sex")
    assert (other.overall, other.headline, other.detail) == (same.overall, same.headline, same.detail)
    assert {row.check: row.verdict for row in other.rows} == {row.check: row.verdict for row in same.rows}


@settings(max_examples=30)
@given(policies(), st.data())
def test_a_policy_reads_back_equal(made: Policy, data: st.DataObject) -> None:
    def of(limit: Limit) -> Limit:
        source = data.draw(st.one_of(st.just(""), LINES))
        author, date, why = data.draw(TEXT), data.draw(DAYS), data.draw(LINES)
        return replace(limit, author=author, date=date, rationale=why, source=source)

    names = {key: data.draw(TEXT) for key in ("name", "version", "author")}
    told = replace(made, **names, date=data.draw(DAYS), rationale=data.draw(LINES), limits=tuple(map(of, made.limits)))
    assert read_policy(policy_text(told), name="p.toml") == told
    assert read_policy(policy_text(told).encode(), name="p.toml") == told
