"""Names of answers, sets, people and weights, with the values as evidence."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from core.datasets.columns import plain_name
from core.datasets.name_patterns import ColumnContent, Content, contents_of
from core.datasets.role_suggestion import suggest_roles
from core.datasets.splits import named_set, named_sets

N = 400
RNG = np.random.default_rng(5)
YES = RNG.random(N) < 0.4
LOGIT = np.where(YES, 0.8, -0.8) + RNG.normal(0, 1.0, N)
SCORE = (1 / (1 + np.exp(-LOGIT))).round(4)
PREDICTED = SCORE >= 0.5
ANSWERS = {False: "no", True: "yes"}


def people(
    label: str = "approved", label_values: tuple[object, object] = ("no", "yes"), **columns: object
) -> pd.DataFrame:
    """Return people with a label and more columns."""
    base = {
        "sex": RNG.choice(["f", "m"], N),
        "age": RNG.integers(18, 70, N),
        label: np.where(YES, label_values[1], label_values[0]),
    }
    return pd.DataFrame(base | columns)


def content(name: str, cells: object, label: str = "approved") -> ColumnContent | None:
    """Return what a column with a name and cells holds in a table of people."""
    return contents_of(people(**{name: cells}), label=label).get(name)


PREDICTED_TEXTS = np.where(PREDICTED, "yes", "no")
PREDICTED_NUMBERS = PREDICTED.astype(int)

# tool: names and cells of its columns -> prediction, score, and what is left out
TOOLS: dict[str, tuple[dict[str, object], tuple[str, str, tuple[str, ...]]]] = {
    "H2O": (
        {"predict": PREDICTED_NUMBERS, "p0": 1 - SCORE, "p1": SCORE},
        ("predict", "p1", ("p0",)),
    ),
    "H2O, named values": (
        {"predict": PREDICTED_TEXTS, "pno": 1 - SCORE, "pyes": SCORE},
        ("predict", "pyes", ("pno",)),
    ),
    "tidymodels": (
        {".pred_class": PREDICTED_TEXTS, ".pred_no": 1 - SCORE, ".pred_yes": SCORE},
        (".pred_class", ".pred_yes", (".pred_no",)),
    ),
    "Azure Machine Learning": (
        {"Scored Labels": PREDICTED_TEXTS, "Scored Probabilities": SCORE},
        ("Scored Labels", "Scored Probabilities", ()),
    ),
    "Azure Machine Learning, several classes": (
        {
            'Scored Probabilities for Class "no"': 1 - SCORE,
            'Scored Probabilities for Class "yes"': SCORE,
            "Scored Labels": PREDICTED_TEXTS,
        },
        (
            "Scored Labels",
            'Scored Probabilities for Class "yes"',
            ('Scored Probabilities for Class "no"',),
        ),
    ),
    "BigQuery ML": (
        {"predicted_approved": PREDICTED_TEXTS, "predicted_approved_probs": SCORE},
        ("predicted_approved", "predicted_approved_probs", ()),
    ),
    "Vertex AI": (
        {"predicted_approved": PREDICTED_TEXTS, "predicted_approved_scores": SCORE},
        ("predicted_approved", "predicted_approved_scores", ()),
    ),
    "SageMaker Autopilot": (
        {"predicted_label": PREDICTED_TEXTS, "probability": SCORE},
        ("predicted_label", "probability", ()),
    ),
    "DataRobot": (
        {
            "approved_yes_PREDICTION": SCORE,
            "approved_no_PREDICTION": 1 - SCORE,
            "approved_PREDICTION": PREDICTED_TEXTS,
        },
        ("approved_PREDICTION", "approved_yes_PREDICTION", ("approved_no_PREDICTION",)),
    ),
    "SAS": (
        {"P_approvedyes": SCORE, "P_approvedno": 1 - SCORE, "I_approved": PREDICTED_TEXTS},
        ("I_approved", "P_approvedyes", ("P_approvedno",)),
    ),
    "SAS, fixed names": (
        {"EM_CLASSIFICATION": PREDICTED_TEXTS, "EM_EVENTPROBABILITY": SCORE},
        ("EM_CLASSIFICATION", "EM_EVENTPROBABILITY", ()),
    ),
    "SPSS Modeler": (
        {"$L-approved": PREDICTED_TEXTS, "$LP-yes": SCORE, "$LP-no": 1 - SCORE},
        ("$L-approved", "$LP-yes", ("$LP-no",)),
    ),
    "KNIME": (
        {"Prediction (approved)": PREDICTED_TEXTS, "P (approved=yes)": SCORE, "P (approved=no)": 1 - SCORE},
        ("Prediction (approved)", "P (approved=yes)", ("P (approved=no)",)),
    ),
    "RapidMiner": (
        {"prediction(approved)": PREDICTED_TEXTS, "confidence(no)": 1 - SCORE, "confidence(yes)": SCORE},
        ("prediction(approved)", "confidence(yes)", ("confidence(no)",)),
    ),
    "Dataiku": (
        {"proba_no": 1 - SCORE, "proba_yes": SCORE, "prediction": PREDICTED_TEXTS},
        ("prediction", "proba_yes", ("proba_no",)),
    ),
    "AutoGluon and caret": (
        {"no": 1 - SCORE, "yes": SCORE},
        ("", "yes", ("no",)),
    ),
    "mlr3": (
        {"prob.yes": SCORE, "prob.no": 1 - SCORE},
        ("", "prob.yes", ("prob.no",)),
    ),
    "scikit-learn": (
        {"y_pred": PREDICTED_NUMBERS, "y_proba": SCORE},
        ("y_pred", "y_proba", ()),
    ),
    "yhat": (
        {"yhat": PREDICTED_NUMBERS, "phat": SCORE},
        ("yhat", "phat", ()),
    ),
    "German": (
        {"Vorhersage": PREDICTED_TEXTS, "Wahrscheinlichkeit": SCORE},
        ("Vorhersage", "Wahrscheinlichkeit", ()),
    ),
}


@pytest.mark.parametrize("tool", TOOLS)
def test_answers_of_a_tool(tool: str):
    columns, (prediction, score, left_out) = TOOLS[tool]
    suggestion = suggest_roles(people(**columns))
    roles = suggestion.roles
    assert roles.label == "approved"
    if prediction:
        assert (roles.prediction, roles.score) == (prediction, score)
    assert roles.score == score
    assert set(left_out) <= set(roles.excluded)
    assert not set(columns) - {prediction, score, *roles.excluded}
    assert roles.positive == "yes"


def test_the_prediction_s_confidence_is_no_score():
    """PyCaret and SAS write how sure the model is of its prediction, never below one half."""
    sure = np.maximum(SCORE, 1 - SCORE)
    frame = people(prediction_label=PREDICTED_TEXTS, prediction_score=sure)
    roles = suggest_roles(frame).roles
    assert (roles.prediction, roles.score, roles.excluded) == ("prediction_label", "", ("prediction_score",))


def test_signs_in_a_value_decide_which_score_is_of_it():
    frame = people(label_values=("<=50K", ">50K"), **{".pred_<=50K": 1 - SCORE, ".pred_>50K": SCORE})
    roles = suggest_roles(frame).roles
    assert (roles.score, roles.positive, roles.excluded) == (".pred_>50K", ">50K", (".pred_<=50K",))


def test_the_score_of_one_of_three_outcomes():
    outcome = RNG.choice(["graduate", "enrolled", "dropout"], N)
    shares = RNG.dirichlet([1, 1, 1], N).round(4)
    names = ("dropout", "enrolled", "graduate")
    columns = {f"proba_{value}": shares[:, index] for index, value in enumerate(names)}
    frame = people(**columns).drop(columns="approved").assign(outcome=outcome)
    roles = suggest_roles(frame).roles
    assert roles.score in columns
    assert roles.positive == roles.score.removeprefix("proba_")
    assert set(roles.excluded) == set(columns) - {roles.score}


def test_scores_of_a_full_tree_are_noughts_and_ones():
    crisp = PREDICTED_NUMBERS.astype(float)
    frame = people(**{".pred_class": PREDICTED_TEXTS, ".pred_no": 1 - crisp, ".pred_yes": crisp})
    roles = suggest_roles(frame).roles
    assert (roles.prediction, roles.score, roles.excluded) == (".pred_class", ".pred_yes", (".pred_no",))


NOT_CERTAIN = {
    "a predict of 40 numbers": ("predict", np.arange(N) % 40),
    "a score in percent": ("score", 100 * SCORE),
    "a lone p1": ("p1", SCORE),
    "a raw score": ("score_v2_raw", LOGIT),
    "a credit score": ("credit_score", RNG.integers(300, 850, N)),
    "a risk score": ("risk_score", SCORE),
    "a risk": ("default_risk", SCORE),
    "bands of a score": ("score_text", RNG.choice(["Low", "Medium", "High"], N)),
    "one word": ("Kreditscore", RNG.integers(0, 100, N)),
    "texts of predictions": ("prediction", [f"P{i % 90}" for i in range(N)]),
}


@pytest.mark.parametrize("name", NOT_CERTAIN)
def test_an_answer_by_its_name_alone_is_in_doubt(name: str):
    column, cells = NOT_CERTAIN[name]
    column_content = content(column, cells)
    assert column_content is not None and not column_content.certain
    assert column_content.content in (Content.PREDICTION, Content.SCORE)
    suggestion = suggest_roles(people(**{column: cells}))
    assert column in suggestion.roles.excluded and suggestion.roles.auxiliary == ()
    assert suggestion.roles.label == "approved"


FEATURES = {
    "p1 of pulses": ("p1", RNG.integers(50, 120, N)),
    "one column a value": ("approved_yes", YES.astype(int)),
    "a rate": ("interest_rate", SCORE),
    "a risk in words": ("risk", RNG.choice(["good", "bad"], N)),
    "a body weight": ("weight", RNG.normal(70, 10, N).round(1)),
    "the census weight of a public table": ("fnlwgt", RNG.integers(10_000, 900_000, N)),
    "a school": ("school_id", RNG.integers(0, 40, N)),
    "a few codes": ("admission_type_id", RNG.integers(1, 9, N)),
    "patients and others": ("patient", RNG.choice(["yes", "no"], N)),
    "a phase": ("phase", RNG.integers(1, 4, N)),
    "hospitals": ("dataset", RNG.choice(["Cleveland", "Hungary"], N)),
    "a club": ("membership", RNG.choice(["gold", "silver"], N)),
    "in and out": ("ward", RNG.choice(["in", "out"], N)),
    "visits": ("number of visits", RNG.integers(0, 30, N)),
}


@pytest.mark.parametrize("name", FEATURES)
def test_a_feature_stays_a_feature(name: str):
    column, cells = FEATURES[name]
    assert content(column, cells) is None
    assert column not in suggest_roles(people(**{column: cells}), label="approved").roles.excluded


TRAINED = np.arange(N) % 3 == 0
SETS = {
    "split": ("train", "val"),
    "Set": ("Training", "Test"),
    "dataset": ("development", "oot"),
    "membership": ("member", "non-member"),
    "partition": ("learn", "holdout"),
    "phase": ("train", "test"),
    "is_train": ("yes", "no"),
    "in_sample": ("1", "0"),
    "Aufteilung": ("Lernmenge", "Testmenge"),
    "partage": ("apprentissage", "test"),
    "whatever": ("train", "test"),
    "fold": ("train", "test"),
}


@pytest.mark.parametrize("name", SETS)
def test_a_set_by_its_values(name: str):
    frame = people(predicted=PREDICTED_TEXTS, **{name: np.where(TRAINED, *SETS[name])})
    roles = suggest_roles(frame).roles
    assert roles.sets == name
    sets = named_sets(SETS[name], name)
    assert [sets[value] for value in SETS[name]] == ["train", "test"]


def test_a_yes_says_the_opposite_in_a_column_of_tested_records():
    assert (named_set("yes", "is_test"), named_set("0", "holdout")) == ("test", "train")
    assert named_set("yes", "region") == ""


def test_validation_is_the_attackers_where_others_are_tested():
    assert named_sets(["train", "val", "test"]) == {"train": "train", "val": "attack", "test": "test"}
    assert named_sets(["train", "attack"])["attack"] == "attack"


@pytest.mark.parametrize(
    "name", ["student_id", "customer_id", "CustomerID", "patient", "user", "patient_nbr", "Kundennummer", "subject_id"]
)
@pytest.mark.parametrize("text", [False, True])
def test_an_identifier_that_repeats_names_people(name: str, text: bool):
    numbers = 1_000 + np.arange(N) // 2 * 7
    cells = [f"P{number}" for number in numbers] if text else numbers
    suggestion = suggest_roles(people(**{name: cells}))
    assert suggestion.roles.person == name
    assert "person" in suggestion.questions
    alone = suggest_roles(people(**{name: [f"P{i}" for i in range(N)] if text else 1_000 + np.arange(N) * 7}))
    assert alone.roles.person == "" and "person" not in alone.questions


@pytest.mark.parametrize(
    "name", ["sample_weight", "survey weight", "case_weight", "PWGTP", "instance weight", "poids_de_sondage"]
)
def test_a_weight_of_records_is_no_feature(name: str):
    suggestion = suggest_roles(people(**{name: RNG.gamma(2, 30, N).round(2)}))
    assert suggestion.roles.excluded == (name,)
    assert suggestion.left_out[name] == "the weight of a record, which is no feature of a person"


def test_the_label_is_what_a_prediction_is_named_after():
    frame = people(flag=RNG.choice(["no", "yes"], N), predicted_approved=PREDICTED_TEXTS)
    assert suggest_roles(frame).roles.label == "approved"  # and not the last column with the prediction's values


def test_plain_names():
    names = {
        ".pred_class": "pred class",
        "$LP-yes": "$lp yes",
        "P (approved=yes)": "p approved yes",
        "isTrain": "is train",
    }
    assert {name: plain_name(name) for name in names} == names


# What the score predicts


@pytest.mark.parametrize(
    "label_values", [("f", "t"), ("0", "1"), ("no", "yes"), ("FALSE", "TRUE"), ("N", "Y"), ("nein", "ja")]
)
@pytest.mark.parametrize("yes_is_rare", [False, True])
def test_a_label_of_yes_and_no_means_yes(label_values: tuple[str, str], yes_is_rare: bool):
    frame = people(label_values=label_values, score=SCORE)
    if yes_is_rare:
        frame = frame[~YES | (np.arange(N) % 4 == 0)].reset_index(drop=True)
    suggestion = suggest_roles(frame)
    assert suggestion.roles.positive == label_values[1]
    assert suggestion.reasons["positive"].startswith("from the scores, which are higher")
    assert "positive" in suggestion.questions
    reversed_score = suggest_roles(frame.assign(score=1 - frame["score"]))
    assert reversed_score.roles.positive == label_values[1]
    assert reversed_score.reasons["positive"] == "it sounds like a yes"


def test_one_letter_without_its_partner_says_nothing():
    outcome = np.where(YES, "t", "x")
    suggestion = suggest_roles(people(score=1 - SCORE).drop(columns="approved").assign(outcome=outcome))
    assert suggestion.roles.positive == "x"  # measured: t does not stand for true beside x


@pytest.mark.parametrize("turned", [False, True])
def test_other_words_are_what_the_scores_say(turned: bool):
    score = 1 - SCORE if turned else SCORE
    suggestion = suggest_roles(people(label_values=("bad", "good"), score=score))
    assert suggestion.roles.positive == ("bad" if turned else "good")
    assert suggestion.roles.favourable == ""


def test_scores_that_tell_nothing_leave_the_word():
    suggestion = suggest_roles(people(label_values=("refused", "approved"), score=RNG.random(N)))
    assert (suggestion.roles.positive, suggestion.reasons["positive"]) == ("approved", "it sounds like a yes")


@pytest.mark.parametrize("turned", [False, True])
def test_predictions_of_0_and_1_say_what_they_are_about(turned: bool):
    predicted = 1 - PREDICTED_NUMBERS if turned else PREDICTED_NUMBERS
    suggestion = suggest_roles(people(label_values=("stays", "leaves"), prediction=predicted))
    assert suggestion.roles.positive == ("stays" if turned else "leaves")
    as_written = suggest_roles(
        people(label_values=("stays", "leaves"), prediction=np.where(PREDICTED, "leaves", "stays"))
    )
    assert as_written.reasons["positive"] == "the label's rarest value"
