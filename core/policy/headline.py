"""A release's verdict in words: the headline a reader acts on, and the sentence under it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from core.policy.verdict import CheckVerdict, Status
from core.policy.words import level_text
from core.wording import in_words

_BLOCKING = (Status.FAIL, Status.INCONCLUSIVE, Status.NOT_RUN)
_MISSED = "the attack missed a planted leak, or flagged a model without one"
_ONE = {"fail": "fails", "inconclusive": "is inconclusive", "not_run": "was not run", "pass": "passes"}
_SEVERAL = {"fail": "fail", "inconclusive": "are inconclusive", "not_run": "were not run", "pass": "pass"}


def overall(rows: Sequence[CheckVerdict], *, failed_tests: Sequence[str] = ()) -> Status:
    """Return the worst verdict of the required checks: fail, then inconclusive, then not run, then pass.

    A check that could not be run, where its limit allows that, is left out; of none that was run nothing passes.
    Where FairLeak's test of itself failed for an attack, pass is inconclusive.
    """
    found = {row.verdict for row in rows if row.counts}
    if not found:
        return Status.NOT_RUN
    return next(
        (verdict for verdict in _BLOCKING if verdict in found),
        Status.INCONCLUSIVE if failed_tests else Status.PASS,
    )


def headline_and_detail(
    rows: Sequence[CheckVerdict], *, level: float, failed_tests: Sequence[str] = ()
) -> tuple[str, str]:
    """Return the verdict as a title, and what the title leaves out."""
    headline, detail = _of_checks(rows, level=level)
    if not failed_tests:
        return headline, detail
    if overall(rows) == Status.PASS:
        return f"Do not release yet: the self-test failed, as {_MISSED}.", _mistrust(failed_tests)
    return headline, _joined(detail, f"The self-test failed: {_MISSED}.", _mistrust(failed_tests))


def _mistrust(failed_tests: Sequence[str]) -> str:
    told = "; ".join(f"“{attack}”" for attack in failed_tests)
    return f"It failed for {told}: no verdict here can be relied on until the cause is found."


def _of_checks(rows: Sequence[CheckVerdict], *, level: float) -> tuple[str, str]:
    required = Counter(row.verdict for row in rows if row.counts)
    others = Counter(row.verdict for row in rows if row.limit and not row.limit.required)
    n, worst = required.total(), overall(rows)
    excused = _excused(rows)
    if not n:
        return "Do not release yet: no required check could be run.", _joined(_optional(others))
    if worst == Status.PASS:
        return _kept(n, bool(others or excused)), _joined(_claim(level), excused, _optional(others))
    warning = "Do not release" if worst == Status.FAIL else "Do not release yet"
    headline = f"{warning}: {_of_all(required[worst], n, worst)}."
    if required[worst] == n:
        return headline, _joined(excused, _optional(others))
    return headline, _joined(_further(required, worst), _passing(required[Status.PASS]), excused, _optional(others))


def _kept(n: int, others: bool) -> str:
    kind = "required limit" if others else "limit"
    if n == 1:
        return f"The one {kind} of the policy is kept."
    return f"{'Both' if n == 2 else f'All {in_words(n)}'} {kind}s of the policy are kept."


def _claim(level: float) -> str:
    return (
        f"Decided at {level_text(level)} confidence over all limits together; "
        "it holds for these attacks on this model and this table, and says nothing about others."
    )


def _of_all(count: int, n: int, verdict: Status) -> str:
    """Write "two of six checks fail", "the only check fails", "both checks fail", "all six checks fail"."""
    if n == 1:
        return f"the only required check {_ONE[verdict]}"
    if count == n:
        return f"{'both' if n == 2 else f'all {in_words(n)}'} checks {_SEVERAL[verdict]}"
    return f"{in_words(count)} of {in_words(n)} checks {_counted(count, verdict)}"


def _further(required: Counter[Status], worst: str) -> str:
    """Write "One is inconclusive and one was not run; both also block a release."."""
    rest = {verdict: required[verdict] for verdict in _BLOCKING if verdict != worst and required[verdict]}
    total = sum(rest.values())
    if not total:
        return ""
    told = " and ".join(f"{in_words(count)} {_counted(count, verdict)}" for verdict, count in rest.items())
    also = {1: "it also blocks", 2: "both also block"}.get(total, f"all {in_words(total)} also block")
    return f"{_sentence(told)}; {also} a release."


def _passing(count: int) -> str:
    return f"{_sentence(in_words(count))} {_counted(count, Status.PASS)}."


def _excused(rows: Sequence[CheckVerdict]) -> str:
    """Write which checks the policy lets go because they could not be run."""
    titles = [f"“{row.title or row.check}”" for row in rows if row.excused]
    if not titles:
        return ""
    listed = titles[0] if len(titles) == 1 else f"{', '.join(titles[:-1])} and {titles[-1]}"
    return f"Not tested, which the policy allows here: {listed}."


def _optional(others: Counter[Status]) -> str:
    """Write what became of the limits that are not required."""
    n = others.total()
    if not n:
        return ""
    found = [(verdict, others[verdict]) for verdict in (*_BLOCKING, Status.PASS) if others[verdict]]
    if n == 1:
        return f"One more limit is not required; it {_ONE[found[0][0]]}."
    told = [f"{in_words(count)} {_counted(count, verdict)}" for verdict, count in found]
    listed = told[0] if len(told) == 1 else f"{', '.join(told[:-1])} and {told[-1]}"
    return f"{_sentence(in_words(n))} more limits are not required; {listed}."


def _counted(count: int, verdict: Status) -> str:
    return (_ONE if count <= 1 else _SEVERAL)[verdict]


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]


def _joined(*sentences: str) -> str:
    return " ".join(sentence for sentence in sentences if sentence)
