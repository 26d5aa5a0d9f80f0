"""The sample as an audit would have left it: judged by its policy, with numbers that follow from each other."""

from __future__ import annotations

import dataclasses

from core.auditing import ReleaseAudit, SelfTest, failed_tests, verdict_caveats
from core.auditing.policy import Policy, judge
from core.auditing.result import plan_fingerprint
from core.auditing.run import trials
from core.base.serialize import code_fingerprint, content_fingerprint
from core.stats.estimates import certain
from core.studies.bias_queries import declared_limits
from tests.samples_report import POLICY, sample


def judged_audit(
    audit: ReleaseAudit | None = None, *, policy: Policy = POLICY, tests: tuple[SelfTest, ...] = ()
) -> ReleaseAudit:
    """Return the audit with the verdict, summaries and fingerprints that its numbers and this code give."""
    audit = audit or sample()
    plan = dataclasses.replace(audit.plan, data=dataclasses.replace(audit.plan.data, file="people.csv"))
    bound = certain(declared_limits(plan.bias_queries)[0], 0)
    measurements = tuple(
        dataclasses.replace(m, estimate=bound) if m.check == "targeted_leakage" else m for m in audit.measurements
    )
    gap = next(m.estimate for m in measurements if m.check == "unfairness")
    passed = audit.self_tests[0]
    tests = tests or tuple(
        dataclasses.replace(passed, attack=plant.attack, told=plant.explanation) for _, plant in trials()
    )
    return dataclasses.replace(
        audit,
        plan=plan,
        measurements=measurements,
        model=dataclasses.replace(audit.model, unfairness_test=gap),
        self_tests=tests,
        verdict=judge(
            policy,
            measurements,
            attribute=audit.data.attribute,
            failed_tests=failed_tests(tests),
            caveats=verdict_caveats(audit.caveats, chosen=False, self_tests=tests),
        ),
        provenance=dataclasses.replace(
            audit.provenance,
            policy=content_fingerprint(policy),
            plan=plan_fingerprint(plan),
            code=code_fingerprint(),
        ),
    )
