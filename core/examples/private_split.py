"""DP-ID3 on 20 people: one split of a private tree, by noisy counts (Friedman and Schuster 2010).

The tree never sees the records. It sees counts with noise, and every count has its price.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from core.estimates import Estimate, proportion
from core.examples.example import Answer, Example, ExampleTable, Step
from core.examples.writing import number, numbers
from core.models.dp_id3 import BudgetLedger
from core.models.dp_id3.gains import best_attribute, noisy_score
from core.models.dp_id3.noise import noisy_counts
from core.seeds import child_generator
from core.wording import interval, percent

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
