"""Membership inference: who was in the training data, which groups are more exposed, and what changes that."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from core.membership.accountings import AccountingFindings, accountings, ledger_of
from core.membership.advantage import advantage
from core.membership.attacked import Attacked, attacked, clusters_of, target_of
from core.membership.attacks import (
    FEWEST_SHADOWS,
    TAUGHT,
    MemberGuess,
    Shadows,
    Train,
    confidence_attack,
    gap_attack,
    lira,
    lira_boosted,
    lira_from,
    loss_attack,
    network_attack,
    precision_recall,
    released_attack,
    train_shadows,
    true_label_probability,
)
from core.membership.curves import THETAS, epsilon_curve, fairpick_curve, fairpick_differences, summarise_curve
from core.membership.disparity import (
    Disparities,
    DisparityResult,
    GapResult,
    GapTest,
    RangeRow,
    RangeTable,
    disparities,
    is_muted,
    lira_gap,
    lira_gaps,
    recall_by_range,
    vulnerability_disparity,
)
from core.membership.fairpick import (
    DELETION_REMINDER,
    Clusters,
    FairPick,
    PublishedDeletions,
    RandomDeletion,
    clusters,
    fairpick,
    fairpick_counts,
    fairpick_literal,
    fairpick_program,
    like_outsiders,
    member_clusters,
    outsiders_at_random,
    random_deletion,
)
from core.membership.findings import (
    ATTACK_TITLES,
    ATTACKS,
    EPSILONS,
    AttackFindings,
    CurveBand,
    CurvePoint,
    FairPickFindings,
    MembershipFindings,
    TargetFindings,
)
from core.membership.given import GivenTarget, given_target
from core.membership.grouping import (
    Grouping,
    column_grouping,
    grouped_by,
    own_grouping,
    pair_groups,
    regrouped,
    table_grouping,
)
from core.membership.halves import taught_both_ways
from core.membership.judging import judge
from core.membership.people import MemberPeople, member_people
from core.membership.promise import most_caught, most_times
from core.membership.roc import Roc, area, group_rocs, roc
from core.membership.settings import TARGET_TITLES, TARGETS, MembershipSettings
from core.membership.splits import MembershipSplit, judging_everybody, member_split, split_between
from core.membership.study import findings_of, guesses, study, study_steps
from core.membership.targets import audited_target, default_depth, id3_target, library_target, quality, target_by_name

if TYPE_CHECKING:
    from core.models.dp_id3 import DPID3Classifier

__all__ = [
    "ATTACKS",
    "ATTACK_TITLES",
    "DELETION_REMINDER",
    "EPSILONS",
    "FEWEST_SHADOWS",
    "TARGETS",
    "TARGET_TITLES",
    "TAUGHT",
    "THETAS",
    "AccountingFindings",
    "AttackFindings",
    "Attacked",
    "Clusters",
    "CurveBand",
    "CurvePoint",
    "DPID3Classifier",
    "Disparities",
    "DisparityResult",
    "FairPick",
    "FairPickFindings",
    "GapResult",
    "GapTest",
    "GivenTarget",
    "Grouping",
    "MemberGuess",
    "MemberPeople",
    "MembershipFindings",
    "MembershipSettings",
    "MembershipSplit",
    "PublishedDeletions",
    "RandomDeletion",
    "RangeRow",
    "RangeTable",
    "Roc",
    "Shadows",
    "TargetFindings",
    "Train",
    "accountings",
    "advantage",
    "area",
    "attacked",
    "audited_target",
    "clusters",
    "clusters_of",
    "column_grouping",
    "confidence_attack",
    "default_depth",
    "disparities",
    "epsilon_curve",
    "fairpick",
    "fairpick_counts",
    "fairpick_curve",
    "fairpick_differences",
    "fairpick_literal",
    "fairpick_program",
    "findings_of",
    "gap_attack",
    "given_target",
    "group_rocs",
    "grouped_by",
    "guesses",
    "id3_target",
    "is_muted",
    "judge",
    "judging_everybody",
    "ledger_of",
    "library_target",
    "like_outsiders",
    "lira",
    "lira_boosted",
    "lira_from",
    "lira_gap",
    "lira_gaps",
    "loss_attack",
    "member_clusters",
    "member_people",
    "member_split",
    "most_caught",
    "most_times",
    "network_attack",
    "outsiders_at_random",
    "own_grouping",
    "pair_groups",
    "precision_recall",
    "quality",
    "random_deletion",
    "recall_by_range",
    "regrouped",
    "released_attack",
    "roc",
    "split_between",
    "study",
    "study_steps",
    "summarise_curve",
    "table_grouping",
    "target_by_name",
    "target_of",
    "taught_both_ways",
    "train_shadows",
    "true_label_probability",
    "vulnerability_disparity",
]


def __getattr__(name: str) -> Any:
    """Load the private tree when it is first asked for, and scikit-learn with it."""
    if name == "DPID3Classifier":
        from core.models.dp_id3 import DPID3Classifier

        return DPID3Classifier
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
