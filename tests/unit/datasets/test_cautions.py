"""What is said of a table and its roles before an audit, and what is not."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from core.auditing import catalogue_plan
from core.auditing.result import data_caveats
from core.auditing.run import audited_of
from core.datasets import Roles
from core.datasets import cautions as found_cautions
from tests import samples

N = 3_000
ROLES = samples.ROLES


def people(**columns: object) -> pd.DataFrame:
    return samples.frame(N).assign(**columns)


def cautions(frame: pd.DataFrame, roles: Roles) -> tuple[str, ...]:
    return tuple(caution.text for caution in found_cautions(frame, roles))


def north(noise: float = 0.0) -> np.ndarray:
    """Return who is from the north, wrong for a share of the people."""
    is_north = (people()["origin"] == "north").to_numpy()
    return is_north ^ (np.random.default_rng(1).random(N) < noise)


CODES = np.array([f"{'ab'[int(is_north)]}{i % 40}" for i, is_north in enumerate(north())])
NEAR = {
    "texts": (np.where(north(), "N", "S"), True),
    "numbers": (np.where(north(), 1.0, 0.0), True),
    "true and false": (north(), True),
    "a number with a limit": (np.where(north(), 50.0, 0.0) + np.linspace(0, 9, N), True),
    "many codes for each group": (CODES, True),
    "wrong for 2%": (np.where(north(0.02), "N", "S"), True),
    "wrong for 10%": (np.where(north(0.1), "N", "S"), False),
    "a running number": (np.arange(N), False),
    "names": ([f"P{i}" for i in range(N)], False),
}


@pytest.mark.parametrize("kind", NEAR)
def test_a_near_copy_of_the_attribute(kind: str):
    column, is_near = NEAR[kind]
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
    assert cautions(answered, replace(ROLES, excluded=("offer",), prediction="paid")) == ()  # a good model is none


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


HARMFUL = {  # label, its values, answers, and the value that is bad for the person
    "yes to a harm": ("default", ("0", "1"), {}, "1"),
    "yes to a camel-case harm": ("wasRejected", ("no", "yes"), {}, "yes"),
    "no to a good thing": ("loan_approved", ("false", "true"), {}, "false"),
    "no to the absence of a harm": ("no_default", ("n", "y"), {}, "n"),
    "the value itself": ("status", ("paid back", "charged off"), {}, "charged off"),
    "the other value": ("decision", ("granted", "b"), {}, "b"),
    "the score": ("outcome", ("0", "1"), {"score": "default_risk"}, "1"),
    "the prediction": ("y", ("0", "1"), {"prediction": "predicted_fraud"}, "1"),
}


NEUTRAL = {
    "bare codes": ("status", "S1", "S2", True),
    "a word": ("status", "closed", "open", False),
    "yes": ("sent", "no", "yes", False),
}


@pytest.mark.parametrize("case", NEUTRAL)
def test_cautions_say_that_codes_do_not_show_what_is_good_for_a_person(case: str):
    label, first, second, is_unclear = NEUTRAL[case]
    table = people().rename(columns={"hired": label})
    table[label] = table[label].map({"no": first, "yes": second})
    roles = Roles(label=label, positive=second, favourable=second, sensitive="origin", group=("north",))
    kinds = [caution.kind for caution in found_cautions(table, roles)]
    assert kinds == ["unclear_outcome"] * is_unclear


@pytest.mark.parametrize("case", HARMFUL)
def test_cautions_name_a_harmful_outcome_and_no_benefit(case: str):
    label, values, answers, bad = HARMFUL[case]
    table = people().rename(columns={"hired": label})
    table[label] = table[label].map({"no": values[0], "yes": values[1]})
    for role, column in answers.items():
        table[column] = 0.5 if role == "score" else table[label]
    roles = Roles(label=label, positive=values[1], sensitive="origin", group=("north",), **answers)
    for value in values:
        harms = [c for c in found_cautions(table, replace(roles, favourable=value)) if c.kind == "harmful_outcome"]
        assert len(harms) == (value == bad), value
        assert all(label in caution.point and value in caution.point and not caution.repairs for caution in harms)
    assert not [c for c in found_cautions(table, roles) if c.kind == "harmful_outcome"]  # nothing is chosen yet


@pytest.mark.parametrize(
    ("label", "values", "favourable"),  # of the catalogue, and of the tables that people bring
    [
        ("income", ("<=50K", ">50K"), ">50K"),
        ("two_year_recid", ("0", "1"), "0"),
        ("approved", ("f", "t"), "t"),
        ("outcome", ("dropout", "graduate"), "graduate"),
    ],
)
def test_cautions_name_no_harm_in_usual_labels(label: str, values: tuple[str, str], favourable: str):
    table = people(score=0.5).rename(columns={"hired": label})
    table[label] = table[label].map({"no": values[0], "yes": values[1]})
    roles = Roles(label=label, positive=values[1], favourable=favourable, sensitive="origin", group=("north",))
    assert cautions(table, roles) == ()


def test_cautions_stand_among_the_caveats_of_the_verdict():
    table = samples.table(N)
    frame = people(hired=people()["hired"].map({"yes": "hired", "no": "rejected"}))
    table = replace(table, frame=frame)
    config = replace(
        catalogue_plan("demo").config,
        roles=replace(ROLES, positive="hired", favourable="rejected"),
        method="unmitigated",
    )
    audited = audited_of(replace(catalogue_plan("demo"), config=config), table)
    assert any("rejected is chosen as good for the person" in caveat.text for caveat in data_caveats(audited, table))


def test_cautions_name_no_harm_where_names_contradict():
    table = people(risk_score=0.5).rename(columns={"hired": "approved"})
    roles = replace(ROLES, label="approved", score="risk_score")  # a score called risk that predicts approval
    assert cautions(table, roles) == ()


@pytest.mark.parametrize("form", ["%Y-%m-%d", "%d.%m.%Y"])
def test_a_feature_of_dates_may_name_people(form: str):
    dates = pd.Timestamp("1980-01-01") + pd.to_timedelta(np.arange(N) % 700, unit="D")
    (caution,) = found_cautions(people(born=dates.strftime(form)), ROLES)
    assert caution.point == "born holds dates: 700 different values." and caution.columns == ("born",)
    assert cautions(people(born=dates.strftime(form)), replace(ROLES, excluded=("born",))) == ()
