"""What the audit says of the bank: ``python -m tests.verdicts [SEEDS] [NAME ...]``, of seed 1 and all if left out."""

import sys

from tests.verdicts.bank import BANK
from tests.verdicts.test_bank import POLICIES, run

if __name__ == "__main__":
    seeds, *names = sys.argv[1:] or ["1"]
    for seed in range(1, int(seeds) + 1):
        for name in names or BANK:
            done = run(BANK[name], seed)
            outcomes = " ".join(f"{policy} {done.outcome(policy):12}" for policy in POLICIES)
            failed = {check for rows in done.checks.values() for check, verdict in rows.items() if verdict == "fail"}
            kind = "leaks" if BANK[name].leaks else "harmless"
            print(f"{name:33} {seed} {kind:8} {outcomes} failed: {', '.join(sorted(failed)) or 'none'}", flush=True)
