"""What a privacy budget promises about membership, and three ways to account for it.

The promise is about one record more or less. A membership experiment trains on as many people either way: where she is
out, somebody else is in. Such tables differ by a record replaced, which is one record less and then one more, so that
what is promised about them is twice epsilon (Dwork and Roth 2014, theorem 2.2). Assumed: whoever attacks does not know
the seed of the noise.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from core.membership.inference import attacked
from core.membership.judged_people import member_split
from core.membership.people import MemberPeople
from core.membership.settings import MembershipSettings
from core.membership.targets import TargetFindings, quality, target_of
from core.models.tree_budget import ACCOUNTINGS, BudgetLedger
from core.serialize import Result
from core.validation import privacy_budget, unit_interval

_LARGEST = 350.0
"""Epsilon beyond which exp(2 epsilon) is too large to be told."""


def most_times(epsilon: float) -> float:
    """Return how many times as often as an outsider a member can be flagged at most: exp(2 epsilon).

    Raises `InputError` if epsilon breaks its rule.
    """
    budget = privacy_budget(epsilon)
    return math.exp(2.0 * budget) if budget <= _LARGEST else math.inf


def most_caught(false_alarms: float, epsilon: float) -> float:
    """Return the largest share of members that an attack with so many false alarms can be expected to flag.

    The bound holds for who is flagged and for who is not (Kairouz, Oh and Viswanath 2015, theorem 2.1). `false_alarms`,
    in [0, 1], is the share of outsiders flagged.
    """
    alarms, times = unit_interval(false_alarms, name="false_alarms"), most_times(epsilon)
    if math.isinf(times):
        return 1.0
    return min(times * alarms, 1.0 - (1.0 - alarms) / times)


@dataclass(frozen=True, slots=True, kw_only=True)
class AccountingFindings(Result):
    """What a tree costs, and what it is good for.

    The ledger's `total` is what it costs in truth.
    """

    ledger: BudgetLedger
    target: TargetFindings


def ledger_of(people: MemberPeople, settings: MembershipSettings, accounting: str = "") -> BudgetLedger:
    """Return what the private tree of these settings spends, by their accounting or by another."""
    columns = len(people.names)
    return BudgetLedger(
        accounting=accounting or settings.accounting,
        asked=settings.epsilon,
        depth=min(settings.max_depth, columns),
        n_attributes=columns,
    )


def accountings(people: MemberPeople, settings: MembershipSettings) -> tuple[AccountingFindings, ...]:
    """Train the private tree once with each accounting, the last of which is not private.

    Warns with `PrivacyLeakWarning` for the naive accounting, which is here to be shown.
    """
    split = member_split(people.n, seed=settings.seed)
    found = []
    for accounting in ACCOUNTINGS:
        train = target_of(people, replace(settings, target="dp_id3", accounting=accounting))
        target = attacked(people, settings, train, split=split)
        found.append(
            AccountingFindings(
                ledger=ledger_of(people, settings, accounting),
                target=quality(target.probability, people.labels, split.members, split.unseen),
            )
        )
    return tuple(found)
