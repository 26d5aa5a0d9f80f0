"""What is said of a table and its roles before an audit, and what is not."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from core.auditing.result import data_caveats
from core.auditing.run import audited_of
from core.datasets import Roles
from core.datasets import cautions as found_cautions
from core.datasets.checked_table import Severity
from core.datasets.input_check import check_input
from tests import samples

N = 3_000
ROLES = samples.ROLES


def people(**columns):
    return samples.frame(N).assign(**columns)


def cautions(frame, roles):
    return tuple(caution.text for caution in found_cautions(frame, roles))


IS_NORTH = (samples.frame(N)["origin"] == "north").to_numpy()
CODES = np.array([f"{'ab'[int(is_north)]}{i % 40}" for i, is_north in enumerate(IS_NORTH)])
NEAR = {
    "texts": (np.where(IS_NORTH, "N", "S"), True),
    "numbers": (np.where(IS_NORTH, 1.0, 0.0), True),
    "a number with a limit": (np.where(IS_NORTH, 50.0, 0.0) + np.linspace(0, 9, N), True),
    "many codes for each group": (CODES, True),
    "wrong for 2%": (IS_NORTH ^ (np.random.default_rng(1).random(N) < 0.02), True),
    "wrong for 10%": (IS_NORTH ^ (np.random.default_rng(1).random(N) < 0.1), False),
    "a running number": (np.arange(N), False),
    "names": ([f"P{i}" for i in range(N)], False),
}


@pytest.mark.parametrize(("column", "is_near"), NEAR.values(), ids=NEAR)
def test_a_near_copy_of_the_attribute(column, is_near):
    texts = cautions(people(town2=column), ROLES)
    assert len(texts) == is_near
    for text in texts:
        assert text.startswith("Almost the attribute origin: town2. Alone it predicts the attribute")
        assert "(random guessing 50.0%)" in text


def test_near_copies_of_the_label_and_what_is_left_out():
    table = people(offer=people()["hired"].map({"yes": "sent", "no": "none"}), paid=people()["hired"] == "yes")
    (caution,) = cautions(table, ROLES)
    assert "Almost the label hired: " in caution
    assert "100.0% or more" in caution
    assert cautions(table, replace(ROLES, excluded=("offer", "paid"))) == ()
    answered = table.drop(columns="score")
    answered.loc[0, "paid"] = not answered.loc[0, "paid"]
    (caution,) = cautions(answered, replace(ROLES, excluded=("offer",), prediction="paid"))
    assert "hired and paid agree for 100.0% of the records. Is the label what really happened?" in caution


def test_a_models_own_answer_among_the_features():
    """Everybody would be taken to know it without the model."""
    score = np.random.default_rng(2).random(N)
    table = people(said=np.where(score >= 0.5, "yes", "no"), risk=100 * score).drop(columns="score")
    roles = replace(ROLES, prediction="said")
    (near,) = cautions(table, roles)
    assert near.startswith("Almost the prediction said: risk.") and "counts as known without the model" in near
    coded = table.assign(said=(table["said"] == "yes").astype(int))  # while the label says yes and no
    assert cautions(coded, roles) == (near,)
    assert cautions(table.drop(columns="risk"), roles) == ()


def test_a_rare_group_is_told_by_balanced_accuracy():
    """Naming the larger group for everybody is right for 97 %, and tells nothing."""
    rare = np.where(np.arange(N) % 33 == 0, "north", "south")
    (caution,) = cautions(people(origin=rare), ROLES)
    assert caution.startswith("97.0% of the people are in one group of origin: south.") and "(baseline)" in caution
    (first, second) = cautions(people(origin=rare, copy=rare), ROLES)
    assert first == caution and "Almost the attribute origin: copy." in second
    assert cautions(people(origin=np.where(np.arange(N) % 10 == 0, "north", "south")), ROLES) == ()  # 90 %


HARMFUL = {  # label, its values, the column of an answer, and the value that is bad for the person
    "yes to a harm": ("default", ("0", "1"), {}, "1"),
    "yes to a camel-case harm": ("wasRejected", ("no", "yes"), {}, "yes"),
    "no to a good thing": ("loan_approved", ("false", "true"), {}, "false"),
    "no to the absence of a harm": ("no_default", ("n", "y"), {}, "n"),
    "the value itself": ("status", ("paid back", "charged off"), {}, "charged off"),
    "the other value": ("decision", ("granted", "b"), {}, "b"),
    "the score": ("outcome", ("0", "1"), {"score": "default_risk"}, "1"),
    "the prediction": ("y", ("0", "1"), {"prediction": "predicted_fraud"}, "1"),
}


def labelled(label, values, answers):
    """Return people with a label of these values and the columns of answers, and their roles."""
    table = people().rename(columns={"hired": label})
    table[label] = table[label].map({"no": values[0], "yes": values[1]})
    for role, column in answers.items():
        table[column] = 0.5 if role == "score" else table[label]
    return table, Roles(label=label, positive=values[1], sensitive="origin", group=("north",), **answers)


def outcome_facts(frame, roles):
    return [fact for fact in check_input(frame, roles) if fact.kind.endswith("_outcome")]


@pytest.mark.parametrize(
    ("label", "values", "severities"),
    [
        ("status", ("S1", "S2"), [Severity.NOTE]),
        ("hired", ("no", "yes"), []),
        ("tended", ("no", "yes"), [Severity.NOTE]),
        ("tended", ("yes", "no"), [Severity.CAUTION]),
    ],
    ids=["bare codes", "a good thing", "a plain yes", "a plain no"],
)
def test_check_input_says_that_no_name_shows_what_is_good_for_a_person(label, values, severities):
    table, roles = labelled(label, values, {})
    roles = replace(roles, favourable=values[1])
    facts = outcome_facts(table, roles)
    assert [(fact.kind, fact.severity) for fact in facts] == [("unclear_outcome", level) for level in severities]
    (line,) = (fact for fact in check_input(table, roles, settings=True) if fact.kind == "favourable")
    assert ("No name in the table shows" in line.more) == (severities == [Severity.NOTE])


@pytest.mark.parametrize(("label", "values", "answers", "bad"), HARMFUL.values(), ids=HARMFUL)
def test_check_input_names_a_harmful_outcome_and_no_benefit(label, values, answers, bad):
    table, roles = labelled(label, values, answers)
    (question,) = (fact for fact in check_input(table, roles) if fact.kind == "favourable")
    assert f"By the names of the table it may be bad: {bad}." in question.more
    for value in ("", *values):  # nothing is chosen yet, or one of both
        facts = outcome_facts(table, replace(roles, favourable=value))
        harms = [fact for fact in facts if fact.kind == "harmful_outcome"]
        assert len(harms) == (value == bad), value
        assert all(label in caution.point and value in caution.point for caution in harms)
        assert not any(f"{value} reads like something good" in caution.point for caution in harms)


@pytest.mark.parametrize(
    ("label", "values"),
    [("tended", ("1", "0")), ("default", ("0", "1"))],
    ids=["a plain no", "a harm by its name"],
)
def test_a_doubtful_outcome_is_confirmed_or_turned_round(label, values):
    table, roles = labelled(label, values, {})
    roles = replace(roles, favourable=values[1])
    (caution,) = outcome_facts(table, roles)
    share = round(100 * float((table[label] == values[1]).mean()))
    assert f"{share} of 100 people" in caution.point
    by_title = {frozenset(repair.changes): replace(roles, **repair.changes) for repair in caution.repairs}
    turned, confirmed = by_title[frozenset({"favourable"})], by_title[frozenset({"confirmed"})]
    assert turned.favourable == values[0]
    (note,) = outcome_facts(table, confirmed)
    assert (note.kind, note.severity) == (caution.kind, Severity.NOTE)
    other_value = replace(roles, confirmed=(f"{caution.kind}:{values[0]}",))  # it is confirmed of one value alone
    assert [fact.severity for fact in outcome_facts(table, other_value)] == [Severity.CAUTION]


@pytest.mark.parametrize(
    ("label", "values", "favourable", "answers"),  # of the catalogue, and of the tables that people bring
    [
        ("income", ("<=50K", ">50K"), ">50K", {}),
        ("two_year_recid", ("0", "1"), "0", {}),
        ("outcome", ("dropout", "graduate"), "graduate", {}),
        ("approved", ("f", "t"), "t", {"score": "risk_score"}),  # a score called risk that predicts approval
    ],
)
def test_check_input_names_no_harm_in_usual_labels(label, values, favourable, answers):
    table, roles = labelled(label, values, answers)
    assert outcome_facts(table, replace(roles, favourable=favourable)) == []


def test_cautions_stand_among_the_caveats_of_the_verdict():
    frame = people(hired=people()["hired"].map({"yes": "hired", "no": "rejected"}))
    table, plan = replace(samples.table(), frame=frame), samples.plan()
    roles = replace(ROLES, positive="hired", favourable="rejected")
    audited = audited_of(replace(plan, config=replace(plan.config, roles=roles)), table)
    assert any("rejected counts as good for the person" in caveat.text for caveat in data_caveats(audited, table))


@pytest.mark.parametrize("form", ["%Y-%m-%d", "%d.%m.%Y"])
def test_a_feature_of_dates_may_name_people(form):
    dates = pd.Timestamp("1980-01-01") + pd.to_timedelta(np.arange(N) % 700, unit="D")
    (caution,) = found_cautions(people(born=dates.strftime(form)), ROLES)
    assert caution.point == "born holds dates: 700 different values." and caution.columns == ("born",)
    assert cautions(people(born=dates.strftime(form)), replace(ROLES, excluded=("born",))) == ()
