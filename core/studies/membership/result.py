"""How membership is attacked, and what the attacks find of training and test records, attack by attack.

It is attacked by every attack there is evidence for, or by those that the settings name.

Who is in the training data, what the model answers and what the attacks say does not depend on the groups, so that
changing them costs nothing: by other roles of the table, or by a column of categories.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np

from ...adversaries.released_outputs import cross_fitted_interval
from ...base.errors import InputError
from ...base.serialize import UNSAID, Result
from ...base.settings import Param, validate
from ...base.validation import Codes, Ints
from ...datasets.build import select
from ...datasets.columns import quoted, with_crossed
from ...datasets.roles import MOST_GROUPS, groups_of
from ...stats.estimates import Estimate
from ..subject import Subject
from .attack import AttackOutput, check_shadows, true_label_probability
from .attacks import REGISTRY
from .disparity import Disparities, DisparityResult, RangeTable, disparities, recall_by_range
from .roc import LOW_FPR, Roc, advantage, cross_fitted_verdict, is_muted, roc
from .tpr_gaps import GapResult, net_gaps, tpr_gaps

if TYPE_CHECKING:
    from ...datasets import AuditDataset, Roles, Table


@dataclass(frozen=True, slots=True, kw_only=True)
class MembershipSettings(Result):
    """How membership is attacked."""

    shadows: Annotated[
        int,
        Param(
            "Shadow models",
            "Shadow models, an even number of at least 4; 0 leaves out the attacks that need them.",
            least=0,
            most=1_024,
        ),
    ] = 16
    attacks: Annotated[
        tuple[str, ...],
        Param(
            "Attacks",
            "Attacks that are run: {options}. Empty: those of every audit of what is released.",
            options=tuple(REGISTRY),
            written=False,
        ),
    ] = field(default=(), metadata=UNSAID)

    def __post_init__(self) -> None:
        validate(self)
        if self.shadows:
            check_shadows(self.shadows, least="0 or ")
        for name in self.attacks:
            if "shadows" in REGISTRY[name].needs and not self.shadows:
                raise InputError(f"shadows must be at least 4 for the attack {name}, got 0.")


@dataclass(frozen=True, kw_only=True, eq=False)
class MembershipResult:
    """What each attack says of a subject's training and test records."""

    subject: Subject
    shadows: int
    guesses: Mapping[str, AttackOutput] = field(repr=False)
    """By attack, in the order of the registry."""

    @cached_property
    def rows(self) -> Ints:
        """Rows of the m judged, members first."""
        splits = self.subject.splits
        return np.concatenate([np.sort(splits.train), np.sort(splits.test)])

    @cached_property
    def member(self) -> Codes:
        """Whether each of the judged was trained on, (m,)."""
        return np.isin(self.rows, self.subject.splits.train).astype(np.uint8)

    @property
    def groups(self) -> Codes:
        """Group of each of the judged, (m,)."""
        return self.subject.dataset.sensitive[self.rows]

    @cached_property
    def curves(self) -> dict[str, Roc]:
        """Each attack's ROC curve."""
        rocs = {name: roc(score, self.member) for name, (score, _) in self.guesses.items()}
        return {
            name: replace(curve, auc=cross_fitted_interval(curve.auc, 0.5))
            if REGISTRY[name].learns
            else curve
            for name, curve in rocs.items()
        }

    @property
    def strongest(self) -> str:
        """The attack with the largest AUC."""
        return max(self.curves, key=lambda name: self.curves[name].auc.value)

    @property
    def identifying(self) -> str:
        """The attack with the largest TPR at 1% FPR."""
        rates = {name: curve.tpr_at(LOW_FPR).value for name, curve in self.curves.items()}
        return max(rates, key=lambda name: np.nan_to_num(rates[name], nan=-1.0))

    @property
    def muted(self) -> bool:
        """Whether the strongest attack is not measurably better than chance, so that its gaps mean nothing."""
        return is_muted(self.curves[self.strongest].auc)

    @cached_property
    def verdicts(self) -> dict[str, Codes]:
        """Whom each attack calls a member, by what it learned on other people."""
        called = {}
        for name, (score, verdict) in self.guesses.items():
            if REGISTRY[name].learns and verdict is not None:
                called[name] = verdict.astype(np.uint8)
            else:
                called[name] = cross_fitted_verdict(
                    score, self.member, seed=self.subject.config.seed
                )
        return called

    @cached_property
    def advantages(self) -> dict[str, Estimate]:
        """Each attack's TPR - FPR at a threshold chosen on other people."""
        estimates = {}
        for name, verdict in self.verdicts.items():
            estimate = advantage(verdict, self.member)
            estimates[name] = (
                cross_fitted_interval(estimate, 0.0) if REGISTRY[name].learns else estimate
            )
        return estimates

    @cached_property
    def gaps(self) -> dict[str, tuple[GapResult, ...]]:
        """For each attack the TPR of each group less that of the others, each at its own threshold."""
        return self._by_attack(tpr_gaps, seed=self.subject.config.seed)

    @cached_property
    def net_gaps(self) -> dict[str, tuple[GapResult, ...]]:
        """For each attack the gaps of small groups at one threshold for everybody."""
        return self._by_attack(net_gaps)

    def _by_attack(
        self, measure: Callable[..., tuple[GapResult, ...]], **settings: Any
    ) -> dict[str, tuple[GapResult, ...]]:
        """Return a measure of each attack's scores."""
        names = self.subject.dataset.group_names
        return {
            name: measure(score, self.groups, self.member, names=names, **settings)
            for name, (score, _) in self.guesses.items()
        }

    @property
    def disparities(self) -> tuple[DisparityResult, ...]:
        """Gaps between groups in the verdicts of the strongest attack."""
        return self._disparities[0]

    @property
    def too_small(self) -> tuple[tuple[str, str], ...]:
        """Groups without gaps, with the reason in one sentence."""
        return self._disparities[1]

    @cached_property
    def _disparities(self) -> Disparities:
        return disparities(
            self.verdicts[self.strongest],
            self.groups,
            self.member,
            names=self.subject.dataset.group_names,
            seed=self.subject.config.seed,
        )

    @cached_property
    def curves_by_group(self) -> tuple[Roc, ...]:
        """ROC curve of the strongest attack on each group, by code."""
        score, _ = self.guesses[self.strongest]
        sides = [self.groups == code for code in range(self.subject.dataset.n_groups)]
        return tuple(roc(score[side], self.member[side]) for side in sides)

    @property
    def ranges(self) -> tuple[RangeTable, ...]:
        """Members the strongest attack finds, by the score of their own label; a table a group, none without scores."""
        released = self.subject.released_scores
        if released is None:
            return ()
        dataset = self.subject.dataset
        certainty = true_label_probability(released, dataset.labels)[self.rows]
        tables = []
        for gap in self.disparities:
            side = (self.groups == dataset.group_names.index(gap.group)).astype(np.uint8)
            verdict = self.verdicts[self.strongest]
            names = (gap.group, gap.reference)
            tables.append(recall_by_range(certainty, verdict, side, self.member, names=names))
        return tuple(tables)

    def grouped(self, groups: Codes, names: Sequence[str]) -> MembershipResult:
        """Return the same guesses about the same people in other groups, (n,), which attacks do not look at."""
        dataset = replace(self.subject.dataset, sensitive=groups, group_names=tuple(names))
        return replace(self, subject=replace(self.subject, dataset=dataset))


MISSING = "missing"
"""What the value of an empty cell is called."""


def table_grouping(table: Table, roles: Roles, by: Roles) -> tuple[Codes, tuple[str, ...]]:
    """Return the groups that other roles make of the people chosen by `roles`: everybody's, and their names by code.

    Code 1 is the first group of two.

    `roles` are those with which the dataset was built: they say who is among them. Of `by` the sensitive column and how
    it is split count, nothing else; people without a value are a group of their own, "missing". Raises `InputError` as
    `core.datasets.build_dataset` does for a sensitive column.
    """
    selected, _, _ = select(table.frame, roles)
    group_codes, names, _ = groups_of(
        with_crossed(table.frame, by.sensitive).loc[selected, by.sensitive], by
    )
    codes = group_codes.to_numpy(dtype=np.int64, na_value=len(names))
    if len(names) == 2:
        names = (by.other_name or names[0], by.first_name or names[1])
    return _compact(codes, (*names, f"{by.attribute} {MISSING}"), by.attribute)


def column_grouping(dataset: AuditDataset, column: str) -> tuple[Codes, tuple[str, ...]]:
    """Return a group for each value of a feature of categories; of two groups the smaller is the first."""
    index = dataset.feature_names.index(column)
    values = dataset.categories[index]
    codes = dataset.features[:, index].astype(np.int64)
    codes[codes < 0] = len(values)
    groups, names = _compact(codes, (*values, MISSING), column)
    if len(names) == 2 and 2 * np.count_nonzero(groups) > groups.size:
        return 1 - groups, names[::-1]
    return groups, names


def grouping_columns(dataset: AuditDataset) -> tuple[str, ...]:
    """Return the features of categories that `column_grouping` is for: those with few values."""
    return tuple(
        name
        for name, is_category, values in zip(
            dataset.feature_names, dataset.categorical, dataset.categories, strict=True
        )
        if is_category and 2 <= len(values) < MOST_GROUPS
    )


def _compact(codes: Ints, names: tuple[str, ...], attribute: str) -> tuple[Codes, tuple[str, ...]]:
    """Return the groups that have somebody in them, numbered from 0 in the same order."""
    present, compact = np.unique(codes, return_inverse=True)
    if not 2 <= present.size <= 256:
        raise InputError(
            f"People must fall into 2 to 256 groups by {quoted(attribute)}, got {present.size}."
        )
    return compact.astype(np.uint8), tuple(names[code] for code in present)
