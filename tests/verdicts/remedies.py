"""Whether a remedy that an audit says to pass does so on other people: `python -m tests.verdicts.remedies 30`.

Models of the bank that leak by what they release are audited, seed after seed. The first narrower release said to pass
is audited again on people drawn anew, with a model of the same kind. One line a remedy, then how many passed there.
"""

import itertools
import sys
from dataclasses import replace

from core.auditing import run_audit
from core.auditing.policy import Status, judged_alternatives, passing_alternative, predictions_policy
from tests.verdicts.bank import LEAKING
from tests.verdicts.test_bank import table_and_plan


def holds(entry, seed):
    """Return whether an entry's first narrower release that is said to pass does on fresh records; None without one."""
    table, plan = table_and_plan(*entry.make(seed), seed)
    policy = predictions_policy()
    audit = run_audit(plan, table, policy)
    candidates = judged_alternatives(policy, audit.measurements, audit.alternatives, attribute=audit.data.attribute)
    passing = passing_alternative(candidates)
    if passing is None:
        return None
    outputs = passing[0].outputs
    table, plan = table_and_plan(*entry.make(seed + 1_000), seed + 1_000)  # other people
    audit = run_audit(replace(plan, outputs=outputs), table, policy)
    print(f"{entry.name}, seed {seed}, {outputs}: {audit.verdict.headline}", flush=True)
    return audit.verdict.overall == Status.PASS


def main(most):
    """Try entries in turn until so many had a remedy."""
    outcomes = []
    without = set()
    built = [entry for entry in LEAKING if not entry.needs]
    for seed, entry in itertools.product(range(1, 11), built):
        if len(outcomes) == most:
            break
        if entry.name in without:
            continue
        outcome = holds(entry, seed)
        if outcome is None:
            without.add(entry.name)
        else:
            outcomes.append(outcome)
    print(f"{sum(outcomes)} of {len(outcomes)} remedies pass on fresh records; without a remedy: {len(without)} kinds")


if __name__ == "__main__":
    main(int(sys.argv[1]))
