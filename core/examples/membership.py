"""Membership inference on a few people: two gaps, one private split, FairPick's deletions.

The published gap compares how often members are recognised in two groups (Zhang et al. 2020). It says nothing about
leakage by itself, which the first case shows. A private tree never sees the records: it sees counts with noise, and
every count has its price (DP-ID3, Friedman and Schuster 2010).
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from core.estimates import Estimate, interval, percent, proportion
from core.examples.example import Answer, Example, ExampleTable, Step, number, numbers, signed
from core.membership import fairpick_counts, vulnerability_disparity
from core.membership.fairpick import differences
from core.models.id3 import best_attribute, noisy_score
from core.models.tree_budget import BudgetLedger, noisy_counts
from core.seeds import child_generator

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


EPSILON = 8.0
SEED = 1
_OTHERS = 1000

_ATTRIBUTES = ("Degree", "Lives in town")
_CELLS = (  # degree, town, repaid, people
    (1, 1, 1, 5),
    (1, 0, 1, 3),
    (1, 1, 0, 1),
    (1, 0, 0, 1),
    (0, 1, 1, 1),
    (0, 0, 1, 1),
    (0, 1, 0, 3),
    (0, 0, 0, 5),
)

_Ints = npt.NDArray[np.int64]


def records() -> tuple[_Ints, _Ints]:
    """Return the two attributes, shape (20, 2), and the label, shape (20,)."""
    rows = np.repeat(np.array(_CELLS)[:, :3], [cell[3] for cell in _CELLS], axis=0)
    mixed = rows[(7 * np.arange(20)) % 20]  # not sorted by the answer
    return mixed[:, :2].astype(np.int64), mixed[:, 2].astype(np.int64)


def private_split(name: str, title: str) -> Example:
    """Return the case of one split with its noisy counts."""
    x, y = records()
    ledger = BudgetLedger(accounting="savings", asked=EPSILON, depth=1, n_attributes=2)
    each, least = ledger.attributes(0).each, math.sqrt(2) / ledger.size(0).each
    rng = child_generator(SEED, "DP-ID3, noise")
    size = int(noisy_counts(np.array([len(y)]), ledger.size(0).each, rng)[0])
    true = [_joint(x[:, a], y) for a in range(2)]
    noisy = [noisy_counts(joint[None], each, rng)[0] for joint in true]
    exact_v, noisy_v = (
        [float(noisy_score(joint[None], joint[None].sum(axis=2))[0]) for joint in tables] for tables in (true, noisy)
    )
    chosen = int(best_attribute(np.array([noisy_v]))[0])
    often = _how_often(true, each)
    told = "; ".join(f"{row[0]} {row[2]}" for row in _counts(true, noisy).rows)
    small = BudgetLedger(accounting="savings", asked=1.0, depth=1, n_attributes=2)
    small_least = math.sqrt(2) / small.size(0).each
    yes_no = ("no", "yes")
    rows = tuple((i + 1, yes_no[x[i, 0]], yes_no[x[i, 1]], yes_no[y[i]]) for i in range(len(y)))
    return Example(
        name=name,
        method="Membership inference",
        title=title,
        story=(
            "A tree shall learn from 20 people who repays a loan, with one question: degree, or lives in town? It must "
            "not matter much whether any one person is in the table. So the tree sees counts with noise only, and the "
            "budget for all of them together is ε = 8."
        ),
        table=ExampleTable(caption="The training data", columns=("Person", *_ATTRIBUTES, "Repaid"), rows=rows),
        question="What ε is left for the table of counts of one attribute?",
        answer=Answer(
            right=each,
            why="Four slots of 2, and the two attributes share one slot.",
            hint="A tree of one level has two levels of nodes, each with two slots. The two attributes share one.",
        ),
        steps=(
            Step(
                title="Share out the budget",
                words=(
                    "A tree of depth d has d + 1 levels, and each asks twice: how many are here, and how are they "
                    "spread? That makes 2(d + 1) slots. The attributes share one."
                ),
                formula="ε′ = B / (2(d + 1))\nε of one table = ε′ / |A|",
                source="Friedman and Schuster (2010), algorithm 1, with joint counts only",
                computation=f"8 / (2 · 2) = {number(ledger.slot)}, and {number(ledger.slot)} / 2 = {number(each)}",
                result=(
                    f"Size of the root {number(ledger.size(0).epsilon)}, attributes "
                    f"{number(ledger.attributes(0).epsilon)}, a leaf {number(ledger.leaf(1))}: together "
                    f"{number(ledger.total)}."
                ),
                values={"slot": ledger.slot, "each": each, "leaf": ledger.leaf(1), "total": ledger.total},
            ),
            Step(
                title="Is it worth asking?",
                words="If a cell would hold fewer people than the noise, the tree stops here.",
                formula="N / (t · |C|) ≥ √2 / ε′",
                task=f"The noisy size of the root is N = {size}; t = 2 values, |C| = 2 labels.",
                source="Friedman and Schuster (2010), algorithm 1",
                computation=f"noisy N = {size}: {size} / (2 · 2) = {number(size / 4)}, √2 / 2 = {number(least)}",
                result=(
                    f"Go on. With ε = 1 the bound would be √2 / {number(small.size(0).each)} = {number(small_least)}. "
                    "20 / 4 = 5 is below it: the tree would stop, unless the noise made 20 people look like 23 or more."
                ),
                values={"size": float(size), "least": least, "least at 1": small_least},
            ),
            Step(
                title="The noisy counts",
                words=(
                    "Each count gets a random whole number, positive or negative. These were drawn once; drawn again "
                    "they would differ. Only the noisy ones may be looked at."
                ),
                task=f"The noisy counts (repaid, not repaid) are: {told}.",
                formula="count + noise\nP(noise = k) ∝ exp(−ε |k|)",
                source="Discrete Laplace noise: Ghosh, Roughgarden and Sundararajan (2009)",
                result="A count below 0 is treated as 0.",
                table=_counts(true, noisy),
            ),
            Step(
                title="Which attribute tells more?",
                words=(
                    "V is 0 if an attribute separates the labels completely, and more negative the less it tells. The "
                    "attribute with the larger V has the larger information gain."
                ),
                formula="V = Σ_j N_j Σ_c p_jc log₂ p_jc\np_jc = N_jc / N_j",
                source="Quinlan (1986); Friedman and Schuster (2010)",
                computation=f"true: degree {number(exact_v[0], 2)}, town {number(exact_v[1], 2)}; "
                f"noisy: degree {number(noisy_v[0], 2)}, town {number(noisy_v[1], 2)}",
                result=_chosen(chosen, exact_v),
                values={
                    "true degree": exact_v[0],
                    "true town": exact_v[1],
                    "noisy degree": noisy_v[0],
                    "noisy town": noisy_v[1],
                    "chosen": float(chosen),
                },
            ),
            Step(
                title="And with other noise?",
                words=f"Draw the noise {_OTHERS:,} times anew, and count how often the tree asks for the degree first.",
                formula="share of draws with V(degree) > V(town)",
                task="This one takes a computer. What do you expect?",
                computation=f"{round(_OTHERS * often.value)} of {_OTHERS:,} draws",
                result=f"{percent(often)} ({interval(often)}): the noise at ε = 8 leads the tree astray now and then.",
                values={"degree": often.value},
            ),
        ),
        lesson=(
            "The promise does not depend on luck: whoever sees the tree cannot tell much about any one person's being "
            "in the table. The price is a tree that stops early, or asks the wrong question, when ε is small."
        ),
        source="Friedman and Schuster, Data Mining with Differential Privacy, KDD 2010; Zhang et al. (2020)",
    )


def _joint(column: _Ints, label: _Ints) -> _Ints:
    """Return the counts of value and class, shape (2, 2)."""
    return np.bincount(2 * column + label, minlength=4).reshape(2, 2)


def _how_often(true: list[_Ints], each: float) -> Estimate:
    """Return how often the first attribute is asked for, over many draws of the noise."""
    rng = child_generator(SEED, "other noise")
    told = [noisy_counts(np.tile(joint, (_OTHERS, 1, 1)), each, rng) for joint in true]
    scores = np.column_stack([noisy_score(counts, counts.sum(axis=2)) for counts in told])
    return proportion(int((best_attribute(scores) == 0).sum()), _OTHERS)


def _counts(true: list[_Ints], noisy: list[_Ints]) -> ExampleTable:
    rows = []
    for a, attribute in enumerate(_ATTRIBUTES):
        for value, word in ((1, "yes"), (0, "no")):
            rows.append((f"{attribute}: {word}", numbers(true[a][value][::-1]), numbers(noisy[a][value][::-1])))
    return ExampleTable(
        caption="Repaid, not repaid",
        columns=("People with", "True counts", "Noisy counts"),
        rows=tuple(rows),
    )


def _chosen(chosen: int, exact: list[float]) -> str:
    same = chosen == int(np.argmax(exact))
    told = "the true counts say the same" if same else "the true counts would have chosen the other"
    return f"The tree asks for “{_ATTRIBUTES[chosen].lower()}” first; {told}."
