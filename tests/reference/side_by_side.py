"""Every membership attack on the same models: ``python -m tests.reference.side_by_side [TABLE ...]``.

Half of the people are trained on; the attacker knows 15% of either half and judges the rest. Sixteen shadow models, as
in a release audit. Attacks that need labels alone get labels alone. Prints the two tables of docs/results.
"""

import sys
from dataclasses import replace

import numpy as np

from core.adversaries.released_outputs import cross_fitted_interval
from core.studies.membership import REGISTRY, Evidence, roc
from tests.reference.data import members_of
from tests.zhang_protocol import default_depth, id3_target, library_target, member_split

SEED = 42
TABLES = ("demo", "compas", "adult")
TARGETS = {"dp_id3": "ID3", "random_forest": "forest"}
"""Trees without noise, and 50 of scikit-learn's, both of the default depth of the table."""


def evidence_of(name, target):
    """Return what the attacks are given; the model can be asked."""
    people = members_of(name)
    split = member_split(people.n, seed=SEED, known_share=0.15, judged_share=0.85)
    train = target_of(people, target)
    return Evidence(
        labels=people.labels,
        split=split,
        released=train(split.members, SEED),
        features=people.codes,
        access=_access(people, target, split.members),
        seed=SEED,
        train=train,
        shadows=16,
    )


def target_of(people, target):
    """Return a tree without noise, or a forest, of the table's default depth."""
    from sklearn.ensemble import RandomForestClassifier

    depth = default_depth(people)
    if target == "dp_id3":
        return id3_target(people, max_depth=depth)
    return library_target(people, lambda seed: RandomForestClassifier(50, max_depth=depth, random_state=seed))


def _access(people, target, members):
    """Return query access to the target: everybody of a table that ends with the records asked about."""

    def ask(rows):
        codes = np.concatenate([people.codes, people.codes[rows, np.arange(rows.shape[1])]])
        labels = np.concatenate([people.labels, np.zeros(len(rows), dtype=np.uint8)])
        more = replace(people, n=len(labels), codes=codes, labels=labels)
        probability = target_of(more, target)(members, SEED)  # the same model: same members, same seed
        return (probability[people.n :] > 0.5).astype(np.uint8)

    return people.codes.shape[1], ask


def curves(evidence):
    """Yield each attack's name and curve, the AUC with the interval a release audit gives it."""
    member = evidence.split.judged_records[1]
    labels = replace(evidence, released=None, predictions=evidence.predicted)
    for name, attack in REGISTRY.items():
        curve = roc(attack.scores(evidence if "scores" in attack.uses | attack.needs else labels)[0], member)
        yield name, replace(curve, auc=cross_fitted_interval(curve.auc, 0.5)) if attack.learns else curve


def _text(estimate):
    return f"{estimate.value:.3f} ({estimate.low:.3f} to {estimate.high:.3f})"


def tables(names):
    """Return AUC and TPR at 1% FPR, the head first, then a row an attack; a column is a model."""
    titles = [f"{name}, {target_title}" for name in names for target_title in TARGETS.values()]
    areas, rates = ({name: [attack.title] for name, attack in REGISTRY.items()} for _ in range(2))
    for name in names:
        for target in TARGETS:
            for attack, curve in curves(evidence_of(name, target)):
                areas[attack].append(_text(curve.auc))
                rates[attack].append(_text(curve.tpr_at(0.01)))
    return {"auc": [["AUC", *titles], *areas.values()], "tpr": [["TPR at 1% FPR", *titles], *rates.values()]}


if __name__ == "__main__":
    for head, *rows in tables(sys.argv[1:] or list(TABLES)).values():
        print(f"\n| {' | '.join(head)} |\n{'|---' * len(head)}|")
        for cells in rows:
            print(f"| {' | '.join(cells)} |")
