"""What a membership audit found: target, attacks, and curves over epsilon and theta."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from core.estimates import Estimate
from core.membership.disparity import Disparities, GapResult, RangeTable
from core.membership.roc import Roc
from core.membership.settings import MembershipSettings
from core.serialize import Result

EPSILONS = (0.01, 0.1, 0.5, 1.0, 5.0, 10.0, 100.0, math.inf)
"""Privacy budgets of the curves."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetFindings(Result):
    """How well the attacked model predicts.

    The control `majority_test` is the more frequent label for everybody.
    """

    accuracy_train: Estimate
    accuracy_test: Estimate
    majority_test: Estimate


@dataclass(frozen=True, slots=True, kw_only=True)
class AttackFindings(Result):
    """What one attack found out."""

    name: str
    roc: Roc
    roc_by_group: tuple[Roc, ...]
    """By group code; of two groups, 0 is the others and 1 the first group."""
    precision: Estimate | None
    recall: Estimate | None
    disparities: Disparities | None
    """Of the verdict; None for an attack that gives scores alone."""
    low_fpr: tuple[GapResult, ...]
    """Gap in TPR at 1% FPR, a group each, as in `Disparities.results`."""
    ranges: tuple[RangeTable, ...]
    """Where the flags fall, a group each; empty without a verdict."""
    muted: bool
    """Whether the interval of the AUC does not lie above 0.5 (it holds 0.5, lies below, or is not there), so that a gap
    of the verdicts says nothing about leakage."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FairPickFindings(Result):
    """What FairPick or its control deleted: rows by group, clusters by label.

    `ignored` are negative deletions the published variant asks for and drops; `largest_before` and `largest_after` the
    largest absolute difference of the groups' shares of a cluster.
    """

    theta: float
    deleted: dict[str, int]
    clusters: dict[int, int]
    ignored: int
    largest_before: float
    largest_after: float


@dataclass(frozen=True, slots=True, kw_only=True)
class MembershipFindings(Result):
    """One target and the attacks that have finished."""

    settings: MembershipSettings
    title: str
    attribute: str
    group_names: tuple[str, ...]
    """By code; of two, 1 is the first group."""
    n_members: int
    n_judged: int
    """People trained on; people judged, about as many members as outsiders, and as many unless some were deleted."""
    target: TargetFindings
    attacks: dict[str, AttackFindings]
    fairpick: FairPickFindings | None = None
    not_run: dict[str, str] = field(default_factory=dict)
    """Name of an attack that cannot be run on this target -> why, in one sentence."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CurvePoint(Result):
    """One repeat at one setting: values without intervals.

    `at` is the epsilon, or the theta, of the curve; the variant is "epsilon", "fairpick" or "random" (the control of
    FairPick).
    """

    at: float
    repeat: int
    variant: str
    accuracy_train: float
    accuracy_test: float
    auc: float
    precision: float
    recall: float
    vd: float
    fpr_gap: float
    advantage_gap: float
    deleted: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class CurveBand(Result):
    """One setting over its repeats; the fields are those of `CurvePoint` with an interval over repeats.

    The variant may also be "fairpick - random", for differences; values are by the name of a field of `CurvePoint`.
    """

    at: float
    variant: str
    repeats: int
    values: dict[str, Estimate]
