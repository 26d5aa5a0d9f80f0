"""Membership inference: who was in the training data, and which groups are more exposed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from core.membership.attack import NEEDS, TAUGHT, Evidence, MemberGuess, Train, true_label_probability
from core.membership.attacks import ATTACK_TITLES, ATTACKS, REGISTRY
from core.membership.attacks.gap import gap_attack
from core.membership.attacks.lira import lira_from
from core.membership.attacks.lira_boosted import lira_boosted
from core.membership.attacks.loss import loss_attack
from core.membership.attacks.released import released_attack
from core.membership.curves import (
    EPSILONS,
    THETAS,
    CurveBand,
    CurvePoint,
    epsilon_curve,
    fairpick_curve,
    fairpick_differences,
    summarise_curve,
)
from core.membership.disparity import (
    DisparityResult,
    GapResult,
    GapTest,
    disparities,
    is_muted,
    recall_by_range,
    vulnerability_disparity,
)
from core.membership.fairpick import DELETION_REMINDER, fairpick_counts
from core.membership.inference import (
    Attacked,
    AttackFindings,
    MembershipFindings,
    attack_rows,
    attack_steps,
    attacked,
    attacked_audit,
    findings_of,
    guesses,
    judge,
    study_steps,
)
from core.membership.judged_people import (
    MembershipSplit,
    judging_everybody,
    member_split,
    split_between,
    taught_both_ways,
)
from core.membership.low_fpr import lira_gaps
from core.membership.people import MemberPeople, column_grouping, grouped_by, member_people, table_grouping
from core.membership.privacy import AccountingFindings, accountings, ledger_of, most_caught
from core.membership.roc import Roc, advantage, area, roc
from core.membership.settings import FEWEST_SHADOWS, TARGET_TITLES, TARGETS, MembershipPlan, MembershipSettings
from core.membership.shadows import train_shadows
from core.membership.targets import audited_target, default_depth, given_target, target_of

if TYPE_CHECKING:
    from core.models.dp_id3 import DPID3Classifier

__all__ = [
    "ATTACKS",
    "ATTACK_TITLES",
    "DELETION_REMINDER",
    "EPSILONS",
    "FEWEST_SHADOWS",
    "NEEDS",
    "REGISTRY",
    "TARGETS",
    "TARGET_TITLES",
    "TAUGHT",
    "THETAS",
    "AccountingFindings",
    "AttackFindings",
    "Attacked",
    "CurveBand",
    "CurvePoint",
    "DPID3Classifier",
    "DisparityResult",
    "Evidence",
    "GapResult",
    "GapTest",
    "MemberGuess",
    "MemberPeople",
    "MembershipFindings",
    "MembershipPlan",
    "MembershipSettings",
    "MembershipSplit",
    "Roc",
    "Train",
    "accountings",
    "advantage",
    "area",
    "attack_rows",
    "attack_steps",
    "attacked",
    "attacked_audit",
    "audited_target",
    "column_grouping",
    "default_depth",
    "disparities",
    "epsilon_curve",
    "fairpick_counts",
    "fairpick_curve",
    "fairpick_differences",
    "findings_of",
    "gap_attack",
    "given_target",
    "grouped_by",
    "guesses",
    "is_muted",
    "judge",
    "judging_everybody",
    "ledger_of",
    "lira_boosted",
    "lira_from",
    "lira_gaps",
    "loss_attack",
    "member_people",
    "member_split",
    "most_caught",
    "recall_by_range",
    "released_attack",
    "roc",
    "split_between",
    "study_steps",
    "summarise_curve",
    "table_grouping",
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
