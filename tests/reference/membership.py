"""What the reference tests of membership attacks share: one run of the published attack, and gaps as plain rates."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from core.membership import Evidence, MemberPeople, MembershipSplit, member_split, roc
from core.membership.attacks import network
from core.membership.roc import precision_recall
from core.membership.targets import TargetFindings, id3_target, quality


@dataclass(frozen=True, kw_only=True)
class Run:
    """One split, its tree, and the network's verdicts."""

    split: MembershipSplit
    probability: np.ndarray
    quality: TargetFindings
    verdict: np.ndarray
    precision: float
    recall: float
    auc: float


def run(people: MemberPeople, *, max_depth: int, seed: int) -> Run:
    """Train the tree on half of the people and let the published network judge."""
    split = member_split(people.n, seed=seed)
    p = id3_target(people, max_depth=max_depth)(split.members, seed)
    found = network.judge(Evidence(released=p, labels=people.labels, split=split, seed=seed))
    precision, recall = precision_recall(found.verdict, split.judged[1])
    return Run(
        split=split,
        probability=p,
        quality=quality(p, people.labels, split.members, split.outsiders),
        verdict=found.verdict,
        precision=precision.value,
        recall=recall.value,
        auc=roc(found.score, split.judged[1]).auc.value,
    )


def gaps(verdict: np.ndarray, split: MembershipSplit, groups: np.ndarray) -> tuple[float, float, float]:
    """Return the gaps of group 1 and the others: members called members, outsiders called members, and the rest."""
    rows, member = split.judged
    rates = {(m, g): float(verdict[(member == m) & (groups[rows] == g)].mean()) for m in (0, 1) for g in (0, 1)}
    vd, alarms = rates[1, 1] - rates[1, 0], rates[0, 1] - rates[0, 0]
    return vd, alarms, vd - alarms


def caught(score: np.ndarray, member: np.ndarray, fpr: float = 0.01) -> float:
    """Return the TPR at this FPR, however few people there are."""
    return float(roc(score, member).reached(fpr))


def caught_gap(score: np.ndarray, split: MembershipSplit, groups: np.ndarray) -> float:
    """Return group 1's TPR at 1% FPR, less the others'."""
    rows, member = split.judged
    first, others = (caught(score[groups[rows] == g], member[groups[rows] == g]) for g in (1, 0))
    return first - others
