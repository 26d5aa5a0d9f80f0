"""Every check's number against the one its building blocks give, and its reason where there is none."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from core.auditing import (
    AuditPlan,
    GuardPlan,
    MembershipPlan,
    ModelPlan,
    OutputsPlan,
    PlannedAnswers,
)
from core.auditing.inputs import Audited
from core.auditing.result import data_summary
from core.auditing.run import audited_of, measured, result_of, tables
from core.base.errors import Cancelled, FairLeakError, InputError
from core.datasets import Roles, Table
from core.models import GIVEN
from core.stats.estimates import paired_gain, proportion, tolerance_text
from core.studies.attribute import released_posteriors
from core.studies.config import AuditConfig
from core.studies.correction import ATTACKERS, CorrectionResult, false_promise, true_tolerance
from core.studies.correction import run as whole_audit
from core.studies.correction.study import applied_tolerance
from core.studies.fairness import rate_ratio
from core.studies.membership import REGISTRY, Evidence, judging_everybody, roc
from core.studies.membership.disparity import lira_gaps
from core.studies.membership.roc import advantage
from core.studies.membership.study import STUDY, MembershipResult
from core.studies.membership.targets import audited_access, audited_target
from core.studies.registry import STUDIES
from core.studies.study import Measurement
from tests import samples


def members(audited: Audited) -> MembershipResult:
    """Return what each membership attack says in an audit."""
    return result_of(STUDY, audited)[0]


CONFIG = AuditConfig(dataset="sample", roles=samples.ROLES, method="unmitigated", tolerance=0.05, seed=7)
PLAN = AuditPlan(
    config=CONFIG,
    answers=PlannedAnswers(questions=6, people=40, epsilon=0.5, repeats=4),
    membership=MembershipPlan(shadows=4),
    guard=GuardPlan(budget=0.4),
)

BARE = replace(PLAN, answers=PlannedAnswers(), membership=MembershipPlan(shadows=0), guard=GuardPlan())


@pytest.fixture(scope="module")
def small() -> Audited:
    return audited_of(PLAN, samples.table(1500, seed=8))


@pytest.fixture(scope="module")
def audit(small: Audited) -> CorrectionResult:
    return whole_audit(CONFIG, dataset=small.dataset)


@pytest.fixture(scope="module")
def large() -> Audited:
    """Enough outsiders of each group for a rate of 1%."""
    return audited_of(PLAN, samples.table(9000, seed=8))


def releasing(audited: Audited, **outputs: object) -> Audited:
    """Return an audit of which something else is released."""
    return replace(audited, plan=replace(audited.plan, outputs=OutputsPlan(**outputs)))  # type: ignore[arg-type]


def done(check: str, audited: Audited) -> Measurement:
    found = measured(check, audited)
    assert found.outcome == "done" and found.reason == "" and found.check == check
    assert found.estimate is not None and found.estimate.low <= found.estimate.value <= found.estimate.high
    assert found.attacked.endswith(".") and found.knows.endswith(".")
    assert found.assumptions and all(told.endswith(".") for told in found.assumptions)
    assert bool(found.control_name) == (found.control is not None)
    return found


def test_attribute_gains_are_paired_and_of_the_attacker_who_gains_most(small: Audited):
    """A model that follows features alone: imputation gets what there is, from outside and inside."""
    found = done("attribute_excess", small)
    judged = released_posteriors(small)
    assert set(judged) == {"outside", "inside"}
    gains = {}
    for place, own in judged.items():
        before, after = (p.argmax(axis=1) == own.truth for p in (own.before, own.after))
        gains[place] = paired_gain(int((after & ~before).sum()), int((before & ~after).sum()), before.size)
        assert sorted(own.truth) == sorted(small.dataset.sensitive[small.splits.train])
    assert found.estimate is not None and found.estimate.value == max(gain.value for gain in gains.values())
    assert found.control_name == "imputation, without the model"
    assert found.details is not None and found.details["from outside, gain in accuracy"] == gains["outside"].value
    assert f"{small.splits.train.size:,} people the model was trained on" in found.attacked
    assert "labels and scores" in found.knows
    bits = done("attribute_bits", small)
    assert bits.estimate is not None and abs(bits.estimate.value) < 0.05


def leaking(audited: Audited, **outputs: object) -> Audited:
    """Return an audit of scores that follow the group, at full precision unless the plan says otherwise."""
    scores = 0.2 + 0.6 * audited.model.scores + 0.02 * audited.dataset.sensitive
    leaks = replace(audited.model, scores=scores, predictions=(scores >= 0.5).astype(np.uint8))
    return releasing(replace(audited, model=leaks, plan=BARE), **outputs)


def test_a_leak_of_scores_names_the_precision_that_closes_it(small: Audited):
    found = done("attribute_excess", leaking(small))
    assert found.estimate is not None and found.estimate.low > 0.05
    told = [told for told in found.assumptions if "would close the leak" in told or "closes the leak" in told]
    assert len(told) == 1 and "95% CI" in told[0]
    labels = done("attribute_excess", leaking(small, released="labels"))
    assert labels.estimate is not None and labels.estimate.value < 0.02 and "scores" not in labels.knows
    rounded = done("attribute_excess", leaking(small, decimals=1))
    assert rounded.estimate is not None and rounded.estimate.value < found.estimate.value
    assert "scores with 1 decimal" in rounded.attacked


def best_after_minus_before(rows: list[tuple[float, float]], majority: float) -> float:
    """Return it from (before, after) of each attacker."""
    return max(majority, *(after for _, after in rows)) - max(majority, *(before for before, _ in rows))


def test_correction_gain_is_the_best_after_minus_the_best_before(small: Audited, audit: CorrectionResult):
    found = done("correction_gain", small)
    achieved = small.model.unfairness_train
    assert achieved > 0.05  # so that the promise is false
    told = {kind: audit.disclose(applied_tolerance(audit), adversary=kind) for kind in ATTACKERS}
    rows = [(one.before.value, one.after.value) for one in told.values() if one.after is not None]
    majority = next(iter(told.values())).majority.value
    assert found.estimate is not None and found.control is not None and len(rows) == 4
    assert found.estimate.value == best_after_minus_before(rows, majority)
    assert found.control.value == max(majority, *(before for before, _ in rows))
    assert found.estimate.low < found.estimate.value < found.estimate.high
    assert any(
        told.startswith("The disclosed tolerance does not hold.") and tolerance_text(achieved, limit=0.05) in told
        for told in found.assumptions
    )


def promising(small: Audited, tolerance: float) -> Audited:
    """Return an audit of the same model, of which another tolerance was promised."""
    config = replace(small.config, tolerance=tolerance)
    made = replace(small, config=config, plan=replace(BARE, config=replace(CONFIG, tolerance=tolerance)))
    for kind in ATTACKERS:
        attack = result_of(STUDIES["correction"], small)[0].attack(kind)
        made.once(f"attack {kind} held_out", lambda attack=attack: attack)
    made.once("result membership", lambda: result_of(STUDY, small))  # which hangs on no promise
    return made


@pytest.fixture
def no_other_tolerance(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the table of corrections have the promised tolerance alone."""
    monkeypatch.setattr("core.studies.correction.study.TOLERANCES", ())


@pytest.mark.usefixtures("no_other_tolerance")
@pytest.mark.parametrize("promised", [0.0, 0.001, 0.02])
def test_whoever_is_promised_too_much_is_told_what_is_true(small: Audited, promised: float):
    """No false promise makes the check pass: it is judged as the smallest true one is, and the row says so first."""
    audited = promising(small, promised)
    found, achieved = done("correction_gain", audited), small.model.unfairness_train
    told = true_tolerance(promised, achieved)
    assert achieved <= told + 1e-12 < achieved + 0.001 and round(told / 0.001) * 0.001 == pytest.approx(told)
    same = done("correction_gain", promising(small, told))
    assert found.estimate is not None and same.estimate is not None
    assert (found.estimate.value, found.control) == (same.estimate.value, same.control)
    said = false_promise(promised, achieved)
    assert said == f"The disclosed tolerance {promised:g} does not hold; the attackers used {told:g}, which does."
    assert found.attacked.startswith(said) and f"within {told:g}." in found.knows
    tables_of = tables(audited)
    rows = tables_of["Correction with a true tolerance"]
    assert {row["tolerance"] for row in rows} == {told} and {row["true"] for row in rows} == {"yes"}
    assert found.details is not None
    before_and_after = [(float(row["before"] or 0), float(row["after"] or 0)) for row in rows]
    assert found.estimate.value == best_after_minus_before(before_and_after, found.details["majority-class baseline"])
    assert any(row["tolerance"] == promised and row["true"] == "no" for row in tables_of["Corrections over tolerances"])


@pytest.mark.usefixtures("no_other_tolerance")
def test_a_true_promise_is_told_as_it_is(small: Audited):
    audited = promising(small, 0.4)
    found = done("correction_gain", audited)
    assert (
        applied_tolerance(result_of(STUDIES["correction"], audited)[0]) == 0.4
        and false_promise(0.4, small.model.unfairness_train) == ""
        and found.attacked.startswith("The ")
    )
    assert any("The disclosed tolerance holds." in told for told in found.assumptions)
    assert "Correction with a true tolerance" not in tables(audited)


SIX = ("loss", "released", "quantile", "lira", "lira_boosted", "rmia")


def test_members_are_identified_as_by_the_best_of_six_attacks(large: Audited):
    found = done("membership_caught", large)
    dataset, splits, scores = large.dataset, large.splits, large.model.scores
    evidence = Evidence(
        released=scores,
        features=dataset.features,
        predictions=large.model.predictions,
        labels=dataset.labels,
        split=judging_everybody(splits.train, splits.test, aside=splits.known),
        seed=7,
        train=audited_target(CONFIG, dataset),
        shadows=4,
    )
    guesses = [REGISTRY[name].judge(evidence) for name in SIX]
    inside = [np.isin(guess.rows, splits.train).astype(np.uint8) for guess in guesses]
    caught = [roc(guess.score, own).tpr_at(0.01) for guess, own in zip(guesses, inside, strict=True)]
    assert found.estimate is not None
    assert found.estimate.value == max(each.value for each in caught)
    assert found.estimate.high >= max(each.high for each in caught)
    assert found.control is not None and found.control.value == 0.01
    assert "the best of 6 attacks tried" in found.attacked
    areas = [roc(guess.score, own).auc.value for guess, own in zip(guesses, inside, strict=True)]
    auc = done("membership_auc", large)
    assert auc.estimate is not None and auc.estimate.value == max(areas) and auc.control.value == 0.5
    gains = [
        advantage(
            guess.score, own, seed=7, verdict=guess.verdict if guess.name in ("released", "lira_boosted") else None
        ).value
        for guess, own in zip(guesses, inside, strict=True)
    ]
    told = done("membership_advantage", large)
    assert told.estimate is not None and told.estimate.value == max(gains) and told.control.value == 0.0
    assert found.details is not None and {"LiRA, AUC", "LiRA, advantage", "LiRA, TPR at 1% FPR"} <= set(found.details)
    gaps = [
        lira_gaps(guess.score, dataset.sensitive[guess.rows], own, names=dataset.group_names, seed=7)[0].estimate
        for guess, own in zip(guesses, inside, strict=True)
    ]
    gap = done("membership_gap", large).estimate
    assert gap is not None and gap.value == max(abs(each.value) for each in gaps)
    assert gap.low >= 0 and gap.high >= max(max(abs(each.low), abs(each.high)) for each in gaps)


def test_unfairness_and_ratio_are_those_of_the_test_records_if_anybody_is_accepted(small: Audited):
    assert done("unfairness", small).estimate == small.model.unfairness_test
    test = small.splits.test
    accepted, groups = small.model.predictions[test], small.dataset.sensitive[test]
    rates = [proportion(int(accepted[groups == code].sum()), int((groups == code).sum())) for code in (0, 1)]
    assert done("four_fifths", small).estimate == rate_ratio(*sorted(rates, key=lambda rate: rate.value))
    nobody = replace(small.model, predictions=np.zeros_like(small.model.predictions))
    found = measured("four_fifths", replace(small, model=nobody))
    assert found.outcome == "not_run" and found.reason.startswith("The model accepts nobody on the ")


@pytest.mark.parametrize(
    ("error", "outcome", "reason"),
    [
        (RuntimeError("a secret path"), "failed", "The attack stopped with an error (RuntimeError)."),
        (FairLeakError("A worker was lost."), "failed", "A worker was lost."),
        (InputError("seed must be whole."), "not_run", "seed must be whole."),
    ],
)
def test_what_breaks_is_told_and_broken_once(
    small: Audited, monkeypatch: pytest.MonkeyPatch, error: Exception, outcome: str, reason: str
):
    calls = []

    def broken(*_: object, **__: object) -> None:
        calls.append(1)
        raise error

    monkeypatch.setattr("core.studies.correction.attribute_attacks.attack_model", broken)
    audited = replace(small, plan=BARE)
    monkeypatch.setattr("core.studies.attribute.study.attack_released", broken)
    for check in ("attribute_excess", "attribute_balanced", "correction_gain"):
        found = measured(check, audited)
        assert (found.outcome, found.reason, found.estimate) == (outcome, reason, None)
    tried = len(calls)
    assert tried == 2  # what is released, and the first attacker of the correction, each once
    assert tables(audited)["Reconstruction correction"] == ({"not made": reason},)


def test_cancelling_is_no_failed_attack(small: Audited, monkeypatch: pytest.MonkeyPatch):
    def cancelled(*_: object, **__: object) -> Iterator[None]:
        raise Cancelled("Stopped.")

    monkeypatch.setattr("core.studies.attribute.study.attack_released", cancelled)
    with pytest.raises(Cancelled):
        measured("attribute_excess", replace(small))


def given_table(n: int, *, sets: bool) -> tuple[Table, Roles]:
    """Return the people with the answers of a model that somebody else trained."""
    made = samples.table(n, seed=8)
    frame = made.frame.copy()
    p = 1 / (1 + np.exp(-1.5 * frame["skill"].to_numpy()))
    frame["said"] = np.where(p > 0.5, "yes", "no")
    frame["p"] = p.round(4)
    frame["part"] = np.where(np.arange(n) % 3 == 0, "train", np.where(np.arange(n) % 3 == 1, "attack", "test"))
    answers = {"prediction": "said", "score": "p", "sets": "part" if sets else ""}
    roles = replace(samples.ROLES, **answers, confirmed=("copy:skill",))  # which is all that the model looks at
    return replace(made, frame=frame), roles


def given_audit(n: int, *, sets: bool) -> Audited:
    table, roles = given_table(n, sets=sets)
    config = replace(CONFIG, roles=replace(roles, excluded=() if sets else ("part",)), method=GIVEN)
    return audited_of(replace(PLAN, model=ModelPlan(kind="predictions"), config=config), table)


def test_records_on_both_sides_of_the_split_are_told():
    table, roles = given_table(600, sets=True)
    once = table.frame[table.frame["part"] == "train"]
    both = pd.concat([table.frame, *(once.assign(part=part) for part in ("attack", "test"))], ignore_index=True)
    config = replace(CONFIG, roles=roles, method=GIVEN)
    plan = replace(PLAN, model=ModelPlan(kind="predictions"), config=config)
    note = data_summary(audited_of(plan, replace(table, frame=both)), table).notes[-1]
    assert note == (
        "200 of 400 test records and 200 of 400 records the attacker knows equal a training record in every column "
        "used."
    )
    assert not any("both" in told or "equal" in told for told in data_summary(audited_of(plan, table), table).notes)


def test_released_labels_are_attacked_by_the_gap():
    audited = releasing(given_audit(1500, sets=True), released="labels")
    found = done("membership_auc", audited)
    assert "of 2 attacks tried" in found.attacked and found.knows.startswith("Every person's true and predicted label")
    assert set(found.details or ()) == {"the gap attack", "boosting on everything released"}
    assert any("RMIA need scores" in told for told in found.assumptions)
    for check in ("membership_caught", "membership_gap"):
        assert "the plan releases labels alone" in measured(check, audited).reason


def test_released_labels_of_a_model_trained_here_are_attacked_by_asking_it(small: Audited):
    plan = replace(small.plan, outputs=OutputsPlan(released="labels"))
    audited = Audited(small.config, small.dataset, small.splits, small.model, small.progress, plan=plan)
    found = done("membership_auc", audited)
    assert "of 3 attacks tried" in found.attacked and "the boundary attack" in (found.details or ())
    assert not any("can be asked" in told for told in found.assumptions)
    access = audited_access(audited)
    own = np.repeat(np.arange(small.dataset.n)[:, np.newaxis], access.columns, axis=1)
    assert np.array_equal(access.ask(own), small.model.predictions)


def test_membership_attacks_see_the_decimals_that_are_released():
    given = given_audit(1500, sets=True)
    audited = releasing(given, decimals=1)
    found = members(audited).guesses["loss"].score
    assert 5 < np.unique(found).size <= 11 and np.unique(members(given).guesses["loss"].score).size > 100
    assert any("with 1 decimal;" in told for told in done("membership_auc", audited).assumptions)


def test_given_scores_are_attacked_without_lira_and_only_with_known_sets():
    unknown = measured("membership_gap", given_audit(1500, sets=False))
    assert unknown.outcome == "not_run" and "no column says which they are" in unknown.reason
    audited = given_audit(9000, sets=True)
    assert audited.splits.train.size == audited.splits.test.size == 3000
    found = done("membership_caught", audited)
    assert "the best of 3 attacks tried" in found.attacked
    assert any("RMIA need a model" in told for told in found.assumptions)
    assert found.estimate is not None and found.estimate.low < 0.01 < found.estimate.high  # nobody was trained on


def test_a_model_file_is_asked_and_audited_as_given_predictions():
    import skops.io
    from sklearn.linear_model import LogisticRegression

    from core.models.model_files import read_model

    table = samples.table(1500, seed=8)
    columns, hired = table.frame[["skill", "score"]].to_numpy(), table.frame["hired"]
    model = LogisticRegression().fit(columns, hired)
    plan = replace(
        BARE,
        model=ModelPlan(kind="file", file="m.skops", features=("skill", "score"), positive="yes"),
        config=replace(CONFIG, method=GIVEN),
    )
    file = read_model(skops.io.dumps(model), "m.skops")
    audited = audited_of(plan, table, model_file=file)
    assert np.array_equal(audited.model.predictions == 1, model.predict(columns) == "yes")
    assert audited.model.scores == pytest.approx(model.predict_proba(columns)[:, 1])
    assert audited.has_scores and not audited.trainable and not audited.sets_known
    assert audited.dataset.feature_names == small_names(table)
    own = np.repeat(np.arange(audited.dataset.n)[:, np.newaxis], 2, axis=1)
    assert audited.access is not None and np.array_equal(audited.access.ask(own), audited.model.predictions)
    with pytest.raises(InputError, match="needs its model file, got none"):
        audited_of(plan, table)


def small_names(table: Table) -> tuple[str, ...]:
    """Return the features of the people, without label, attribute and whatever a model answered."""
    return tuple(str(name) for name in table.frame.columns if name not in ("origin", "hired"))
