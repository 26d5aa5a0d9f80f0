"""Time over the distinct values of a column: another one in each record.

From one size to the next the time grows 2.6 times at most on average over the larger half (n log n), for ``fairleak
init``, for what the Data page runs, and for what an audit runs before a model is trained; reading the file counts.
"""

import time
from functools import partial
from itertools import pairwise

import numpy as np
import pandas as pd

from core.auditing import suggested_plan
from core.auditing.inputs import require_answers
from core.base.errors import InputError
from core.datasets import Roles, build_dataset, cautions, read_table, suggest_roles
from core.datasets.columns import describe_columns
from core.datasets.input_check import check_input
from core.datasets.roles import summarise_columns
from tests.benchmarks.measuring import seconds, verdicts

_POWERS = range(12, 21)
_NAME = "people.csv"
_ROLES = Roles(label="hired", positive="yes", favourable="yes", sensitive="sex", each=True)


def _content(rows, column):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"id": np.arange(rows), "sex": rng.choice(["f", "m"], rows)})
    frame["age"] = rng.integers(18, 80, rows)
    frame["hired"] = rng.choice(["no", "yes"], rows)
    frame[column] = [f"v{number}x" for number in rng.permutation(rows)]
    return frame.to_csv(index=False).encode()


def _page(table):
    summarise_columns(table.frame)
    describe_columns(table.frame)
    suggest_roles(table.frame)
    check_input(table.frame, _ROLES)
    cautions(table.frame, _ROLES)
    build_dataset(table, _ROLES)


def _audit(table):
    require_answers(table, _ROLES)
    build_dataset(table, _ROLES)


_WORK = {
    "init": lambda table: suggested_plan(table, _NAME, label="hired").facts(),
    "Data page": _page,
    "audit": _audit,
}


def _answered(work, content):
    """Read a table and do the work, up to the sentence that refuses it, if one does."""
    table = read_table(content, _NAME)
    try:
        work(table)
    except InputError:
        return


def main():
    print("Distinct values of a column, as many as records")
    for column in ("sex", "hired", "id", "age"):
        contents = {power: _content(2**power, column) for power in _POWERS}
        for name, work in _WORK.items():
            _answered(work, contents[_POWERS[0]])  # imports are not timed
            # The process that reads counts, too.
            times = [seconds(partial(_answered, work, part), clock=time.perf_counter) for part in contents.values()]
            ratios = [later / earlier for earlier, later in pairwise(times)]
            mean = float(np.exp(np.mean(np.log(ratios[len(ratios) // 2 :]))))
            verdicts((f"times as long with each doubling of {column}, {name}", mean, 2.6))
