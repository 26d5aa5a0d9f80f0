"""What membership attacks found of a subject's training and test records; it grows attack by attack."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from ...adversaries.cross_fitting import cross_fitted_interval
from ...base.arrays import Codes
from ...stats.estimates import Estimate
from ..subject import Subject
from .attack import MemberGuess
from .attacks import REGISTRY
from .disparity import (
    Disparities,
    GapResult,
    NetGap,
    RangeTable,
    disparities,
    lira_gaps,
    net_gaps,
    recall_by_range,
)
from .evidence import true_label_probability
from .roc import Roc, advantage, cross_fitted_verdict, is_muted, roc

FALSE_ALARMS = 0.01
"""FPR at which a TPR is read."""


@dataclass(frozen=True, kw_only=True, eq=False)
class MembershipResult:
    """What each attack says of a subject's training and test records."""

    subject: Subject
    shadows: int
    guesses: Mapping[str, MemberGuess] = field(repr=False)
    """By attack, in the order of the registry."""

    @cached_property
    def curves(self) -> dict[str, Roc]:
        """Each attack's ROC curve."""
        rocs = {name: roc(guess.score, self.inside(guess)) for name, guess in self.guesses.items()}
        return {
            name: replace(curve, auc=cross_fitted_interval(curve.auc, 0.5)) if REGISTRY[name].learns else curve
            for name, curve in rocs.items()
        }

    @property
    def strongest(self) -> str:
        """The attack with the largest AUC."""
        return max(self.curves, key=lambda name: self.curves[name].auc.value)

    @property
    def muted(self) -> bool:
        """Whether the strongest attack is not measurably better than chance, so that its gaps mean nothing."""
        return is_muted(self.curves[self.strongest].auc)

    @cached_property
    def verdicts(self) -> dict[str, Codes]:
        """Whom each attack calls a member, by what it learned on other people."""
        called = {}
        for name, guess in self.guesses.items():
            if REGISTRY[name].learns and guess.verdict is not None:
                called[name] = guess.verdict
            else:
                called[name] = cross_fitted_verdict(guess.score, self.inside(guess), seed=self.subject.config.seed)
        return called

    @cached_property
    def advantages(self) -> dict[str, Estimate]:
        """Each attack's TPR - FPR at a threshold chosen on other people."""
        seed, estimates = self.subject.config.seed, {}
        for name, guess in self.guesses.items():
            estimate = advantage(guess.score, self.inside(guess), seed=seed, verdict=self.verdicts[name])
            estimates[name] = cross_fitted_interval(estimate, 0.0) if REGISTRY[name].learns else estimate
        return estimates

    @cached_property
    def gaps(self) -> dict[str, tuple[GapResult, ...]]:
        """For each attack the TPR of each group less that of the others, each at its own threshold."""
        dataset = self.subject.dataset
        return {
            name: lira_gaps(
                guess.score,
                dataset.sensitive[guess.rows],
                self.inside(guess),
                names=dataset.group_names,
                fpr=FALSE_ALARMS,
                seed=self.subject.config.seed,
            )
            for name, guess in self.guesses.items()
        }

    @cached_property
    def net_gaps(self) -> dict[str, tuple[NetGap, ...]]:
        """For each attack the gaps of small groups at one threshold for everybody."""
        dataset = self.subject.dataset
        return {
            name: net_gaps(
                guess.score,
                dataset.sensitive[guess.rows],
                self.inside(guess),
                names=dataset.group_names,
                fpr=FALSE_ALARMS,
            )
            for name, guess in self.guesses.items()
        }

    @cached_property
    def disparities(self) -> Disparities:
        """Gaps between groups in the verdicts of the strongest attack."""
        guess, dataset = self.guesses[self.strongest], self.subject.dataset
        return disparities(
            self.verdicts[self.strongest],
            dataset.sensitive[guess.rows],
            self.inside(guess),
            names=dataset.group_names,
            seed=self.subject.config.seed,
        )

    @cached_property
    def curves_by_group(self) -> tuple[Roc, ...]:
        """ROC curve of the strongest attack on each group, by code."""
        guess, dataset = self.guesses[self.strongest], self.subject.dataset
        inside, groups = self.inside(guess), dataset.sensitive[guess.rows]
        sides = [groups == code for code in range(dataset.n_groups)]
        return tuple(roc(guess.score[side], inside[side]) for side in sides)

    @property
    def ranges(self) -> tuple[RangeTable, ...]:
        """Members the strongest attack finds, by the score of their own label; a table a group, none without scores."""
        released = self.subject.released_scores
        if released is None:
            return ()
        guess, dataset = self.guesses[self.strongest], self.subject.dataset
        certainty = true_label_probability(released, dataset.labels)[guess.rows]
        groups = dataset.sensitive[guess.rows]
        tables = []
        for gap in self.disparities.results:
            side = (groups == dataset.group_names.index(gap.group)).astype(np.uint8)
            verdict, names = self.verdicts[self.strongest], (gap.group, gap.reference)
            tables.append(recall_by_range(certainty, verdict, side, self.inside(guess), names=names))
        return tuple(tables)

    def inside(self, guess: MemberGuess) -> Codes:
        """Return whether each of those judged was trained on."""
        return np.isin(guess.rows, self.subject.splits.train).astype(np.uint8)

    def grouped(self, groups: Codes, names: Sequence[str]) -> MembershipResult:
        """Return the same guesses about the same people in other groups, (n,), which attacks do not look at."""
        dataset = replace(self.subject.dataset, sensitive=groups, group_names=tuple(names))
        return replace(self, subject=replace(self.subject, dataset=dataset))
