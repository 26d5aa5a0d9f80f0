"""How many of the people the model was trained on are recognised as such."""

from __future__ import annotations

from core.decision.attacks import FALSE_ALARMS, member_curves
from core.decision.audited import Audited
from core.decision.measures.members_told import assumptions, attack_title, knows
from core.decision.measures.reasons import not_run
from core.estimates import Estimate
from core.membership import most_caught
from core.policy import Measurement
from core.strongest import strongest

__all__ = ["membership_caught"]


def membership_caught(audited: Audited) -> Measurement:
    """Return the share of members that the strongest attack catches at 1% false alarms."""
    curves = member_curves(audited)
    any_one = next(iter(curves.values()))
    if reason := any_one.resolution_reason(FALSE_ALARMS):
        return not_run("membership_caught", f"A rate of 1% false alarms {reason.removeprefix('n/a, ')}.")
    caught = {key: curve.tpr_at(FALSE_ALARMS) for key, curve in curves.items()}
    name, estimate = strongest(caught, within=(0.0, 1.0))
    details = {f"{attack_title(key)}, AUC": curve.auc.value for key, curve in curves.items()}
    details |= {f"{attack_title(key)}, caught": found.value for key, found in caught.items()}
    if audited.config.method == "dp_id3":
        details["promised at most"] = most_caught(FALSE_ALARMS, audited.config.epsilon)
    return Measurement(
        check="membership_caught",
        outcome="done",
        estimate=estimate,
        control=Estimate(value=FALSE_ALARMS, low=FALSE_ALARMS, high=FALSE_ALARMS, n=any_one.n_outsiders),
        control_name="naming people at random",
        attacked=(
            f"Who of {any_one.n_members + any_one.n_outsiders:,} people is among the {any_one.n_members:,} the model "
            f"was trained on, by {attack_title(name)}."
        ),
        knows=knows(audited, name),
        assumptions=assumptions(audited),
        details=details,
    )
