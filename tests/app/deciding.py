"""What the tests of the Report page share: audits with few attacks, each made once, and what the page shows of them."""

import threading
from dataclasses import replace

from core.auditing import BiasQueriesSettings, MembershipSettings, SelfTest, run_audit
from core.auditing.policy import default_policy
from core.base.serialize import fingerprint
from core.stats.estimates import proportion

_RATES = {"false_alarms": proportion(4, 200), "detected": proportion(200, 200)}
SELF_TESTS = (SelfTest(attack="A made-up attack", passed=True, told="Nothing was planted.", **_RATES),)


def quick(plan):
    """Return a plan with the same questions and little work."""
    small = replace(plan, membership=MembershipSettings(shadows=0))
    if plan.model.kind == "train":
        small = replace(small, config=replace(plan.config, method="unmitigated", tolerance=0.05))
    if plan.bias_queries.questions:
        small = replace(small, bias_queries=BiasQueriesSettings(questions=4, people=40, epsilon=0.5, repeats=2))
    return small


_audits = {}
_lock = threading.Lock()


class Attacks:
    """Stands in for `core.auditing.run_audit`: little work, done once, or `instead` an invented audit."""

    def __init__(self):
        self.plans = []
        self.audits = []
        self.instead = None

    def __call__(self, plan, table, policy, **options):
        self.plans.append(plan)
        options.pop("report")(1, 9)
        if self.instead is not None:
            self.audits.append(replace(self.instead, plan=plan))
            return self.audits[-1]
        small = quick(plan)
        key = fingerprint(replace(small, title=""), table.fingerprint)
        with _lock:
            if key not in _audits:
                _audits[key] = run_audit(small, table, policy, **options)
        audit = _audits[key]
        self.audits.append(audit)
        return replace(audit, plan=plan)


def board(dashboard):
    """Return the checks as HTML: those on which the release hangs, then those for information."""
    bodies = [element.proto.body for element in dashboard.test.get("html")]
    return "".join(body for body in bodies if 'class="fl-board' in body)


def changed(dashboard, check, version="", **fields):
    """Change a limit in the table, with all that a change must say, and judge by it."""
    limit = {"rationale": "Our own law.", "source": "Law, § 3", **fields}
    changes = {f"limit_{name}_{check}_": value for name, value in limit.items()}
    changes |= {"policy_version_": version or f"{default_policy().version}.1", "policy_author_": "A. Officer"}
    dashboard.submit("policy_keep_", **changes)
