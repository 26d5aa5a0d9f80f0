"""One tree, three ways to account for its privacy budget: what each costs in truth, and how well its tree predicts."""

from __future__ import annotations

from dataclasses import dataclass

from core.membership.attacked import attacked
from core.membership.findings import TargetFindings
from core.membership.people import MemberPeople
from core.membership.settings import MembershipSettings
from core.membership.splits import member_split
from core.membership.targets import id3_target, quality
from core.models.dp_id3 import ACCOUNTINGS, BudgetLedger
from core.results import Result


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

    Warns
    -----
    PrivacyLeakWarning
        For the naive accounting, which is here to be shown.
    """
    split = member_split(people.n, seed=settings.seed)
    found = []
    for accounting in ACCOUNTINGS:
        train = id3_target(people, epsilon=settings.epsilon, max_depth=settings.max_depth, accounting=accounting)
        target = attacked(people, settings, train, split=split)
        found.append(
            AccountingFindings(
                ledger=ledger_of(people, settings, accounting),
                target=quality(target.probability, people.labels, split.members, split.unseen),
            )
        )
    return tuple(found)
