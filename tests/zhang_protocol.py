"""The protocol of Zhang et al. (2020) for membership inference: half of the people members, some of either known.

Every column is a feature as codes of a public domain, the sensitive one too; numbers are in ten bins of equal width.
The attacker knows of 15% of the members, and of as many non-members, what they are, and judges 20% of either.

FairPick deletes members before the training; non-members are thinned by the same rule, so that nothing but the training
sets members and non-members apart. Accuracy is measured on all who were drawn as non-members.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas

from core.base.validation import Codes, Floats, Ints, child_generator, child_seed
from core.datasets import Roles, Table
from core.datasets.build import select
from core.datasets.columns import as_text, crossed_columns, is_numeric
from core.models import DPID3Classifier
from core.stats.estimates import Estimate, accuracy, proportion
from core.studies.membership import REGISTRY, Evidence, MemberGuess, MembershipSplit, Train, roc
from core.studies.membership.fairpick import (
    Clusters,
    FairPick,
    Sides,
    clusters,
    fairpick,
    like_outsiders,
    outsiders_at_random,
    random_deletion,
)
from core.studies.membership.findings import CurvePoint

BINS = 10
"""Ranges of equal width into which a column of numbers is cut."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberPeople:
    """Everybody who may or may not be in the training data."""

    title: str
    codes: Ints = field(repr=False)
    """(n, d): value of each column, from 0 up."""
    names: tuple[str, ...]
    values: tuple[tuple[str, ...], ...] = field(repr=False)
    """Public domain of each column: what its codes stand for, also those nobody has."""
    labels: Codes = field(repr=False)
    """(n,)"""
    groups: Codes = field(repr=False)
    """(n,): 1 = first group of two; 0 to K - 1 where there are more."""
    group_names: tuple[str, ...]
    """By code."""
    attribute: str
    """What the groups differ in."""
    protected: tuple[int, ...] = ()
    """Columns among the d that the groups are distinguished by."""

    @property
    def n(self) -> int:
        return int(self.labels.size)

    @property
    def n_values(self) -> tuple[int, ...]:
        return tuple(len(domain) for domain in self.values)


def member_people(table: Table, roles: Roles) -> MemberPeople:
    """Turn a table and the roles of its columns into the people of a membership audit."""
    chosen = select(table.frame, roles)
    sensitive = crossed_columns(table.frame, roles.sensitive) or (roles.sensitive,)
    features = {*chosen.features, *(set(sensitive) - set(roles.excluded))}
    columns, names, values = [], [], []
    for name in [column for column in table.frame.columns if column in features]:
        codes, domain = _coded(table.frame.loc[chosen.selected, name])
        if (codes == codes[0]).all():  # constant since records were dropped
            continue
        columns.append(codes)
        names.append(str(name))
        values.append(domain)
    matrix = np.column_stack(columns)
    return MemberPeople(
        title=table.title,
        codes=matrix,
        names=tuple(names),
        values=tuple(values),
        labels=chosen.labels,
        groups=chosen.groups,
        group_names=chosen.group_names,
        attribute=roles.attribute,
        protected=tuple(j for j, name in enumerate(names) if name in map(str, sensitive)),
    )


def _coded(column: pandas.Series) -> tuple[Ints, tuple[str, ...]]:
    """Return the codes of a column and what they stand for; a missing cell comes last."""
    if is_numeric(column):
        codes, domain = _binned(column.to_numpy(dtype=np.float64, na_value=np.nan))
    else:
        raw_codes, texts = as_text(column).factorize(sort=True, use_na_sentinel=True)
        codes, domain = raw_codes.astype(np.int64), tuple(str(text) for text in texts)
    if (codes < 0).any():
        codes, domain = np.where(codes < 0, len(domain), codes), (*domain, "missing")
    return codes, domain


def _binned(numbers: Floats) -> tuple[Ints, tuple[str, ...]]:
    """Return the bin of each number, -1 where there is none, and the bins' limits as text."""
    present = ~np.isnan(numbers)
    codes = np.full(numbers.size, -1, dtype=np.int64)
    edges = np.linspace(float(np.nanmin(numbers)), float(np.nanmax(numbers)), BINS + 1)
    codes[present] = np.searchsorted(edges[1:-1], numbers[present], side="right")
    return codes, tuple(f"{a:.6g} to {b:.6g}" for a, b in itertools.pairwise(edges))


def member_split(n: int, *, seed: int, known_share: float = 0.15, judged_share: float = 0.2) -> MembershipSplit:
    """Make half of n people members, and draw whom the attacker knows and judges.

    Of an odd number one person is left out. The shares are of the members, and of as many non-members.
    """
    half = n // 2
    order = child_generator(seed, "membership split").permutation(n)
    members, outsiders = order[:half], order[half : 2 * half]
    start = int(known_share * half)
    end = start + int(judged_share * half)
    return MembershipSplit(
        members=np.sort(members),
        outsiders=np.sort(outsiders),
        known_rows=np.concatenate([np.sort(members[:start]), np.sort(outsiders[:start])]),
        judged_rows=np.concatenate([np.sort(members[start:end]), np.sort(outsiders[start:end])]),
    )


def keeping(split: MembershipSplit, retained: npt.ArrayLike, *, outsiders: npt.ArrayLike) -> MembershipSplit:
    """Return the split after all members but those retained, and all non-members but these, were left out."""
    inside, outside = np.sort(np.asarray(retained)), np.sort(np.asarray(outsiders))
    stay = np.concatenate([inside, outside])
    known_rows, judged_rows = (rows[np.isin(rows, stay)] for rows in (split.known_rows, split.judged_rows))
    return replace(split, members=inside, outsiders=outside, known_rows=known_rows, judged_rows=judged_rows)


def default_depth(people: MemberPeople) -> int:
    """Return a depth for the trees: as published 14 for the 14 columns of Adult and 10 for the 11 of COMPAS, else 8."""
    d = len(people.names)
    return {14: 14, 11: 10, 10: 10}.get(d, min(8, d))


def id3_target(
    people: MemberPeople, *, epsilon: float = math.inf, max_depth: int, accounting: str = "savings"
) -> Train:
    """Return the target of Zhang et al. (2020): a tree by DP-ID3 over public domains, private for a finite epsilon."""

    def train(rows: Ints, seed: int) -> Floats:
        domains = people.n_values
        tree = DPID3Classifier(epsilon, max_depth, seed, domains=domains, classes=(0, 1), accounting=accounting)
        tree.fit(people.codes[rows], people.labels[rows])
        return np.asarray(tree.predict_proba(people.codes)[:, 1], dtype=np.float64)

    return train


def library_target(people: MemberPeople, estimator: Callable[[int], Any]) -> Train:
    """Return any scikit-learn classifier, made with a seed, as a target: on one indicator a value of each column."""
    starts = np.concatenate([[0], np.cumsum(people.n_values)])
    indicators = np.zeros((people.n, int(starts[-1])), dtype=np.float32)
    indicators[np.arange(people.n)[:, None], people.codes + starts[:-1]] = 1.0

    def train(rows: Ints, seed: int) -> Floats:
        labels = people.labels[rows]
        if (labels == labels[0]).all():
            return np.full(people.n, float(labels[0]))
        fitted = estimator(seed).fit(indicators[rows], labels)
        return np.clip(np.asarray(fitted.predict_proba(indicators)[:, 1], dtype=np.float64), 0.0, 1.0)

    return train


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetFindings:
    """How well the attacked model predicts.

    The control `majority_test` is the more frequent label for everybody.
    """

    accuracy_train: Estimate
    accuracy_test: Estimate
    majority_test: Estimate


def quality(
    probability: Floats,
    labels: Codes,
    members: Ints,
    outsiders: Ints,
    *,
    predicted: Codes | None = None,
) -> TargetFindings:
    """Return how well a target predicts those it was trained on and others, and the majority label as control.

    Where what it predicts is not given, a probability of exactly one half predicts label 0, the first, as the trees do.
    """
    labels_predicted = (probability > 0.5).astype(np.uint8) if predicted is None else predicted
    more = int(labels[members].mean() > 0.5)  # what a model without columns would learn
    return TargetFindings(
        accuracy_train=accuracy(labels[members], labels_predicted[members]),
        accuracy_test=accuracy(labels[outsiders], labels_predicted[outsiders]),
        majority_test=proportion(int(np.count_nonzero(labels[outsiders] == more)), outsiders.size),
    )


def precision_recall(verdict: Codes, member: Codes) -> tuple[Estimate, Estimate]:
    """Return members among those classified as members, and those classified as members among members.

    With nobody classified as a member there is no precision: it is nan with n = 0.
    """
    right = int(np.count_nonzero(verdict & member))
    precision = proportion(right, int(verdict.sum()))
    return precision, proportion(right, int(member.sum()))


def two_sides(people: MemberPeople) -> Sides:
    """Return the same people in two groups, without the columns that tell them apart."""
    features = np.delete(people.codes.astype(np.float64), sorted(people.protected), axis=1)
    first, second = people.group_names
    return Sides(features=features, labels=people.labels, groups=people.groups, names=(first, second))


def thinned(
    sides: Sides, split: MembershipSplit, clustering: Clusters, *, theta: float, seed: int
) -> tuple[FairPick, MembershipSplit]:
    """Return what FairPick deletes, and the split after it, with non-members thinned like the members."""
    picked = fairpick(sides, split.members, clustering, theta=theta, seed=seed)
    outsiders = like_outsiders(sides, split.outsiders, like=picked, clustering=clustering, seed=seed)
    return picked, keeping(split, picked.retained, outsiders=outsiders)


@dataclass(frozen=True, slots=True, kw_only=True)
class Attacked:
    """A trained target, whom the published attack judges."""

    people: MemberPeople
    split: MembershipSplit
    probability: Floats = field(repr=False)
    quality: TargetFindings
    guess: MemberGuess

    def point(self, point: CurvePoint) -> CurvePoint:
        """Return a point of a curve with the rates of the attack."""
        rows, member = self.split.judged_records
        groups, called = self.people.groups[rows], self.guess.verdict
        rates = {(m, g): float(called[(member == m) & (groups == g)].mean()) for m in (0, 1) for g in (0, 1)}
        vd, alarms = rates[1, 1] - rates[1, 0], rates[0, 1] - rates[0, 0]
        return replace(
            point,
            accuracy_train=self.quality.accuracy_train.value,
            accuracy_test=self.quality.accuracy_test.value,
            auc=roc(self.guess.score, member).auc.value,
            precision=float(member[called == 1].mean()),
            recall=float(called[member == 1].mean()),
            vd=vd,
            fpr_gap=alarms,
            advantage_gap=vd - alarms,
        )


def attacked(people: MemberPeople, train: Train, split: MembershipSplit, unseen: Ints, *, seed: int) -> Attacked:
    """Train a target on the members and let the published attack judge; accuracy is on those unseen."""
    p = train(split.members, seed)
    guess = REGISTRY["network"].judge(Evidence(released=p, labels=people.labels, split=split, seed=seed))
    accuracies = quality(p, people.labels, split.members, unseen)
    return Attacked(people=people, split=split, probability=p, quality=accuracies, guess=guess)


def repeats_of(people: MemberPeople, train: Train, *, repeats: int, seed: int = 42) -> list[CurvePoint]:
    """Return a point a repeat, each with a split of its own."""
    points = []
    for repeat in range(repeats):
        child = child_seed(seed, f"membership, repeat {repeat}")
        split = member_split(people.n, seed=child)
        target = attacked(people, train, split, split.outsiders, seed=child)
        points.append(target.point(CurvePoint(at=math.inf, repeat=repeat, variant="epsilon")))
    return points


def fairpick_points(
    people: MemberPeople, train: Train, *, thetas: Sequence[float], repeats: int, seed: int
) -> Iterator[CurvePoint]:
    """Yield two points a repeat and theta: after FairPick, and after deleting as many rows at random."""
    sides = two_sides(people)
    for repeat in range(repeats):
        child = child_seed(seed, f"membership, repeat {repeat}")
        split = member_split(people.n, seed=child)
        clustering = clusters(sides, split.members, seed=child)
        for theta in thetas:
            picked, left = None, {"fairpick": split, "random": split}
            if theta < 1.0:
                picked, left["fairpick"] = thinned(sides, split, clustering, theta=theta, seed=child)
                retained = random_deletion(split.members, picked.deleted.size, seed=child)
                stay = round(split.outsiders.size * retained.size / split.members.size)
                outside = outsiders_at_random(split.outsiders, stay, seed=child)
                left["random"] = keeping(split, retained, outsiders=outside)
            for variant, after in left.items():
                target = attacked(people, train, after, split.outsiders, seed=child)
                deleted = split.members.size - after.members.size
                yield target.point(CurvePoint(at=theta, repeat=repeat, variant=variant, deleted=deleted))
