"""Tables as people bring them, and what is right about each: answers of other tools, odd spellings, mixed directions.

Everything is invented and drawn here with a seed. `base_people` is the clean table: age, income, dept, sex, the true
`approved`, a model's `predicted` and `score` (of yes, three decimals), and `set`. Each case changes one thing of it.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np
import pandas as pd


@dataclass(frozen=True, slots=True, kw_only=True)
class InputCase:
    """A table of one kind, and what is right about it: roles, columns left out, and kinds of facts.

    `favourable` is always a question beside them, where there is a label.
    """

    frame: Callable[[], pd.DataFrame]
    roles: Mapping[str, object] = field(default_factory=dict)
    left_out: tuple[str, ...] = ()
    blocking: frozenset[str] = frozenset()
    questions: frozenset[str] = frozenset()
    guesses: frozenset[str] = frozenset()


def csv_of(frame):
    return frame.to_csv(index=False).encode()


def base_people(n=1_600, *, memory=0.7, bias=0.0, seed=43):
    """Return n people with a model's answers.

    `memory` is how far, in log-odds, the score of a training record moves towards its label; `bias` moves all scores.
    """
    rng = np.random.default_rng(seed)
    age = rng.integers(18, 70, n)
    income = np.exp(rng.normal(10.05, 0.48, n)).round(2)
    dept = rng.choice(["it", "sales", "hr", "ops"], n)
    male = rng.random(n) < 0.49
    member = rng.random(n) < 0.5
    signal = 1.4 * (np.log(income) - 10.05) / 0.48 + 0.025 * (age - 44) + 0.35 * male - 0.17
    approved = rng.random(n) < 1.0 / (1.0 + np.exp(-(signal + bias)))
    logit = signal + bias + rng.normal(0.0, 0.6, n) + memory * member * np.where(approved, 1.0, -1.0)
    score = np.clip(1.0 / (1.0 + np.exp(-logit)), 0.001, 0.999).round(3)
    return pd.DataFrame(
        {
            "age": age,
            "income": income,
            "dept": dept,
            "sex": np.where(male, "male", "female"),
            "approved": np.where(approved, "yes", "no"),
            "predicted": np.where(score >= 0.5, "yes", "no"),
            "score": score,
            "set": np.where(member, "train", "test"),
        }
    )


def group_without_positive():
    """Return people of three regions, of whom nobody in the east has the label yes."""
    people = base_people()
    region = np.random.default_rng(2).choice(["north", "south", "east"], len(people), p=[0.5, 0.39, 0.11])
    people["approved"] = people["approved"].where(region != "east", "no")
    return people.drop(columns="sex").assign(region=region)


def reversed_score():
    people = base_people()
    return people.assign(score=(1.0 - people["score"]).round(3))


def two_rows_a_person():
    """Return rows of which always two belong to one student, often in two sets."""
    people = base_people()
    people.insert(0, "student_id", 1_000 + np.arange(len(people)) // 2)
    return people


def trailing_period():
    """Return labels of which about half end in a period, as the test file of Adult writes them."""
    people = base_people()
    periods = np.where(np.random.default_rng(17).random(len(people)) < 0.5, ".", "")
    money = {"yes": ">50K", "no": "<=50K"}
    return people.assign(approved=people["approved"].map(money) + periods, predicted=people["predicted"].map(money))


def three_outcomes():
    """Return people with three outcomes and no model's answers."""
    people = base_people().drop(columns=["sex", "approved", "predicted", "score"])
    rng = np.random.default_rng(18)
    race = rng.choice(["White", "Black", "Asian", "Latino", "Other"], len(people), p=[0.6, 0.2, 0.1, 0.07, 0.03])
    return people.assign(race=race, outcome=rng.choice(["graduate", "enrolled", "dropout"], len(people)))


def other_answers(prediction, no, yes):
    """Return answers as another tool names them: the prediction, and the scores of no and yes."""
    people = base_people().rename(columns={"predicted": prediction})
    score = people.pop("score")
    return people.assign(**{no: (1.0 - score).round(3), yes: score})


def with_letters(people, *, letters=True):
    """Return labels as PostgreSQL writes them, t and f, beside predictions 1 and 0."""
    label = people["approved"].map({"yes": "t", "no": "f"}) if letters else people["approved"]
    return people.assign(approved=label, predicted=(people["predicted"] == "yes").astype(int))


def weak_model():
    """Return 6,000 people and a model that remembers them; most are yes."""
    return base_people(6_000, memory=0.5, bias=0.9, seed=41).drop(columns="dept")


def garden_people():
    """Return people on a list for a garden: no name says which column is the outcome, and the score is a vendor's.

    The score tells the outcome and, less, where somebody was born; `used_for_training` tells nothing.
    """
    rng, n = np.random.default_rng(61), 2_400
    abroad = rng.random(n) < 0.35
    years = rng.gamma(3.0, 2.0, n).round(1)
    signal = 0.8 + 0.35 * (years - 6.0) - 0.6 * abroad
    score = (1.0 / (1.0 + np.exp(-signal - rng.normal(0.0, 0.4, n)))).round(3)
    tended = rng.random(n) < 1.0 / (1.0 + np.exp(-signal))
    return pd.DataFrame(
        {
            "age": rng.integers(20, 75, n),
            "years_on_list": years,
            "dwelling": rng.choice(["house", "upper", "ground"], n),
            "household": rng.integers(1, 6, n),
            "sex": rng.choice(["man", "woman"], n),
            "birthplace": np.where(abroad, "abroad", "here"),
            "plot_tended": np.where(tended, "yes", "no"),
            "vendor_score": score,
            "used_for_training": np.where(rng.random(n) < 0.45, "yes", "no"),
        }
    )


def garden_waves():
    """Return people of a garden whose training records stand in a column that nobody knows: wave A and B."""
    people = garden_people()
    return people.assign(wave=people.pop("used_for_training").map({"yes": "A", "no": "B"}))


ANSWERS = {"prediction": "predicted", "score": "score", "sets": "set"}
BASE = {"label": "approved", "positive": "yes", "sensitive": "sex", **ANSWERS}

CASES = {
    "base": InputCase(frame=base_people, roles=BASE, guesses={"positive"}),
    "group_without_positive": InputCase(
        frame=group_without_positive, roles={name: role for name, role in BASE.items() if name != "sensitive"}
    ),
    "reversed_score": InputCase(frame=reversed_score, roles=BASE, blocking={"contradiction", "reversed_score"}),
    "without_true_label": InputCase(
        frame=lambda: base_people().drop(columns="approved"),
        roles={"label": "", **ANSWERS},
        questions={"label_missing"},
    ),
    "two_rows_a_person": InputCase(
        frame=two_rows_a_person, roles={**BASE, "person": "student_id"}, blocking={"person"}
    ),
    "trailing_period": InputCase(frame=trailing_period, roles={**BASE, "positive": ">50K"}, guesses={"spellings"}),
    "three_outcomes": InputCase(
        frame=three_outcomes,
        roles={"label": "outcome", "sensitive": "race", "sets": "set", "prediction": "", "score": ""},
        guesses={"labels_together"},
    ),
    "sample_weight": InputCase(
        frame=lambda: base_people().assign(sample_weight=np.random.default_rng(19).uniform(0.4, 1.6, 1_600).round(3)),
        roles=BASE,
        left_out=("sample_weight",),
    ),
    "h2o": InputCase(
        frame=lambda: other_answers("predict", "p0", "p1"),
        roles={**BASE, "prediction": "predict", "score": "p1"},
        left_out=("p0",),
    ),
    "tidymodels": InputCase(
        frame=lambda: other_answers(".pred_class", ".pred_no", ".pred_yes"),
        roles={**BASE, "prediction": ".pred_class", "score": ".pred_yes"},
        left_out=(".pred_no",),
    ),
    "risk_score_alone": InputCase(
        frame=lambda: base_people().drop(columns="predicted").rename(columns={"score": "risk_score"}),
        roles={"label": "approved", "prediction": "", "score": "", "sets": "set"},
        left_out=("risk_score",),
        questions={"possible_answers"},
    ),
    "letters_and_digits": InputCase(frame=lambda: with_letters(base_people()), roles={**BASE, "positive": "t"}),
    "weak_letters": InputCase(frame=lambda: with_letters(weak_model()), roles={**BASE, "positive": "t"}),
    "weak_words": InputCase(frame=lambda: with_letters(weak_model(), letters=False), roles=BASE),
    "garden": InputCase(
        frame=garden_people,
        roles={"label": "plot_tended", "sensitive": "sex", "sets": "used_for_training", "score": ""},
        left_out=("vendor_score",),
        questions={"attribute", "possible_answers"},
    ),
    "garden_waves": InputCase(
        frame=garden_waves,
        roles={"label": "plot_tended", "sensitive": "sex", "sets": "", "score": ""},
        questions={"attribute", "outcome", "possible_answers"},
    ),
    "garden_without_score": InputCase(
        frame=lambda: garden_people().drop(columns="vendor_score"),
        roles={"label": "plot_tended"},
        questions={"attribute", "outcome"},
    ),
}
"""Name -> case, one for each kind of table."""
