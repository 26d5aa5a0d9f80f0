"""Comparisons: what intervals of a change cover, how often "worse" is false, and what is never called better."""

import math
from dataclasses import replace

import numpy as np
import pytest

from core.auditing.policy.decisions import LimitTest
from core.base.errors import InputError
from core.report.comparison import CheckChange, Outlook, Turn, _decided, change_between, compare
from core.stats.estimates import Estimate, certain, mean_over_repeats, paired_gain, proportion
from core.studies.study import Measurement, Outcome
from tests.samples_report import POLICY, altered_report, estimate, report, with_failed_tests

RUNS = 2000
NOT_RUN = Measurement(check="membership_caught", outcome=Outcome.NOT_RUN, reason="No scores.")


def covered(draw, true, *, folded=False, freedoms=(None, None)):
    """Return how often the interval of the change holds the true one, over `RUNS` pairs of estimates."""
    rng = np.random.default_rng(11)
    changes = [change_between(*draw(rng), folded=folded, freedoms=freedoms)[0] for _ in range(RUNS)]
    return float(np.mean([change.low <= true <= change.high for change in changes]))


def independent(rng):
    return proportion(rng.binomial(2000, 0.05), 2000), proportion(rng.binomial(1500, 0.08), 1500)


def same_people(rng):
    """Rates of the same 2,000 people, some of whom are easy to attack in both versions."""
    easy = rng.beta(0.3, 4.0, 2000)
    return tuple(proportion(int((rng.random(2000) < share * easy).sum()), 2000) for share in (0.7, 0.9))


def gains_of_different_people(rng):
    """Gains of 5 points each, of two versions that reveal other people of the same 2,000: the worst that gains can."""
    who = rng.random(2000)
    return tuple(paired_gain(int(revealed.sum()), 0, 2000) for revealed in (who < 0.05, who > 0.95))


def turned_round(rng):
    """Sizes of a difference of 0.1 that favours one group and then the other, on the same people."""
    shift = rng.normal(0.0, 0.03)
    return tuple(estimate(0.1 + way * shift, 1.96 * 0.03).folded() for way in (1.0, -1.0))


def repeats(rng):
    return mean_over_repeats(rng.normal(0.0, 1.0, 4)), mean_over_repeats(rng.normal(1.0, 3.0, 12))


def test_intervals_of_a_change_cover_for_other_people_and_for_the_same():
    assert 0.94 < covered(independent, 0.03) < 0.965
    assert covered(same_people, 0.2 * 0.3 / 4.3) > 0.955
    assert 0.93 < covered(gains_of_different_people, 0.0) < 0.965
    assert covered(repeats, 1.0, freedoms=(3, 11)) > 0.94


def test_sizes_of_differences_need_the_half_widths_added():
    """A difference that has turned round makes independent intervals too narrow: they would cover about 83%."""
    assert covered(turned_round, 0.0) < 0.87
    assert covered(turned_round, 0.0, folded=True) > 0.94


def test_a_change_of_students_has_the_fewer_degrees_of_freedom_and_agreeing_repeats_no_interval():
    few, normal = mean_over_repeats([0.1, 0.2, 0.4]), estimate(0.3, 0.0196)
    change, freedom = change_between(normal, few, freedoms=(None, 2))
    half_of_normal = 0.01 * 4.302653  # Student's t with 2 degrees of freedom
    assert freedom == 2
    assert change.high - change.value == pytest.approx(np.hypot(few.high - few.value, half_of_normal), rel=1e-4)
    change, freedom = change_between(normal, Estimate(value=0.1, low=0.1, high=0.1, n=3), freedoms=(None, 2))
    assert not LimitTest(estimate=change, limit=0.0, freedom=freedom).has_interval


def check_change(name, before, after):
    """Return how a required check changed between two estimates, and what is tested of it."""
    change, freedom = change_between(before, after)
    of_check = {"check": name, "title": "", "required": True, "turn": Turn.NEW}
    changed = CheckChange(**of_check, change=change, before=before, after=after)
    return changed, LimitTest(estimate=change, limit=0.0, freedom=freedom)


@pytest.mark.long
def test_where_nothing_changed_a_false_worse_or_better_is_rarer_than_five_percent():
    """12 checks of the same people, whose estimates share half their variance, before and after drawn apart."""
    rng, called, worse = np.random.default_rng(5), 0, 0
    for _ in range(RUNS):
        values = 0.5**0.5 * (rng.normal(size=(2, 1)) + rng.normal(size=(2, 12)))
        pairs = [
            check_change(str(check), estimate(was, 1.959964), estimate(now, 1.959964))
            for check, (was, now) in enumerate(values.T)
        ]
        turns = {decided.turn for decided in _decided(pairs, None)}
        called += bool(turns & {Turn.WORSE, Turn.BETTER})
        worse += Turn.WORSE in turns
    assert called / RUNS < 0.05 and 0.005 < worse / RUNS < 0.05


@pytest.mark.parametrize(("errors", "turn"), [(1.8, Turn.NEW), (2.1, Turn.WORSE)])
def test_one_check_is_decided_at_95_percent(errors, turn):
    pair = check_change("gap", estimate(0.1, 1.96 * 0.03), estimate(0.1 + errors * 0.05, 1.96 * 0.04))
    (decided,) = _decided([pair], None)  # a change's error is 0.05
    assert decided.turn == turn
    assert decided.p_adjusted == pytest.approx(math.erfc(errors / math.sqrt(2)), rel=1e-3)


def turns(comparison):
    return {change.check: change.turn for change in comparison.checks}


def test_the_same_audit_twice_is_unchanged():
    comparison = compare(report(), report())
    assert comparison.verdict == Outlook.NOT_DISTINGUISHABLE and comparison.same_people is True
    assert {change.turn for change in comparison.checks if change.compared} == {Turn.UNCHANGED}
    assert turns(comparison)["attriguard_exposure"] == Turn.NOT_RUN
    assert comparison.changed == () and comparison.margin is None


@pytest.mark.parametrize(("now", "turn"), [(1e-13, Turn.UNCHANGED), (1e-11, Turn.WORSE), (-0.02, Turn.BETTER)])
def test_numbers_without_an_interval_are_compared_as_they_are_but_for_rounding(now, turn):
    before, after = (report({"membership_caught": certain(value, 90)}) for value in (0.02, 0.02 + now))
    assert turns(compare(before, after))["membership_caught"] == turn


@pytest.mark.parametrize(
    ("before", "after", "outlook"),
    [
        ({}, {"membership_caught": estimate(0.02, 0.004), "four_fifths": estimate(0.99, 0.005)}, Outlook.BETTER),
        ({"four_fifths": estimate(0.99, 0.005)}, {"four_fifths": estimate(0.7, 0.02)}, Outlook.WORSE),
        ({}, {"membership_caught": estimate(0.02, 0.004), "correction_gain": estimate(0.2, 0.004)}, Outlook.WORSE),
        ({}, {"membership_gap": estimate(0.3, 0.01)}, Outlook.NOT_DISTINGUISHABLE),  # which is not required
        ({"membership_caught": None}, {"membership_caught": estimate(0.0, 0.0)}, Outlook.NOT_DISTINGUISHABLE),
        ({}, {"membership_caught": NOT_RUN, "correction_gain": estimate(0.0, 0.004)}, Outlook.INCONCLUSIVE),
    ],
    ids=["better", "worse", "one worse", "optional", "new", "not run"],
)
def test_a_comparison_follows_its_required_checks(before, after, outlook):
    assert compare(report(before), report(after)).verdict == outlook


def test_a_policy_that_no_longer_limits_a_check_does_not_hide_it():
    fewer = replace(POLICY, limits=tuple(x for x in POLICY.limits if x.check != "correction_gain"))
    dropped = compare(report(), report({"correction_gain": estimate(0.2, 0.004)}, policy=fewer))
    assert dropped.verdict == Outlook.WORSE


@pytest.mark.parametrize("missing", [None, NOT_RUN])
def test_a_required_check_that_fails_and_was_not_compared_keeps_the_gate_shut(missing):
    after = {"membership_caught": estimate(0.95, 0.01), "correction_gain": estimate(0.0, 0.004)}
    comparison = compare(report({"membership_caught": missing}), report(after), margin=0.05)
    assert comparison.verdict == Outlook.INCONCLUSIVE and comparison.checks[0].check == "membership_caught"
    assert comparison.checks[0].why.endswith("It fails now.")


def test_a_margin_asks_for_proof():
    for half, within in ((0.03, False), (0.001, True)):
        before, after = (report({"membership_caught": estimate(value, half)}) for value in (0.098, 0.0985))
        (change,) = (c for c in compare(before, after, margin=0.01).checks if c.check == "membership_caught")
        assert change.within == within
    for margin in (0.0, -1.0, float("nan"), float("inf")):
        with pytest.raises(InputError, match="margin must be a number above 0"):
            compare(report(), report(), margin=margin)


def test_a_failed_self_test_is_never_better():
    better = report({"membership_caught": estimate(0.01, 0.001)})
    assert compare(report(), better).verdict == Outlook.BETTER
    assert compare(report(), with_failed_tests(better)).verdict == Outlook.INCONCLUSIVE


def test_changed_roles_are_named_with_what_they_were():
    def change(document):
        document["plan"]["config"]["roles"].update(favourable="<=50K", excluded=["race"])

    changes = compare(report(), altered_report(report(), change)).changed
    roles = {change.what: change for change in changes if change.what.startswith("role of ")}
    assert (roles["role of favourable"].before, roles["role of favourable"].after) == (">50K", "<=50K")
    assert {change.part for change in roles.values()} == {"Data"}
    assert len(roles) == 2 and any("excluded" in what for what in roles)
