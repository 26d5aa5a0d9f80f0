"""Membership inference: who was in the training data, and for which groups it is easier to infer."""

from core.membership.attack import NEEDS, MemberGuess
from core.membership.attacks import ATTACKS, REGISTRY
from core.membership.curves import (
    EPSILONS,
    THETAS,
    AccountingFindings,
    CurveBand,
    CurvePoint,
    accountings,
    epsilon_curve,
    fairpick_curve,
    summarise_curve,
)
from core.membership.disparity import DisparityResult, GapTest, disparities, recall_by_range, vulnerability_disparity
from core.membership.evidence import (
    Evidence,
    MembershipSplit,
    Train,
    judging_everybody,
    member_split,
    split_between,
    true_label_probability,
)
from core.membership.fairpick import DELETION_REMINDER, fairpick_counts
from core.membership.inference import (
    AttackFindings,
    Audit,
    MembershipFindings,
    TrainedTarget,
    attack_steps,
    attacked_as,
    evaluate_attack,
    iter_audits,
    run_attacks,
    train_target,
)
from core.membership.people import MemberPeople, column_grouping, grouped_by, member_people, table_grouping
from core.membership.roc import area, is_muted, roc
from core.membership.settings import FEWEST_SHADOWS, TARGET_TITLES, TARGETS, MembershipPlan, MembershipSettings
from core.membership.targets import default_depth, ledger_of, most_caught, target_of

__all__ = [
    "ATTACKS",
    "DELETION_REMINDER",
    "EPSILONS",
    "FEWEST_SHADOWS",
    "NEEDS",
    "REGISTRY",
    "TARGETS",
    "TARGET_TITLES",
    "THETAS",
    "AccountingFindings",
    "AttackFindings",
    "Audit",
    "CurveBand",
    "CurvePoint",
    "DisparityResult",
    "Evidence",
    "GapTest",
    "MemberGuess",
    "MemberPeople",
    "MembershipFindings",
    "MembershipPlan",
    "MembershipSettings",
    "MembershipSplit",
    "Train",
    "TrainedTarget",
    "accountings",
    "area",
    "attack_steps",
    "attacked_as",
    "column_grouping",
    "default_depth",
    "disparities",
    "epsilon_curve",
    "evaluate_attack",
    "fairpick_counts",
    "fairpick_curve",
    "grouped_by",
    "is_muted",
    "iter_audits",
    "judging_everybody",
    "ledger_of",
    "member_people",
    "member_split",
    "most_caught",
    "recall_by_range",
    "roc",
    "run_attacks",
    "split_between",
    "summarise_curve",
    "table_grouping",
    "target_of",
    "train_target",
    "true_label_probability",
    "vulnerability_disparity",
]
