"""Membership attacks on the audited model: LiRA where it can be trained again, and the loss threshold on its scores.

Members are the training records, outsiders the test records. Both attacks are asked for scores alone and use nobody's
membership, so that everybody is judged.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from core.decision.audited import Audited
from core.errors import InputError
from core.membership import (
    GapResult,
    MemberGuess,
    Roc,
    audited_target,
    lira,
    lira_gaps,
    loss_attack,
    roc,
    split_between,
)

__all__ = ["FALSE_ALARMS", "member_curves", "member_gaps", "member_guesses"]

FALSE_ALARMS = 0.01
"""Share of outsiders an attack may call members."""


def member_guesses(audited: Audited) -> dict[str, MemberGuess]:
    """Return what each attack says of everybody in training and test records.

    Raises
    ------
    InputError
        If nobody told which records the model was trained on.
    """

    def make() -> dict[str, MemberGuess]:
        if not audited.sets_known:
            raise InputError(
                "A membership attack is judged on the records the model was trained on; no column tells which they are."
            )
        config, labels, scores = audited.config, audited.dataset.labels, audited.model.scores
        split = split_between(audited.splits.train, audited.splits.test, seed=config.seed).judging_everybody()
        found = {"loss": loss_attack(scores, labels, split)}
        shadows = audited.plan.membership.shadows
        if audited.trainable and shadows:
            found["lira"] = lira(
                audited_target(config, audited.dataset),
                scores,
                labels,
                split,
                seed=config.seed,
                shadows=shadows,
                report=lambda done, total: audited.progress.tick(),
            )
        return found

    return audited.once("member guesses", make)


def member_curves(audited: Audited) -> dict[str, Roc]:
    """Return each attack's members caught against false alarms."""
    return audited.once(
        "member curves",
        lambda: {name: roc(guess.score, _inside(audited, guess)) for name, guess in member_guesses(audited).items()},
    )


def member_gaps(audited: Audited, *, permutations: int = 2000) -> dict[str, tuple[GapResult, ...]]:
    """Return, for each attack, how many more members are caught of each group than of the others.

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
