"""Models saved as files answer as the estimators they were made from; tables are checked before they are asked."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from onnx import helper
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA
from sklearn.ensemble import (
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
    VotingClassifier,
)
from sklearn.impute import KNNImputer, SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import FeatureUnion, make_pipeline
from sklearn.preprocessing import FunctionTransformer, KBinsDiscretizer, OneHotEncoder, OrdinalEncoder, StandardScaler
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier

from core.base.errors import InputError
from core.base.serialize import fingerprint_frame
from core.datasets import Roles, Table, build_dataset
from core.models import fit_model
from core.models.model_answers import RawAnswers, Structure, decide, structure_of
from core.models.model_files import _blame, _differing, read_model, with_answers
from core.models.onnx_model import asking
from tests.model_samples import NUMBERS, as_onnx, as_skops, binary, graph, logistic, numbers, people, pipeline

TREE = DecisionTreeClassifier(max_depth=2, random_state=0)
CLASSIFIERS = [
    LogisticRegression(),
    GaussianNB(),
    MLPClassifier((3,), solver="lbfgs", max_iter=200, random_state=np.random.RandomState(1)),
    RandomForestClassifier(4, random_state=0, n_jobs=2, verbose=1),
    GradientBoostingClassifier(n_estimators=3, random_state=0),
    HistGradientBoostingClassifier(max_iter=3, random_state=0),
    VotingClassifier([("a", GaussianNB()), ("b", TREE)], voting="soft"),
    CalibratedClassifierCV(LinearSVC(), cv=2),
]
ENCODERS = [
    OneHotEncoder(handle_unknown="ignore"),
    OneHotEncoder(drop="first", min_frequency=90),
    make_pipeline(SimpleImputer(strategy="most_frequent"), OrdinalEncoder()),
]
STEPS = [
    *(
        ColumnTransformer([("c", encoder, ["work"]), ("b", KBinsDiscretizer(3, quantile_method="linear"), ["age"])])
        for encoder in ENCODERS
    ),
    ColumnTransformer([("n", StandardScaler(), ["age"]), ("w", OneHotEncoder(), ["work"])], remainder="passthrough"),
    FunctionTransformer(np.log1p),
    make_pipeline(SimpleImputer(add_indicator=True), KNNImputer(n_neighbors=3)),
    FeatureUnion([("a", PCA(2)), ("b", "passthrough")]),
]
PIPELINES = [
    *(make_pipeline(StandardScaler(), classifier) for classifier in CLASSIFIERS),
    *(make_pipeline(step, LogisticRegression(max_iter=10_000)) for step in STEPS),
]


@pytest.mark.long
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("estimator", PIPELINES, ids=lambda estimator: "-".join(name for name, _ in estimator.steps))
def test_a_skops_file_answers_exactly_as_its_estimator(estimator, capsys):
    names = [*NUMBERS, "work"] if isinstance(estimator[0], ColumnTransformer) else NUMBERS
    frame = people()[names]
    fitted = estimator.fit(frame, people()["approved"])
    expected, probability = fitted.predict(frame) == "yes", fitted.predict_proba(frame)[:, 1]
    capsys.readouterr()
    model = read_model(as_skops(fitted), "m.skops")
    answers = model.answers(people(), positive="yes")
    assert model.feature_names == tuple(names)
    assert np.array_equal(answers.labels, expected)
    assert np.array_equal(answers.scores, probability)
    assert not any("at random" in note for note in answers.notes)
    assert capsys.readouterr().out == ""


NEW = {
    "rooms": lambda frame: frame["rooms"] + 9,
    "work": lambda frame: frame["work"].replace({"office": "bureau"}),
}


@pytest.mark.parametrize("name", NEW)
def test_a_graph_that_ignores_other_values_than_it_was_trained_with_says_so(name):
    frame = pd.DataFrame({"work": people()["work"].astype(str), "rooms": np.arange(240) % 3})
    steps = [("c", OneHotEncoder(handle_unknown="ignore"), ["work", "rooms"])]
    fitted = make_pipeline(ColumnTransformer(steps), TREE).fit(frame, frame["work"] == "farm")
    model = read_model(as_onnx(fitted, frame[:1]), "m.onnx")
    notes = model.answers(frame.assign(**{name: NEW[name](frame)}), positive="True").notes
    assert [note for note in notes if "warns" in note] == [
        f"The model warns: column '{name}' holds values it was not trained with."
    ]


def test_skops_without_probabilities_gives_decisions_only():
    fitted = LinearSVC().fit(people()[NUMBERS], binary())
    answers = read_model(as_skops(fitted), "m.skops").answers(people())
    assert answers.scores is None and np.array_equal(answers.labels, fitted.predict(people()[NUMBERS]))
    assert any("no scores" in note for note in answers.notes)


@pytest.mark.parametrize(("zipmap", "texts"), [(True, True), (False, False)])
def test_onnx_of_a_pipeline_agrees_to_the_precision_of_its_floats(zipmap, texts):
    frame = people()[[*NUMBERS, "work"]]
    fitted = pipeline(texts)
    model = read_model(as_onnx(fitted, floats(frame), zipmap=zipmap), "m.onnx")
    answers = model.answers(people(), positive="yes" if texts else "")
    assert model.feature_names == (*NUMBERS, "work")
    assert model.dtypes == ("number", "number", "number", "text")
    assert np.array_equal(answers.labels, binary_of(fitted.predict(frame)))
    assert answers.scores == pytest.approx(fitted.predict_proba(frame)[:, 1], abs=1e-6)


def floats(frame):
    """Return one record with numbers of one type, which is what the exporter needs to join them."""
    return frame[:1].astype(dict.fromkeys(frame.columns[:3], np.float32))


def binary_of(answers):
    return np.array([answer in ("yes", 1) for answer in answers], dtype=np.uint8)


@pytest.mark.parametrize(("zipmap", "texts"), [(True, True), (False, False), ("columns", True)])
def test_onnx_of_one_table_asks_for_the_order_of_its_columns(zipmap, texts):
    fitted = logistic(texts)
    model = read_model(as_onnx(fitted, numbers()[:1], zipmap=zipmap), "m.onnx")
    assert (model.feature_names, model.width, set(model.dtypes)) == ((), 3, {"number"})
    positive = "yes" if texts else "1"
    answers, turned = (model.answers(people(), positive=positive, features=order) for order in (NUMBERS, NUMBERS[::-1]))
    assert answers.scores == pytest.approx(fitted.predict_proba(numbers())[:, 1], abs=1e-6)
    assert np.array_equal(answers.labels, binary_of(fitted.predict(numbers())))
    assert any("does not name its features" in note for note in answers.notes)
    assert not np.array_equal(turned.scores, answers.scores)


def test_neither_the_order_of_columns_nor_batches_make_a_difference(model):
    plain, seen = model.answers(people(), positive="yes"), []
    turned = model.answers(people()[people().columns[::-1]], positive="yes")
    parts = model.answers(people(), positive="yes", batch=100, report=lambda done, total: seen.append((done, total)))
    assert np.array_equal(turned.scores, plain.scores) and np.array_equal(parts.scores, plain.scores)
    assert "The model does not ask for 'approved': ignored." in plain.notes
    assert seen == [(100, 240), (200, 240), (240, 240)]


def test_names_that_exporting_changes_are_found_again():
    frame = people()[NUMBERS].rename(columns={"age": "age (years)", "hours": "hours-per-week"})
    fitted = make_pipeline(StandardScaler(), LogisticRegression()).fit(frame, binary())
    model = read_model(as_onnx(fitted, floats(frame)), "m.onnx")
    assert model.feature_names[0] == "age__years_"
    answers = model.answers(frame)
    assert answers.scores == pytest.approx(fitted.predict_proba(frame)[:, 1], abs=1e-6)
    assert "Column 'hours-per-week' is taken for the model's 'hours_per_week'." in answers.notes
    with pytest.raises(InputError, match="'age__years_'"):
        model.answers(frame.assign(**{"age [years]": 1}))


def scoring(operator):
    return read_model(graph([helper.make_node(operator, ["age"], ["p"])], inputs=(("age", 1, [None, 1]),)), "m.onnx")


def test_scores_alone_become_decisions_at_the_threshold():
    model = scoring("Sigmoid")
    frame = pd.DataFrame({"age": [-2.0, -0.1, 0.0, 0.1, 2.0]})
    exact = 1 / (1 + np.exp(-frame["age"].to_numpy()))
    answers = model.answers(frame)
    assert np.abs(answers.scores - exact).max() < 1e-6 and answers.labels.tolist() == [0, 0, 1, 1, 1]
    assert model.answers(frame[:1]).labels.tolist() == [0]  # one record is enough
    stricter = model.answers(frame, threshold=0.8)
    assert stricter.labels.tolist() == [0, 0, 0, 0, 1]
    assert "The model gives scores and no decisions: from 0.8 on counts as yes." in stricter.notes


def test_ask_feeds_each_column_in_the_shape_of_its_input():
    """One has a column a record, the other is flat; everybody is scored alike."""
    fed = {}
    session = SimpleNamespace(run=lambda names, feed: fed.update(feed) or [np.full(3, 0.5, np.float32)])
    inputs = (("age", np.float32, 2), ("hours", np.int64, 1))
    ask = asking(session, inputs, ("", ("p",), None), {}, one_table=False)
    answers = ask(pd.DataFrame({"age": [20.5, 30.0, 41.0], "hours": [40, 20, 8]}))
    assert fed["age"].tolist() == [[20.5], [30.0], [41.0]]
    assert fed["hours"].tolist() == [40, 20, 8]
    assert np.shape(answers.probability)[0] == 3


def test_a_model_that_draws_is_noted_with_its_first_answers():
    drawn = "The model draws at random: asked again, it answers differently"
    assert any(note.startswith(drawn) for note in scoring("RandomUniformLike").answers(people()).notes)


@pytest.fixture(scope="module")
def model():
    return read_model(as_skops(pipeline()), "m.skops")


def with_cells(column, cells):
    values = people()[column].astype(object)
    return people().assign(**{column: values.where(~values.index.isin(list(cells)), values.index.map(cells.get))})


GAPS = with_cells("income", {10: np.nan, 20: np.nan}).astype({"income": float})
LINEAR = LogisticRegression().fit(people()[NUMBERS], people()["approved"])


@pytest.mark.parametrize(
    ("content", "frame", "message"),
    [
        (as_skops(pipeline()), with_cells("work", {77: "mine"}), "'work' of record 78, which is 'mine': Found unknown"),
        (as_skops(LINEAR), GAPS, "'income' of record 11, which is empty: Input X contains NaN"),
        (as_onnx(logistic(True), numbers()[:1]), GAPS, "'income' lacks 2 of 240 values, which the model cannot take"),
    ],
)
def test_what_a_model_cannot_answer_is_one_sentence(content, frame, message):
    name, features = ("m.skops", ()) if content.startswith(b"PK") else ("m.onnx", NUMBERS)
    with pytest.raises(InputError, match=rf"{message}.*\.$"):
        read_model(content, name).answers(frame, positive="yes", batch=100, features=features)


def test_blame_ends_with_a_model_that_takes_no_records():
    """Eleven records are halved at most four times."""
    sizes = []

    def ask(records):
        sizes.append(len(records))
        if len(sizes) > 20:
            pytest.fail("It asks without end.")
        if (records["pay"] < 0).any():
            raise ValueError

    frame = pd.DataFrame({"pay": [5.0] * 7 + [-1.0] + [5.0] * 3})
    assert "'pay' of record 8" in _blame(ask, frame, 0)
    assert 0 not in sizes


def table_of(frame):
    return Table(name="upload", title="t.csv", frame=frame, source="Ours.", uploaded=True)


def test_answers_become_columns_of_the_table(model):
    table = table_of(people())
    before = table.frame.copy()
    roles = Roles(label="approved", positive="yes", favourable="yes", sensitive="sex")
    answered, with_columns, notes = with_answers(table, model, roles)
    answers = model.answers(table.frame, positive="yes")
    assert with_columns == replace(roles, prediction="model prediction", score="model score")
    assert answered.frame["model prediction"].tolist() == answers.labels.tolist()
    assert np.array_equal(answered.frame["model score"], answers.scores)
    assert notes == answers.notes
    assert answered.fingerprint == fingerprint_frame(answered.frame) != table.fingerprint
    assert answered.uploaded and model.fingerprint[:12] in answered.source
    pd.testing.assert_frame_equal(table.frame, before)


def test_answers_get_a_number_if_their_column_exists(model):
    frame = people().assign(**dict.fromkeys(("model prediction", "model prediction 2"), "none"))
    roles = Roles(label="approved", positive="yes", favourable="yes", sensitive="work")
    _, roles, _ = with_answers(table_of(frame), model, roles)
    assert (roles.prediction, roles.score) == ("model prediction 3", "model score")


@pytest.mark.parametrize("threshold", [0.5, 0.05, 0.97])
@pytest.mark.parametrize(("lower", "upper"), [("approved", "denied"), ("denied", "approved")])
def test_one_column_of_scores_is_that_of_the_answer_with_the_higher_ones(lower, upper, threshold):
    score = np.linspace(0.0, 1.0, 40)
    labels = np.where(score >= threshold, upper, lower).astype(object)
    answers = decide(RawAnswers(labels=labels, probability=score[:, None], classes=None), positive=upper, threshold=0.5)
    assert np.array_equal(answers.scores, score)
    assert np.array_equal(answers.labels, score >= threshold)


@pytest.mark.parametrize(
    ("labels", "positive", "texts", "answer"),
    [(("no", "yes"), "no", True, ""), ((0, 1), "0", False, ""), ((1, 2), "2", True, "yes")],
)
def test_any_value_of_the_label_can_be_positive(labels, positive, texts, answer):
    frame = people().assign(approved=np.where(people()["approved"] == "yes", labels[1], labels[0]))
    roles = Roles(label="approved", positive=positive, favourable=positive, sensitive="work", each=True)
    answered, roles, _ = with_answers(
        table_of(frame), read_model(as_skops(pipeline(texts=texts)), "m.skops"), roles, positive=answer
    )
    read = build_dataset(answered, roles)
    assert np.array_equal(read.predictions, read.scores >= 0.5) and (read.predictions == read.labels).mean() > 0.7


@pytest.mark.parametrize(
    ("labels", "positive", "noted"),
    [(["no", "yes"], "yes", False), ([0, 1], "1", False), ([0, 1], "yes", True), ([0, 1], "", False)],
)
def test_decide_notes_what_is_taken_for_the_positive_answer(labels, positive, noted):
    texts = np.array([str(label) for label in labels], dtype=object)
    answers = decide(RawAnswers(labels=texts, probability=None, classes=None), positive=positive, threshold=0.5)
    assert any("is taken for" in note for note in answers.notes) == noted
    assert answers.labels.tolist() == [0, 1]


def test_differing_counts_records_and_not_columns():
    first = np.array([[0.1, 0.9], [0.2, 0.8], [np.nan, np.nan]])
    second = first.copy()
    second[1] = 0.3, 0.7
    answers = [RawAnswers(labels=None, probability=scores, classes=None) for scores in (first, second, 1 - first)]
    assert _differing(answers[0], answers[0]) == 0
    assert (_differing(answers[0], answers[1]), _differing(answers[0], answers[2])) == (1, 2)


GROWN = DecisionTreeClassifier(random_state=0)
NEIGHBOURS = KNeighborsClassifier(3, algorithm="brute")


def fitted(model):
    return model.fit(numbers(), binary())


MACHINE = fitted(SVC())
VECTORS = len(MACHINE.support_vectors_)


@pytest.mark.parametrize("model", [GROWN, RandomForestClassifier(4, bootstrap=False, random_state=0)])
def test_leaves_are_those_into_which_people_fall(model):
    trees = fitted(model).apply(numbers()).reshape(240, -1).T
    sizes = np.concatenate([np.unique(leaves, return_counts=True)[1] for leaves in trees])
    structure = structure_of(model)
    assert (structure.leaves, structure.smallest, structure.rows) == (sizes.size, sizes.min(), 240)
    assert structure.parameters == structure.leaves and structure.small_leaves == np.count_nonzero(sizes < 5) > 0
    small = f"Leaves of the model with fewer than 5 training people: {structure.small_leaves} of {sizes.size}; "
    assert structure.notes[0].startswith(f"{small}in the smallest: {sizes.min()}.")


@pytest.mark.parametrize("epsilon", [np.inf, 1.0])
def test_the_plain_id3_tree_shows_its_leaves_and_the_private_one_none(epsilon):
    features = np.arange(240).reshape(-1, 1) % 60 // [1, 5, 20] % 5
    tree = fit_model("dp_id3", features, binary(), np.arange(240) % 2, epsilon=epsilon, domains=[5, 5, 5]).estimator
    sizes = np.unique(tree.tree_.leaves(features), return_counts=True)[1]
    structure, shows = structure_of(tree, rows=999), epsilon == np.inf
    assert structure.leaves == shows * sizes.size
    assert structure.small_leaves == shows * np.count_nonzero(sizes < 5)
    assert bool(structure.notes) == shows
    assert structure_of(tree).rows == shows * 240


def test_other_models_are_counted_by_what_they_learned():
    boosted = fitted(HistGradientBoostingClassifier(max_iter=3, random_state=0))
    leaves = sum(tree.get_n_leaf_nodes() for (tree,) in boosted._predictors)
    assert structure_of(boosted) == Structure(leaves=leaves, smallest=20, parameters=leaves, rows=240)
    assert structure_of({"a": [logistic()]}) == Structure(parameters=4)
    assert structure_of(KBinsDiscretizer(subsample="warn")) == Structure()


def test_as_many_learned_numbers_as_records():
    network = fitted(MLPClassifier((60,), tol=1e9, n_iter_no_change=1, random_state=0))
    structure = structure_of(network, rows=240)
    assert structure.parameters == 3 * 60 + 60 + 60 + 1
    assert structure.notes == ("The model has 301 learned numbers for 240 training records: enough to memorise them.",)
    assert replace(structure, rows=310).notes and not replace(structure, rows=311).notes
    assert structure_of(network).notes == ()  # of how many records is not known
    assert structure_of(fitted(RandomForestClassifier(20, random_state=0))).rows == 0


@pytest.mark.parametrize(
    ("content", "name", "phrases"),
    [
        (as_skops(fitted(GROWN)), "tree.skops", "Leaves of the model with fewer than 5 training people"),
        (as_skops(fitted(DecisionTreeClassifier(max_leaf_nodes=2))), "stump.skops", ""),
        (as_skops(fitted(NEIGHBOURS)), "near.skops", "240 training records themselves (nearest neighbours)"),
        (as_onnx(MACHINE, numbers()[:1]), "machine.onnx", f" {VECTORS} training records themselves (support vectors)"),
        (as_onnx(fitted(NEIGHBOURS), numbers()[:1]), "near.onnx", "240 training records themselves (nearest"),
        (as_onnx(logistic(), numbers()[:1]), "line.onnx", ""),
    ],
    ids=lambda parameter: parameter if isinstance(parameter, str) and "." in parameter else "",
)
def test_a_file_that_is_opened_says_what_it_reveals(content, name, phrases):
    notes = read_model(content, name).notes
    assert len(notes) == bool(phrases) and all(phrases in note for note in notes)
