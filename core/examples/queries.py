"""Bias queries on 20 people: one flip, everybody's flip in closed form, and an answer with noise (Hamman et al. 2023).

Somebody may ask how much a model favours the advantaged group, as often as she likes and for any model of her own. The
answers are averages, and two of them that differ in one person are enough to name her group.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from core.examples.example import Answer, Example, ExampleTable, Step, number, signed
from core.queries import (
    LaplaceGlobal,
    accuracy_limit,
    leakage,
    recover_flips,
    reveal_double,
    statistical_parity_gap,
)
from core.queries.sensitivity import global_sensitivity
from core.seeds import child_generator

_SOURCE = "Hamman, Chen and Dutta, Can Querying for Bias Leak Protected Attributes?, FAccT 2023"
_METHOD = "Bias queries"

_ACCEPTED = np.array([1, 1, 0, 1, 0, 0, 0, 1, 1, 0, 1, 0, 0, 0, 1, 0, 1, 0, 0, 1], float)
_ADVANTAGED = np.array([1, 1, 0, 0, 1, 0, 0, 1, 0, 1, 1, 0, 0, 0, 1, 0, 0, 1, 0, 0], np.uint8)
_ASKED = 6  # person 7, counted from 0
_EPSILON = 1.0


def flip_one(name: str, title: str) -> Example:
    """Return the case of one person asked about."""
    flipped = _flipped(_ASKED)
    answers = statistical_parity_gap(np.vstack([_ACCEPTED, flipped]), _ADVANTAGED)
    first, second = float(answers[0]), float(answers[1])
    read = reveal_double((first, second), (float(_ACCEPTED[_ASKED]), float(flipped[_ASKED])))
    step = second - first
    right = "The other group"
    return Example(
        name=name,
        method=_METHOD,
        title=title,
        story=(
            "A tester may not see who belongs to the advantaged group, but may ask: how much larger is that group's "
            f"share of accepted people? For the table the answer is {signed(first)}. Then she asks about a second "
            f"model that differs in one thing: it also accepts person 7. The answer is {signed(second)}."
        ),
        table=_shown("What the tester knows"),
        question="To which group does person 7 belong?",
        answer=Answer(
            right=right,
            choices=("The advantaged group", right, "Two answers cannot tell"),
            why="Accepting one more advantaged person would raise the gap. It fell.",
            hint="What would accepting one more person of the advantaged group do to that group's share?",
        ),
        steps=(
            Step(
                title="What the answers are",
                words="The gap is the advantaged group's share of accepted people minus the other group's share.",
                formula="SP = (1/N₁) Σ h_j over the advantaged − (1/N₀) Σ h_j over the others",
                source="Hamman et al. (2023), equation 1",
                computation=_shares(first),
                result=f"The first answer is {signed(first)}. The tester sees this number only.",
                values={"first": first},
            ),
            Step(
                title="What the second model changes",
                words=(
                    "Only person 7 differs, so everything else cancels in the difference. What is left is this "
                    "person's own weight: 1/N₁ for the advantaged, −1/N₀ for the others."
                ),
                formula="SP′ − SP = (h′_7 − h_7) · v_7\nv_j = 1/N₁ or −1/N₀",
                source="Hamman et al. (2023), example 2 and equation 4",
                computation=f"{number(second)} − {number(first)} = {number(step)}, and h′_7 − h_7 = 1 − 0 = 1",
                result=f"The weight is {number(step)}, below 0: person 7 is not in the advantaged group.",
                values={"second": second, "step": step, "read": float(read)},
            ),
            Step(
                title="What it tells besides",
                words="The weight is −1/N₀, so it also tells how many people the other group has.",
                formula="N₀ = 1 / |v_7|",
                computation=f"1 / {number(abs(step))} = {number(1 / abs(step), 2)}",
                result="The other group has 12 people, the advantaged group 8.",
                values={"size": 1 / abs(step)},
            ),
        ),
        lesson=(
            "Two averages about 20 people give one person away, and with exact answers they do so among millions: "
            "rounding only asks for a few questions more. What helps is noise, or a limit on how much is answered."
        ),
        source=_SOURCE,
    )


def flip_everybody(name: str, title: str) -> Example:
    """Return the case of algorithm 1 in closed form."""
    n = _ACCEPTED.size
    answers = statistical_parity_gap(np.vstack([_flipped(i) for i in range(n)]), _ADVANTAGED)
    base = float(statistical_parity_gap(_ACCEPTED, _ADVANTAGED)[0])
    recovery = recover_flips(_ACCEPTED, answers)
    assert recovery.values is not None and recovery.threshold is not None
    n_advantaged = int(recovery.recovered.sum())
    weights = 1 / n_advantaged - recovery.values
    rows = tuple(
        (
            i + 1,
            int(_ACCEPTED[i]),
            signed(float(answers[i])),
            signed(float(answers[i]) - base),
            signed(float(weights[i])),
            "advantaged" if recovery.recovered[i] else "other",
        )
        for i in range(n)
    )
    told = tuple((i + 1, "accepted" if _ACCEPTED[i] else "refused", signed(float(answers[i]))) for i in range(n))
    found = leakage(_ADVANTAGED, recovery.recovered)
    whole = float(answers.sum())
    return Example(
        name=name,
        method=_METHOD,
        title=title,
        story=(
            "Now the tester asks 20 questions, one a person: each about a model that treats this one person the other "
            "way round and everybody else as before. She never asks about the first model itself."
        ),
        table=ExampleTable(
            caption="The 20 answers", columns=("Person", "First model", "Answer with this person flipped"), rows=told
        ),
        question="How many of the 20 people's groups does she know in the end?",
        answer=Answer(
            right=float(n),
            why="Every answer differs from the first model's by one person's weight, and its sign is the group.",
            hint="What does the difference between an answer and the first model's gap consist of?",
        ),
        steps=(
            Step(
                title="One equation a person",
                words="Flipping person i turns h_i into 1 − h_i and changes nothing else.",
                formula="SP_i = SP_0 + (1 − 2h_i) · v_i",
                source="Hamman et al. (2023), algorithm 1 and equation 4",
                computation=f"person 7 has h_7 = 0: {number(float(answers[_ASKED]))} = SP_0 + 1 · v_7",
                result="20 equations, 21 unknowns: the 20 weights, and SP_0, which was never asked for.",
                values={"answer of person 7": float(answers[_ASKED])},
            ),
            Step(
                title="The missing answer",
                words=(
                    "The weights add up to 0, because 8 times 1/8 equals 12 times 1/12. And SP_0 is itself Σ h_i v_i. "
                    "So in the sum of all answers every weight cancels."
                ),
                formula="Σ SP_i = n · SP_0 + Σ v_i − 2 Σ h_i v_i = (n − 2) · SP_0",
                source="Closed form of algorithm 1, ours; the paper solves n linear equations",
                computation=f"Σ SP_i = {number(whole)}, and {number(whole)} / 18 = {number(whole / (n - 2))}",
                result=f"SP_0 = {number(base)}, without having asked.",
                values={"sum": whole, "base": base},
            ),
            Step(
                title="Everybody's weight",
                words="Now each equation has one unknown left. Above 0 is advantaged, below 0 is not.",
                formula="v_i = (SP_i − SP_0) / (1 − 2h_i)",
                source="Closed form of algorithm 1, ours",
                computation=(
                    f"person 1: ({number(float(answers[0]))} − {number(base)}) / (1 − 2 · 1) = "
                    f"{number(float(weights[0]))}"
                ),
                result=f"All 20 are read rightly: a leakage of {number(100 * found)}%, where a coin toss gets 50%.",
                values={"leakage": found, "weight of person 1": float(weights[0]), "advantaged": float(n_advantaged)},
                table=ExampleTable(
                    caption="All 20 people",
                    columns=("Person", "h_i", "SP_i", "SP_i − SP_0", "v_i", "Group"),
                    rows=rows,
                ),
            ),
        ),
        lesson=(
            "As many questions as people, and everybody's group is known, though every single answer is an average. "
            "With questions chosen better, far fewer are enough."
        ),
        source=_SOURCE,
    )


def noisy_answer(name: str, title: str) -> Example:
    """Return the case of an answer with Laplace noise."""
    n, m = _ACCEPTED.size, 1
    n1 = int(_ADVANTAGED.sum())
    exact = float(statistical_parity_gap(_ACCEPTED, _ADVANTAGED)[0])
    mechanism = LaplaceGlobal(_EPSILON)
    sensitivity, scale = global_sensitivity(n, m), mechanism.scale(n1, n - n1, m)
    drawn = float(mechanism.answer(_ACCEPTED, _ADVANTAGED, rng=child_generator(1, "example of noise"))[0])
    limit = accuracy_limit(_EPSILON)
    step = 1 / (n - n1)
    rows = tuple(
        (
            f"{epsilon:g}",
            number(LaplaceGlobal(epsilon).scale(n1, n - n1, m)),
            f"{100 * accuracy_limit(epsilon):.1f}%",
        )
        for epsilon in (0.1, 0.5, 1.0, 5.0)
    )
    right = "Larger, more than six times"
    return Example(
        name=name,
        method=_METHOD,
        title=title,
        story=(
            "The same 20 people, and one question again. This time the answer gets random noise before it is given "
            "out, so much that it would look nearly the same if one person belonged to the other group: ε = 1. In the "
            "first example, one person's weight was 1/12 = 0.0833."
        ),
        table=_shown("What the tester knows"),
        question="Is the typical noise at ε = 1 smaller or larger than the 0.0833 that gave person 7 away?",
        answer=Answer(
            right=right,
            choices=("Smaller", "About as large", right),
            why="The noise has to hide the worst case there could be, not this one.",
            hint="In the worst case a group has two people. How much does one of them weigh then?",
        ),
        steps=(
            Step(
                title="The most that one person can move",
                words=(
                    "The noise must be right for any groups there could be. The worst are a group of two: if one of "
                    "them leaves, her 1/2 goes, and she weighs 1/19 in the other group."
                ),
                formula="Δ = m/2 + m/(n − 1)",
                source="Hamman et al. (2023), theorem 5",
                computation=f"1/2 + 1/19 = {number(sensitivity)}",
                result=f"Δ = {number(sensitivity)}",
                values={"sensitivity": sensitivity},
            ),
            Step(
                title="How much noise",
                words="Laplace noise of this scale keeps ε-differential privacy; its typical size is its scale.",
                formula="b = Δ / ε",
                source="Hamman et al. (2023), theorem 5",
                computation=f"{number(sensitivity)} / 1 = {number(scale)}, and {number(scale)} / {number(step)} = "
                f"{number(scale / step, 1)}",
                result="The noise is more than six times the step that gave person 7 away.",
                values={"scale": scale, "ratio": scale / step},
            ),
            Step(
                title="One answer",
                words="Draw one noise and add it. Drawn again, the answer would be another one.",
                formula="answer = SP + noise",
                task=f"SP is {signed(exact)}, and the noise that was drawn {signed(drawn - exact)}.",
                computation=(
                    f"{number(exact)} {'+' if drawn >= exact else '−'} {number(abs(drawn - exact))} = {number(drawn)}"
                ),
                result=(
                    f"The true gap is {signed(exact)}, the answer {signed(drawn)}: it hides people, and it tells "
                    "little about fairness. Both come from the same noise."
                ),
                values={"exact": exact, "drawn": drawn},
            ),
            Step(
                title="What is promised",
                words=(
                    "Whoever has this answer and nothing else names a person's group with at most this chance, both "
                    "groups counted alike. Somebody who already suspects the right group may be right more often."
                ),
                formula="e^ε / (1 + e^ε)",
                source="Wasserman and Zhou (2010); leakage as in Hamman et al. (2023), definition 5.1",
                computation=f"e / (1 + e) = {number(limit)}",
                result=f"At most {100 * limit:.1f}%, where a coin toss gets 50%.",
                values={"limit": limit},
                table=ExampleTable(
                    caption="Other budgets", columns=("ε", "Scale of the noise", "Right at most"), rows=rows
                ),
            ),
        ),
        lesson=(
            "Noise trades answers for privacy. With 20 people the price is high: an answer that protects is hardly an "
            "answer. With 20,000 people in groups of similar size other mechanisms do far better."
        ),
        source=_SOURCE,
    )


def _flipped(person: int) -> npt.NDArray[np.float64]:
    scores = _ACCEPTED.copy()
    scores[person] = 1.0 - scores[person]
    return scores


def _shown(caption: str) -> ExampleTable:
    rows = tuple((i + 1, "accepted" if score else "refused") for i, score in enumerate(_ACCEPTED))
    return ExampleTable(caption=caption, columns=("Person", "First model"), rows=rows)


def _shares(gap: float) -> str:
    accepted, side = _ACCEPTED == 1, _ADVANTAGED == 1
    one, other = int((accepted & side).sum()), int((accepted & ~side).sum())
    return f"{one}/{int(side.sum())} − {other}/{int((~side).sum())} = {number(gap)}"
