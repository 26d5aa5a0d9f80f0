"""What is found of the gaps between groups: values, intervals and tests, always one group against all others."""

from __future__ import annotations

from dataclasses import dataclass

from core.estimates import Estimate
from core.results import Result


@dataclass(frozen=True, slots=True, kw_only=True)
class GapTest(Result):
    """Whether a gap can be told from none.

    Attributes
    ----------
    p_value, p_adjusted : float
        Of a permutation test; the second after Holm's correction over the groups compared.
    smallest_detectable : float
        Smallest absolute gap that a sample of this size finds in four of five cases.
    significant : bool
        Whether the adjusted p-value is below one minus the level of the intervals. Of a gap at a low rate of false
        alarms also whether its interval leaves out 0, see `core.membership.disparity.low_fpr`.
    """

    p_value: float
    p_adjusted: float
    smallest_detectable: float
    significant: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class DisparityResult(Result):
    """How differently an attack treats a group and all others (group minus others).

    Attributes
    ----------
    vd : Estimate
        Vulnerability disparity: members called members (Zhang et al. 2020, equation 2).
    fpr_gap : Estimate
        Outsiders called members.
    advantage_gap : Estimate
        The first minus the second: membership advantage, net of false positives.
    recall, false_alarms : tuple of Estimate
        The rates behind them, of the group and of the others.
    tests : dict
        "vd", "fpr_gap", "advantage_gap" -> GapTest.
    """

    group: str
    others: str
    vd: Estimate
    fpr_gap: Estimate
    advantage_gap: Estimate
    recall: tuple[Estimate, Estimate]
    false_alarms: tuple[Estimate, Estimate]
    tests: dict[str, GapTest]


@dataclass(frozen=True, slots=True, kw_only=True)
class GapResult(Result):
    """The gap in TPR at a fixed FPR.

    Attributes
    ----------
    fpr : float
        The rate of false alarms, of each group by itself.
    estimate : Estimate
        Group minus others; nan where it was not measured.
    rates : tuple of Estimate
        Of the group and of the others.
    reason : str
        Why it was not measured; empty if it was.
    """

    group: str
    others: str
    fpr: float
    estimate: Estimate
    rates: tuple[Estimate, Estimate]
    test: GapTest | None
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Disparities(Result):
    """Each of several groups against all others; of two groups, the first against the other.

    Groups that are too small are in `not_measured`, with the reason in one sentence.
    """

    results: tuple[DisparityResult, ...]
    not_measured: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RangeRow(Result):
    """Members called members among those the model was this sure of.

    Attributes
    ----------
    low, high : float
        Range of the probability the model gave to the true label; the last includes 1.
    group, others : float
        Flagged members in the range, as a share of all members of the group, and of the others.
    difference : float
        The first minus the second.
    """

    low: float
    high: float
    group: float
    others: float
    difference: float


@dataclass(frozen=True, slots=True, kw_only=True)
class RangeTable(Result):
    """Ten ranges whose differences add up to the vulnerability disparity (Zhang et al. 2020, equation 5)."""

    group: str
    others: str
    rows: tuple[RangeRow, ...]
    vd: float
