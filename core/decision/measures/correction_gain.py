"""What the fairness promise adds to the best that is known of people's attribute without it.

The attackers correct their guesses by reconstruction correction (Ferry et al. 2023). Where the promise is false of the
attacked records, they are told the smallest tolerance that is true, so that the number is about a promise somebody
could rely on; the check says so in its first sentence.
"""

from __future__ import annotations

from core.correction import Disclosure, gain_of_best, true_tolerance
from core.decision.attacks.inference import CORRECTED, attack_of, disclosure_of
from core.decision.audited import Audited
from core.decision.measures.reasons import not_run
from core.fairness import METRIC_TITLES, difference_title
from core.policy import Measurement
from core.strongest import strongest
from core.wording import tolerance_text

_MAJORITY = "the majority guess"


def correction_gain(audited: Audited) -> Measurement:
    """Return what a true tolerance adds to the best attacker told nothing; see `core.correction.gain_of_best`."""
    found = {kind: disclosure_of(audited, kind) for kind in CORRECTED}
    any_one = next(iter(found.values()))
    unsolved = [CORRECTED[kind] for kind, told in found.items() if told.after is None]
    if len(unsolved) == len(found):
        reason = (
            f"No correction with tolerance {any_one.used:g} was found: the solver says {any_one.certificate.status}."
        )
        return not_run("correction_gain", reason)
    if unsolved:
        return not_run("correction_gain", f"The correction of {unsolved[0]} was not solved, so the best is unknown.")
    attacked = {kind: attack_of(audited, kind).attacked for kind in found}
    before = {CORRECTED[kind]: told.before for kind, told in found.items()} | {_MAJORITY: any_one.majority}
    after = {CORRECTED[kind]: told.after for kind, told in found.items() if told.after} | {_MAJORITY: any_one.majority}
    first, last = (strongest(each)[0] for each in (before, after))
    metric, promised = METRIC_TITLES[audited.config.metric].lower(), audited.config.tolerance
    false = f"{told} " if (told := _false(promised, any_one.used)) else ""
    return Measurement(
        check="correction_gain",
        estimate=gain_of_best(attacked, found, raise_until_true=True, seed=audited.config.seed),
        control=before[first],
        control_name="the best attacker, told nothing",
        attacked=(
            f"{false}The {audited.attribute} of {audited.trained_on}, by {len(found)} attackers and the majority "
            f"guess: best before the promise is {first}, best after it {last}."
        ),
        knows=(
            f"Features, label and prediction of everybody, the {audited.attribute} of {audited.splits.known.size:,} "
            f"other people, and the promise of {metric} within {any_one.used:g}."
        ),
        assumptions=(
            *audited.over_people,
            f"{_truth(promised, any_one)} {difference_title(audited.config.metric)}: "
            f"{audited.model.difference_train:.4f}.",
            "The interval holds for the attackers tried together.",
        ),
        details={
            **_details(found),
            "best before": before[first].value,
            "best after": after[last].value,
            "tolerance promised": promised,
            "difference between groups on these records": audited.model.difference_train,
        },
    )


def false_promise(promised: float, achieved: float) -> str:
    """Return in one sentence that a promise is false, and what the attackers were told; "" where it is true.

    Parameters
    ----------
    promised, achieved : float
        The plan's tolerance, and the unfairness on the attacked records.
    """
    return _false(promised, true_tolerance(promised, achieved))


def _false(promised: float, told: float) -> str:
    if promised == told:
        return ""
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
        "tolerance told": any_one.used,
        "unfairness on these records": any_one.achieved,
    }
