"""What would settle a check: how many more records, or what to change.

The half width h of an interval falls with the square root of the number of records n, so that an interval which now
contains its limit at a distance d from the value ends at the limit with n · (h / d)² records. Page, report and terminal
read the same sentence. It is made of what stands in the row: a redacted row gives a redacted sentence.
"""

from __future__ import annotations

import math

from core.estimates import Estimate
from core.policy.checks import CHECKS
from core.policy.verdict import CheckVerdict, Status
from core.studies import STUDIES
from core.study import Outcome
from core.subject import SETS_UNKNOWN

_MOST_TIMES = 10
"""From how many times as many records on more of them are no advice."""

_PAGES = {
    "attriguard": "AttriGuard",
    "correction": "Correction",
    "membership": "Membership",
    "model_fairness": "Choose a model",
    "queries": "Bias queries",
}
"""Study -> the page that helps, where that has another name than the study."""

_REDUCE = {
    "unfairness": "Train, or ask for, a fairer model",
    "four_fifths": "Train, or ask for, a fairer model",
    "attriguard_cost": "Lower the noise budget",
}
"""Check -> what a fail asks for, where that is not a smaller leak."""

NOTHING_TO_DO = "Nothing to do"

_ADD_SETS = (
    "Add a column that says train, attack or test for each person (role Set on the Data page), or use the policy for "
    "predictions alone."
)


def what_would_settle(row: CheckVerdict) -> str:
    """Return what would turn a verdict into a pass, or a certain one; empty where the policy sets no limit."""
    if row.limit is None:
        return ""
    if row.verdict == Status.FAIL:
        return f"{_REDUCE.get(row.check, 'Reduce the leak')} ({_page(row.check)}), or accept the risk in writing."
    if row.verdict == Status.NOT_RUN:
        return _not_run(row)
    return _inconclusive(row) if row.verdict == Status.INCONCLUSIVE else NOTHING_TO_DO


def _page(check: str) -> str:
    """Return the page about a check."""
    for name, study in STUDIES.items():
        if any(one.name == check for one in study.declared):
            return _PAGES.get(name, study.title)
    return "see the study"


def _not_run(row: CheckVerdict) -> str:
    """Return what to supply where there is no number; the reason stands beside it wherever this is shown."""
    if row.excused:
        return "Nothing to do: the policy requires it only where it can be run."
    if not row.counts:
        return "Nothing to do: the policy does not require it here."
    if row.measurement is not None and row.measurement.outcome == Outcome.FAILED:
        return "Remove the cause of the error and audit again, or remove the requirement."
    reason = row.measurement.reason if row.measurement is not None else ""
    if reason == SETS_UNKNOWN:
        return _ADD_SETS
    missing = "what the reason names" if reason else f"what is missing (needs {' and '.join(CHECKS[row.check].needs)})"
    return f"Supply {missing}, or remove the requirement."


def _inconclusive(row: CheckVerdict) -> str:
    """Return how many more records are needed, or that it is to be decided in writing."""
    limit, found, measurement = row.limit, row.decided, row.measurement
    assert limit is not None
    if measurement is None or measurement.estimate is None:
        return "The number is withheld here; the internal report says it."
    if found is None:
        return "There is no interval, so the records needed are unknown. Decide in writing."
    bound, unit = float(limit.value), "records" if measurement.freedom is None else "repetitions"
    times = times_needed(found, bound)
    beyond = found.value != bound and (found.value > bound) != CHECKS[row.check].at_least
    if times > _MOST_TIMES:
        how = f"{_two_digits(times):,} times the {unit}" if times < 1000 else f"no number of {unit} is enough"
        return f"Too close to the limit: {how}{', likely a fail' if beyond else ''}. Decide in writing."
    if found.n > 0:
        words = f"About {_two_digits(found.n * (times - 1.0)):,} more {unit}"
    else:
        words = f"About {math.ceil(10 * times) / 10:g} times the {unit} (their number is unknown)"
    return f"{words} would likely make this a fail." if beyond else f"{words}, or accept the risk in writing."


def times_needed(found: Estimate, limit: float) -> float:
    """Return by how much n must grow until the interval ends at a limit inside it: (half width / distance)²."""
    distance = abs(found.value - limit)
    half = found.value - found.low if limit < found.value else found.high - found.value
    return math.inf if distance == 0.0 else max(1.0, (half / distance) ** 2)


def _two_digits(number: float) -> int:
    """Return the next larger whole number, rounded up to two digits."""
    whole = math.floor(number) + 1
    step = 10 ** max(0, len(str(whole)) - 2)
    return math.ceil(whole / step) * step
