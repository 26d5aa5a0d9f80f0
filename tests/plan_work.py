"""An experiment of plans, also as a program, to be killed.

``python -m tests.plan_work STORE ROWS`` measures `POINTS` on two workers, keeps what it finishes in a store, and writes
its rows once it is through.
"""

import json
import sys
from dataclasses import replace
from pathlib import Path

from core.auditing import MembershipSettings, catalogue_plan
from core.base.serialize import dumps
from core.experiments.engine import FileStore
from core.experiments.experiment import grid_of, run_experiment
from tests import samples

STUDIES = ("fairness", "membership", "two_models")
_DEMO = catalogue_plan("demo")
_PLAN = replace(
    _DEMO, membership=MembershipSettings(shadows=0), config=replace(_DEMO.config, roles=samples.ROLES, tolerance=0.1)
)
POINTS = grid_of(_PLAN, {"model.method": ("unmitigated", "dp_id3"), "model.seed": range(40)})


def rows(store=None):
    """Return the rows of all plans, measured by two workers, without the seconds."""
    measured = run_experiment(POINTS, samples.table(400), studies=STUDIES, n_jobs=2, store=store)
    return [json.loads(dumps(replace(row, seconds=0.0))) for row in measured]


def main(store, out):
    Path(out).write_text(json.dumps(rows(FileStore(Path(store)))), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
