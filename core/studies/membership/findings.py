"""What membership attacks found, in sentences and tables: those of page, command, report and files.

The sentences are plain text; names of groups are in them as they stand in the table.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace

from ...models import GIVEN_PREDICTIONS
from ...stats.estimates import Estimate, count, epsilon_text, gap, level_text, percent, ratio
from ...stats.quantities import Quantity, Row, change, share
from ..study import Finding, Measurement
from .attacks import REGISTRY
from .disparity import GapTest
from .result import MembershipResult
from .roc import most_caught
from .tpr_gaps import GapResult

NO_BETTER = "not significantly better than random guessing"
_DIFFER = "The model's outputs differ between members and non-members."
_LOWER = "Train a simpler model, or one with DP training noise, until the AUC is near 0.5."

MEASURES = {"vd": "VD", "fpr_gap": "FPR gap", "advantage_gap": "Membership-advantage gap"}
"""Gap -> what it is called."""

_SMALL = 2.0
_LARGE = 6.9
_PAST_TELLING = math.log(1e6)
"""Exponents below which a factor has three decimals, from which on it has none, and from which on it is a power."""


def significant(estimate: Estimate) -> bool:
    """Whether an interval leaves out 0."""
    return estimate.low > 0.0 or estimate.high < 0.0


def _auc_text(auc: Estimate, attacks: int) -> str:
    """Write the AUC that decides: "0.530 (95% CI 0.495 to 0.556 after adjusting for 9 attacks)"."""
    if math.isnan(auc.value) or attacks < 2:
        return ratio(auc)
    return f"{ratio(auc)[:-1]} after adjusting for {count(attacks)} attacks)"


def interval_text(estimate: Estimate) -> str:
    """Write an interval of a gap: "95% CI −0.020 to +0.131"."""
    return f"{level_text(estimate.level)} CI {gap(estimate.low)} to {gap(estimate.high)}"


def guarantee(result: MembershipResult) -> str:
    """Return what the privacy budget of the subject's training guarantees, beside what was measured."""
    config = result.subject.config
    guess = result.guesses[result.strongest]
    member = result.inside(guess) == 1
    called = result.verdicts[result.strongest] == 1
    tpr = float(called[member].mean())
    fpr = float(called[~member].mean())
    measured = f" Measured, by {REGISTRY[result.strongest].phrase}: TPR {percent(tpr)}, FPR {percent(fpr)}."
    if config.method == GIVEN_PREDICTIONS:
        return f"No DP guarantee: nothing is known of how this model was trained.{measured}"
    if config.method != "dp_id3":
        return f"No DP guarantee (trained without a privacy budget).{measured}"
    if math.isinf(config.epsilon):
        return f"No DP guarantee (ε = ∞).{measured}"
    once = _factor(config.epsilon)
    twice = _factor(2 * config.epsilon)
    most = math.ceil(1000.0 * most_caught(fpr, config.epsilon)) / 1000.0
    if most < 1.0:
        allowed = f"at most {percent(most, decimals=1)}"
    else:
        allowed = "practically 100%"
    guaranteed = (
        f"ε = {epsilon_text(config.epsilon)} guarantees that no outcome is more than {once} times as likely with one "
        "person's record as without it. Here somebody else takes the person's place, which doubles ε. No attack can be "
        f"expected to flag members more than {twice} times as often as non-members."
    )
    return f"{guaranteed}{measured} At this FPR the guarantee allows a TPR of {allowed}."


def _factor(epsilon: float) -> str:
    """Write exp(epsilon), rounded up; as a power where it is above a million."""
    if epsilon > _PAST_TELLING:
        return f"e^{epsilon:g}"
    factor = math.exp(epsilon)
    places = 3 if epsilon < _SMALL else 1 if epsilon < _LARGE else 0
    return f"{math.ceil(factor * 10**places) / 10**places:,.{places}f}"


def groups_heading(result: MembershipResult, attribute: str) -> str:
    """Say for how many groups the membership advantage differs from that of the others, and for which most."""
    gaps = result.disparities.results
    if not gaps:
        return f"No group by {attribute} is large enough to be measured"
    if result.muted:
        return f"The attack is {NO_BETTER}, so the gaps by {attribute} say nothing"
    clear = [
        gap_of_group for gap_of_group in gaps if gap_of_group.tests["advantage_gap"].significant
    ]
    heading = f"Statistically significant differences in membership advantage by {attribute}: {len(clear)}"
    heading = f"{heading} of {count(len(gaps))}"
    if not clear:
        return heading
    most = max(clear, key=lambda gap_of_group: abs(gap_of_group.advantage_gap.value))
    return f"{heading}, largest “{most.group}” {gap(most.advantage_gap.value)}"


def release_findings(measured: Mapping[str, Measurement]) -> tuple[Finding, ...]:
    """Return the findings of a release: the best attack's AUC first, then whom it identifies, then groups."""
    auc, caught, largest = (measured[f"membership_{name}"] for name in ("auc", "caught", "gap"))
    statements = []
    if auc.estimate is not None:
        works = auc.estimate.low > 0.5
        does = "beats random guessing" if works else f"is {NO_BETTER}"
        statement = _finding(
            auc,
            f"Membership inference {does} (AUC {auc.estimate.value:.3f}).",
            f"{auc.attacked} AUC {_auc_text(auc.estimate, len(auc.details or ()))}; random guessing: 0.5.",
        )
        statements.append(replace(statement, so_what=_DIFFER, to_do=_LOWER) if works else statement)
    if (rate := caught.estimate) is not None:
        point = f"{percent(rate)} of the training records are identified at 1% FPR."
        span = f"95% CI {percent(rate.low)} to {percent(rate.high)}; random guessing: 1.0%."
        statements.append(_finding(caught, point, span))
    if (difference := largest.estimate) is not None:
        point = (
            f"The largest difference between groups in TPR at 1% FPR is {gap(difference.value)}."
        )
        statements.append(
            _finding(largest, point, f"{largest.attacked} {interval_text(difference)}.")
        )
    return tuple(statements)


def _finding(measurement: Measurement, point: str, evidence: str) -> Finding:
    """Return a finding with all that the measurement behind it says."""
    return Finding(
        point=point,
        evidence=evidence,
        caveats=measurement.assumptions,
        estimate=measurement.estimate,
        baseline=measurement.control,
        attacker_knows=measurement.knows,
    )


# Tables


def gap_rows(result: MembershipResult) -> Iterator[Row]:
    """Yield each group's gaps by the strongest attack, with the rates and tests behind them, or why there are none."""
    for gaps in result.disparities.results:
        rates = {"vd": gaps.tpr, "fpr_gap": gaps.fpr}
        for name, title in MEASURES.items():
            if result.muted and name == "vd":
                note = f"greyed out: {NO_BETTER}"
            else:
                note = ""
            sides = rates.get(name, (None, None))
            yield _gap_row(gaps.group, title, getattr(gaps, name), sides, gaps.tests[name], note)
    for group, reason in result.disparities.not_measured:
        yield _gap_row(group, MEASURES["vd"], None, (None, None), None, reason)
    for low in result.gaps[result.strongest]:
        yield _low_row(low)


def _low_row(low: GapResult) -> Row:
    title = f"Gap in TPR at {100 * low.fpr:g}% FPR"
    return _gap_row(low.group, title, low.estimate, low.rates, low.test, low.reason)


def _gap_row(
    group: str,
    title: str,
    gap: Estimate | None,
    rates: tuple[Estimate | None, Estimate | None],
    test: GapTest | None,
    note: str,
) -> Row:
    return {
        "group": group,
        "gap": title,
        "group − others": change(gap),
        "rate of the group": share(rates[0]),
        "rate of the others": share(rates[1]),
        "smallest detectable": None
        if test is None
        else Quantity(test.smallest_detectable, "points"),
        "p (Holm)": None if test is None else test.p_adjusted,
        "note": note,
    }


def range_rows(result: MembershipResult) -> Iterator[Row]:
    """Yield whom the strongest attack flags of each group, by the score of their own label."""
    for ranges in result.ranges:
        for range_row in ranges.rows:
            yield {
                "group": ranges.group,
                "from": range_row.low,
                "to": range_row.high,
                "flagged of the group": share(range_row.group),
                "flagged of the others": share(range_row.reference),
                "difference": change(range_row.difference),
            }
