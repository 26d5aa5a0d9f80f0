"""From an attack's guesses to findings: curve, precision and recall, gaps between groups, where the flags fall."""

from __future__ import annotations

import numpy as np

from core.arrays import Codes
from core.estimates import Estimate
from core.membership.attacked import Attacked
from core.membership.attacks import MemberGuess, precision_recall, true_label_probability
from core.membership.disparity import Disparities, RangeTable, disparities, is_muted, lira_gaps
from core.membership.disparity import recall_by_range as ranges_of
from core.membership.findings import AttackFindings
from core.membership.people import MemberPeople
from core.membership.roc import group_rocs, roc


def judge(target: Attacked, guess: MemberGuess, *, people: MemberPeople | None = None) -> AttackFindings:
    """Return what an attack found out.

    `people` may be the same people in other groups.
    """
    people = target.people if people is None else people
    level, seed = target.settings.level, target.settings.seed
    rows, member = guess.rows, target.inside[guess.rows]
    groups, names = people.groups[rows], people.group_names
    curve = roc(guess.score, member, level=level)
    measured: Disparities | None = None
    precision: Estimate | None = None
    recall: Estimate | None = None
    ranges: tuple[RangeTable, ...] = ()
    if guess.verdict is not None:
        precision, recall = precision_recall(guess.verdict, member, level=level)
        measured = disparities(guess.verdict, groups, member, names=names, level=level, seed=seed)
        ranges = _ranges(target, guess, measured, groups, member, names)
    return AttackFindings(
        name=guess.name,
        roc=curve,
        roc_by_group=group_rocs(guess.score, member, groups, len(names), level=level),
        precision=precision,
        recall=recall,
        disparities=measured,
        low_fpr=lira_gaps(guess.score, groups, member, names=names, level=level, seed=seed),
        ranges=ranges,
        muted=is_muted(curve.auc),
    )


def _ranges(
    target: Attacked,
    guess: MemberGuess,
    measured: Disparities,
    groups: Codes,
    member: Codes,
    names: tuple[str, ...],
) -> tuple[RangeTable, ...]:
    assert guess.verdict is not None
    certainty = true_label_probability(target.probability[guess.rows], target.people.labels[guess.rows])
    tables = []
    for found in measured.results:
        side = (groups == names.index(found.group)).astype(np.uint8)
        tables.append(ranges_of(certainty, guess.verdict, side, member, names=(found.group, found.others)))
    return tuple(tables)
