"""What the fairness promise tells about people's attribute: reconstruction correction (Ferry et al. 2023)."""

from __future__ import annotations

from core.correction import Disclosure
from core.decision.attacks import CORRECTED, disclosure_of
from core.decision.audited import Audited
from core.decision.measures.reasons import not_run
from core.fairness import METRIC_TITLES
from core.policy import Measurement
from core.strongest import strongest

__all__ = ["correction_gain"]


def correction_gain(audited: Audited) -> Measurement:
    """Return the largest gain in accuracy that one of the attackers has from the disclosed tolerance."""
    found = {kind: disclosure_of(audited, kind) for kind in CORRECTED}
    any_one = next(iter(found.values()))
    gains = {kind: told.gain for kind, told in found.items() if told.gain is not None}
    if not gains:
        return not_run("correction_gain", _infeasible(any_one))
    if unsolved := [CORRECTED[kind] for kind in found if kind not in gains]:
        return not_run("correction_gain", f"The correction of {unsolved[0]} was not solved, so the largest is unknown.")
    name, gain = strongest(gains, within=(-1.0, 1.0))
    metric = METRIC_TITLES[audited.config.metric].lower()
    return Measurement(
        check="correction_gain",
        outcome="done",
        estimate=gain,
        control=found[name].before,
        control_name="the same attacker, told nothing",
        attacked=(
            f"The {audited.attribute} of {audited.trained_on}, guessed by {CORRECTED[name]} and then corrected; "
            f"of {len(gains)} attackers it gains most."
        ),
        knows=(
            f"Features, label and prediction of everybody, the {audited.attribute} of {audited.splits.known.size:,} "
            f"other people, and the promise of {metric} within {any_one.told:g}."
        ),
        assumptions=(
            *audited.over_people,
            _truth(any_one),
            "The interval holds for the attackers tried together.",
        ),
        details=_details(found),
    )


def _truth(told: Disclosure) -> str:
    if told.is_true:
        return f"The promise is true: the unfairness on these records is {told.achieved:.4f}."
    return (
        f"The promise of {told.used:g} is false: the unfairness on these records is {told.achieved:.4f}, and whoever "
        "believes it is misled; a true one may tell more."
    )


def _infeasible(told: Disclosure) -> str:
    if told.smallest_tolerance is None:
        return f"No correction with tolerance {told.used:g} was found: the solver says {told.certificate.status}."
    if told.smallest_tolerance > 1:
        return f"No correction meets tolerance {told.used:g}, nor any other."
    return (
        f"No correction meets tolerance {told.used:g}; the smallest that can be met is {told.smallest_tolerance:.4g}."
    )


def _details(found: dict[str, Disclosure]) -> dict[str, float]:
    details = {}
    for kind, told in found.items():
        details[f"{CORRECTED[kind]}, before"] = told.before.value
        if told.after is not None and told.gain is not None:
            details[f"{CORRECTED[kind]}, after"] = told.after.value
            details[f"{CORRECTED[kind]}, gain"] = told.gain.value
    any_one = next(iter(found.values()))
    return details | {
        "majority guess": any_one.majority.value,
        "tolerance told": any_one.told,
        "unfairness on these records": any_one.achieved,
    }
