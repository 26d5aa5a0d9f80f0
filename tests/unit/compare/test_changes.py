"""Comparisons: what intervals of a change cover, how often "worse" is false, and what is never called better."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from core.auditing.policy.decisions import LimitTest
from core.base.errors import InputError
from core.report.comparison import CheckChange, Outlook, Turn, _decided, change_between, change_text, compare
from core.stats.estimates import Estimate, certain, mean_over_repeats, paired_gain, proportion
from core.studies.study import Measurement, Outcome
from tests.samples_report import HOSTILE, POLICY, altered_report, estimate, report, with_failed_tests

RUNS = 2000


def covered(draw, true: float, *, folded: bool = False, freedoms=(None, None)) -> float:
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
    assert freedom == 2
    half_of_normal = 0.01 * 4.302653  # Student's t with 2 degrees of freedom
    assert change.high - change.value == pytest.approx(np.hypot(few.high - few.value, half_of_normal), rel=1e-4)
    agreeing = Estimate(value=0.1, low=0.1, high=0.1, n=3)
    change, freedom = change_between(normal, agreeing, freedoms=(None, 2))
    assert np.isnan(change.low) and not LimitTest(estimate=change, limit=0.0, freedom=freedom).has_interval


@pytest.mark.long
def test_where_nothing_changed_a_false_worse_or_better_is_rarer_than_five_percent():
    """12 checks of the same people, whose estimates share half their variance, before and after drawn apart."""
    rng, called, worse = np.random.default_rng(5), 0, 0
    for _ in range(RUNS):
        common = rng.normal(size=2)
        values = 0.5**0.5 * (common[:, None] + rng.normal(size=(2, 12)))
        pairs = []
        for check, (was, now) in enumerate(values.T):
            change, freedom = change_between(estimate(was, 1.959964), estimate(now, 1.959964))
            check_change = CheckChange(check=str(check), title="", required=True, turn=Turn.NEW, change=change)
            check_change = dataclasses.replace(check_change, before=estimate(was, 1.96), after=estimate(now, 1.96))
            pairs.append((check_change, LimitTest(estimate=change, limit=0.0, freedom=freedom)))
        turns = {check_change.turn for check_change in _decided(pairs, None)}
        called += bool(turns & {Turn.WORSE, Turn.BETTER})
        worse += Turn.WORSE in turns
    assert called / RUNS < 0.05 and 0.005 < worse / RUNS < 0.05


def turns(comparison) -> dict[str, Turn]:
    return {change.check: change.turn for change in comparison.checks}


def test_the_same_audit_twice_is_unchanged():
    comparison = compare(report(), report())
    assert comparison.verdict == Outlook.NOT_DISTINGUISHABLE and comparison.same_people is True
    numbered = [change for change in comparison.checks if change.compared]
    assert len(numbered) == 7 and {change.turn for change in numbered} == {Turn.UNCHANGED}
    assert turns(comparison)["attriguard_exposure"] == Turn.NOT_RUN
    assert comparison.changed == () and comparison.margin is None
    for was, now, turn in (
        (0.02, 0.02 + 1e-13, Turn.UNCHANGED),  # rounding
        (0.02, 0.02 + 1e-11, Turn.WORSE),
        (0.0, 0.1, Turn.WORSE),
        (0.1, 0.0, Turn.BETTER),
    ):
        exact_comparison = compare(
            report({"membership_caught": certain(was, 90)}), report({"membership_caught": certain(now, 90)})
        )
        assert turns(exact_comparison)["membership_caught"] == turn


def test_better_and_worse_follow_the_direction_of_the_check():
    better = compare(
        report(), report({"membership_caught": estimate(0.02, 0.004), "four_fifths": estimate(0.99, 0.005)})
    )
    assert turns(better)["membership_caught"] == turns(better)["four_fifths"] == Turn.BETTER
    assert better.verdict == Outlook.BETTER
    worse = compare(report({"four_fifths": estimate(0.99, 0.005)}), report({"four_fifths": estimate(0.7, 0.02)}))
    assert turns(worse)["four_fifths"] == Turn.WORSE and worse.verdict == Outlook.WORSE
    change = next(change for change in worse.checks if change.check == "four_fifths")
    assert change_text(change) == "−0.290" and change.decided.high < 0.0


def test_one_required_check_that_is_worse_outweighs_all_that_are_better():
    after = {"membership_caught": estimate(0.02, 0.004), "correction_gain": estimate(0.2, 0.004)}
    assert compare(report(), report(after)).verdict == Outlook.WORSE
    optional = compare(report(), report({"membership_gap": estimate(0.3, 0.01)}))  # not required
    assert turns(optional)["membership_gap"] == Turn.WORSE and optional.verdict == Outlook.NOT_DISTINGUISHABLE
    assert "Optional checks worse: 1." in optional.detail


def test_what_was_measured_and_is_not_any_more_keeps_the_gate_shut():
    gone = Measurement(check="membership_caught", outcome=Outcome.NOT_RUN, reason="No scores.")
    after = {"membership_caught": gone, "correction_gain": estimate(0.0, 0.004)}
    comparison = compare(report(), report(after))
    assert turns(comparison)["correction_gain"] == Turn.BETTER
    assert turns(comparison)["membership_caught"] == Turn.NOT_RUN and comparison.verdict == Outlook.INCONCLUSIVE
    assert turns(compare(report(), report({"membership_caught": None})))["membership_caught"] == Turn.GONE
    fewer = dataclasses.replace(POLICY, limits=tuple(x for x in POLICY.limits if x.check != "correction_gain"))
    dropped = compare(report(), report({"correction_gain": estimate(0.2, 0.004)}, policy=fewer))
    assert dropped.verdict == Outlook.WORSE, "a policy that no longer limits a check does not hide it"


def test_a_required_check_that_fails_and_was_not_compared_keeps_the_gate_shut():
    for missing in (None, Measurement(check="membership_caught", outcome=Outcome.NOT_RUN, reason="No scores.")):
        after = {"membership_caught": estimate(0.95, 0.01), "correction_gain": estimate(0.0, 0.004)}
        comparison = compare(report({"membership_caught": missing}), report(after), margin=0.05)
        assert comparison.verdict == Outlook.INCONCLUSIVE and comparison.checks[0].check == "membership_caught"
        assert comparison.checks[0].why.endswith("It fails now.")


def test_what_is_new_or_defined_otherwise_is_never_better():
    comparison = compare(report({"membership_caught": None}), report({"membership_caught": estimate(0.0, 0.0)}))
    assert turns(comparison)["membership_caught"] == Turn.NEW and comparison.verdict == Outlook.NOT_DISTINGUISHABLE
    broke = Measurement(check="membership_caught", outcome=Outcome.FAILED, reason="It broke.")
    later = compare(report({"membership_caught": broke}), report())
    assert turns(later)["membership_caught"] == Turn.NOT_RUN_BEFORE
    before = report()
    rows = (dataclasses.replace(row, definition=f"Another one of {HOSTILE}.") for row in before.verdict.checks)
    before = dataclasses.replace(before, verdict=dataclasses.replace(before.verdict, checks=tuple(rows)))
    redefined = compare(before, report({"membership_caught": estimate(0.0, 0.001)}))
    assert {change.turn for change in redefined.checks if change.before} == {Turn.OTHER_DEFINITION}
    assert redefined.verdict == Outlook.INCONCLUSIVE


@pytest.mark.parametrize(("part", "value"), [("attribute", "race"), ("label", "income")])
def test_another_attribute_or_label_is_another_question(part: str, value: str):
    before = altered_report(report(), lambda document: document["data"].update({part: value}))
    comparison = compare(before, report())
    assert {change.turn for change in comparison.checks if change.before} == {Turn.OTHER_DEFINITION}
    assert any(value in change.why for change in comparison.checks)


def test_a_margin_asks_for_proof():
    wide = {"membership_caught": estimate(0.098, 0.03)}
    open_ = compare(report(wide), report({"membership_caught": estimate(0.099, 0.03)}), margin=0.01)
    assert open_.verdict == Outlook.INCONCLUSIVE and "within the margin of 0.01" in open_.headline
    narrow = {
        "membership_caught": estimate(0.098, 0.002),
        "correction_gain": estimate(0.07, 0.002),
        "answers_excess": estimate(0.01, 0.002),
        "unfairness": estimate(0.01, 0.001),
        "four_fifths": estimate(0.9, 0.001),
    }
    comparison = compare(report(narrow), report(narrow), margin=0.02)
    assert all(change.within for change in comparison.checks if change.compared and change.required)
    for margin in (0.0, -1.0, float("nan"), float("inf")):
        with pytest.raises(InputError, match="margin must be a number above 0"):
            compare(report(), report(), margin=margin)


def test_a_table_without_one_feature_is_not_said_to_be_about_other_people():
    before = report()
    data = dataclasses.replace(before.data, fingerprint="ab" * 32, features=before.data.features[1:])
    after = dataclasses.replace(before, data=data)
    assert compare(before, after).same_people is None
    sets = {**data.sets, "test": data.sets["test"] - 1}
    after = dataclasses.replace(before, data=dataclasses.replace(data, sets=sets))
    assert compare(before, after).same_people is False


def test_a_failed_self_test_is_never_better():
    better = {"membership_caught": estimate(0.01, 0.001)}
    assert compare(report(), report(better)).verdict == Outlook.BETTER
    broken = with_failed_tests(report(better))
    comparison = compare(report(), broken)
    assert comparison.verdict == Outlook.INCONCLUSIVE
    assert comparison.headline == "Inconclusive: self-test failed (later audit)."
