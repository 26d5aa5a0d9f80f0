"""Membership attacks on what the audited model releases.

Members are the training records, non-members the test records. Where scores are released: the loss
threshold, boosting on score and label together, and, on a model that can be trained again, LiRA and boosting on LiRA's
shadows. Where labels alone are: the gap attack, and boosting on predicted and true label. Everybody is judged: the
thresholds and LiRA use nobody's membership, and boosting learns from the other half.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

import numpy as np

from core.arrays import Codes
from core.errors import InputError
from core.estimates import Estimate, count, strongest
from core.membership import (
    REGISTRY,
    TAUGHT,
    Evidence,
    GapResult,
    MemberGuess,
    Roc,
    Train,
    advantage,
    attacks_on,
    audited_target,
    judging_everybody,
    lira_gaps,
    most_caught,
    roc,
    taught_both_ways,
)
from core.release_audit.inputs import Audited
from core.study import Measurement, not_run

T = TypeVar("T")

FALSE_ALARMS = 0.01
"""FPR at which a TPR is read."""


def member_guesses(audited: Audited) -> dict[str, MemberGuess]:
    """Return what each attack says of everybody in training and test records.

    InputError if nobody told which records the model was trained on, or there are too few.
    """

    def make() -> dict[str, MemberGuess]:
        if not audited.sets_known:
            raise InputError(
                "A membership attack is judged on the records the model was trained on; no column tells which they are."
            )
        scores, shadows = audited.released_scores, audited.plan.membership.shadows
        evidence = Evidence(
            released=scores,
            predicted=audited.model.predictions,
            labels=audited.dataset.labels,
            split=judging_everybody(audited.splits.train, audited.splits.test, aside=audited.splits.known),
            seed=audited.config.seed,
            balance=False,
            train=_shadow(audited),
            shadows=shadows,
            online=True,
            report=lambda done, total: audited.progress.tick(),
        )
        tried = attacks_on("labels" if scores is None else "scores", shadows=audited.trainable and shadows > 0)
        return {attack.name: attack.judge(evidence) for attack in tried}

    return audited.once("member guesses", make)


def _shadow(audited: Audited) -> Train:
    """Return what trains a shadow model, whose scores have the decimals of those that are released."""
    target, decimals = audited_target(audited.config, audited.dataset), audited.plan.outputs.decimals
    return target if decimals is None else lambda rows, seed: np.round(target(rows, seed), decimals)


def member_curves(audited: Audited) -> dict[str, Roc]:
    """Return each attack's ROC curve."""

    def curve_of(guess: MemberGuess) -> Roc:
        curve = roc(guess.score, _inside(audited, guess))
        return replace(curve, auc=taught_both_ways(curve.auc, 0.5)) if REGISTRY[guess.name].learns else curve

    return _of_each(audited, "member curves", curve_of)


def member_advantages(audited: Audited) -> dict[str, Estimate]:
    """Return each attack's advantage, TPR - FPR at a threshold chosen on other people."""

    def advantage_of(guess: MemberGuess) -> Estimate:
        inside, seed = _inside(audited, guess), audited.config.seed
        if not REGISTRY[guess.name].learns:
            return advantage(guess.score, inside, seed=seed)
        return taught_both_ways(advantage(guess.score, inside, seed=seed, verdict=guess.verdict), 0.0)

    return _of_each(audited, "member advantages", advantage_of)


def member_gaps(audited: Audited, *, permutations: int = 2000) -> dict[str, tuple[GapResult, ...]]:
    """Return, for each attack, the TPR of each group less that of the others, each at its own threshold.

    The permutations are for the tests beside the gaps; gaps and intervals are the same with any number of them.
    """

    def gaps_of(guess: MemberGuess) -> tuple[GapResult, ...]:
        return lira_gaps(
            guess.score,
            audited.dataset.sensitive[guess.rows],
            _inside(audited, guess),
            names=audited.dataset.group_names,
            fpr=FALSE_ALARMS,
            permutations=permutations,
            seed=audited.config.seed,
        )

    return _of_each(audited, "member gaps", gaps_of)


def _of_each(audited: Audited, name: str, make: Callable[[MemberGuess], T]) -> dict[str, T]:
    """Return what `make` makes of each attack's scores, made once under this name."""
    return audited.once(name, lambda: {key: make(guess) for key, guess in member_guesses(audited).items()})


def _inside(audited: Audited, guess: MemberGuess) -> Codes:
    return np.isin(guess.rows, audited.splits.train).astype(np.uint8)


AVERAGE = "1% FPR is an average over people; for some non-members the chance of being called a member is far higher."
"""What a rate pooled over people does not say (Jälkö et al. 2026)."""


def knows(audited: Audited, name: str) -> str:
    """Return what the attacker knows."""
    return REGISTRY[name].knows(scores=audited.released_scores is not None, shadows=audited.plan.membership.shadows)


def assumptions(audited: Audited) -> tuple[str, ...]:
    """Return what the numbers take for granted."""
    tried = [REGISTRY[name].phrase for name in member_guesses(audited)]
    told = [
        "The interval is over members and non-members; the model and its training are taken as they are.",
        "Training and test records are taken to be drawn alike: any other difference between them counts as a leak.",
        f"The interval holds for the attacks tried together: {', '.join(tried[:-1])} and {tried[-1]}.",
    ]
    decimals = audited.plan.outputs.decimals
    if audited.released_scores is None:
        told.append("The attacker sees labels; where scores are released, more is found.")
    elif decimals is None:
        told.append("The attacker sees scores; where only decisions are published, less is found.")
    else:
        plural = "decimal" if decimals == 1 else "decimals"
        told.append(f"The attacker sees scores with {decimals} {plural}; more may tell more.")
    if max(audited.splits.train.size + audited.splits.test.size - TAUGHT, 0) > TAUGHT:
        told.append(f"Boosting learns from {count(TAUGHT)} people of each half, drawn at random, and judges all.")
    if audited.released_scores is None:
        told.append("LiRA and the loss threshold need scores; they were not tried.")
    elif not audited.trainable:
        told.append("LiRA needs a model that can be trained again; only predictions are given, so it may find more.")
    elif not audited.plan.membership.shadows:
        told.append("LiRA is left out by the plan; it may find more.")
    return tuple(told)


def membership_caught(audited: Audited) -> Measurement:
    """Return the share of members that the best attack tried identifies at 1% FPR."""
    curves = member_curves(audited)
    reasons = {key: curve.resolution_reason(FALSE_ALARMS) for key, curve in curves.items()}
    if all(reasons.values()):
        return not_run("membership_caught", f"TPR at 1% FPR {next(iter(reasons.values())).removeprefix('n/a, ')}.")
    rates = {key: curve.tpr_at(FALSE_ALARMS) for key, curve in curves.items() if not reasons[key]}
    details = {f"{REGISTRY[key].phrase}, AUC": curve.auc.value for key, curve in curves.items()}
    details |= {f"{REGISTRY[key].phrase}, advantage": each.value for key, each in member_advantages(audited).items()}
    details |= {f"{REGISTRY[key].phrase}, TPR at 1% FPR": found.value for key, found in rates.items()}
    if audited.config.method == "dp_id3":
        details["promised at most"] = most_caught(FALSE_ALARMS, audited.config.epsilon)
    best = _best("membership_caught", audited, rates, chance=FALSE_ALARMS, n=audited.splits.test.size)
    return replace(best, assumptions=(*best.assumptions, AVERAGE), details=details)


def membership_auc(audited: Audited) -> Measurement:
    """Return the AUC of the best attack tried."""
    return _best("membership_auc", audited, {k: curve.auc for k, curve in member_curves(audited).items()}, chance=0.5)


def membership_advantage(audited: Audited) -> Measurement:
    """Return the advantage, TPR - FPR, of the best attack tried."""
    return _best("membership_advantage", audited, member_advantages(audited), chance=0.0, least=-1.0)


def _best(
    check: str, audited: Audited, found: dict[str, Estimate], *, chance: float, least: float = 0.0, n: int = 0
) -> Measurement:
    """Return the best attack's number beside chance, which is over `n` people, the number's own if it is 0."""
    name, estimate = strongest(found, within=(least, 1.0))
    members, outsiders = audited.splits.train.size, audited.splits.test.size
    return Measurement(
        check=check,
        estimate=estimate,
        control=Estimate(value=chance, low=chance, high=chance, n=n or estimate.n),
        control_name="random guessing",
        attacked=(
            f"Who of {members + outsiders:,} people is among the {members:,} the model was trained on, by "
            f"{REGISTRY[name].phrase}, the best of {len(member_guesses(audited))} attacks tried."
        ),
        knows=knows(audited, name),
        assumptions=assumptions(audited),
        details={REGISTRY[key].phrase: each.value for key, each in found.items()},
    )


def membership_gap(audited: Audited) -> Measurement:
    """Return the largest difference between a group and the others in TPR at 1% FPR of each."""
    found = {(name, gap.group): gap for name, gaps in member_gaps(audited).items() for gap in gaps}
    if unmeasured := next((gap.reason for gap in found.values() if gap.reason), ""):
        return not_run("membership_gap", f"TPR at 1% FPR {unmeasured.removeprefix('n/a, ')}.")
    keys = {f"{REGISTRY[name].phrase}, {group}": (name, group) for name, group in found}
    told, estimate = strongest({key: _folded(found[own].estimate) for key, own in keys.items()}, within=(0.0, 1.0))
    name, group = keys[told]
    gap = found[name, group]
    return Measurement(
        check="membership_gap",
        estimate=estimate,
        control=Estimate(value=0.0, low=0.0, high=0.0, n=gap.estimate.n),
        control_name="no difference",
        attacked=(
            f"Who of {audited.splits.train.size + audited.splits.test.size:,} people was in the training data, by "
            f"{REGISTRY[name].phrase}: TPR at 1% FPR {100 * gap.rates[0].value:.1f}% among {gap.group} and "
            f"{100 * gap.rates[1].value:.1f}% among {gap.others}."
        ),
        knows=knows(audited, name),
        assumptions=(*assumptions(audited), AVERAGE, "Each group has a threshold of its own."),
        details={f"{key}, minus {found[own].others}": found[own].estimate.value for key, own in keys.items()},
    )


def _folded(gap: Estimate) -> Estimate:
    """Return the size of a difference, whatever its sign."""
    low = 0.0 if gap.low <= 0.0 <= gap.high else min(abs(gap.low), abs(gap.high))
    return Estimate(value=abs(gap.value), low=low, high=max(abs(gap.low), abs(gap.high)), n=gap.n, level=gap.level)
