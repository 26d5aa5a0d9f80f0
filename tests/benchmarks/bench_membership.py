"""How fast a private tree grows on Adult, beside scikit-learn's decision tree of the same depth.

Run from the repository's root: ``python -m tests.benchmarks.bench_membership``, with FAIRLEAK_DATA for Adult; without
it invented records of the same size and domains stand in.

Limits: the plain tree (epsilon = inf, 22,611 records, 14 columns, numbers in 10 bins, depth 14) takes at most 3 times
93 ms; an epsilon move on the membership page (training, quick attack, gaps with intervals) takes at most 300 ms.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from core.datasets import load
from core.membership import MemberPeople, MembershipSettings, member_people
from core.models import DPID3Classifier
from tests.benchmarks.measuring import DATA, adult_is_here, seconds, verdicts
from tests.unit.membership.samples import study

DEPTH, EPSILONS = 14, (0.1, 1.0, 100.0)
LIMIT_PLAIN = 3 * 0.093  # seconds
MOVES, LIMIT_MOVE = (0.01, 0.1, 1.0, 10.0, 100.0, math.inf), 0.3
SIZES = (10, 7, 10, 16, 10, 7, 14, 6, 5, 2, 10, 10, 10, 41)  # of Adult's columns


def records_here() -> tuple[np.ndarray, np.ndarray, tuple[int, ...]]:
    """Return codes, labels and domains of half of Adult's complete records, or of invented ones."""
    if not adult_is_here():
        rng = np.random.default_rng(0)
        codes = np.stack([np.minimum(rng.geometric(2 / k, 22_611) - 1, k - 1) for k in SIZES], axis=1)
        return codes, (rng.random(22_611) < 0.1 + 0.3 * (codes[:, 7] == 0)).astype(int), SIZES
    from core.models.tree_budget import Domains

    frame = load("adult", data_folder=DATA).frame.dropna()
    labels = (frame.pop("income") == ">50K").to_numpy(int)
    numeric = [frame[name].dtype.kind in "iuf" for name in frame]
    columns = [
        frame[name].to_numpy(float) if number else np.unique(frame[name].astype(str), return_inverse=True)[1]
        for name, number in zip(frame, numeric, strict=True)
    ]
    entries = tuple(
        (float(column.min()), float(column.max())) if number else int(column.max()) + 1
        for column, number in zip(columns, numeric, strict=True)
    )
    codes = Domains(entries=entries).codes(np.stack(columns, axis=1).astype(float))
    rows = np.random.default_rng(0).permutation(len(labels))[: len(labels) // 2]
    return codes[rows], labels[rows], tuple(Domains(entries=entries).sizes.tolist())


def private(epsilon: float, sizes: tuple[int, ...]) -> DPID3Classifier:
    """Return a tree to be fitted."""
    return DPID3Classifier(epsilon, DEPTH, 1, domains=sizes, classes=(0, 1))


def main() -> None:
    """Print the figures and the verdict."""
    from sklearn.tree import DecisionTreeClassifier

    codes, labels, sizes = records_here()
    library = seconds(lambda: DecisionTreeClassifier(max_depth=DEPTH, random_state=1).fit(codes, labels), 7)
    plain = seconds(lambda: private(math.inf, sizes).fit(codes, labels), 7)
    print(f"DP-ID3: {len(labels):,} records, {len(sizes)} columns, depth {DEPTH}")
    print(
        f"scikit-learn's tree {library * 1e3:.0f} ms; without noise {plain * 1e3:.0f} ms, {plain / library:.1f} times"
    )
    for epsilon in EPSILONS:
        tree = private(epsilon, sizes)
        fit = seconds(lambda tree=tree: tree.fit(codes, labels), 7)
        answer = seconds(lambda tree=tree: tree.predict_proba(codes), 7)
        told = f"fit {fit * 1e3:.0f} ms, {tree.n_nodes_:,} nodes, {len(labels):,} answers {answer * 1e3:.0f} ms"
        print(f"epsilon {epsilon:g}: {told}")
    told = f"the tree without noise takes {plain * 1e3:.0f} ms <= {LIMIT_PLAIN * 1e3:.0f} ms"
    verdicts([(told, plain <= LIMIT_PLAIN)])
    moves()


def moves() -> None:
    """Print how long an epsilon move takes: one training, the quick attack, and what is found of it."""
    people = people_here()
    slowest = 0.0
    for epsilon in MOVES:
        settings = MembershipSettings(epsilon=epsilon, max_depth=DEPTH)
        took = seconds(lambda settings=settings: next(study(people, settings)), 5)
        slowest = max(slowest, took)
        print(f"epsilon {epsilon:g}: an audit with the quick attack {took * 1e3:.0f} ms")
    told = f"{slowest * 1e3:.0f} ms of core time (at most {LIMIT_MOVE * 1e3:.0f})"
    verdicts([(f"an ε move on {people.title} with the quick attack: {told}", slowest <= LIMIT_MOVE)])


def people_here() -> MemberPeople:
    """Return the people of Adult, or the demo's four times over where Adult is not here."""
    if adult_is_here():
        table = load("adult", data_folder=DATA)
        return member_people(table, table.roles[0])
    table = load("demo")
    own = member_people(table, table.roles[0])
    return replace(own, codes=np.tile(own.codes, (4, 1)), labels=np.tile(own.labels, 4), groups=np.tile(own.groups, 4))


if __name__ == "__main__":
    main()
