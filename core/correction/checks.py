"""What a policy may limit of reconstruction correction, and the tables a report holds beside it.

What attackers are told of the model's fairness holds. One who believes a false tolerance is misled, and that they gain
nothing says nothing about the release: where the disclosed tolerance is below the model's unfairness on these records,
they are told the smallest that is not.
"""

from __future__ import annotations

from collections.abc import Iterator

from core.correction.attribution import STEP_TITLES
from core.correction.disclosure import Disclosure, disclose, gain_of_best
from core.correction.findings import false_promise, truth_of
from core.correction.inference import ATTACKERS, KINDS, CorrectionResult
from core.correction.problem import true_tolerance
from core.estimates import estimate_columns, strongest
from core.fairness import METRIC_TITLES
from core.study import Check, Measurement, Row, not_run

DECLARED = (
    Check(
        name="correction_gain",
        title="{attribute} recovered from the fairness promise",
        unit="points",
        definition="Accuracy of the best attacker after reconstruction correction with the disclosed tolerance (Ferry "
        "et al. 2023) minus that of the best attacker told nothing; the majority guess is among both.",
    ),
)

TOLERANCES = (0.0, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2)
"""Tolerances of the table of corrections, besides the disclosed one."""

_MANY = (0.01, 0.05, 0.1)
"""The same with more than two groups, where each takes a program of its own."""

_MAJORITY = "the majority guess"


def tolerance_told(result: CorrectionResult) -> float:
    """Return the disclosed tolerance, raised in steps of 0.001 until it holds for the attacked records."""
    return true_tolerance(result.config.tolerance, result.model.unfairness_train)


def disclosure_of(result: CorrectionResult, kind: str, tolerance: float | None = None) -> Disclosure:
    """Return what one attacker gains from a tolerance; from the disclosed one, raised until it holds, when left out."""
    attack, config = result.attack(kind), result.config

    def make() -> Disclosure:
        return disclose(
            attack.attacked,
            attack.held_out,
            tolerance=config.tolerance if tolerance is None else tolerance,
            metric=config.metric,
            raise_until_true=tolerance is None,
            seed=config.seed,
        )

    return result.subject.once(f"disclosure {kind} {'true' if tolerance is None else repr(tolerance)}", make)


def correction_gain(result: CorrectionResult) -> Measurement:
    """Return what a true tolerance adds to the best attacker without it; see `core.correction.gain_of_best`."""
    subject, config = result.subject, result.config
    found = {kind: disclosure_of(result, kind) for kind in ATTACKERS}
    any_one = next(iter(found.values()))
    unsolved = [ATTACKERS[kind] for kind, each in found.items() if each.after is None]
    if len(unsolved) == len(found):
        says = any_one.certificate.status
        reason = f"No correction with tolerance {any_one.used:g} was found: the solver says {says}."
        return not_run("correction_gain", reason)
    if unsolved:
        return not_run("correction_gain", f"The correction of {unsolved[0]} was not solved, so the best is unknown.")
    before = {ATTACKERS[kind]: each.before for kind, each in found.items()} | {_MAJORITY: any_one.majority}
    after = {ATTACKERS[kind]: each.after for kind, each in found.items() if each.after} | {_MAJORITY: any_one.majority}
    first, last = (strongest(each)[0] for each in (before, after))
    promised, difference = config.tolerance, subject.model.difference_train
    false, truth = false_promise(promised, any_one.achieved), truth_of(any_one, promised, difference)
    instead = f" So the attackers were told {any_one.used:g}, the smallest that holds in steps of 0.001."
    details = {}
    for kind, each in found.items():
        details[f"{ATTACKERS[kind]}, before"] = each.before.value
        if each.after is not None and each.gain is not None:
            details[f"{ATTACKERS[kind]}, after"] = each.after.value
            details[f"{ATTACKERS[kind]}, gain"] = each.gain.value
    return Measurement(
        check="correction_gain",
        estimate=gain_of_best(
            {kind: result.attack(kind).attacked for kind in found}, found, raise_until_true=True, seed=config.seed
        ),
        control=before[first],
        control_name="the best attacker, told nothing",
        attacked=(
            f"{f'{false} ' if false else ''}The {subject.attribute} of {subject.trained_on}, by {len(found)} attackers "
            f"and the majority guess: best before the promise is {first}, best after it {last}."
        ),
        knows=(
            f"Features, label and prediction of everybody, the {subject.attribute} of {subject.splits.known.size:,} "
            f"other people, and the promise of {METRIC_TITLES[config.metric].lower()} within {any_one.used:g}."
        ),
        assumptions=(
            *subject.over_people,
            f"{truth.point} {truth.evidence}{f' {truth.so_what}{instead}' if truth.so_what else ''}",
            "The interval holds for the attackers tried together.",
        ),
        details=details
        | {
            "majority guess": any_one.majority.value,
            "tolerance told": any_one.used,
            "unfairness on these records": any_one.achieved,
            "best before": before[first].value,
            "best after": after[last].value,
            "tolerance promised": promised,
            "difference between groups on these records": difference,
        },
    )


def attribution_rows(result: CorrectionResult) -> Iterator[Row]:
    """Yield what each piece of knowledge adds, for the published and the strong attacker told a true tolerance."""
    for name in KINDS:
        for step in result.attribution(name, tolerance_told(result)).steps:
            yield {
                "attacker": f"The {name} attacker",
                "step": STEP_TITLES[step.step],
                **estimate_columns("accuracy", step.accuracy),
                **estimate_columns("balanced accuracy", step.balanced_accuracy),
                **estimate_columns("change", step.accuracy_change),
            }


def correction_rows(result: CorrectionResult) -> Iterator[Row]:
    """Yield what every attacker gains from several tolerances, the disclosed one among them, told as they are."""
    others = TOLERANCES if len(result.group_names) == 2 else _MANY
    for tolerance in sorted({*others, result.config.tolerance}):
        yield from _told(result, tolerance)


def true_correction_rows(result: CorrectionResult) -> Iterator[Row]:
    """Yield what the check rests on where the disclosed tolerance does not hold."""
    if tolerance_told(result) != result.config.tolerance:
        yield from _told(result, None)


def _told(result: CorrectionResult, tolerance: float | None) -> Iterator[Row]:
    for kind, title in ATTACKERS.items():
        each = disclosure_of(result, kind, tolerance)
        yield {
            "tolerance": each.used,
            "attacker": title,
            "true": "yes" if each.is_true else "no",
            **estimate_columns("before", each.before),
            **estimate_columns("after", each.after),
            **estimate_columns("gain", each.gain),
        }
