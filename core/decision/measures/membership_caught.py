"""Check `membership_caught`: TPR at 1% FPR of the best membership attack tried, ties broken at random."""

from __future__ import annotations

from core.decision.attacks.members import FALSE_ALARMS, member_advantages, member_curves
from core.decision.audited import Audited
from core.decision.measures.members_told import AVERAGE, RANDOM, assumptions, attack_title, knows, who
from core.decision.measures.reasons import not_run
from core.estimates import Estimate
from core.membership import most_caught
from core.policy import Measurement
from core.strongest import strongest


def membership_caught(audited: Audited) -> Measurement:
    """Return the share of members that the best attack tried identifies at 1% FPR."""
    curves = member_curves(audited)
    reasons = {key: curve.resolution_reason(FALSE_ALARMS) for key, curve in curves.items()}
    if all(reasons.values()):
        return not_run("membership_caught", f"TPR at 1% FPR {next(iter(reasons.values())).removeprefix('n/a, ')}.")
    rates = {key: curve.tpr_at(FALSE_ALARMS) for key, curve in curves.items() if not reasons[key]}
    name, estimate = strongest(rates, within=(0.0, 1.0))
    details = {f"{attack_title(key)}, AUC": curve.auc.value for key, curve in curves.items()}
    details |= {f"{attack_title(key)}, advantage": each.value for key, each in member_advantages(audited).items()}
    details |= {f"{attack_title(key)}, TPR at 1% FPR": found.value for key, found in rates.items()}
    if audited.config.method == "dp_id3":
        details["promised at most"] = most_caught(FALSE_ALARMS, audited.config.epsilon)
    return Measurement(
        check="membership_caught",
        estimate=estimate,
        control=Estimate(value=FALSE_ALARMS, low=FALSE_ALARMS, high=FALSE_ALARMS, n=curves[name].n_outsiders),
        control_name=RANDOM,
        attacked=who(audited, name),
        knows=knows(audited, name),
        assumptions=(*assumptions(audited), AVERAGE),
        details=details,
    )
