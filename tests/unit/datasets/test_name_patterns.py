"""Names of answers, sets, people and weights, with the values as evidence."""

import numpy as np
import pandas as pd
import pytest

from core.datasets import suggest_roles
from core.datasets.input_check import check_input
from core.datasets.name_patterns import Content, contents_of
from core.datasets.splits import named_sets

N = 400
RNG = np.random.default_rng(5)
YES = RNG.random(N) < 0.4
LOGIT = np.where(YES, 0.8, -0.8) + RNG.normal(0, 1.0, N)
SCORE = (1 / (1 + np.exp(-LOGIT))).round(4)
PREDICTED = SCORE >= 0.5


def people(label_values=("no", "yes"), **columns):
    approved = np.where(YES, label_values[1], label_values[0])
    sex, age = RNG.choice(["f", "m"], N), RNG.integers(18, 70, N)
    return pd.DataFrame({"sex": sex, "age": age, "approved": approved} | columns)


PREDICTED_TEXTS = np.where(PREDICTED, "yes", "no")
PREDICTED_NUMBERS = PREDICTED.astype(int)

# tool: names of the predictions, of the scores of no, and of the scores of yes; "" where it writes none
TOOLS = {
    "H2O": ("predict", "p0", "p1"),
    "H2O, named values": ("predict", "pno", "pyes"),
    "tidymodels": (".pred_class", ".pred_no", ".pred_yes"),
    "Azure Machine Learning": ("Scored Labels", "", "Scored Probabilities"),
    "Azure Machine Learning, several classes": (
        "Scored Labels",
        'Scored Probabilities for Class "no"',
        'Scored Probabilities for Class "yes"',
    ),
    "BigQuery ML": ("predicted_approved", "", "predicted_approved_probs"),
    "Vertex AI": ("predicted_approved", "", "predicted_approved_scores"),
    "SageMaker Autopilot": ("predicted_label", "", "probability"),
    "DataRobot": ("approved_PREDICTION", "approved_no_PREDICTION", "approved_yes_PREDICTION"),
    "SAS": ("I_approved", "P_approvedno", "P_approvedyes"),
    "SAS, fixed names": ("EM_CLASSIFICATION", "", "EM_EVENTPROBABILITY"),
    "SPSS Modeler": ("$L-approved", "$LP-no", "$LP-yes"),
    "KNIME": ("Prediction (approved)", "P (approved=no)", "P (approved=yes)"),
    "RapidMiner": ("prediction(approved)", "confidence(no)", "confidence(yes)"),
    "Dataiku": ("prediction", "proba_no", "proba_yes"),
    "AutoGluon and caret": ("", "no", "yes"),
    "mlr3": ("", "prob.no", "prob.yes"),
    "scikit-learn": ("y_pred", "", "y_proba"),
    "yhat": ("yhat", "", "phat"),
    "German": ("Vorhersage", "", "Wahrscheinlichkeit"),
    "German points": ("Vorhersage", "", "Punktzahl"),
    "people": ("", "", "p_model"),
}


@pytest.mark.parametrize("tool", TOOLS)
def test_answers_of_a_tool(tool):
    prediction, negative, positive = TOOLS[tool]
    predicted = PREDICTED_NUMBERS if tool in ("H2O", "scikit-learn", "yhat") else PREDICTED_TEXTS
    columns = {prediction: predicted, negative: 1 - SCORE, positive: SCORE}
    roles = suggest_roles(people(**{name: cells for name, cells in columns.items() if name})).roles
    assert (roles.label, roles.positive) == ("approved", "yes")
    assert (roles.prediction, roles.score) == (prediction, positive)
    assert roles.excluded == tuple(filter(None, [negative]))


@pytest.mark.parametrize("best", ["phat", "p_yes"])
def test_of_two_scores_that_of_the_name_known_best_goes_first(best):
    columns = {"prob_of_no": 1 - SCORE, "prob_of_yes": SCORE, "p_no": 1 - SCORE, "p_yes": SCORE, best: SCORE}
    assert suggest_roles(people(**columns)).roles.score == best


def test_the_prediction_s_confidence_is_no_score():
    """PyCaret and SAS write how sure the model is of its prediction, never below one half."""
    roles = suggest_roles(people(prediction_label=PREDICTED_TEXTS, prediction_score=np.maximum(SCORE, 1 - SCORE))).roles
    assert (roles.prediction, roles.score, roles.excluded) == ("prediction_label", "", ("prediction_score",))


NOT_CERTAIN = {
    "a predict of 40 numbers": ("predict", np.arange(N) % 40),
    "a score in percent": ("score", 100 * SCORE),
    "a lone p1": ("p1", SCORE),
    "a raw score": ("score_v2_raw", LOGIT),
    "a credit score": ("credit_score", RNG.integers(300, 850, N)),
    "a risk score": ("risk_score", SCORE),
    "an index": ("fallow_index", SCORE),
    "points from 0 to 1": ("points", SCORE),
    "a German rating": ("Bewertung", SCORE),
    "texts of predictions": ("prediction", [f"P{i % 90}" for i in range(N)]),
}


@pytest.mark.parametrize(("column", "cells"), NOT_CERTAIN.values(), ids=NOT_CERTAIN)
def test_an_answer_by_its_name_alone_is_in_doubt(column, cells):
    frame = people(**{column: cells})
    content = contents_of(frame, label="approved")[column]
    assert not content.certain and content.content in (Content.PREDICTION, Content.SCORE)
    roles = suggest_roles(frame).roles
    assert column in roles.excluded and roles.auxiliary == ()
    assert roles.label == "approved"


FEATURES = {
    "p1 of pulses": ("p1", RNG.integers(50, 120, N)),
    "one column a value": ("approved_yes", YES.astype(int)),
    "a risk in words": ("risk", RNG.choice(["good", "bad"], N)),
    "points of a game": ("points", RNG.integers(0, 90, N)),
    "a body weight": ("weight", RNG.normal(70, 10, N).round(1)),
    "the census weight of a public table": ("fnlwgt", RNG.integers(10_000, 900_000, N)),
    "a school": ("school_id", RNG.integers(0, 40, N)),
    "patients and others": ("patient", RNG.choice(["yes", "no"], N)),
    "hospitals": ("dataset", RNG.choice(["Cleveland", "Hungary"], N)),
    "a club": ("membership", RNG.choice(["gold", "silver"], N)),
}


@pytest.mark.parametrize(("column", "cells"), FEATURES.values(), ids=FEATURES)
def test_a_feature_stays_a_feature(column, cells):
    frame = people(**{column: cells})
    assert column not in contents_of(frame, label="approved")
    assert column not in suggest_roles(frame, label="approved").roles.excluded


SETS = {
    "split": ("train", "val"),
    "dataset": ("development", "oot"),
    "partition": ("learn", "holdout"),
    "is_train": ("yes", "no"),
    "in_sample": ("1", "0"),
    "Aufteilung": ("Lernmenge", "Testmenge"),
    "membership": ("member", "non-member"),
    "whatever": ("train", "test"),
}


@pytest.mark.parametrize("name", SETS)
def test_a_set_by_its_values(name):
    frame = people(predicted=PREDICTED_TEXTS, **{name: np.where(np.arange(N) % 3 == 0, *SETS[name])})
    assert suggest_roles(frame).roles.sets == name
    sets = named_sets(SETS[name], name)
    assert [sets[value] for value in SETS[name]] == ["train", "test"]


@pytest.mark.parametrize(("rows", "held"), [(420, {"patient"}), (421, set())])
def test_contents_of_people_with_at_most_twenty_rows_a_person(rows, held):
    frame = pd.DataFrame({"patient": [f"P{i % 21}" for i in range(rows)], "age": np.arange(rows) % 40})
    assert {name for name, column in contents_of(frame).items() if column.content is Content.PERSON} == held


@pytest.mark.parametrize(
    ("values", "name", "sets"),
    [
        (["yes", "no"], "is_test", ["test", "train"]),
        (["1", "0"], "holdout", ["test", "train"]),
        (["yes", "1", "False", "test"], "In_Training", ["train", "train", "test", "test"]),
        (["yes"], "region", [""]),
        (["yes", "no"], "used_to_train", ["train", "test"]),
        (["train", "val", "test"], "split", ["train", "attack", "test"]),
        (["train", "attack"], "split", ["train", "attack"]),
    ],
)
def test_named_sets(values, name, sets):
    assert [named_sets(values, name).get(value, "") for value in values] == sets


@pytest.mark.parametrize(("repeats", "asks"), [(30, True), (0, False)])
def test_a_number_of_people_of_which_some_repeat_is_asked_about(repeats, asks):
    numbers = np.arange(5_000, 5_000 + N)
    numbers[:repeats] = numbers[N - repeats :]
    suggestion = suggest_roles(people(permit_no=numbers))
    facts = check_input(people(permit_no=numbers), suggestion.roles, guesses=suggestion.questions)
    assert "permit_no" in suggestion.roles.excluded or not asks
    assert ("possible_person" in {fact.kind for fact in facts}) == asks


def test_named_sets_by_the_value_that_means_training():
    assert named_sets(("A", "B", "train"), "zq", "B") == {"A": "test", "B": "train", "train": "test"}


@pytest.mark.parametrize("name", ["student_id", "CustomerID", "patient", "Kundennummer"])
@pytest.mark.parametrize("make", ["P{}".format, int], ids=["text", "number"])
def test_an_identifier_that_repeats_names_people(name, make):
    suggestion = suggest_roles(people(**{name: [make(1_000 + i // 2 * 7) for i in range(N)]}))
    assert suggestion.roles.person == name
    assert "person" in suggestion.questions
    assert suggest_roles(people(**{name: [make(1_000 + i * 7) for i in range(N)]})).roles.person == ""


SOUND, MEASURED = "it sounds like a yes", "from the scores, which are higher"


@pytest.mark.parametrize(
    ("labels", "columns", "positive", "reason"),
    [
        (("f", "t"), {"score": SCORE}, "t", MEASURED),
        (("x", "t"), {"score": 1 - SCORE}, "x", MEASURED),  # t does not stand for true beside x
        (("N", "Y"), {"score": SCORE}, "Y", MEASURED),
        (("nein", "ja"), {"score": 1 - SCORE}, "ja", SOUND),
        (("bad", "good"), {"score": SCORE}, "good", MEASURED),
        (("bad", "good"), {"score": 1 - SCORE}, "bad", MEASURED),
        (("refused", "approved"), {"score": RNG.random(N)}, "approved", SOUND),
        (("stays", "leaves"), {"prediction": PREDICTED_NUMBERS}, "leaves", ""),
        (("stays", "leaves"), {"prediction": 1 - PREDICTED_NUMBERS}, "stays", ""),
        (("stays", "leaves"), {"prediction": np.where(PREDICTED, "leaves", "stays")}, "leaves", "the label's rarest"),
        (("<=50K", ">50K"), {".pred_<=50K": 1 - SCORE, ".pred_>50K": SCORE}, ">50K", ""),
    ],
)
def test_the_value_that_is_predicted(labels, columns, positive, reason):
    suggestion = suggest_roles(people(label_values=labels, **columns))
    assert suggestion.roles.positive == positive
    assert suggestion.roles.favourable == ""
    assert suggestion.reasons["positive"].startswith(reason)
