"""What holds for every policy and audit."""

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from core.auditing.policy import CHECKS, Limit, Status, bullet, judge, policy_text, read_policy
from tests.policy_samples import measurements, policies, values

TURNING = "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
VISIBLE = st.characters(exclude_categories=["Cc", "Cs", "Zl", "Zp"], exclude_characters=TURNING)
TEXT = st.text(VISIBLE, min_size=1, max_size=12).filter(str.strip)
LINES = st.lists(TEXT, min_size=1, max_size=3).map("\n".join)
DAYS = st.dates().map(lambda day: day.isoformat())


def verdicts(policy, measured):
    return {row.check: row.verdict for row in judge(policy, measured, attribute="sex").rows}


def tightened(limit, share):
    """Return a limit moved by a share of the way to the strictest its unit has."""
    strictest = 1.0 if CHECKS[limit.check].at_least else -1.0 if CHECKS[limit.check].unit == "points" else 0.0
    return replace(limit, value=limit.value + share * (strictest - limit.value))


@settings(max_examples=50)
@given(policies(), measurements(), st.integers(0, 5), st.floats(0, 1))
def test_a_tighter_limit_never_turns_fail_to_pass(policy, measured, item, share):
    item %= len(policy.limits)
    tight = replace(policy, limits=tuple(tightened(x, share) if i == item else x for i, x in enumerate(policy.limits)))
    before, after = verdicts(policy, measured), verdicts(tight, measured)
    assert all(after[check] != "pass" for check, verdict in before.items() if verdict == "fail")
    if policy.limits[item].required and judge(policy, measured, attribute="sex").overall != "pass":
        assert judge(tight, measured, attribute="sex").overall != "pass"


@settings(max_examples=50)
@given(policies(), measurements(), st.data())
def test_another_limit_never_makes_an_inconclusive_one_pass(policy, measured, data):
    check = data.draw(st.sampled_from([check for check in CHECKS if check not in {x.check for x in policy.limits}]))
    more = replace(policy, limits=(*policy.limits, Limit(check=check, value=data.draw(values(check)))))
    before, after = verdicts(policy, measured), verdicts(more, measured)
    for limit in policy.limits:
        was, now = before[limit.check], after[limit.check]
        assert now == was or (now == "inconclusive" and was in ("pass", "fail"))


@settings(max_examples=80)
@given(policies(), measurements())
def test_a_verdict_agrees_with_its_interval_and_its_p_value(policy, measured):
    verdict = judge(policy, measured, attribute="sex")
    assert [list(Status).index(row.verdict) for row in verdict.rows] == sorted(
        list(Status).index(row.verdict) for row in verdict.rows
    )
    assert {row.check for row in verdict.rows} == set(CHECKS)
    assert (verdict.overall == "pass") == (not any(row.blocks for row in verdict.rows))
    for row in verdict.rows:
        assert row.why.endswith(".") and "\n" not in row.why
        position = bullet(row)
        assert (
            position is None
            or 0.0 <= min(position.low, position.value, position.high) <= max(position.low, position.high) <= 1.0
        )
        if row.decided is None or row.limit is None:
            continue
        assert (row.p_adjusted < 1 - policy.level) == (row.verdict != "inconclusive")
        assert 0.0 <= row.p_value <= row.p_adjusted <= 1.0
        below, above = row.decided.high <= row.limit.value, row.decided.low >= row.limit.value
        if CHECKS[row.check].at_least:
            below, above = above, below
        assert row.verdict != "pass" or below
        assert row.verdict != "fail" or above
        assert row.verdict != "inconclusive" or row.decided.low <= row.limit.value <= row.decided.high


@settings(max_examples=30)
@given(policies(), measurements(), st.randoms(use_true_random=False))
def test_the_order_of_limits_and_measurements_does_not_matter(policy, measured, order):
    limits, mixed = list(policy.limits), list(measured)
    order.shuffle(limits)
    order.shuffle(mixed)
    shuffled = judge(replace(policy, limits=tuple(limits)), mixed, attribute="sex")
    same = judge(policy, measured, attribute="sex")
    assert (shuffled.overall, shuffled.headline, shuffled.detail) == (same.overall, same.headline, same.detail)
    assert {row.check: row.verdict for row in shuffled.rows} == {row.check: row.verdict for row in same.rows}


@settings(max_examples=30)
@given(policies(), st.data())
def test_a_policy_reads_back_equal(policy, data):
    def of(limit):
        source = data.draw(st.one_of(st.just(""), LINES))
        author, date, why = data.draw(TEXT), data.draw(DAYS), data.draw(LINES)
        return replace(limit, author=author, date=date, rationale=why, source=source)

    names = {key: data.draw(TEXT) for key in ("name", "version", "author")}
    changed = replace(
        policy, **names, date=data.draw(DAYS), rationale=data.draw(LINES), limits=tuple(map(of, policy.limits))
    )
    assert read_policy(policy_text(changed), name="p.toml") == changed
    assert read_policy(policy_text(changed).encode(), name="p.toml") == changed
