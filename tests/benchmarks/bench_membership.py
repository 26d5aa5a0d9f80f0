"""How fast a private tree grows on Adult, or the demo's people four times over, beside scikit-learn's decision tree."""

import math

import numpy as np
from sklearn.tree import DecisionTreeClassifier

from core.datasets import build_dataset, load
from core.models.dp_id3 import DPID3Classifier
from core.studies.membership import MembershipSettings
from core.studies.membership.study import STUDY
from core.studies.subject import AuditConfig, subject_of
from tests.benchmarks.measuring import DATA, is_adult_available, seconds, verdicts
from tests.zhang_protocol import member_people

DEPTH = 14


def trees(people, repeats):
    """Print how long trees take to grow on half of the people, and the verdict on the one without noise."""
    rows = np.random.default_rng(0).permutation(repeats * people.n)[: repeats * people.n // 2] % people.n
    codes, labels = people.codes[rows], people.labels[rows]
    library = seconds(lambda: DecisionTreeClassifier(max_depth=DEPTH, random_state=1).fit(codes, labels), 7)
    print(f"DP-ID3: {len(labels):,} records, depth {DEPTH}; scikit-learn's tree: {library * 1e3:.0f} ms")
    for epsilon in (0.1, 1.0, 100.0, math.inf):
        tree = DPID3Classifier(epsilon, DEPTH, 1, domains=people.n_values, classes=(0, 1))
        fit = seconds(lambda tree=tree: tree.fit(codes, labels), 7)
        print(f"epsilon {epsilon:g}: fit {fit * 1e3:.0f} ms, {tree.n_nodes_:,} nodes")
    verdicts(("s of a tree without noise", fit, 3 * 0.093))


def moves(dataset):
    """Print the verdict on the slowest epsilon move: one training, the quick attack, and what is found of it."""
    slowest = 0.0
    for epsilon in (0.01, 0.1, 1.0, 10.0, 100.0, math.inf):
        config = AuditConfig(method="dp_id3", epsilon=epsilon, depth=DEPTH)

        def attacked(config=config):
            return next(STUDY.run(subject_of(config, dataset), MembershipSettings())).disparities

        slowest = max(slowest, seconds(attacked, 5))
    verdicts((f"s of a move of ε on {dataset.title}", slowest, 0.3))


def main():
    has_adult = is_adult_available()
    table = load("adult" if has_adult else "demo", data_folder=DATA)
    trees(member_people(table, table.roles[0]), 1 if has_adult else 4)
    moves(build_dataset(table, table.roles[0]))
