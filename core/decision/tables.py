"""The tables beside the verdicts: what every attacker reached, and what other tolerances would have given."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

from core import leak
from core.attriguard import TABLE_ATTACKER_TITLES
from core.decision.attacks.answers import planned_leakages
from core.decision.attacks.inference import CORRECTED, attribution_of, disclosure_of, tolerance_told
from core.decision.attacks.members import FALSE_ALARMS, member_advantages, member_curves, member_gaps
from core.decision.attacks.noise import guard_study
from core.decision.audited import Audited
from core.decision.result import TableTitle
from core.errors import Cancelled, FairLeakError
from core.estimates import Estimate, rate_over_repeats
from core.fairness import METRIC_TITLES
from core.membership import ATTACK_TITLES

Row = dict[str, str | float | int | None]
Rows = tuple[Row, ...]

TOLERANCES = (0.0, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2)
"""Tolerances of the table of corrections, besides the plan's."""

_MANY = (0.01, 0.05, 0.1)
"""The same with more than two groups, where each takes a program of its own."""

_STEPS = {
    "majority": "Majority guess",
    "features": "Features and label",
    "predictions": "and predictions",
    "shares": "and known group shares",
    "constraint": "and fairness promise",
    "constraint_without_shares": "Fairness promise, shares not known",
}


def tables(audited: Audited) -> dict[str, Rows]:
    """Return title -> rows; a table that could not be made has one row, which says why."""
    made = {
        TableTitle.ATTRIBUTION: _attribution,
        TableTitle.CORRECTIONS: _corrections,
        TableTitle.TRUE_CORRECTION: _true_correction,
        TableTitle.RATES: _rates,
        TableTitle.ANSWERS: _answers,
        TableTitle.MEMBERS: _members,
        TableTitle.GUARD: _guard,
    }
    return {title: rows for title, make in made.items() if (rows := _rows(make, audited))}


def _rows(make: Callable[[Audited], Iterator[Row]], audited: Audited) -> Rows:
    try:
        return tuple(make(audited))
    except Cancelled:
        raise
    except FairLeakError as error:
        return ({_NOT_MADE: str(error)},)
    except Exception as error:  # whatever it was, it must not vanish; where a check needs the same, that blocks
        return ({_NOT_MADE: f"It broke: {type(error).__name__}."},)


_NOT_MADE = "not made"
"""The only column of a table that could not be made."""


def _attribution(audited: Audited) -> Iterator[Row]:
    for name in leak.KINDS:
        for step in attribution_of(audited, name).steps:
            yield {
                "attacker": f"The {name} attacker" if name == "strong" else "The paper's attacker",
                "step": _STEPS[step.step],
                **_columns("accuracy", step.accuracy),
                **_columns("balanced accuracy", step.balanced_accuracy),
                **_columns("change", step.accuracy_change),
            }


def _corrections(audited: Audited) -> Iterator[Row]:
    others = TOLERANCES if audited.dataset.n_groups == 2 else _MANY
    for tolerance in sorted({*others, audited.config.tolerance}):
        yield from _corrected(audited, tolerance)


def _true_correction(audited: Audited) -> Iterator[Row]:
    """Yield what the check rests on where the plan's promise is false; it tells the unfairness on these records."""
    if tolerance_told(audited) != audited.config.tolerance:
        yield from _corrected(audited, None)


def _corrected(audited: Audited, tolerance: float | None) -> Iterator[Row]:
    for kind, title in CORRECTED.items():
        told = disclosure_of(audited, kind, tolerance)
        yield {
            "tolerance": told.used,
            "attacker": title,
            "true": "yes" if told.is_true else "no",
            **_columns("before", told.before),
            **_columns("after", told.after),
            **_columns("gain", told.gain),
        }


def _rates(audited: Audited) -> Iterator[Row]:
    names = audited.dataset.group_names
    for records, rates in (("training", audited.model.rates_train), ("test", audited.model.rates_test)):
        for rate in rates:
            yield {
                "metric": METRIC_TITLES[audited.config.metric],
                "records": records,
                "among": "everybody" if rate.part == "all" else rate.part,
                "group": names[int(rate.group)],
                "people": rate.count,
                **_columns("positive predictions", rate.rate),
                "everybody": _plain(rate.overall.value),
            }


def _answers(audited: Audited) -> Iterator[Row]:
    planned = audited.plan.answers
    if not planned.questions or not audited.has_scores:
        return
    told = {"prior": "No answers, the prior alone", "strongest": "With a prior", "without_prior": "Without a prior"}
    for name, values in planned_leakages(audited).items():
        yield {
            "attacker": told.get(name, "As published"),
            "answers": 0 if name == "prior" else planned.questions,
            "draws": len(values),
            **_columns("balanced accuracy", rate_over_repeats(values)),
        }


def _members(audited: Audited) -> Iterator[Row]:
    if not audited.has_scores and not audited.sets_known:
        return
    gaps, advantages = member_gaps(audited), member_advantages(audited)
    for name, curve in member_curves(audited).items():
        shared: Row = {
            "attack": ATTACK_TITLES[name],
            "AUC": _plain(curve.auc.value),
            "advantage": _plain(advantages[name].value),
        }
        yield {**shared, "people": "everybody", **_columns("TPR at 1% FPR", curve.tpr_at(FALSE_ALARMS))}
        for gap in gaps[name]:
            for people, rate in zip((gap.group, gap.others), gap.rates, strict=True):
                yield {**shared, "people": people, **_columns("TPR at 1% FPR", rate)}


def _guard(audited: Audited) -> Iterator[Row]:
    if not audited.plan.guard.budget:
        return
    study = guard_study(audited)
    for point in (*study.undefended(), *study.at(audited.plan.guard.budget)):
        yield {
            "attacker": TABLE_ATTACKER_TITLES[point.attacker],
            "budget": point.budget,
            **_columns("accuracy", point.accuracy),
            **_columns("balanced accuracy", point.balanced),
        }


def _columns(name: str, found: Estimate | None) -> Row:
    """Return a number and the ends of its interval as three columns."""
    value, low, high = (None, None, None) if found is None else (found.value, found.low, found.high)
    return {name: _plain(value), f"{name}, low": _plain(low), f"{name}, high": _plain(high)}


def _plain(value: float | None) -> float | None:
    return None if value is None or math.isnan(value) else float(value)
