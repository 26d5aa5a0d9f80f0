"""What the page shows: the attacks' findings, judged by the policy as it stands, as one report document."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from core.decision import ReleaseAudit, SelfTest, failed_tests, provenance
from core.fingerprint import fingerprint
from core.policy import Policy, judge
from core.report import CheckRow, check_rows, document
from pages.common.deciding.work import Work
from pages.common.jobs import Store

if TYPE_CHECKING:
    from core.report import AttackedPeople

__all__ = ["Shown", "shown"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """An audit as it is judged now.

    Attributes
    ----------
    audit : ReleaseAudit
    people : AttackedPeople or None
        Whom an edition for others is attacked on.
    store : Store
        Where its documents are kept.
    key : str
        Fingerprint of all of it.
    """

    audit: ReleaseAudit
    people: AttackedPeople | None = field(repr=False)
    store: Store = field(repr=False)
    key: str

    def document(self, edition: str = "internal") -> dict[str, Any]:
        """Return the report of an edition, made once."""
        made: dict[str, Any] = self.store.remember(
            fingerprint("release document", self.key, edition),
            lambda: document(self.audit, edition=edition, people=self.people),
        )
        return made

    def rows(self) -> tuple[CheckRow, ...]:
        """Return the checks with everything a reader is told of them."""
        return check_rows(self.document())


def shown(work: Work, policy: Policy, tests: tuple[SelfTest, ...]) -> Shown:
    """Judge what was found by a policy; no attack is run.

    Parameters
    ----------
    work : Work
        Finished.
    policy : Policy
    tests : tuple of SelfTest
        FairLeak's tests of itself as far as they are there.
    """
    found = work.found
    assert found is not None
    plan = replace(found.audit.plan, title=work.subject.plan.title)
    attribute, failed = found.audit.data.attribute, failed_tests(tests)
    audit = replace(
        found.audit,
        plan=plan,
        verdict=judge(policy, found.audit.measurements, attribute=attribute, failed_tests=failed),
        self_tests=tests,
        provenance=provenance(plan, policy),
    )
    key = fingerprint("release", work.key, plan.title, policy, list(tests))
    return Shown(audit=audit, people=found.people, store=work.store, key=key)
