"""Checks `membership_auc` and `membership_advantage`: how well the best membership attack tried tells members apart."""

from __future__ import annotations

from core.decision.attacks.members import member_advantages, member_curves
from core.decision.audited import Audited
from core.decision.measures.members_told import RANDOM, assumptions, attack_title, knows, who
from core.estimates import Estimate
from core.policy import Measurement
from core.strongest import strongest


def membership_auc(audited: Audited) -> Measurement:
    """Return the AUC of the best attack tried."""
    found = {name: curve.auc for name, curve in member_curves(audited).items()}
    return _best("membership_auc", audited, found, baseline=0.5, least=0.0)


def membership_advantage(audited: Audited) -> Measurement:
    """Return the advantage, TPR - FPR, of the best attack tried."""
    return _best("membership_advantage", audited, member_advantages(audited), baseline=0.0, least=-1.0)


def _best(check: str, audited: Audited, found: dict[str, Estimate], *, baseline: float, least: float) -> Measurement:
    name, estimate = strongest(found, within=(least, 1.0))
    return Measurement(
        check=check,
        estimate=estimate,
        control=Estimate(value=baseline, low=baseline, high=baseline, n=estimate.n),
        control_name=RANDOM,
        attacked=who(audited, name),
        knows=knows(audited, name),
        assumptions=assumptions(audited),
        details={attack_title(key): each.value for key, each in found.items()},
    )
