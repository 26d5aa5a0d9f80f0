"""Membership attacks on what the audited model releases.

Members are the training records, non-members the test records. Where scores are released: the loss
threshold, boosting on score and label together, and, on a model that can be trained again, LiRA and boosting on LiRA's
shadows. Where labels alone are: the gap attack, and boosting on predicted and true label. Everybody is judged: the
thresholds and LiRA use nobody's membership, and boosting learns from the other half.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from core.decision.audited import Audited
from core.errors import InputError
from core.estimates import Estimate
from core.membership import (
    GapResult,
    MemberGuess,
    MembershipSplit,
    Roc,
    advantage,
    audited_target,
    gap_attack,
    judging_everybody,
    lira_boosted,
    lira_from,
    lira_gaps,
    loss_attack,
    released_attack,
    roc,
    taught_both_ways,
    train_shadows,
)

FALSE_ALARMS = 0.01
"""FPR at which a TPR is read."""

_LEARNING = ("released", "lira_boosted")
"""Attacks whose halves teach each other."""


def member_guesses(audited: Audited) -> dict[str, MemberGuess]:
    """Return what each attack says of everybody in training and test records.

    Raises
    ------
    InputError
        If nobody told which records the model was trained on, or there are too few.
    """

    def make() -> dict[str, MemberGuess]:
        if not audited.sets_known:
            raise InputError(
                "A membership attack is judged on the records the model was trained on; no column tells which they are."
            )
        scores, labels, predictions = audited.released_scores, audited.dataset.labels, audited.model.predictions
        split = judging_everybody(audited.splits.train, audited.splits.test)
        threshold = gap_attack(predictions, labels, split) if scores is None else loss_attack(scores, labels, split)
        boosted = released_attack(scores, predictions, labels, split, seed=audited.config.seed)
        found = [threshold, boosted]
        if scores is not None and audited.trainable and audited.plan.membership.shadows:
            found += _on_shadows(audited, scores, split)
        return {guess.name: guess for guess in found}

    return audited.once("member guesses", make)


def _on_shadows(audited: Audited, scores: npt.NDArray[np.float64], split: MembershipSplit) -> list[MemberGuess]:
    """Return LiRA and boosting on the same shadows, whose scores have the decimals of those that are released."""
    config, labels, decimals = audited.config, audited.dataset.labels, audited.plan.outputs.decimals
    target = audited_target(config, audited.dataset)
    shadows = train_shadows(
        target if decimals is None else lambda rows, seed: np.round(target(rows, seed), decimals),
        labels,
        split,
        seed=config.seed,
        shadows=audited.plan.membership.shadows,
        report=lambda done, total: audited.progress.tick(),
    )
    return [
        lira_from(shadows, scores, labels),
        lira_boosted(shadows, scores, labels, split.judged[1], seed=config.seed),
    ]


def member_curves(audited: Audited) -> dict[str, Roc]:
    """Return each attack's ROC curve."""

    def make(guess: MemberGuess) -> Roc:
        curve = roc(guess.score, _inside(audited, guess))
        return replace(curve, auc=taught_both_ways(curve.auc, 0.5)) if guess.name in _LEARNING else curve

    return audited.once("member curves", lambda: {name: make(guess) for name, guess in member_guesses(audited).items()})


def member_advantages(audited: Audited) -> dict[str, Estimate]:
    """Return each attack's advantage, TPR - FPR at a threshold chosen on other people."""

    def make(guess: MemberGuess) -> Estimate:
        inside, seed = _inside(audited, guess), audited.config.seed
        if guess.name not in _LEARNING:
            return advantage(guess.score, inside, seed=seed)
        return taught_both_ways(advantage(guess.score, inside, seed=seed, verdict=guess.verdict), 0.0)

    return audited.once(
        "member advantages", lambda: {name: make(guess) for name, guess in member_guesses(audited).items()}
    )


def member_gaps(audited: Audited, *, permutations: int = 2000) -> dict[str, tuple[GapResult, ...]]:
    """Return, for each attack, the TPR of each group less that of the others, each at its own threshold.

    The permutations are for the tests beside the gaps; gaps and intervals are the same with any number of them.
    """
    groups, names = audited.dataset.sensitive, audited.dataset.group_names

    def make() -> dict[str, tuple[GapResult, ...]]:
        return {
            name: lira_gaps(
                guess.score,
                groups[guess.rows],
                _inside(audited, guess),
                names=names,
                fpr=FALSE_ALARMS,
                permutations=permutations,
                seed=audited.config.seed,
            )
            for name, guess in member_guesses(audited).items()
        }

    return audited.once("member gaps", make)


def _inside(audited: Audited, guess: MemberGuess) -> npt.NDArray[np.uint8]:
    return np.isin(guess.rows, audited.splits.train).astype(np.uint8)
