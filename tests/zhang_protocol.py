"""The protocol of Zhang et al. (2020) for membership inference: half of the people members, some of either known.

Every column is a feature as codes of a public domain, the sensitive one too; numbers are in ten bins of equal width.
The attacker knows of 15% of the members, and of as many non-members, what they are, and judges 20% of either.

FairPick deletes members before the training; non-members are thinned by the same rule, so that nothing but the training
sets members and non-members apart. Accuracy is measured on all who were drawn as non-members.
"""

import math
from dataclasses import make_dataclass, replace
from types import SimpleNamespace

import numpy as np

from core.base.validation import child_generator, child_seed
from core.datasets.build import select
from core.datasets.columns import as_text, crossed_columns, is_numeric
from core.models.dp_id3 import DPID3Classifier
from core.studies.membership import REGISTRY, Evidence, MembershipSplit, roc
from core.studies.membership.fairpick import clusters, fairpick, like_outsiders, outsiders_at_random, random_deletion
from core.studies.membership.findings import CurvePoint

BINS = 10
"""Ranges of equal width into which a column of numbers is cut."""


MemberPeople = make_dataclass("MemberPeople", ["n", "codes", "n_values", "labels", "groups", "protected"], frozen=True)


def member_people(table, roles):
    """Turn a table and the roles of its columns into n people who may or may not be in the training data.

    `codes` (n, d) has the value of each column, from 0 up; `n_values` says how many are in its public domain, also
    those nobody has; `protected` are the columns among the d that the groups are distinguished by.
    """
    selected, names, people = select(table.frame, roles)
    sensitive = crossed_columns(table.frame, roles.sensitive) or (roles.sensitive,)
    features = {*names, *(set(sensitive) - set(roles.excluded))}
    columns, n_values, protected = [], [], []
    for name in [column for column in table.frame.columns if column in features]:
        codes, n = _coded(table.frame.loc[selected, name])
        if (codes == codes[0]).all():  # constant since records were dropped
            continue
        if name in sensitive:
            protected.append(len(columns))
        columns.append(codes)
        n_values.append(n)
    return MemberPeople(
        n=int(people.labels.size),
        codes=np.column_stack(columns),
        n_values=tuple(n_values),
        labels=people.labels,
        groups=people.sensitive,
        protected=protected,
    )


def _coded(column):
    """Return the codes of a column, and how many values there are; a missing cell comes last."""
    if is_numeric(column):
        numbers = column.to_numpy(dtype=np.float64, na_value=np.nan)
        edges = np.linspace(float(np.nanmin(numbers)), float(np.nanmax(numbers)), BINS + 1)
        codes, n = np.where(np.isnan(numbers), -1, np.searchsorted(edges[1:-1], numbers, side="right")), BINS
    else:
        codes, texts = as_text(column).factorize(sort=True, use_na_sentinel=True)
        n = len(texts)
    missing = codes < 0
    return np.where(missing, n, codes), n + int(missing.any())


def member_split(n, *, seed, known_share=0.15, judged_share=0.2):
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


def keeping(split, retained, *, outsiders):
    """Return the split after all members but those retained, and all non-members but these, were left out."""
    inside, outside = np.sort(np.asarray(retained)), np.sort(np.asarray(outsiders))
    stay = np.concatenate([inside, outside])
    known_rows, judged_rows = (rows[np.isin(rows, stay)] for rows in (split.known_rows, split.judged_rows))
    return replace(split, members=inside, outsiders=outside, known_rows=known_rows, judged_rows=judged_rows)


def default_depth(people):
    """Return a depth for the trees: as published 14 for the 14 columns of Adult and 10 for the 11 of COMPAS, else 8."""
    d = people.codes.shape[1]
    return {14: 14, 11: 10, 10: 10}.get(d, min(8, d))


def id3_target(people, *, max_depth):
    """Return the target of Zhang et al. (2020): a tree by DP-ID3 over public domains, without noise."""

    def train(rows, seed):
        tree = DPID3Classifier(math.inf, max_depth, seed, domains=people.n_values, classes=(0, 1))
        tree.fit(people.codes[rows], people.labels[rows])
        return np.asarray(tree.predict_proba(people.codes)[:, 1], dtype=np.float64)

    return train


def library_target(people, estimator):
    """Return any scikit-learn classifier, made with a seed, as a target: on one indicator a value of each column."""
    starts = np.concatenate([[0], np.cumsum(people.n_values)])
    indicators = np.zeros((people.n, int(starts[-1])), dtype=np.float32)
    indicators[np.arange(people.n)[:, None], people.codes + starts[:-1]] = 1.0

    def train(rows, seed):
        labels = people.labels[rows]
        if (labels == labels[0]).all():
            return np.full(people.n, float(labels[0]))
        fitted = estimator(seed).fit(indicators[rows], labels)
        return np.clip(np.asarray(fitted.predict_proba(indicators)[:, 1], dtype=np.float64), 0.0, 1.0)

    return train


def two_sides(people):
    """Return the same people in two groups, without the columns that tell them apart."""
    features = np.delete(people.codes.astype(np.float64), people.protected, axis=1)
    names = ("others", "group")
    return SimpleNamespace(features=features, labels=people.labels, sensitive=people.groups, group_names=names)


def thinned(sides, split, clustering, *, theta, seed):
    """Return what FairPick deletes, and the split after it, with non-members thinned like the members."""
    picked = fairpick(sides, split.members, clustering, theta=theta, seed=seed)
    outsiders = like_outsiders(sides, split.outsiders, like=picked, clustering=clustering, seed=seed)
    return picked, keeping(split, picked.retained, outsiders=outsiders)


class Attacked(make_dataclass("Target", ["people", "split", "unseen", "probability", "guess"], frozen=True)):
    """A trained target, whom the published attack judges; its accuracy is also on those unseen."""

    def point(self, **setting):
        """Return a point of a curve: how well the target predicts, and the rates of the attack."""
        rows, member = self.split.judged_records
        groups, called = self.people.groups[rows], self.guess[1]
        rates = {(m, g): float(called[(member == m) & (groups == g)].mean()) for m in (0, 1) for g in (0, 1)}
        vd, alarms = rates[1, 1] - rates[1, 0], rates[0, 1] - rates[0, 0]
        right = (self.probability > 0.5) == self.people.labels  # one half predicts label 0, as the trees do
        return CurvePoint(
            **{"at": math.inf, "repeat": 0, "variant": "epsilon", **setting},
            accuracy_train=float(right[self.split.members].mean()),
            accuracy_test=float(right[self.unseen].mean()),
            auc=roc(self.guess[0], member).auc.value,
            precision=float(member[called == 1].mean()),
            recall=float(called[member == 1].mean()),
            vd=vd,
            fpr_gap=alarms,
            advantage_gap=vd - alarms,
        )


def attacked(people, train, split, *, seed, unseen=None):
    """Train a target on the members and let the published attack judge; unseen are the non-members if left out."""
    p = train(split.members, seed)
    guess = REGISTRY["network"].scores(Evidence(released=p, labels=people.labels, split=split, seed=seed))
    return Attacked(
        people=people, split=split, unseen=split.outsiders if unseen is None else unseen, probability=p, guess=guess
    )


def repeats_of(people, train, *, repeats):
    """Return a point a repeat, each with a split of its own."""
    seeds = [child_seed(42, f"membership, repeat {repeat}") for repeat in range(repeats)]
    splits = [member_split(people.n, seed=child) for child in seeds]
    targets = [attacked(people, train, split, seed=child) for split, child in zip(splits, seeds, strict=True)]
    return [target.point(repeat=repeat) for repeat, target in enumerate(targets)]


def fairpick_points(people, train, *, thetas, repeats, seed):
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
                target = attacked(people, train, after, seed=child, unseen=split.outsiders)
                deleted = split.members.size - after.members.size
                yield target.point(at=theta, repeat=repeat, variant=variant, deleted=deleted)


def one_leaf(people, *, seed):
    """Return a tree of one leaf, attacked: the share of label 1 among its members for everybody."""

    def train(rows, _):
        return np.full(people.n, people.labels[rows].mean())

    return attacked(people, train, member_split(people.n, seed=seed), seed=seed)
