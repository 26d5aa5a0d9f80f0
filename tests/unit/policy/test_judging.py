"""Verdicts: how limits judge, what is written of them, and where their bullets lie."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from core.errors import InputError
from core.estimates import Estimate, not_measured
from core.policy import CHECKS, Policy, Verdict, bullet, control_text, estimate_text, judge, limit_text
from core.policy.limits import range_text
from core.policy.verdict import earlier_words
from core.study import Measurement
from tests.policy_samples import done, estimate, policy

SIX = policy(
    attribute_excess=0.02,
    correction_gain=0.05,
    answers_excess=0.05,
    targeted_leakage=0.75,
    membership_caught=0.05,
    membership_gap=0.05,
)
"""Of the six checks of a release: two shall fail, one be inconclusive, one not be run, and two pass."""

FOUND = (
    done("attribute_excess", 0.07, 0.0045),
    done("correction_gain", 0.01, 0.005),
    done("answers_excess", 0.04, 0.02, freedom=19),
    done("targeted_leakage", 1.0, basis="declared"),
    done("membership_caught", 0.013, 0.006),
    Measurement(check="membership_gap", outcome="failed", reason="The attack stopped with an error (ValueError)."),
)


def verdict_of(asked: Policy, *found: Measurement) -> Verdict:
    """Return the verdict with the attribute called sex."""
    return judge(asked, found, attribute="sex")


def test_two_of_six_fail() -> None:
    verdict = verdict_of(SIX, *FOUND)
    assert verdict.headline == "Do not release: two of six checks fail."
    assert verdict.detail == "One is inconclusive and one was not run; both also block a release. Two pass."
    assert verdict.overall == "fail"
    assert [(row.item, row.verdict, row.blocks) for row in verdict.rows[:6]] == [
        (1, "fail", True),
        (4, "fail", True),
        (3, "inconclusive", True),
        (6, "not_run", True),
        (2, "pass", False),
        (5, "pass", False),
    ]
    assert [row.check for row in verdict.rows[6:]] == [
        check for check in CHECKS if check not in {x.check for x in SIX.limits}
    ]
    assert all(row.verdict == "not_asked" and not row.blocks and row.limit is None for row in verdict.rows[6:])


def test_every_row_says_why_in_one_sentence() -> None:
    why = {row.check: row.why for row in verdict_of(SIX, *FOUND).rows}
    assert why["attribute_excess"] == (
        "The whole interval, 6.4 to 7.6 points at 98.75% confidence (adjusted for several limits), exceeds the limit "
        "of at most 2.0 points."
    )
    assert why["correction_gain"] == (
        "The whole interval, 0.4 to 1.6 points at 98.33% confidence (adjusted for several limits), is within the limit "
        "of at most 5.0 points."
    )
    assert why["answers_excess"] == (
        "The interval, 2.0 to 6.0 points at 95% confidence, contains the limit of at most 5.0 points."
    )
    assert why["targeted_leakage"] == "Calculated from declared settings, 100.0% exceeds the limit of at most 75%."
    assert why["membership_gap"] == "The attack stopped with an error (ValueError)."
    assert why["unfairness"] == "The policy sets no limit to it."


def test_a_failed_test_of_fairleak_itself_blocks_every_release() -> None:
    one = policy(correction_gain=0.05, four_fifths=0.8, optional=("four_fifths",))
    kept = (done("correction_gain", 0.01, 0.005), done("four_fifths", 0.7, 0.01))
    sure = judge(one, kept, attribute="sex")
    assert sure.overall == "pass"
    failed = judge(one, kept, attribute="sex", failed_tests=("Members caught", "Gaps"))
    assert failed.overall == "inconclusive"
    missed = "the attack missed a planted leak, or flagged a model without one."
    assert failed.headline == f"Do not release yet: the self-test failed, as {missed}"
    reason = "failed for “Members caught”; “Gaps”: no verdict here can be relied on until the cause is found."
    assert failed.detail == f"It {reason}"
    assert failed.rows == sure.rows
    worse, before = judge(SIX, FOUND, attribute="sex", failed_tests=("Gaps",)), verdict_of(SIX, *FOUND)
    assert (worse.overall, worse.headline) == ("fail", before.headline)
    told = "It failed for “Gaps”: no verdict here can be relied on until the cause is found."
    assert worse.detail == f"{before.detail} The self-test failed: {missed} {told}"


@pytest.mark.parametrize(("level", "text"), [(0.8, "80%"), (0.95, "95%"), (0.99, "99%")])
def test_a_pass_says_at_which_confidence_the_policy_decides(level: float, text: str) -> None:
    verdict = verdict_of(policy(level=level, correction_gain=0.05), done("correction_gain", 0.01, 0.005))
    assert verdict.overall == "pass" and verdict.detail.startswith(f"Decided at {text} confidence over all limits")


NAMES = list(CHECKS)


def sketch(*, fail: int = 0, inconclusive: int = 0, not_run: int = 0, kept: int = 0, optional: str = "") -> Verdict:
    """Return a verdict with so many required checks of each kind, and optional ones by letter: f, i, n, p."""
    kinds = "f" * fail + "i" * inconclusive + "n" * not_run + "p" * kept
    names = [name for name in NAMES if not CHECKS[name].at_least]
    asked, found = {}, []
    for name, kind in zip(names, kinds + optional, strict=False):
        asked[name] = 0.5
        if kind != "n":
            found.append(done(name, {"f": 0.9, "i": 0.5, "p": 0.1}[kind], 0.01))
    return verdict_of(policy(optional=tuple(names[len(kinds) : len(asked)]), **asked), *found)


@pytest.mark.parametrize(
    ("made", "headline", "detail"),
    [
        (sketch(fail=1), "Do not release: the only required check fails.", ""),
        (sketch(fail=3), "Do not release: all three checks fail.", ""),
        (
            sketch(fail=1, inconclusive=2, not_run=1),
            "Do not release: one of four checks fails.",
            "Two are inconclusive and one was not run; all three also block a release. None passes.",
        ),
        (
            sketch(inconclusive=2, not_run=1, kept=1),
            "Do not release yet: two of four checks are inconclusive.",
            "One was not run; it also blocks a release. One passes.",
        ),
        (sketch(not_run=3), "Do not release yet: all three checks were not run.", ""),
        (
            sketch(fail=1, optional="fipp"),
            "Do not release: the only required check fails.",
            "Four further checks do not count for the decision; one fails, one is inconclusive and two pass.",
        ),
    ],
)
def test_headlines_count_in_words(made: Verdict, headline: str, detail: str) -> None:
    assert (made.headline, made.detail) == (headline, detail)


@pytest.mark.parametrize(
    ("optional", "now", "once"),
    [
        (
            "f",
            "One further check does not count for the decision; it fails.",
            "One more limit is not required; it fails.",
        ),
        (
            "ff",
            "Two further checks do not count for the decision; both fail.",
            "Two more limits are not required; two fail.",
        ),
        (
            "ppp",
            "Three further checks do not count for the decision; all three pass.",
            "Three more limits are not required; three pass.",
        ),
    ],
)
def test_checks_that_do_not_count_for_the_decision_and_how_reports_once_said_it(
    optional: str, now: str, once: str
) -> None:
    detail = sketch(fail=1, optional=optional).detail
    assert detail == now and once in earlier_words(detail)


@pytest.mark.parametrize(
    ("optional", "headline"),
    [
        ("", "The one limit of the policy is kept; no other check was judged."),
        ("f", "The one required limit of the policy is kept."),
    ],
)
def test_one_kept_limit_says_that_it_was_alone_only_where_it_was(optional: str, headline: str) -> None:
    assert sketch(kept=1, optional=optional).headline == headline


def test_a_limit_of_at_least_is_kept_from_above() -> None:
    asked = policy(four_fifths=0.8)
    for value, expected in ((0.9, "pass"), (0.7, "fail"), (0.805, "inconclusive")):
        assert verdict_of(asked, done("four_fifths", value, 0.01)).overall == expected
    told = verdict_of(asked, done("four_fifths", 0.9, 0.01)).rows[0].why
    assert told == "The whole interval, 0.890 to 0.910 at 95% confidence, is within the limit of at least 0.8."


@pytest.mark.parametrize(
    ("found", "why"),
    [
        (None, "The audit has no measurement of it; it needs scores, planned answers."),
        (Measurement(check="answers_excess", outcome="not_run"), "It was not run, and no reason was given."),
        (
            Measurement(check="answers_excess", outcome="failed"),
            "The attack stopped with an error, and no reason was given.",
        ),
        (Measurement(check="answers_excess", outcome="done"), "There was nothing to measure."),
        (Measurement(check="answers_excess", outcome="done", estimate=not_measured()), "There was nothing to measure."),
        (replace(done("answers_excess", 0.0, 0.001), outcome="failed", reason="Late."), "Late."),
    ],
)
def test_without_a_number_a_required_check_is_not_run_and_blocks(found: Measurement | None, why: str) -> None:
    verdict = verdict_of(policy(answers_excess=0.05), *([found] if found else []))
    row = verdict.rows[0]
    assert (row.check, row.verdict, row.blocks, row.why) == ("answers_excess", "not_run", True, why)
    assert verdict.overall == "not_run"
    assert math.isnan(row.p_value) and row.decided is None


def test_numbers_without_an_interval_and_limits_not_required_belong_to_the_family() -> None:
    verdict = verdict_of(policy(answers_excess=0.05), done("answers_excess", 0.0, math.nan))
    assert verdict.overall == "inconclusive"
    assert verdict.rows[0].why == ("There is no interval, so there is no verdict on the limit of at most 5.0 points.")
    one, two = policy(unfairness=0.05), policy(unfairness=0.05, membership_caught=0.5, optional=("membership_caught",))
    found = (done("unfairness", 0.03, 0.019), done("membership_caught", 0.5, 0.1))
    assert verdict_of(one, *found).overall == "pass"
    assert verdict_of(two, *found).overall == "inconclusive"


@pytest.mark.parametrize(
    ("wrong", "expected"),
    [
        (done("unfairness", 7.0, 0.1), "The measured value of unfairness must be one its unit can take, got 7.0."),
        (
            Measurement(check="unfairness", outcome="done", estimate=estimate(0.1, 0.2, 0.0)),
            "The interval of unfairness must be finite and in order, got 0.2 to 0.0.",
        ),
        (done("unfairness", 0.1, 0.1, freedom=0), "freedom of unfairness must be at least 1, got 0."),
    ],
)
def test_a_measurement_that_cannot_be_is_refused(wrong: Measurement, expected: str) -> None:
    with pytest.raises(InputError) as caught:
        verdict_of(policy(unfairness=0.05), wrong)
    assert str(caught.value) == expected


@pytest.mark.parametrize(
    ("check", "limit", "measured", "places", "arrows"),
    [
        ("unfairness", 0.1, (0.1, 0.05), (0.5, 0.25, 0.75), ()),
        ("attribute_excess", 0.02, (0.03, 0.035), (0.75, 0.0, 1.0), (False, True)),
        ("attribute_excess", 0.02, (0.07, 0.001), (1.0, 1.0, 1.0), (True,)),
        ("attribute_excess", 0.0, (0.025, 0.0), (0.75, 0.75, 0.75), ()),
        ("attribute_excess", -0.02, (-0.01, 0.0), (0.75, 0.75, 0.75), ()),
        ("attriguard_cost", 0.0, (0.5, 0.0), (0.75, 0.75, 0.75), ()),
        ("unfairness", 0.1, (0.05, math.nan), (0.25, 0.25, 0.25), ()),
    ],
)
def test_the_limit_lies_in_the_middle_and_what_is_beyond_the_scale_at_its_end(
    check: str, limit: float, measured: tuple[float, float], places: tuple[float, ...], arrows: tuple[bool, ...]
) -> None:
    found = bullet(verdict_of(policy(**{check: limit}), done(check, *measured)).rows[0])
    assert found is not None and found[:3] == pytest.approx(places) and found.arrows == arrows


def test_the_interval_is_the_one_that_decided() -> None:
    asked = policy(unfairness=0.1, membership_gap=0.1)
    found = (done("unfairness", 0.07, 0.025), done("membership_gap", 0.1, 0.02))
    row = next(row for row in verdict_of(asked, *found).rows if row.check == "unfairness")
    assert row.decided is not None and row.decided.level == pytest.approx(0.975)
    place = bullet(row)
    assert place is not None and place.high == pytest.approx(row.decided.high / 0.2)

    assert all(bullet(row) is None for row in verdict_of(asked).rows)  # without limit or number there is none


@pytest.mark.parametrize(
    ("check", "value", "low", "high", "expected"),
    [
        ("attribute_excess", 0.07, 0.065, 0.074, ("+7.0 points", "95%: 6.5 to 7.4")),
        ("membership_caught", 0.829, 0.824, 0.833, ("82.9%", "95%: 82.4 to 83.3%")),
        ("unfairness", 0.031, 0.02, 0.0424, ("0.031", "95%: 0.020 to 0.042")),
        ("attriguard_cost", 2.9, 2.8, 3.0, ("2.9 columns", "95%: 2.8 to 3.0")),
        ("targeted_leakage", 1.0, 1.0, 1.0, ("100.0%", "no interval")),
        ("answers_excess", math.nan, math.nan, math.nan, ("n/a", "")),
    ],
)
def test_estimates(check: str, value: float, low: float, high: float, expected: tuple[str, str]) -> None:
    assert estimate_text(check, estimate(value, low, high)) == expected


@pytest.mark.parametrize(
    ("check", "value", "expected"),
    [
        ("attribute_excess", 0.05, "at most 5.0 points"),
        ("attribute_excess", 0.0125, "at most 1.25 points"),
        ("attribute_excess", -0.01, "at most −1.0 points"),
        ("membership_caught", 0.015, "at most 1.5%"),
        ("unfairness", 0.0004, "at most 0.0004"),
        ("four_fifths", 0.8, "at least 0.8"),
        ("attriguard_cost", 1.0, "at most 1 column"),
    ],
)
def test_limits(check: str, value: float, expected: str) -> None:
    assert limit_text(check, value) == expected


def test_how_intervals_and_controls_are_written() -> None:
    assert range_text("attribute_excess", estimate(0.06, 0.055, 0.07), 0.05) == "5.5 to 7.0 points"
    assert range_text("attribute_excess", estimate(0.06, 0.0503, 0.07), 0.05) == "5.03 to 7.00 points"
    assert range_text("attribute_excess", estimate(0.06, 0.05, 0.07), 0.05) == "5.0 to 7.0 points"
    assert range_text("membership_caught", estimate(0.02, 0.01, 0.04999), 0.05) == "1.000 to 4.999%"
    assert range_text("unfairness", estimate(0.02, 0.01, 0.05 - 1e-12), 0.05) == "0.010 to 0.050"  # as good as equal
    half = Estimate(value=0.5, low=0.5, high=0.5, n=100)
    assert control_text("membership_auc", half) == "0.500" and control_text("attribute_bits", half) == "0.500"
    assert control_text("attribute_excess", half) == control_text("membership_caught", half) == "50.0%"


@pytest.mark.parametrize(("basis", "words"), [("declared", "calculated"), ("measured", "")])
def test_a_number_without_width_has_no_interval_to_miss(basis: str, words: str) -> None:
    row = judge(policy(targeted_leakage=0.75), [done("targeted_leakage", 0.625, basis=basis)], attribute="sex").rows[0]
    assert (row.value, row.interval, row.number) == ("62.5%", words, ", ".join(filter(None, ("62.5%", words))))
    assert (row.measured, row.withheld) == (True, False)
