"""Membership inference on a few people: two gaps that disagree, one private split, and FairPick's deletions.

The published gap compares how often members are recognised in two groups (Zhang et al. 2020). It says nothing about
leakage by itself, which the first case shows.
"""

from __future__ import annotations

import numpy as np

from core.examples.example import Answer, Example, ExampleTable, Step
from core.examples.writing import number, signed
from core.membership import fairpick_counts, vulnerability_disparity
from core.membership.fairpick.counts import differences

_METHOD = "Membership inference"
_SOURCE = "Zhang et al., Privacy for All: Demystify Vulnerability Disparity of Differential Privacy, 2020"

_FLAGGED = {("women", "member"): 8, ("women", "outsider"): 7, ("men", "member"): 6, ("men", "outsider"): 2}
"""Called members, of ten each."""

_COUNTS = np.array([[7, 2], [1, 6], [2, 2]], float)  # clusters by men and women
_THETA = 0.75


def two_gaps(name: str, title: str) -> Example:
    """Return the case in which the published gap and the leak point at different groups."""
    group = np.repeat([1, 1, 0, 0], 10)
    member = np.tile(np.repeat([1, 0], 10), 2)
    verdict = np.concatenate([np.arange(10) < k for k in _FLAGGED.values()]).astype(int)
    found = vulnerability_disparity(verdict, group, member, names=("women", "men"))
    (women, men), (women_false, men_false) = found.recall, found.false_alarms
    rows = tuple((who, f"{kind}s of the training data", 10, flagged) for (who, kind), flagged in _FLAGGED.items())
    right = "About men"
    return Example(
        name=name,
        method=_METHOD,
        title=title,
        story=(
            "An attacker says of 40 people whether each was in a model's training data. In truth 20 were (members) and "
            "20 were not (outsiders), 10 women and 10 men each. The table shows how many she calls members."
        ),
        table=ExampleTable(
            caption="What the attacker says",
            columns=("Group", "In truth", "People", "Called members"),
            rows=rows,
        ),
        question="About whom does the attack really find out more?",
        answer=Answer(
            right=right,
            choices=("About women", right, "About both alike"),
            why="Women are called members nearly as often when they are not. Of men the call tells far more.",
            hint="If she calls a woman a member: how much does that tell, when she also says it of 7 in 10 outsiders?",
        ),
        steps=(
            Step(
                title="Members who are recognised",
                words="The true positive rate (TPR): members called members, of all members of the group.",
                formula="TPR_g = P(called a member | member, g)",
                source="Zhang et al. (2020), equation 2",
                computation=f"women 8/10 = {number(women.value)}, men 6/10 = {number(men.value)}",
                result=f"Vulnerability disparity VD = {number(women.value)} − {number(men.value)} = "
                f"{signed(found.vd.value)}. By this number women are more exposed.",
                values={"women": women.value, "men": men.value, "vd": found.vd.value},
            ),
            Step(
                title="Outsiders who are called members too",
                words="The false positive rate (FPR): the attacker's false alarms.",
                formula="FPR_g = P(called a member | outsider, g)",
                source="What equation 2 leaves out",
                computation=f"women 7/10 = {number(women_false.value)}, men 2/10 = {number(men_false.value)}",
                result=f"FPR gap = {number(women_false.value)} − {number(men_false.value)} = "
                f"{signed(found.fpr_gap.value)}. She suspects women in any case.",
                values={"women": women_false.value, "men": men_false.value, "fpr_gap": found.fpr_gap.value},
            ),
            Step(
                title="What she has found out",
                words="Only the difference of the two rates is knowledge: a coin toss has the same TPR and FPR.",
                formula="(TPR − FPR)_women − (TPR − FPR)_men = VD − FPR gap",
                computation=(
                    f"women 0.8 − 0.7 = {number(women.value - women_false.value)}, "
                    f"men 0.6 − 0.2 = {number(men.value - men_false.value)}"
                ),
                result=f"{signed(found.vd.value)} − {number(found.fpr_gap.value)} = "
                f"{signed(found.advantage_gap.value)}: more comes out about men.",
                values={"advantage_gap": found.advantage_gap.value},
            ),
            Step(
                title="And with 40 people?",
                words="40 people are few. The interval shows how far the gap could be off for people like these.",
                computation=f"95% interval of VD: {signed(found.vd.low, 2)} to {signed(found.vd.high, 2)}",
                result=(
                    "It holds 0: with so few people even the sign of VD is not settled."
                    if found.vd.low <= 0 <= found.vd.high
                    else "It leaves out 0."
                ),
                values={"low": found.vd.low, "high": found.vd.high},
            ),
        ),
        lesson=(
            "An attack that calls one group members more often, in or out of the training data, has a VD and may have "
            "found out nothing. Look at VD, the FPR gap and TPR − FPR together, and at their intervals."
        ),
        source=_SOURCE,
    )


def fairpick_deletes(name: str, title: str) -> Example:
    """Return the case of FairPick's closed form with whole numbers."""
    deleted = fairpick_counts(_COUNTS, _THETA)
    before, after = differences(_COUNTS), differences(_COUNTS - deleted)
    tv = float(np.maximum(before, 0).sum())
    share = float(deleted.sum() / _COUNTS.sum())
    kept = _COUNTS - deleted
    factor = 1 - _THETA * (1 - share)
    gone = float(deleted.sum())
    return Example(
        name=name,
        method=_METHOD,
        title=title,
        story=(
            "FairPick makes two groups alike before a model is trained, by leaving some people out. It sorts 10 men "
            "and 10 women into clusters of similar people and wants every difference between the groups to shrink to "
            "three quarters: θ = 0.75."
        ),
        table=ExampleTable(
            caption="20 people in three clusters",
            columns=("Cluster", "Men", "Women"),
            rows=tuple((c + 1, int(_COUNTS[c, 0]), int(_COUNTS[c, 1])) for c in range(3)),
        ),
        question="How many of the 20 people does FairPick leave out?",
        answer=Answer(
            right=round(gone, 6),
            why="Two men of cluster 1 and two women of cluster 2: a fifth of either group.",
            hint="Leave out men where men are ahead, and as many women where women are ahead. Then compute the shares.",
        ),
        steps=(
            Step(
                title="How the groups differ",
                words="The share of women in each cluster minus the share of men in it.",
                formula="DD_c = n_c1 / N₁ − n_c0 / N₀",
                source="Zhang et al. (2020), equation 6",
                computation="2/10 − 7/10, 6/10 − 1/10, 2/10 − 2/10",
                result=f"DD = {', '.join(signed(dd) for dd in before)}",
                values={f"cluster {c + 1}": float(before[c]) for c in range(3)},
            ),
            Step(
                title="How many must go",
                words=(
                    "Only the group that is ahead in a cluster loses people, and both groups lose the same share s. "
                    "TV adds up the differences above 0."
                ),
                formula="s = (1 − θ) · TV / (1 − θ · TV)",
                source="Closed form of the program in Zhang et al. (2020), section 5; ours",
                computation="0.25 · 0.5 / (1 − 0.75 · 0.5) = 0.125 / 0.625",
                result=f"s = {number(share)}: a fifth of each group, {number(gone)} people in all.",
                values={"tv": tv, "s": share, "deleted": gone},
            ),
            Step(
                title="From which clusters",
                words="Each cluster loses people in proportion to how far a group is ahead there.",
                formula="x_c = N · (1 − θ · (1 − s)) · |DD_c|",
                source="Closed form of the program in Zhang et al. (2020), section 5; ours",
                computation=(
                    f"10 · (1 − 0.75 · 0.8) · 0.5 = 10 · {number(factor)} · 0.5 = {number(float(deleted[0, 0]))}"
                ),
                result=f"{number(float(deleted[0, 0]))} men of cluster 1, {number(float(deleted[1, 1]))} women of "
                "cluster 2.",
                values={"men of cluster 1": float(deleted[0, 0]), "women of cluster 2": float(deleted[1, 1])},
            ),
            Step(
                title="Check",
                words="Compute the differences again among those who are left.",
                formula="DD′_c = θ · DD_c",
                source="Zhang et al. (2020), equation 7",
                computation="cluster 1: 2/8 − 5/8, cluster 2: 4/8 − 1/8, and 0.75 · 0.5 = 0.375",
                result=f"DD′ = {', '.join(signed(dd) for dd in after)}, as asked for.",
                values={f"cluster {c + 1}": float(after[c]) for c in range(3)},
                table=ExampleTable(
                    caption="Those who are left",
                    columns=("Cluster", "Men", "Women", "DD before", "DD after"),
                    rows=tuple(
                        (c + 1, number(kept[c, 0]), number(kept[c, 1]), signed(before[c]), signed(after[c]))
                        for c in range(3)
                    ),
                ),
            ),
        ),
        lesson=(
            "People are left out so that the groups look alike. Whether the attack then treats them alike has to be "
            "measured, beside as many people left out at random; and chosen before a private tree is trained, they "
            "void its guarantee."
        ),
        source=_SOURCE,
    )
