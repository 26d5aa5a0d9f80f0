"""AttriGuard, phase II, on eight people: how often each noise is used within a budget (Jia and Gong 2018)."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from core.attriguard import Noise, allocate, expected_size, representatives
from core.examples.example import Answer, Example, ExampleTable, Step
from core.examples.ratings import CITIES, METHOD, RATED, SOURCE, attacker, person
from core.examples.writing import number, numbers

_TARGET = np.array([0.2, 0.4, 0.4])
_BUDGET = 1.0


def guard_budget(name: str, title: str) -> Example:
    """Return the case of a budget shared among the noises of one person."""
    noise = representatives(RATED, attacker())
    size = noise.size.astype(float)
    mechanism = allocate(size, _TARGET, _BUDGET)
    spent, mine, lengths = expected_size(mechanism, size), mechanism[0], size[0]
    excess = lengths - _BUDGET
    mu = float((_TARGET[0] / mine[0] - 1) / excess[0])
    free = float(expected_size(_TARGET[None], size[:1])[0])
    budgets = tuple(
        (number(b, 1), *(f"{100 * share:.1f}%" for share in allocate(size[:1], _TARGET, b)[0]))
        for b in (0.0, 0.5, 1.0, 1.5, 2.0)
    )
    named = tuple(
        (
            person(i),
            CITIES[int(noise.predicted[i])],
            numbers(size[i]),
            numbers(mechanism[i], 3),
            number(float(spent[i]), 2),
            f"{100 * mechanism[i, noise.predicted[i]]:.0f}%",
        )
        for i in range(len(size))
    )
    return Example(
        name=name,
        method=METHOD,
        title=title,
        story=(
            "Ana can be read as Ash without any change, as Birch with 2 changes, as Cedar with 2. She would like the "
            "attacker to read Ash, Birch and Cedar with 20%, 40% and 40%, but wants to change 1 rating on average, not "
            "more. So she draws which noise to use."
        ),
        table=ExampleTable(
            caption="Ana's three noises",
            columns=("Read as", "Changed ratings l", "Wanted share p"),
            rows=tuple((CITIES[i], int(lengths[i]), f"{100 * _TARGET[i]:.0f}%") for i in range(3)),
        ),
        question="With a budget of 1 changed rating on average, in how many per cent of draws is Ana read as Ash?",
        answer=Answer(
            right=round(100 * float(mine[0]), 6),
            within=0.5,
            why="The other two take 2 changes each, so they can be used in half of the draws.",
            hint="If Ash is drawn with probability M, then 2 ratings change with probability 1 − M.",
        ),
        steps=(
            Step(
                title="What the wish would cost",
                words="Weigh each noise's changes with the share she would like.",
                formula="Σ p_i · l_i ≤ β ?",
                source="Jia and Gong (2018), problem 3",
                computation=f"0.2 · 0 + 0.4 · 2 + 0.4 · 2 = {number(free)}",
                result=f"{number(free)} is above the budget of 1, so the wish must give way.",
                values={"wanted": free},
            ),
            Step(
                title="The nearest shares within the budget",
                words=(
                    "Among all shares that keep the budget, take those nearest to the wish (by the Kullback-Leibler "
                    "divergence). They are the wish, divided by something that grows with the changes."
                ),
                formula="M_i = p_i / (1 + μ · (l_i − β))",
                source="Jia and Gong (2018), equations 3 to 10, solved for one unknown μ",
                computation="Σ (l_i − β) M_i = 0:  −0.2 / (1 − μ) + 0.8 / (1 + μ) = 0, so 0.8 − 0.8μ = 0.2 + 0.2μ",
                result=f"μ = {number(mu)}",
                values={"mu": mu},
            ),
            Step(
                title="Put μ in",
                words="Each share by itself, and the budget as a check.",
                formula="Σ M_i · l_i = β",
                source="Jia and Gong (2018), equation 9",
                computation=(
                    f"0.2 / 0.4 = {number(float(mine[0]))}, 0.4 / 1.6 = {number(float(mine[1]))}, "
                    f"0.4 / 1.6 = {number(float(mine[2]))}"
                ),
                result=f"Expected changes: {number(float(mine[0]))} · 0 + {number(float(mine[1]))} · 2 + "
                f"{number(float(mine[2]))} · 2 = {number(float(spent[0]))}",
                values={**{CITIES[i]: float(mine[i]) for i in range(3)}, "spent": float(spent[0])},
            ),
            Step(
                title="Other budgets",
                task="Compute Ana's shares for the budgets 0, 0.5, 1.5 and 2.",
                words="With 0 nothing can change. From 1.6 on the wish is affordable, and more budget is not used.",
                result="The more may change, the nearer the shares come to 20%, 40%, 40%.",
                table=ExampleTable(caption="Ana's shares", columns=("Budget β", *CITIES), rows=budgets),
            ),
            Step(
                title="Everybody",
                task=(
                    "Changes to be read as Ash, Birch, Cedar: "
                    + "; ".join(f"{row[0]} {row[2]} (now {row[1]})" for row in named)
                    + "."
                ),
                words=(
                    "The same budget for all eight people. Where the wish costs less than 1, it is taken as it is. The "
                    "last column is how often the attacker still reads what she read before."
                ),
                result=f"On average {100 * float(_kept(mechanism, noise).mean()):.0f}% are read as before.",
                values={"kept": float(_kept(mechanism, noise).mean())},
                table=ExampleTable(
                    caption="Eight people, budget 1",
                    columns=("Person", "Read as", "Changes l", "Shares M", "Expected changes", "Read as before"),
                    rows=named,
                ),
            ),
        ),
        lesson=(
            "Nobody is hidden completely: a budget buys a mixture, and what is left of the truth in it is known "
            "beforehand, for this attacker."
        ),
        source=SOURCE,
    )


def _kept(mechanism: npt.NDArray[np.float64], noise: Noise) -> npt.NDArray[np.float64]:
    return np.asarray(mechanism[np.arange(len(mechanism)), noise.predicted])
