"""Check `membership_gap`: difference between a group and the others in TPR at 1% FPR."""

from __future__ import annotations

from core.decision.attacks.members import member_gaps
from core.decision.audited import Audited
from core.decision.measures.members_told import AVERAGE, assumptions, attack_title, knows
from core.decision.measures.reasons import not_run
from core.estimates import Estimate
from core.membership import GapResult
from core.policy import Measurement
from core.strongest import strongest


def membership_gap(audited: Audited) -> Measurement:
    """Return the largest difference between a group and the others in TPR at 1% FPR of each."""
    found = {(name, gap.group): gap for name, gaps in member_gaps(audited).items() for gap in gaps}
    if unmeasured := next((gap.reason for gap in found.values() if gap.reason), ""):
        return not_run("membership_gap", f"TPR at 1% FPR {unmeasured.removeprefix('n/a, ')}.")
    keys = {f"{attack_title(name)}, {group}": (name, group) for name, group in found}
    told, estimate = strongest({key: _folded(found[own].estimate) for key, own in keys.items()}, within=(0.0, 1.0))
    name, group = keys[told]
    gap = found[name, group]
    nobody = Estimate(value=0.0, low=0.0, high=0.0, n=gap.estimate.n)
    return Measurement(
        check="membership_gap",
        estimate=estimate,
        control=nobody,
        control_name="no difference",
        attacked=(
            f"Who of {audited.splits.train.size + audited.splits.test.size:,} people was in the training data, by "
            f"{attack_title(name)}: {_shares(gap)}."
        ),
        knows=knows(audited, name),
        assumptions=(*assumptions(audited), AVERAGE, "Each group has a threshold of its own."),
        details={f"{key}, minus {found[own].others}": found[own].estimate.value for key, own in keys.items()},
    )


def _shares(gap: GapResult) -> str:
    own, others = (100 * rate.value for rate in gap.rates)
    return f"TPR at 1% FPR {own:.1f}% among {gap.group} and {others:.1f}% among {gap.others}"


def _folded(gap: Estimate) -> Estimate:
    """Return the size of a difference, whatever its sign."""
    low = 0.0 if gap.low <= 0.0 <= gap.high else min(abs(gap.low), abs(gap.high))
    return Estimate(value=abs(gap.value), low=low, high=max(abs(gap.low), abs(gap.high)), n=gap.n, level=gap.level)
