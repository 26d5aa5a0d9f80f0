"""What an audit of given predictions costs: time and memory of a process each, by number of invented people.

``python -m tests.benchmarks.bench_audit [ROWS ...]``; the policy is the one for given predictions.
"""

import re
import subprocess
import sys
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd

from tests.benchmarks.measuring import verdicts

LIMITS = {60_000: (60.0, 2.0), 1_000_000: (200.0, 1.2)}  # rows -> seconds, and gigabytes at most


def table(rows, seed=0):
    """Return people, and the predictions of a model that somebody trained on features alone."""
    rng = np.random.default_rng(seed)
    sex = rng.random(rows) < 0.35
    x = rng.normal(size=(rows, 6)).round(2) + 0.4 * sex[:, None] * np.array([1, 0.5, 0.2, 0, 0, 0])
    score = 1 / (1 + np.exp(-(0.8 * x[:, 1] + 0.7 * x[:, 3] - 0.5 * x[:, 4])))
    frame = pd.DataFrame({f"feature {j}": x[:, j] for j in range(6)})
    frame["region"] = rng.integers(0, 12, rows).astype(str)
    frame["age"] = rng.integers(18, 90, rows)
    frame["sex"] = np.where(sex, "F", "M")
    frame["label"] = np.where(rng.random(rows) < score, "yes", "no")
    frame["score"] = score.round(4)
    frame["set"] = np.array(["train", "attack", "test"])[np.arange(rows) % 3]
    return frame


def measure(rows):
    """Audit one table in this process, and print the verdicts on processor seconds and the largest memory."""
    from core.auditing import AuditPlan, DataPlan, MembershipSettings, ModelPlan, run_audit
    from core.auditing.policy import predictions_policy
    from core.datasets import Roles, Table
    from core.models import GIVEN_PREDICTIONS
    from core.report import Reports
    from core.studies.subject import AuditConfig

    warnings.simplefilter("ignore")
    upload = Table(name="upload", title="Invented people", frame=table(rows), source="Invented.")
    roles = Roles(
        label="label", positive="yes", favourable="yes", sensitive="sex", group=("F",), score="score", sets="set"
    )
    plan = AuditPlan(
        data=DataPlan(dataset="", file="people.csv"),
        model=ModelPlan(kind="predictions"),
        config=AuditConfig(dataset="upload", roles=roles, method=GIVEN_PREDICTIONS, tolerance=0.05),
        membership=MembershipSettings(shadows=0),
    )
    started = time.process_time()
    _ = Reports(run_audit(plan, upload, predictions_policy())).document
    processor = time.process_time() - started
    # the most memory of this process: `getrusage` would also tell its parent's (Linux)
    match = re.search(r"VmHWM:\s*(\d+) kB", Path("/proc/self/status").read_text("utf-8"))
    limit, gigabytes = LIMITS.get(rows, (float("inf"), float("inf")))
    verdicts(
        (f"s of processor, {rows:,} rows", processor, limit),
        (f"GB, {rows:,} rows", int(match[1]) / 2**20, gigabytes),
    )


def main(rows=tuple(LIMITS)):
    print("An audit of given predictions")
    for size in rows:
        subprocess.run([sys.executable, "-m", __spec__.name, "--measure", str(size)], check=True)


if __name__ == "__main__":
    if "--measure" in sys.argv:
        measure(int(sys.argv[-1]))
    else:
        main(tuple(map(int, sys.argv[1:])) or tuple(LIMITS))
