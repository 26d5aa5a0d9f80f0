"""What the fairness promise tells about people's attribute: reconstruction correction (Ferry et al. 2023).

Where the promise is false of the attacked records, the attackers are told the smallest tolerance that is true, so that
the number is about a promise somebody could rely on; the check says so in its first sentence.
"""

from __future__ import annotations

from core.correction import Disclosure
from core.decision.attacks import CORRECTED, disclosure_of
from core.decision.audited import Audited
from core.decision.measures.reasons import not_run
from core.fairness import METRIC_TITLES, difference_title
from core.policy import Measurement
from core.strongest import strongest
from core.wording import tolerance_text

__all__ = ["correction_gain", "false_promise"]

_PROMISED, _TOLD = "tolerance promised", "tolerance told"


def correction_gain(audited: Audited) -> Measurement:
    """Return the largest gain in accuracy that one of the attackers has from a tolerance that is true."""
    found = {kind: disclosure_of(audited, kind) for kind in CORRECTED}
    any_one = next(iter(found.values()))
    gains = {kind: told.gain for kind, told in found.items() if told.gain is not None}
    if not gains:
        reason = (
            f"No correction with tolerance {any_one.told:g} was found: the solver says {any_one.certificate.status}."
        )
        return not_run("correction_gain", reason)
    if unsolved := [CORRECTED[kind] for kind in found if kind not in gains]:
        return not_run("correction_gain", f"The correction of {unsolved[0]} was not solved, so the largest is unknown.")
    name, gain = strongest(gains, within=(-1.0, 1.0))
    metric, promised = METRIC_TITLES[audited.config.metric].lower(), audited.config.tolerance
    false = "" if any_one.told == promised else f"{_false(promised, any_one.told)} "
    return Measurement(
        check="correction_gain",
        outcome="done",
        estimate=gain,
        control=found[name].before,
        control_name="the same attacker, told nothing",
        attacked=(
            f"{false}The {audited.attribute} of {audited.trained_on}, guessed by {CORRECTED[name]} and then corrected; "
            f"of {len(gains)} attackers it gains most."
        ),
        knows=(
            f"Features, label and prediction of everybody, the {audited.attribute} of {audited.splits.known.size:,} "
            f"other people, and the promise of {metric} within {any_one.told:g}."
        ),
        assumptions=(
            *audited.over_people,
            f"{_truth(promised, any_one)} {difference_title(audited.config.metric)}: "
            f"{audited.model.difference_train:.4f}.",
            "The interval holds for the attackers tried together.",
        ),
        details={
            **_details(found),
            _PROMISED: promised,
            "difference between groups on these records": audited.model.difference_train,
        },
    )


def false_promise(found: Measurement | None) -> str:
    """Return in one sentence that what was promised is false, and what the attackers were told; "" where it is true."""
    details = (found and found.details) or {}
    promised, told = details.get(_PROMISED), details.get(_TOLD)
    if promised is None or told is None or promised == told:
        return ""
    return _false(promised, told)


def _false(promised: float, told: float) -> str:
    return f"Promised {promised:g}, true is {told:g}; the attackers were told {told:g}."


def _truth(promised: float, told: Disclosure) -> str:
    reached = tolerance_text(told.achieved, limit=promised)
    if told.used == promised:
        return f"The promise is true: the unfairness on these records is {reached}."
    return (
        f"The promise of {promised:g} is false: the unfairness on these records is {reached}. Whoever "
        f"believes a false promise is misled, so the attackers were told {told.used:g}, the smallest that is true in "
        "steps of 0.001."
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
        _TOLD: any_one.told,
        "unfairness on these records": any_one.achieved,
    }
