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
    Attacked,
    AttackFindings,
    Audit,
    MembershipFindings,
    attack_steps,
    attacked,
    attacked_as,
    audits,
    guesses,
    judge,
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
    "Attacked",
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
    "accountings",
    "area",
    "attack_steps",
    "attacked",
    "attacked_as",
    "audits",
    "column_grouping",
    "default_depth",
    "disparities",
    "epsilon_curve",
    "fairpick_counts",
    "fairpick_curve",
    "grouped_by",
    "guesses",
    "is_muted",
    "judge",
    "judging_everybody",
    "ledger_of",
    "member_people",
    "member_split",
    "most_caught",
    "recall_by_range",
    "roc",
    "split_between",
    "summarise_curve",
    "table_grouping",
    "target_of",
    "true_label_probability",
    "vulnerability_disparity",
]
