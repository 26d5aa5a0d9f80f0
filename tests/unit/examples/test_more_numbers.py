"""Imputation, proportions, LiRA and model card: their numbers by brute force, plain formulas and other libraries."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy.stats import norm
from sklearn.tree import DecisionTreeClassifier

from core.examples import Example, example
from core.examples.imputation import inferred
from core.examples.lira import evidence
from core.membership import REGISTRY
from tests.unit.examples.test_numbers import cells, every_split, step


def grouped(case: Example, who: str) -> tuple[np.ndarray, np.ndarray]:
    """Return columns and sex of the known people, or of those to infer, from the table that pupils see."""
    part, accepted = (np.array(cells(case, column)) for column in ("Working hours", "Model says"))
    known = who == "known"
    women, men = ("Known women", "Known men") if known else ("Women to infer", "Men to infer")
    x, sex = [], []
    for i in range(4):
        for code, column in ((1, women), (0, men)):
            size = int(cells(case, column)[i])
            x += [(part[i] == "part-time", accepted[i] == "accepted")] * size
            sex += [code] * size
    return np.array(x, int), np.array(sex)


@pytest.mark.parametrize(("columns", "correct"), [([1], 15), ([0], 16), ([0, 1], 17)])
def test_imputation_is_the_best_table_of_guesses(columns: list[int], correct: int):
    case = example("imputation")
    (x, sex), (new, truth) = grouped(case, "known"), grouped(case, "new")
    assert len(sex) == len(truth) == 20
    codes, asked = (rows[:, columns] @ 2 ** np.arange(len(columns)) for rows in (x, new))
    tables = [np.array(table) for table in itertools.product((0, 1), repeat=2 ** len(columns))]
    best = max(tables, key=lambda table: int((table[codes] == sex).sum()))
    assert sum((table[codes] == sex).sum() == (best[codes] == sex).sum() for table in tables) == 1, "a tie"
    assert inferred(columns).tolist() == best[asked].tolist()
    assert DecisionTreeClassifier().fit(x[:, columns], sex).predict(new[:, columns]).tolist() == best[asked].tolist()
    assert int((best[asked] == truth).sum()) == correct


def test_proportions_by_brute_force():
    case = example("proportions")
    truth = np.array([word == "woman" for word in cells(step(case, 4), "Truth")])
    masks, price, fair = every_split(case)
    six = masks.sum(axis=1) == 6
    for kind, allowed, column in (
        ("constraint", fair, "Constraint"),
        ("proportions", six, "Proportions"),
        ("both", fair & six, "Both"),
    ):
        best = masks[allowed][price[allowed].argmin()] == 1
        assert np.sort(price[allowed])[1] > price[allowed].min() + 1e-6, "a tie"
        assert price[allowed].min() == pytest.approx(case.numbers[f"{kind}_cost"], abs=1e-6)
        assert best.tolist() == [word == "woman" for word in cells(step(case, 4), column)]
        assert str(int((best == truth).sum())) == case.numbers[kind]
    assert [case.numbers[name] for name in ("start", "constraint", "proportions", "both")] == ["14", "16", "18", "18"]
    assert case.numbers["added"] == "0" and fair[(masks == truth).all(axis=1)].all(), "both statements are true"


def test_lira_is_the_ratio_of_two_normal_densities():
    case = example("lira")

    def scores(column: str) -> np.ndarray:
        return np.array([[float(word.replace("−", "-")) for word in cell.split(", ")] for cell in cells(case, column)])

    target = scores("Target model")[:, 0]
    sides = [scores("Shadows trained with the person"), scores("Shadows trained without")]
    deviations = [np.sqrt(((one - one.mean(axis=1, keepdims=True)) ** 2).sum() / (8 * 2)) for one in sides]
    assert deviations == pytest.approx([0.5, 0.5])
    densities = [
        norm(one.mean(axis=1), deviation).logpdf(target) for one, deviation in zip(sides, deviations, strict=True)
    ]
    ratio = densities[0] - densities[1]
    assert REGISTRY["lira"].judge(evidence()).score == pytest.approx(ratio)
    assert ratio == pytest.approx([0, 0.5, 18, -12, -2, 8, 0, 4.5])
    assert case.steps[-1].table.marked == (0, 2, 6, 7)


def worlds(case: Example) -> np.ndarray:
    """Return all sexes of 12 people with 5 women among them, shape (792, 12)."""
    everything = np.array(list(itertools.product((0, 1), repeat=12)))
    assert case.numbers["women"] == "5"
    return everything[everything.sum(axis=1) == 5]


def test_the_card_is_solved_by_listing_all_possible_groups():
    case = example("card")
    accepted = np.array([[word == "accepted" for word in cells(case, f"Model {model}")] for model in "AB"])
    possible = worlds(case)
    fits = possible[((possible @ accepted.T) == 3).all(axis=1)]
    share = fits.mean(axis=0)
    assert len(fits) == 10 * 15 and share[5] == 0
    rows = [float(word) for word in cells(step(case, 3), "P(woman) after")]
    assert rows == pytest.approx([share[0], share[5], share[11]], abs=5e-4)
    women = np.isin(np.arange(12), (0, 2, 3, 7, 10))
    gain = 12 + np.log2(np.where(women, share, 1 - share)).sum()
    assert case.numbers["bits"] == pytest.approx(gain) == pytest.approx(1.6354720)
    assert case.answer.accepts(6) and not case.answer.accepts(5)


def test_what_rounding_leaves_of_the_card():
    case = example("card")
    accepted = np.array([[word == "accepted" for word in cells(case, f"Model {model}")] for model in "AB"])
    counts = worlds(case) @ accepted.T
    assert [int(word) for word in cells(step(case, 4), "Exposed")] == [1, 1, 1, 0]
    for decimals in (1, 0):
        fits = worlds(case)[(np.abs(counts / 5 - np.round(3 / 5, decimals)) <= 0.5 * 10**-decimals).all(axis=1)]
        shown = float(cells(step(case, 4), "P(person 6 is a woman)")[3 - decimals])
        assert shown == pytest.approx(fits[:, 5].mean(), abs=0.05)  # a projection, no enumeration
