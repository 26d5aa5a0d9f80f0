"""Integer programs through PuLP and CBC, which must not run longer than told nor be believed without its log."""

from __future__ import annotations

import re
import tempfile
import time
from pathlib import Path
from typing import Any


def empty_model() -> Any:
    """Return a program that minimises."""
    import pulp

    return pulp.LpProblem("program", pulp.LpMinimize)


def linear(terms: Any) -> Any:
    """Return the sum of (variable, coefficient) pairs."""
    import pulp

    return pulp.LpAffineExpression(dict(terms))


def run(model: Any, objective: Any, deadline: float, gap: float = 0.0) -> tuple[int, float]:
    """Let CBC minimise; return its lower bound and 1 (it claims an optimum), 2 (incumbent), 0 (nothing), -1 (none)."""
    import pulp

    model += objective
    # Preprocessing takes most of the time on thousands of segments and finds nothing; but CBC crashes without it on
    # some small programs that have no solution, and then gets it.
    for options in (["preprocess off"], []):
        text = _solved(model, deadline - time.perf_counter(), options, gap)
        if text is not None:
            break
    else:
        return 0, 0.0
    if model.sol_status == pulp.LpSolutionOptimal:
        return 1, float(pulp.value(objective))
    if model.status == pulp.LpStatusInfeasible:
        return -1, 0.0
    return (2 if model.sol_status == pulp.LpSolutionIntegerFeasible else 0), _printed_bound(text)


def _solved(model: Any, seconds: float, options: list[str], gap: float) -> str | None:
    """Let CBC solve and return its log; None where it crashes or no time is left."""
    import pulp

    if seconds <= 0:
        return None
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "log"
        bundled = pulp.PULP_CBC_CMD.pulp_cbc_path
        solver = pulp.COIN_CMD(
            msg=False, path=bundled, timeLimit=seconds, gapRel=gap, threads=1, logPath=str(log), options=options
        )
        solver.tmpDir = folder
        try:
            model.solve(solver)
        except pulp.PulpSolverError:
            return None
        return log.read_text()


def _printed_bound(log: str) -> float:
    """Return the last lower bound in CBC's log, less the rounding of its last digit; 0 if there is none."""
    found = re.findall(r"(?:Lower bound:\s*|best possible )(-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)", log)
    if not found:
        return 0.0
    decimals = len(found[-1].partition(".")[2])
    return float(found[-1]) - 10.0**-decimals
