"""What a table is asked before an audit: facts of each kind of input, and none where there is nothing to ask."""

import re
from dataclasses import replace
from functools import cache
from math import comb

import numpy as np
import pandas as pd
import pytest
from scipy.stats import chi2_contingency, spearmanr

from core.base.errors import InputError
from core.datasets import Roles, Table, build_dataset, cautions, read_table, suggest_roles
from core.datasets.answer_facts import absence_p_value
from core.datasets.checked_table import Severity, best_cut_accuracy, disagreement, rank_correlation
from core.datasets.input_check import check_input, shared_lines
from core.datasets.score_copies import find_copies
from tests.credit_table import credit_people
from tests.input_cases import BASE, CASES, base_people, csv_of, reversed_score

ROLES = Roles(**BASE, favourable="yes", group=("female",))


def kinds(facts, severity=None):
    return {fact.kind for fact in facts if severity in (None, fact.severity)}


def blocking(frame, roles=ROLES):
    return kinds(check_input(frame, roles), Severity.BLOCKING)


def only(facts, kind):
    (fact,) = (fact for fact in facts if fact.kind == kind)
    return fact


def fact_of(frame, kind, roles=ROLES, guesses=()):
    return only(check_input(frame, roles, guesses=guesses), kind)


def repaired(roles, fact, index=0):
    return replace(roles, **fact.repairs[index].changes)


@cache
def read_case(name):
    """Return a case's table as it is read from a file, and the roles that are suggested for it."""
    table = read_table(csv_of(CASES[name].frame()), "people.csv")
    return table, suggest_roles(table.frame)


@pytest.mark.parametrize("name", CASES)
def test_suggested_roles_and_facts_of_a_case(name):
    case = CASES[name]
    table, suggestion = read_case(name)
    roles = suggestion.roles
    assert {role: getattr(roles, role) for role in case.roles} == dict(case.roles)
    assert set(case.left_out) <= set(roles.excluded)
    facts = check_input(table.frame, roles, guesses=suggestion.questions)
    favourable = {"favourable"} if roles.label else set()
    assert kinds(facts, Severity.BLOCKING) == case.blocking
    assert kinds(facts, Severity.QUESTION) == case.questions | favourable
    assert case.guesses <= kinds(facts, Severity.GUESS)
    assert "outcome_untold" not in kinds(facts)


def test_nothing_blocks_a_clean_table_with_every_answer():
    roles = replace(ROLES, confirmed=("positive",))
    assert kinds(check_input(base_people(), roles, guesses=("positive",))) == {"positive"}
    assert check_input(base_people(), ROLES) == ()


@pytest.mark.parametrize("favourable", ["", "maybe"])
def test_an_unanswered_favourable_value_is_a_question_with_a_repair_for_each_value(favourable):
    roles = replace(ROLES, favourable=favourable)
    fact = fact_of(base_people(), "favourable", roles)
    assert fact.severity is Severity.QUESTION
    assert favourable in fact.more
    assert [dict(repair.changes) for repair in fact.repairs] == [{"favourable": "no"}, {"favourable": "yes"}]
    assert check_input(base_people(), repaired(roles, fact, 1)) == ()


def test_a_score_of_default_called_a_score_of_repayment_is_stopped_and_turned_back():
    people = credit_people(4_000)[["sex", "age", "default", "score"]]
    roles = replace(ROLES, label="default", positive="0", favourable="0", prediction="", sets="")
    facts = {fact.kind: fact for fact in check_input(people, roles) if fact.severity is Severity.BLOCKING}
    assert set(facts) == {"inverted_predictions", "reversed_score"}
    for fact in facts.values():
        turned = repaired(roles, fact)
        assert (turned.positive, turned.favourable) == ("1", "0")
        assert blocking(people, turned) == set()
    accuracy = float(((people["score"] >= 0.5) == (people["default"] == 0)).mean())
    for share in (accuracy, 1 - accuracy, 1 - people["default"].mean()):
        assert f"{share:.1%}" in facts["inverted_predictions"].text


def test_a_reversed_score_contradicts_predictions_and_label():
    people = reversed_score()
    fact = fact_of(people, "contradiction")
    disagreeing = int(((people["score"] >= 0.5) != (people["predicted"] == "yes")).sum())
    assert f"{disagreeing:,} of {len(people):,} records" in fact.text
    assert fact.repairs[0].changes == {"positive": "no"}
    assert fact.repairs[-1].changes == {"confirmed": ("contradiction",)}
    assert blocking(people, repaired(ROLES, fact)) == set()


def test_the_score_of_the_other_class_is_exchanged_for_its_partner():
    frame = CASES["tidymodels"].frame()
    roles = replace(ROLES, prediction=".pred_class", score=".pred_no", excluded=(".pred_yes",))
    fact = fact_of(frame, "contradiction", roles)
    changes = [dict(repair.changes) for repair in fact.repairs]
    assert {"score": ".pred_yes", "excluded": (".pred_no",)} in changes
    for index in range(len(changes) - 1):
        assert blocking(frame, repaired(roles, fact, index)) == set()


def test_a_screening_model_below_the_majority_is_noted_and_does_not_block():
    """It calls most people, among them nearly all with the label: less accurate than the majority, and no mistake."""
    rng, n = np.random.default_rng(4), 4_000
    ill = rng.random(n) < 0.05
    called = rng.random(n) < np.where(ill, 0.97, 0.6)
    frame = pd.DataFrame({"sex": rng.choice(["f", "m"], n), "x": rng.normal(size=n), "ill": ill * 1, "p": called * 1})
    roles = Roles(label="ill", positive="1", favourable="0", sensitive="sex", group=("f",), prediction="p")
    facts = check_input(frame, roles)
    assert kinds(facts, Severity.BLOCKING) == set()
    assert "below_majority" in kinds(facts, Severity.NOTE)


def test_random_answers_do_not_block():
    """A random answer points the wrong way by chance in at most 1 of 200."""
    blocked = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        people = base_people(600, seed=seed)
        score = rng.random(600).round(3)
        predicted = np.where(score >= rng.choice([0.2, 0.5, 0.8]), "yes", "no")
        blocked += bool(blocking(people.assign(score=score, predicted=predicted)))
    assert blocked <= 1  # at a rate of 1 in 200 more than 1 of 20 happen once in 220 times


@pytest.mark.parametrize("role", ["label", "sensitive", "prediction", "score", "sets", "person"])
def test_roles_that_building_a_dataset_refuses_are_no_facts(role):
    roles = replace(ROLES, **{role: "gone"})
    assert check_input(base_people(), roles) == ()
    with pytest.raises(InputError, match="must be a column of the table, got 'gone'"):
        build_dataset(Table(name="t", title="T", frame=base_people(), source=""), roles)
    assert check_input(base_people(), replace(ROLES, score="dept")) == ()


def test_constant_answers_are_noted():
    facts = check_input(base_people().assign(score=0.5, predicted="no"), ROLES)
    assert kinds(facts) == {"constant_prediction", "constant_score"}


def overruled(people, count):
    turned = people["predicted"].map({"yes": "no", "no": "yes"})
    return people["predicted"].where(people.index >= count, turned)


def by_threshold(column, value):
    return lambda people: np.where(people["score"] >= np.where(people[column] == value, 0.8, 0.3), "yes", "no")


# of 1,600 predictions 3.75% and 7.5% are overruled
PREDICTIONS = {
    "a threshold for each group": (by_threshold("sex", "male"), set()),
    "a threshold by a column that is not audited": (by_threshold("dept", "it"), set()),
    "a few overruled": (lambda people: overruled(people, 60), set()),
    "more overruled": (lambda people: overruled(people, 120), {"contradiction"}),
}


@pytest.mark.parametrize(("predicted", "expected"), PREDICTIONS.values(), ids=PREDICTIONS)
def test_predictions_contradict_the_score_where_they_follow_from_nothing(predicted, expected):
    people = base_people()
    assert blocking(people.assign(predicted=predicted(people))) & {"contradiction"} == expected


def test_disagreement_is_of_the_best_of_all_cuts():
    rng = np.random.default_rng(6)
    for _ in range(50):
        predictions, scores, groups = rng.integers(0, 2, 12), rng.integers(0, 4, 12) / 4, rng.integers(0, 2, 12)
        fewest = np.zeros(2, dtype=int)
        for inside in (groups == group for group in set(groups.tolist())):
            wrong = [(scores[inside] >= cut) != predictions[inside] for cut in (0.0, 0.25, 0.5, 0.75, 1.0)]
            fewest += [min(rule.sum() for rule in wrong), min((~rule).sum() for rule in wrong)]
        assert disagreement(predictions, scores, groups) == tuple(fewest)


def test_best_cut_accuracy_is_the_best_of_all_cuts():
    """Ones at 0, 1, 2, 2 and 3, zeros at 0, 0 and 1: the cut at 2 has 3 of 5 ones and 3 of 3 zeros right."""
    labels, values = np.array([1, 1, 1, 1, 1, 0, 0, 0]), np.array([0.0, 1, 2, 2, 3, 0, 0, 1])
    for direction in (1, -1):
        assert best_cut_accuracy(labels, direction * values) == pytest.approx((6 / 8, (3 / 5 + 1) / 2))


def noise(size, scale):
    return np.random.default_rng(3).normal(0, scale, size)


COPIES = {
    "one decimal": lambda score: np.round(score, 1),
    "log-odds": lambda score: np.log(score / (1 - score)),
    "noise of 1%": lambda score: score + noise(score.size, 0.01),
    "ten bands": lambda score: np.array(list("ABCDEFGHIJK"))[(score * 10).astype(int)],
    "three bands": lambda score: np.array(["low", "mid", "high"])[np.minimum((score * 3).astype(int), 2)],
    "the prediction": lambda score: np.where(score >= 0.5, "accept", "reject"),
    "another threshold": lambda score: np.where(score >= 0.3, "review", "ok"),
    "how sure": lambda score: np.maximum(score, 1 - score),
}


@pytest.mark.parametrize("name", COPIES)
def test_a_copy_of_the_score_among_the_features(name):
    people = base_people()
    frame = people.assign(x17=COPIES[name](people["score"].to_numpy()))
    fact = fact_of(frame, "copy")
    assert (fact.severity, fact.columns) == (Severity.BLOCKING, ("x17",))
    assert [repair.changes for repair in fact.repairs[:2]] == [{"excluded": ("x17",)}, {"confirmed": ("copy:x17",)}]
    assert blocking(frame, repaired(ROLES, fact)) == set()
    assert fact_of(frame, "copy", repaired(ROLES, fact, 1)).severity is Severity.NOTE


@pytest.mark.parametrize(("width", "is_near"), [(0.08, True), (0.6, False)])
def test_a_noisy_copy_of_the_score_is_a_caution_until_it_is_left_out_or_confirmed(width, is_near):
    people = base_people()
    frame = people.assign(x17=people["score"] + noise(len(people), width))
    near = [fact for fact in check_input(frame, ROLES) if fact.kind == "near_score"]
    assert [fact.severity for fact in near] == [Severity.CAUTION] * is_near
    assert blocking(frame) == set()
    for fact in near:
        assert "near_score" not in kinds(check_input(frame, repaired(ROLES, fact)))
        assert fact_of(frame, "near_score", repaired(ROLES, fact, 1)).severity is Severity.NOTE


def test_copy_facts_make_a_copy_the_output_that_is_missing():
    people = base_people()
    score = people.pop("score").to_numpy()
    labels_alone = people.assign(x17=score, x18=np.round(100 * score))
    roles = replace(ROLES, score="")
    first, second = (fact.repairs[0] for fact in check_input(labels_alone, roles) if fact.kind == "copy")
    assert (first.changes, second.changes) == ({"score": "x17"}, {"excluded": ("x18",)})
    assert "attacked with predicted" in first.result and "not attacked" in second.result
    assert blocking(labels_alone, replace(roles, score="x17", excluded=("x18",))) == set()
    turned = fact_of(people.assign(x17=1 - score), "copy", roles)
    assert turned.repairs[0].changes == {"excluded": ("x17",)}  # a score of the other value would block


def test_a_credit_grade_that_nearly_decides_the_score_is_no_copy():
    rng, n = np.random.default_rng(2), 6_000
    creditworthiness = rng.normal(size=n)
    grade = np.clip(np.round(4 + 1.6 * creditworthiness), 1, 7)
    income = rng.normal(size=n) + 0.1 * creditworthiness
    debt = rng.normal(size=n) - 0.4 * creditworthiness
    score = 1 / (1 + np.exp(-0.3 * (4 * (grade - 4) + 0.8 * income - 0.6 * debt)))
    approved, predicted = (np.where(share < score, "yes", "no") for share in (rng.random(n), 0.5))
    columns = {"sex": rng.choice(["f", "m"], n), "grade": grade, "income": income, "debt": debt, "score": score}
    frame = pd.DataFrame(columns).assign(approved=approved, predicted=predicted)
    roles = replace(ROLES, group=("f",), sets="")
    facts = check_input(frame, roles)
    assert kinds(facts, Severity.BLOCKING) == set()
    assert "strong_feature" in kinds(facts, Severity.NOTE)
    weaker = frame.assign(score=1 / (1 + np.exp(-0.3 * (4 * (grade - 4) + 2.4 * income - 1.8 * debt))))
    weaker["predicted"] = np.where(weaker["score"] >= 0.5, "yes", "no")
    weaker_kinds = kinds(check_input(weaker, roles))
    assert "strong_feature" in weaker_kinds and "near_score" not in weaker_kinds
    bands = np.minimum((frame["score"] * 7).astype(int), 6)
    copied = frame.drop(columns="grade").assign(standing=frame["grade"] + noise(n, 0.3), band=bands)
    assert fact_of(copied, "copy", roles).columns == ("band",)


def test_the_label_s_own_copy_is_no_copy_of_a_perfect_model():
    people = base_people()
    decided = (people["approved"] == "yes").to_numpy()
    score = np.where(decided, 0.9, 0.1) + noise(len(people), 0.01)
    frame = people.assign(score=score.round(3), predicted=people["approved"], offer=np.where(decided, "sent", "none"))
    frame.loc[0, "predicted"] = "no" if decided[0] else "yes"
    assert "copy" not in blocking(frame, replace(ROLES, confirmed=("label_is_prediction",)))


def without(column):
    """Return people of whom those without approval lack a cell."""
    people = base_people()
    people.loc[people["approved"] == "no", column] = None
    return people


def label_of_group(column, exceptions=0):
    """Return people whose label says one value of a column, but for the first ones."""
    people = base_people()
    is_first = (people[column] == people[column].iloc[0]) ^ (people.index < exceptions)
    return people.assign(approved=np.where(is_first, "yes", "no"))


SAME = replace(ROLES, label="sex", positive="male")
BY_DEPARTMENT = replace(ROLES, sensitive="dept", group=(), each=True)
LABELS = {
    "the attribute": (base_people(), SAME, "label_is_attribute", True),
    "crossed": (base_people(), replace(SAME, sensitive="sex × dept", group=()), "label_is_attribute", True),
    "says the group": (label_of_group("sex"), ROLES, "label_equals_attribute", True),
    "but once": (label_of_group("sex", 1), ROLES, "label_equals_attribute", False),
    "says one of several groups": (label_of_group("dept"), BY_DEPARTMENT, "label_equals_attribute", True),
    "independent of the groups": (base_people(), BY_DEPARTMENT, "label_equals_attribute", False),
    "one value beside a group": (without("sex"), ROLES, "label_one_value", True),
    "one value once dropped": (without("income"), replace(ROLES, missing="drop"), "label_one_value", True),
    "one value where it stays": (without("income"), ROLES, "label_one_value", False),
}


@pytest.mark.parametrize(("frame", "roles", "kind", "is_blocked"), LABELS.values(), ids=LABELS)
def test_a_label_blocks(frame, roles, kind, is_blocked):
    assert (kind in blocking(frame, roles)) == is_blocked


def test_a_label_that_is_the_prediction_blocks_until_it_is_confirmed():
    same = base_people().assign(approved=lambda people: people["predicted"])
    assert blocking(same) == {"label_is_prediction"}
    roles = repaired(ROLES, fact_of(same, "label_is_prediction"))
    assert blocking(same, roles) == set()
    assert fact_of(same, "label_is_prediction", roles).severity is Severity.NOTE
    by_score = replace(ROLES, prediction="", excluded=("predicted",))
    assert blocking(same, by_score) == {"label_is_prediction"}  # the score cut at a threshold


def test_three_outcomes_are_a_question_with_a_repair_for_each_value():
    table, suggestion = read_case("three_outcomes")
    fact = fact_of(table.frame, "labels_together", suggestion.roles)
    alternatives = {"graduate", "enrolled", "dropout"} - {suggestion.roles.positive}
    assert {repair.changes["positive"] for repair in fact.repairs[:-1]} == alternatives
    for value in alternatives:
        assert f"{value} ({int((table.frame['outcome'] == value).sum()):,})" in fact.text
    assert fact.repairs[-1].changes == {"confirmed": ("labels_together",)}


def test_spellings_are_said_whether_they_are_taken_as_one_or_not():
    table = read_case("trailing_period")[0]
    assert set(table.frame["approved"]) == {">50K", "<=50K"}
    roles = replace(ROLES, positive=">50K", favourable=">50K")
    fact = fact_of(table.frame, "spellings", roles)
    assert (">50K. as >50K" in fact.text, fact.severity) == (True, Severity.GUESS)
    assert fact_of(table.frame, "spellings", repaired(roles, fact)).severity is Severity.NOTE
    raw = CASES["trailing_period"].frame()  # that no file was read for
    assert "different values" in fact_of(raw, "spellings", roles).text


def test_a_lone_risk_score_is_a_question_with_every_answer():
    table, suggestion = read_case("risk_score_alone")
    roles = replace(suggestion.roles, favourable="yes")
    fact = fact_of(table.frame, "possible_answers", roles, suggestion.questions)
    answers = [repaired(roles, fact, index) for index in range(3)]
    expected = [("risk_score", ()), ("", ()), ("", ("risk_score",))]
    assert [(answer.score, answer.excluded) for answer in answers] == expected
    for answer in answers:
        facts = check_input(table.frame, answer, guesses=suggestion.questions)
        assert "possible_answers" not in kinds(facts) - kinds(facts, Severity.NOTE)
    silently = replace(roles, excluded=())  # a plan that makes it a feature without a word
    assert "possible_answers" in kinds(check_input(table.frame, silently), Severity.CAUTION)


def unnamed_column(kind):
    """Return people without a model's answers, and a column of theirs between 0 and 1 that no name explains."""
    people = base_people()
    approved, member = people["approved"] == "yes", people["set"] == "train"
    signal = 2.9 * (np.log(people["income"]) - 10.05) + 0.025 * (people["age"] - 44)
    memory = 0.7 * member * np.where(approved, 1.0, -1.0)
    values = {
        "model": 1 / (1 + np.exp(-signal)),
        "remembering model": 1 / (1 + np.exp(-signal - memory)),
        "income from 0 to 1": people["income"].rank(pct=True),
        "rate of a department": people["dept"].map({"it": 0.412, "sales": 0.557, "hr": 0.338, "ops": 0.613}),
        "strong fact": np.clip(np.random.default_rng(3).beta(2, 8, len(people)) + 0.6 * approved, 0, 1),
    }[kind]
    return people.drop(columns=["predicted", "score"]).assign(wert=values.round(3))


@pytest.mark.parametrize("kind", ["model", "remembering model"])
def test_a_score_without_its_name_is_asked_for(kind):
    people = unnamed_column(kind)
    suggestion = suggest_roles(people)
    assert suggestion.roles.excluded == ("wert",)
    fact = fact_of(people, "possible_answers", suggestion.roles, suggestion.questions)
    assert fact.severity is Severity.QUESTION and "all other columns together explain" in fact.more
    assert repaired(suggestion.roles, fact).score == "wert"
    feature = repaired(suggestion.roles, fact, 1)
    assert "possible_answers" not in kinds(check_input(people, feature, guesses=suggestion.questions))


@pytest.mark.parametrize("kind", ["income from 0 to 1", "rate of a department", "strong fact"])
def test_a_feature_between_0_and_1_is_no_question(kind):
    people = unnamed_column(kind)
    suggestion = suggest_roles(people)
    assert suggestion.roles.excluded == suggestion.questions == ()
    assert "possible_answers" not in kinds(check_input(people, suggestion.roles))


@pytest.mark.parametrize(
    ("column", "kind", "severity"),
    [
        ({"fold": np.arange(1_600) % 5}, "possible_sets", Severity.GUESS),
        ({"case_id": np.arange(1_600) // 3 + 500}, "possible_person", Severity.QUESTION),
        ({"weight": np.random.default_rng(1).gamma(4, 0.25, 1_600)}, "possible_weight", Severity.GUESS),
        ({"propensity": np.random.default_rng(1).random(1_600)}, "possible_answers", Severity.GUESS),
    ],
)
def test_a_column_in_doubt_is_left_out(column, kind, severity):
    people = base_people().assign(**column)
    suggestion = suggest_roles(people)
    (name,) = column
    assert suggestion.roles.excluded == tuple(suggestion.left_out) == (name,)
    roles = replace(suggestion.roles, favourable="yes")
    fact = fact_of(people, kind, roles)
    assert (fact.severity, fact.columns) == (severity, (name,))
    titles = [repair.title for repair in fact.repairs]
    assert {"It is a feature", "Leave it out"} <= set(titles)
    for index, title in enumerate(titles):
        answered = repaired(roles, fact, index)
        facts = check_input(people, answered)
        assert kind not in kinds(facts) - kinds(facts, Severity.NOTE), title
        assert (name in answered.excluded) == (title == "Leave it out"), title


def test_a_missing_label_is_chosen_from_columns_of_few_texts_and_all_records_count():
    people = base_people().drop(columns="predicted")
    late = np.arange(len(people)) % 3 == 0
    people["status"] = np.where(people.pop("approved") == "yes", np.where(late, "b", "a"), np.where(late, "d", "c"))
    roles = suggest_roles(people).roles
    facts = check_input(people, roles, settings=True)
    missing = only(facts, "label_missing")
    assert [repair.changes["label"] for repair in missing.repairs] == ["status", "dept"]
    women, train = int((people["sex"] == "female").sum()), int((people["set"] == "train").sum())
    assert f"female {women:,}" in only(facts, "groups").point
    assert f"{train:,} “train”" in only(facts, "sets").point
    chosen = fact_of(people, "favourable", repaired(roles, missing))
    assert re.search(r"status is a for [\d.]+%, c for [\d.]+%, [bd] for [\d.]+%, [bd] for", chosen.more)


def test_people_in_several_sets_block_until_somebody_confirms_who_is_who():
    table, suggestion = read_case("two_rows_a_person")
    frame, roles, guesses = table.frame, suggestion.roles, suggestion.questions
    fact = fact_of(frame, "person", roles, guesses)
    several = int((frame.groupby("student_id")["set"].nunique() > 1).sum())
    assert set(re.findall(r"[\d,]+(?= (?:people|records|of them))", fact.text)) == {"800", "1,600", f"{several:,}"}
    one_side, separate = (repaired(roles, fact, index) for index in (0, 1))
    assert (one_side.person, one_side.confirmed) == ("student_id", ("person",))
    assert fact_of(frame, "person", one_side, guesses).severity is Severity.NOTE
    assert (separate.person, separate.excluded) == ("", ("student_id",))
    assert kinds(check_input(frame, separate)).isdisjoint({"person", "possible_person"})
    repeated = fact_of(frame, "repeated_person", separate)
    assert repeated.severity is Severity.NOTE and repeated.is_confirmed(separate)


def test_a_score_in_doubt_is_of_the_value_it_is_higher_for_and_its_copies_follow_it():
    people = credit_people(4_000)[["sex", "age", "default", "score"]]
    people = people.rename(columns={"default": "outcome", "score": "vendor_score"})
    people["outcome"] = np.where(people["outcome"] == 1, "lost", "safe")
    people["vendor_score"] = 1 - people["vendor_score"]
    people["rating"] = (100 * people["vendor_score"]).round(1)
    roles = replace(suggest_roles(people).roles, favourable="safe")
    assert roles.positive == "lost"  # the rarest, as no model's answer is there
    fact = fact_of(people, "possible_answers", roles)
    audited, left_out = repaired(roles, fact), repaired(roles, fact, -1)
    assert (audited.score, audited.positive) == ("vendor_score", "safe")
    people_of_lost = people.assign(vendor_score=1 - people["vendor_score"])
    chosen = replace(roles, positive="safe")  # by hand: it stays, and the check says that the score contradicts it
    reversed_roles = repaired(chosen, fact_of(people_of_lost, "possible_answers", chosen))
    assert reversed_roles.positive == "safe" and "reversed_score" in blocking(people_of_lost, reversed_roles)
    assert blocking(people, audited) == blocking(people, left_out) == {"copy"}
    without = repaired(left_out, fact_of(people, "copy", left_out))
    assert without.excluded == ("vendor_score", "rating")
    assert "copy" not in kinds(check_input(people, without))
    assert "answers_left_out" in kinds(cautions(people, without))


def test_absent_answers_are_counted_by_group_with_a_test():
    people = base_people()
    women = np.flatnonzero(people["sex"] == "female")
    absent = people.copy()
    absent.loc[women[:40], ["predicted", "score"]] = None
    fact = fact_of(absent, "absence")
    assert f"40 of {women.size:,} in group female" in fact.text and "p < 0.001" in fact.text
    assert fact.severity is Severity.CAUTION
    people.loc[::40, "predicted"] = None  # by chance
    assert fact_of(people, "absence").severity is Severity.NOTE


@pytest.mark.parametrize(("share", "is_reported"), [(0.25, True), (0.0, False)])
def test_absent_scores_are_said_by_the_column_by_which_they_differ(share, is_reported):
    people = CASES["garden"].frame().rename(columns={"vendor_score": "score"})
    abroad = people["birthplace"] == "abroad"
    absent = np.random.default_rng(11).random(len(people)) < 0.08 + share * abroad
    people["score"] = people["score"].where(~absent)
    roles = suggest_roles(people, attribute="sex").roles
    assert roles.score == "score"
    fact = fact_of(people, "absence", roles)
    assert ("birthplace" in fact.point) is is_reported
    assert (fact.severity is Severity.CAUTION) is is_reported
    if is_reported:
        assert f"{int((absent & abroad).sum()):,} of {int(abroad.sum()):,}" in fact.point


def test_repeated_records_are_counted_with_the_columns_that_were_not_compared():
    people = base_people()
    again = people.iloc[:2].replace({"set": {"train": "test", "test": "train"}})  # also where it is in the other set
    repeated = pd.concat([people, people.iloc[:7], again], ignore_index=True)
    assert "16 of 1,609 records" in fact_of(repeated, "repeated_records").text
    assert "dept, set" in fact_of(repeated, "repeated_records", replace(ROLES, excluded=("dept",))).point
    assert "but for" not in fact_of(repeated.drop(columns="set"), "repeated_records", replace(ROLES, sets="")).point


def test_sizes_of_repeated_people_are_those_of_the_records_that_are_used():
    people = CASES["two_rows_a_person"].frame()
    suggestion = suggest_roles(people)
    roles = replace(suggestion.roles, favourable="yes", confirmed=("person",))
    data = build_dataset(Table(name="upload", title="T", frame=people, source="A test."), roles)
    lines = lines_of(people, roles)
    for code, name in enumerate(data.group_names):
        assert f"{name} {int((data.sensitive == code).sum()):,}" in only(lines, "groups").point
    for name in ("train", "test"):
        assert f"{int((data.sets == name).sum()):,} “{name}”" in only(lines, "sets").point


@pytest.mark.parametrize("is_turned", [False, True])
def test_one_area_and_one_direction_of_a_score_stand_in_every_line(is_turned):
    people = base_people().drop(columns=["predicted", "set"]).rename(columns={"score": "vendor_score"})
    if is_turned:
        people["vendor_score"] = (1 - people["vendor_score"]).round(3)
    suggestion = suggest_roles(people)
    question = fact_of(people, "possible_answers", suggestion.roles, suggestion.questions)
    roles = repaired(suggestion.roles, question)
    texts = [question.text]
    if is_turned:
        reversed_score = fact_of(people, "reversed_score", roles)
        texts.append(reversed_score.text)
        roles = repaired(roles, reversed_score)
    texts.append(only(lines_of(people, roles), "positive").text)
    areas = {re.search(r"AUC (?:of )?(\d\.\d+)", text)[1] for text in texts}
    assert len(areas) == 1 and float(areas.pop()) > 0.5


def test_the_test_of_absence_is_exact_for_two_groups_and_close_to_it_for_more():
    """By hand: how likely it is that of 10 absent among 20 and 30 people so many are of the first group."""
    chances = [comb(20, first) * comb(30, 10 - first) / comb(50, 10) for first in range(11)]
    as_rare = sum(chance for chance in chances if chance <= chances[1] + 1e-12)
    assert absence_p_value(np.array([1, 9]), np.array([20, 30])) == pytest.approx(as_rare)
    missing, sizes = np.array([10, 25, 14]), np.array([200, 300, 250])
    three = absence_p_value(missing, sizes)
    assert three == pytest.approx(chi2_contingency([missing, sizes - missing]).pvalue, abs=0.02)
    hundred = np.array([100, 100, 100])
    assert absence_p_value(np.array([0, 30, 0]), hundred) == pytest.approx(1e-4)
    assert absence_p_value(np.array([10, 10, 10]), hundred) == 1.0


def lines_of(frame, roles=ROLES, guesses=()):
    return shared_lines(check_input(frame, roles, guesses=guesses, settings=True))


def test_shared_lines_block_ask_then_guess():
    people = base_people().assign(bonus=lambda frame: 300 + frame["score"])
    lines = lines_of(people, replace(ROLES, favourable=""), ("positive",))
    assert [line.kind for line in lines] == ["copy", "favourable", "positive", "groups", "sets"]


def test_shared_lines_several_copies_have_one_repair():
    people = base_people().assign(bonus=lambda frame: 300 + frame["score"], band=lambda frame: -frame["score"])
    line = only(lines_of(people), "copy")
    assert line.columns == ("bonus", "band")
    assert set(line.repairs[0].changes["excluded"]) == {"bonus", "band"}
    assert len({repair.title for repair in line.repairs}) == len(line.repairs)
    assert blocking(people, repaired(ROLES, line)) == set()
    confirmed = [repair.changes.get("confirmed") for repair in line.repairs]
    assert blocking(people, repaired(ROLES, line, confirmed.index(("copy:band",)))) == {"copy"}


def test_scores_by_label_are_the_shares_of_each_label():
    people = base_people()
    line = only(lines_of(people), "positive")
    scores, cells = line.scores, people["score"]
    assert (scores.positive_label, scores.negative_label) == ("yes", "no")
    assert (sum(scores.positive), sum(scores.negative)) == pytest.approx((1, 1))
    edges = np.linspace(cells.min(), cells.max(), len(scores.positive) + 1)
    assert scores.positive[-1] == pytest.approx((cells[people["approved"] == "yes"] >= edges[-2]).mean())
    assert f"{scores.area:.3f}" in line.more


@pytest.mark.parametrize(("guesses", "severity"), [(("positive",), Severity.QUESTION), ((), Severity.GUESS)])
def test_a_score_that_does_not_tell_the_label_is_a_question_until_it_is_answered(guesses, severity):
    people = base_people()
    people["score"] = np.random.default_rng(4).permutation(people["score"])
    roles = replace(ROLES, prediction="", excluded=("predicted",))
    assert only(lines_of(people, roles, guesses), "positive").severity is severity


def decided_people(count=1_200):
    """Return people with a vendor's decision, which is a threshold of 0.35 on its score, and whether it was fraud."""
    rng = np.random.default_rng(6)
    claims = rng.integers(0, 6, count)
    score = np.clip(0.12 * claims + rng.normal(0.1, 0.1, count), 0, 1).round(3)
    return pd.DataFrame(
        {
            "sex": rng.choice(["female", "male"], count),
            "claims": claims,
            "fraud": np.where(rng.random(count) < score, "yes", "no"),
            "vendor_decision": np.where(score >= 0.35, "refer", "pay"),
            "vendor_score": score,
        }
    )


DECIDED = replace(ROLES, label="fraud", favourable="no", prediction="vendor_decision", score="vendor_score", sets="")


@pytest.mark.parametrize("last", ["fraud", "vendor_decision"])
def test_suggest_roles_takes_a_decision_for_the_prediction_wherever_it_stands(last):
    people = decided_people()
    people.insert(people.shape[1] - 1, last, people.pop(last))
    suggestion = suggest_roles(people)
    assert (suggestion.roles.label, suggestion.roles.prediction) == ("fraud", "vendor_decision")
    assert "score" in suggestion.questions  # vendor_score is left out until somebody says what it is


@pytest.mark.parametrize("name", ["loan_decision", "vendor_id", "court_decision"])
def test_suggest_roles_without_another_label_or_a_models_word(name):
    people = decided_people().rename(columns={"vendor_decision": name}).drop(columns="vendor_score")
    if name == "loan_decision":
        people = people.drop(columns="fraud")
    roles = suggest_roles(people).roles
    assert roles.prediction == ""
    assert roles.label == name  # the last column of two values


def outcome_of(frame, **changes):
    """Return the suggested label, and the fact that asks whether it is the outcome; None where nothing asks."""
    suggestion = suggest_roles(frame)
    roles = replace(suggestion.roles, **changes)
    facts = check_input(frame, roles, guesses=suggestion.questions)
    return suggestion.roles.label, next((fact for fact in facts if fact.kind.startswith("outcome")), None)


def with_wave(people):
    """Return people with a last column of two values that nothing tells."""
    return people.assign(wave=np.random.default_rng(8).choice(["A", "B"], len(people)))


def test_suggest_roles_takes_the_column_that_a_score_tells_and_asks():
    people = with_wave(base_people().drop(columns=["predicted", "set"]).rename(columns={"approved": "state"}))
    label, fact = outcome_of(people)
    assert (label, fact.kind, fact.severity) == ("state", "outcome", Severity.QUESTION)
    assert {repair.changes["label"] for repair in fact.repairs[:-1]} == {"wave"}
    assert fact.repairs[-1].changes == {"confirmed": ("outcome:state",)}
    assert outcome_of(people, confirmed=("outcome:state",))[1].severity is Severity.NOTE


@pytest.mark.parametrize(("name", "asks"), [("state", True), ("approved", False), ("label", False)])
def test_an_outcome_without_a_score_is_a_question_unless_a_name_shows_it(name, asks):
    people = base_people()[["age", "sex", "approved"]].rename(columns={"approved": name})
    label, fact = outcome_of(people)
    assert label == name
    assert bool(fact) is asks


@pytest.mark.parametrize("name", ["label", "wave", "hired"])
def test_a_label_that_the_score_does_not_tell_is_never_taken_silently(name):
    people = base_people().drop(columns=["predicted", "set"]).rename(columns={"approved": "state"})
    people = with_wave(people).rename(columns={"wave": name})
    label, fact = outcome_of(people)
    if label == name:
        assert fact.kind == "outcome_untold"
    else:
        assert (label, fact.severity) == ("state", Severity.QUESTION)
    chosen = replace(suggest_roles(people, label=name).roles, favourable="A")
    warning = fact_of(people, "outcome_untold", chosen)
    assert warning.severity is Severity.CAUTION
    assert "state" in warning.text and name in warning.point
    assert repaired(chosen, warning).label == "state"
    assert kinds(check_input(people, repaired(chosen, warning))).isdisjoint({"outcome", "outcome_untold"})


def test_shared_lines_hold_no_prediction_before_outcome_and_score():
    people = with_wave(base_people().drop(columns=["predicted", "set"]).rename(columns={"score": "risk_score"}))
    suggestion = suggest_roles(people)
    lines = lines_of(people, suggestion.roles, suggestion.questions)
    assert "possible_answers" in kinds(lines, Severity.QUESTION) and "positive" not in kinds(lines)
    answered = repaired(suggestion.roles, only(lines, "possible_answers"))
    assert "positive" in kinds(lines_of(people, answered))


@pytest.mark.parametrize(
    ("name", "values", "asks"),
    [
        ("Country of Birth", ["x", "y"], True),  # by its name
        ("col_7", ["abroad", "here"], True),  # by its values
        ("tariff", ["a", "b"], True),  # the only other column of few values
        ("tariff", [*"abcdef"], False),
        ("age_group", [*range(30)], False),  # too many values to be meant silently
    ],
)
def test_another_attribute_that_may_be_meant_is_asked_for_and_not_guessed(name, values, asks):
    people = base_people().drop(columns="dept")
    people[name] = np.resize(values, len(people))
    suggestion = suggest_roles(people)
    assert suggestion.roles.sensitive == "sex"
    facts = check_input(people, suggestion.roles, guesses=suggestion.questions)
    assert ("attribute" in kinds(facts, Severity.QUESTION)) is asks
    assert "sensitive" not in suggest_roles(people, attribute="sex").questions
    if not asks:
        return
    fact = only(facts, "attribute")
    assert ("only other text" in fact.more) == (name == "tariff")
    assert repaired(suggestion.roles, fact) == replace(suggest_roles(people, attribute=name).roles, favourable="")
    confirmed = repaired(suggestion.roles, fact, -1)
    facts = check_input(people, confirmed, guesses=suggestion.questions)
    assert only(facts, "attribute").severity is Severity.NOTE


def test_prediction_values_block_until_one_stands_for_the_positive_label():
    people = decided_people()
    assert blocking(people, DECIDED) == {"prediction_values"}
    fact = fact_of(people, "prediction_values", DECIDED)
    share = (people.loc[people["vendor_decision"] == "refer", "fraud"] == "yes").mean()
    assert f"{100 * share:.1f}% of refer" in fact.more
    assert [repair.changes["prediction_positive"] for repair in fact.repairs] == ["refer", "pay"]
    right = repaired(DECIDED, fact)
    assert blocking(people, right) == set()
    data = build_dataset(Table(name="upload", title="Vendor", frame=people, source="A test."), right)
    assert ((data.predictions == 1) == (people["vendor_decision"] == "pay")).all()  # 1 is good for the person


def test_prediction_values_that_are_wrong_ambiguous_or_unknown_block():
    people = decided_people()
    wrong = repaired(DECIDED, fact_of(people, "prediction_values", DECIDED), 1)
    assert {"inverted_predictions", "contradiction"} <= blocking(people, wrong)
    assert repaired(wrong, fact_of(people, "contradiction", wrong)).prediction_positive == "refer"
    numbers = people["fraud"].map({"yes": 2, "no": 1})
    torn = people.assign(fraud=numbers, vendor_decision=(people["vendor_score"] > 0.3).astype(int))
    assert "prediction_values" in blocking(torn, replace(DECIDED, positive="2", favourable="1"))
    assert "prediction_values" in blocking(people, replace(DECIDED, prediction_positive="maybe"))


def test_cautions_say_that_a_decision_left_out_differs_from_the_threshold():
    people = decided_people()
    roles = replace(DECIDED, prediction="", excluded=("vendor_decision",))
    above = people["vendor_score"] >= 0.5
    differing = int((above != (people["vendor_decision"] == "refer")).sum())
    caution = only(cautions(people, roles), "decisions_left_out")
    assert f"{differing:,} of {len(people):,} people" in caution.point
    assert f"{int(above.sum()):,} people" in caution.more
    assert "decisions_left_out" not in kinds(cautions(people, replace(roles, threshold=0.35)))


def test_rank_correlation_is_spearmans_and_none_of_a_constant():
    rng = np.random.default_rng(1)
    first, second = rng.integers(0, 5, 40), rng.integers(0, 5, 40)
    assert rank_correlation(first, second) == pytest.approx(spearmanr(first, second).statistic)
    assert rank_correlation(first, np.ones(40)) == rank_correlation(np.ones(40), first) == 0


@pytest.mark.parametrize("predicted", [True, False])
def test_find_copies_of_a_score_across_the_threshold(predicted):
    """Bands of the score, of which one holds people on both sides of the threshold."""
    rng = np.random.default_rng(0)
    scores = rng.random(400)
    features = pd.DataFrame({"band": np.digitize(scores, [0.3, 0.7]), "age": rng.integers(18, 70, 400)})
    predictions = (scores >= 0.5).astype(np.int64) if predicted else None
    (copy,) = find_copies(features, scores=scores, predictions=predictions, positive=rng.random(400) < scores)
    assert (copy.column, copy.of_score, copy.honest) == ("band", True, False)
