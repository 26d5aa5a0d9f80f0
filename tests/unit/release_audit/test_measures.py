"""Every check's number against the one its building blocks give, and its reason where there is none."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from core.auditing import (
    AttriGuardSettings,
    AuditPlan,
    BiasQueriesSettings,
    MembershipSettings,
    ModelPlan,
    OutputsPlan,
)
from core.auditing.inputs import Audited
from core.auditing.result import data_summary
from core.auditing.run import audited_of, measured, result_of, tables
from core.base.errors import Cancelled, FairLeakError, InputError
from core.datasets import Roles, Table
from core.models import GIVEN_PREDICTIONS
from core.stats.estimates import paired_gain, proportion, tolerance_text
from core.studies.attribute import released_posteriors
from core.studies.correction import ATTACKERS, CorrectionResult, false_promise, true_tolerance
from core.studies.correction import run as whole_audit
from core.studies.correction.study import applied_tolerance
from core.studies.fairness.study import rate_ratio
from core.studies.membership import REGISTRY, Evidence, judging_everybody, roc
from core.studies.membership.attack import audited_access, audited_target
from core.studies.membership.roc import advantage
from core.studies.membership.study import STUDY, MembershipResult
from core.studies.membership.tpr_gaps import tpr_gaps
from core.studies.registry import STUDIES
from core.studies.study import Measurement
from core.studies.subject import AuditConfig
from tests import samples


def members(audited: Audited) -> MembershipResult:
    """Return what each membership attack says in an audit."""
    return result_of(STUDY, audited)[0]


CONFIG = AuditConfig(dataset="sample", roles=samples.ROLES, method="unmitigated", tolerance=0.05, seed=7)
PLAN = AuditPlan(
    config=CONFIG,
    bias_queries=BiasQueriesSettings(questions=6, people=40, epsilon=0.5, repeats=4),
    membership=MembershipSettings(shadows=4),
    attriguard=AttriGuardSettings(budget=0.4),
)

BARE = replace(
    PLAN, bias_queries=BiasQueriesSettings(), membership=MembershipSettings(shadows=0), attriguard=AttriGuardSettings()
)


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
    measurement = measured(check, audited)
    assert measurement.outcome == "done" and measurement.reason == "" and measurement.check == check
    assert (
        measurement.estimate is not None
        and measurement.estimate.low <= measurement.estimate.value <= measurement.estimate.high
    )
    assert measurement.attacked.endswith(".") and measurement.knows.endswith(".")
    assert measurement.assumptions and all(assumption.endswith(".") for assumption in measurement.assumptions)
    assert bool(measurement.control_name) == (measurement.control is not None)
    return measurement


def test_attribute_gains_are_paired_and_of_the_attacker_who_gains_most(small: Audited):
    """A model that follows features alone: imputation gets what there is, from outside and inside."""
    measurement = done("attribute_excess", small)
    posteriors = released_posteriors(small)
    assert set(posteriors) == {"outside", "inside"}
    gains = {}
    for side, released in posteriors.items():
        before, after = (p.argmax(axis=1) == released.truth for p in (released.before, released.after))
        gains[side] = paired_gain(int((after & ~before).sum()), int((before & ~after).sum()), before.size)
        assert sorted(released.truth) == sorted(small.dataset.sensitive[small.splits.train])
    assert measurement.estimate is not None and measurement.estimate.value == max(gain.value for gain in gains.values())
    assert measurement.control_name == "imputation, without the model"
    assert (
        measurement.details is not None
        and measurement.details["from outside, gain in accuracy"] == gains["outside"].value
    )
    assert f"{small.splits.train.size:,} people the model was trained on" in measurement.attacked
    assert "labels and scores" in measurement.knows
    bits = done("attribute_bits", small)
    assert bits.estimate is not None and abs(bits.estimate.value) < 0.05


def leaking(audited: Audited, **outputs: object) -> Audited:
    """Return an audit of scores that follow the group, at full precision unless the plan says otherwise."""
    scores = 0.2 + 0.6 * audited.model.scores + 0.02 * audited.dataset.sensitive
    leaks = replace(audited.model, scores=scores, predictions=(scores >= 0.5).astype(np.uint8))
    return releasing(replace(audited, model=leaks, plan=BARE), **outputs)


@pytest.mark.long
def test_a_leak_of_scores_names_the_precision_that_closes_it(small: Audited):
    measurement = done("attribute_excess", leaking(small))
    assert measurement.estimate is not None and measurement.estimate.low > 0.05
    hints = [
        hints for hints in measurement.assumptions if "would close the leak" in hints or "closes the leak" in hints
    ]
    assert len(hints) == 1 and "95% CI" in hints[0]
    labels = done("attribute_excess", leaking(small, released="labels"))
    assert labels.estimate is not None and labels.estimate.value < 0.02 and "scores" not in labels.knows
    rounded = done("attribute_excess", leaking(small, decimals=1))
    assert rounded.estimate is not None and rounded.estimate.value < measurement.estimate.value
    assert "scores with 1 decimal" in rounded.attacked


def best_after_minus_before(rows: list[tuple[float, float]], majority: float) -> float:
    """Return it from (before, after) of each attacker."""
    return max(majority, *(after for _, after in rows)) - max(majority, *(before for before, _ in rows))


def test_correction_gain_is_the_best_after_minus_the_best_before(small: Audited, audit: CorrectionResult):
    measurement = done("correction_gain", small)
    achieved = small.model.unfairness_train
    assert achieved > 0.05  # so that the promise is false
    disclosures = {kind: audit.disclose(applied_tolerance(audit), adversary=kind) for kind in ATTACKERS}
    rows = [
        (disclosure.before.value, disclosure.after.value)
        for disclosure in disclosures.values()
        if disclosure.after is not None
    ]
    majority = next(iter(disclosures.values())).majority.value
    assert measurement.estimate is not None and measurement.control is not None and len(rows) == 4
    assert measurement.estimate.value == best_after_minus_before(rows, majority)
    assert measurement.control.value == max(majority, *(before for before, _ in rows))
    assert measurement.estimate.low < measurement.estimate.value < measurement.estimate.high
    assert any(
        assumption.startswith("The disclosed tolerance does not hold.")
        and tolerance_text(achieved, limit=0.05) in assumption
        for assumption in measurement.assumptions
    )


def promising(small: Audited, tolerance: float) -> Audited:
    """Return an audit of the same model, of which another tolerance was promised."""
    config = replace(small.config, tolerance=tolerance)
    promised = replace(small, config=config, plan=replace(BARE, config=replace(CONFIG, tolerance=tolerance)))
    for kind in ATTACKERS:
        attack = result_of(STUDIES["correction"], small)[0].attack(kind)
        promised.once(f"attack {kind} held_out", lambda attack=attack: attack)
    membership = small.plan.membership
    promised.once(f"result membership {membership}", lambda: result_of(STUDY, small))  # which hangs on no promise
    return promised


@pytest.fixture
def no_other_tolerance(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the table of corrections have the promised tolerance alone."""
    monkeypatch.setattr("core.studies.correction.study.TOLERANCES", ())


@pytest.mark.long
@pytest.mark.usefixtures("no_other_tolerance")
@pytest.mark.parametrize("promised", [0.0, 0.001, 0.02])
def test_whoever_is_promised_too_much_is_told_what_is_true(small: Audited, promised: float):
    """No false promise makes the check pass: it is judged as the smallest true one is, and the row says so first."""
    audited = promising(small, promised)
    measurement, achieved = done("correction_gain", audited), small.model.unfairness_train
    tolerance = true_tolerance(promised, achieved)
    assert achieved <= tolerance + 1e-12 < achieved + 0.001 and round(tolerance / 0.001) * 0.001 == pytest.approx(
        tolerance
    )
    same = done("correction_gain", promising(small, tolerance))
    assert measurement.estimate is not None and same.estimate is not None
    assert (measurement.estimate.value, measurement.control) == (same.estimate.value, same.control)
    sentence = false_promise(promised, achieved)
    assert (
        sentence == f"The disclosed tolerance {promised:g} does not hold; the attackers used {tolerance:g}, which does."
    )
    assert measurement.attacked.startswith(sentence) and f"within {tolerance:g}." in measurement.knows
    tables_of = tables(audited)
    rows = tables_of["Correction with a true tolerance"]
    assert {row["tolerance"] for row in rows} == {tolerance} and {row["true"] for row in rows} == {"yes"}
    assert measurement.details is not None
    before_and_after = [(float(row["before"] or 0), float(row["after"] or 0)) for row in rows]
    assert measurement.estimate.value == best_after_minus_before(
        before_and_after, measurement.details["majority-class baseline"]
    )
    assert any(row["tolerance"] == promised and row["true"] == "no" for row in tables_of["Corrections over tolerances"])


@pytest.mark.long
@pytest.mark.usefixtures("no_other_tolerance")
def test_a_true_promise_is_told_as_it_is(small: Audited):
    audited = promising(small, 0.4)
    measurement = done("correction_gain", audited)
    assert (
        applied_tolerance(result_of(STUDIES["correction"], audited)[0]) == 0.4
        and false_promise(0.4, small.model.unfairness_train) == ""
        and measurement.attacked.startswith("The ")
    )
    assert any("The disclosed tolerance holds." in assumption for assumption in measurement.assumptions)
    assert "Correction with a true tolerance" not in tables(audited)


SIX = ("loss", "released", "quantile", "lira", "lira_boosted", "rmia")


@pytest.mark.long
def test_members_are_identified_as_by_the_best_of_six_attacks(large: Audited):
    measurement = done("membership_caught", large)
    dataset, splits, scores = large.dataset, large.splits, large.model.scores
    evidence = Evidence(
        released=scores,
        features=dataset.features,
        predictions=large.model.predictions,
        labels=dataset.labels,
        split=judging_everybody(splits.train, splits.test, aside=splits.attacker_rows),
        seed=7,
        train=audited_target(CONFIG, dataset),
        shadows=4,
    )
    guesses = [REGISTRY[name].judge(evidence) for name in SIX]
    inside = [np.isin(guess.rows, splits.train).astype(np.uint8) for guess in guesses]
    caught = [roc(guess.score, member).tpr_at(0.01) for guess, member in zip(guesses, inside, strict=True)]
    assert measurement.estimate is not None
    assert measurement.estimate.value == max(rate.value for rate in caught)
    assert measurement.estimate.high >= max(rate.high for rate in caught)
    assert measurement.control is not None and measurement.control.value == 0.01
    assert "the best of 6 attacks tried" in measurement.attacked
    areas = [roc(guess.score, member).auc.value for guess, member in zip(guesses, inside, strict=True)]
    auc = done("membership_auc", large)
    assert auc.estimate is not None and auc.estimate.value == max(areas) and auc.control.value == 0.5
    gains = [
        advantage(
            guess.score, member, seed=7, verdict=guess.verdict if guess.name in ("released", "lira_boosted") else None
        ).value
        for guess, member in zip(guesses, inside, strict=True)
    ]
    best_advantage = done("membership_advantage", large)
    assert (
        best_advantage.estimate is not None
        and best_advantage.estimate.value == max(gains)
        and best_advantage.control.value == 0.0
    )
    assert measurement.details is not None and {"LiRA, AUC", "LiRA, advantage", "LiRA, TPR at 1% FPR"} <= set(
        measurement.details
    )
    gaps = [
        tpr_gaps(guess.score, dataset.sensitive[guess.rows], member, names=dataset.group_names, seed=7)[0].estimate
        for guess, member in zip(guesses, inside, strict=True)
    ]
    gap = done("membership_gap", large).estimate
    assert gap is not None and gap.value == max(abs(gap_estimate.value) for gap_estimate in gaps)
    assert gap.low >= 0 and gap.high >= max(max(abs(gap_estimate.low), abs(gap_estimate.high)) for gap_estimate in gaps)


def test_unfairness_and_ratio_are_those_of_the_test_records_if_anybody_is_accepted(small: Audited):
    assert done("unfairness", small).estimate == small.model.unfairness_test
    test = small.splits.test
    accepted, groups = small.model.predictions[test], small.dataset.sensitive[test]
    rates = [proportion(int(accepted[groups == code].sum()), int((groups == code).sum())) for code in (0, 1)]
    assert done("four_fifths", small).estimate == rate_ratio(*sorted(rates, key=lambda rate: rate.value))
    nobody = replace(small.model, predictions=np.zeros_like(small.model.predictions))
    measurement = measured("four_fifths", replace(small, model=nobody))
    assert measurement.outcome == "not_run" and measurement.reason.startswith("The model accepts nobody on the ")


@pytest.mark.long
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
        measurement = measured(check, audited)
        assert (measurement.outcome, measurement.reason, measurement.estimate) == (outcome, reason, None)
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
    table = samples.table(n, seed=8)
    frame = table.frame.copy()
    p = 1 / (1 + np.exp(-1.5 * frame["skill"].to_numpy()))
    frame["said"] = np.where(p > 0.5, "yes", "no")
    frame["p"] = p.round(4)
    frame["part"] = np.where(np.arange(n) % 3 == 0, "train", np.where(np.arange(n) % 3 == 1, "attack", "test"))
    answers = {"prediction": "said", "score": "p", "sets": "part" if sets else ""}
    roles = replace(samples.ROLES, **answers, confirmed=("copy:skill",))  # which is all that the model looks at
    return replace(table, frame=frame), roles


def given_audit(n: int, *, sets: bool) -> Audited:
    table, roles = given_table(n, sets=sets)
    config = replace(CONFIG, roles=replace(roles, excluded=() if sets else ("part",)), method=GIVEN_PREDICTIONS)
    return audited_of(replace(PLAN, model=ModelPlan(kind="predictions"), config=config), table)


def test_records_on_both_sides_of_the_split():
    table, roles = given_table(600, sets=True)
    once = table.frame[table.frame["part"] == "train"]
    both = pd.concat([table.frame, *(once.assign(part=part) for part in ("attack", "test"))], ignore_index=True)
    config = replace(CONFIG, roles=roles, method=GIVEN_PREDICTIONS)
    plan = replace(PLAN, model=ModelPlan(kind="predictions"), config=config)
    note = data_summary(audited_of(plan, replace(table, frame=both)), table).notes[-1]
    assert note == (
        "200 of 400 test records and 200 of 400 records the attacker knows equal a training record in every column "
        "used."
    )
    assert not any(
        "both" in data_note or "equal" in data_note for data_note in data_summary(audited_of(plan, table), table).notes
    )


def test_released_labels_are_attacked_by_the_gap():
    audited = releasing(given_audit(1500, sets=True), released="labels")
    measurement = done("membership_auc", audited)
    assert "of 2 attacks tried" in measurement.attacked and measurement.knows.startswith(
        "Every person's true and predicted label"
    )
    assert set(measurement.details or ()) == {"the gap attack", "boosting on everything released"}
    assert any(assumption.startswith("Not tried (scores are needed): ") for assumption in measurement.assumptions)
    caught = measured("membership_caught", audited)
    assert caught.estimate is None or caught.estimate.value < 0.05, "labels that remember nobody"


def test_released_labels_of_a_model_trained_here_are_attacked_by_asking_it(small: Audited):
    plan = replace(small.plan, outputs=OutputsPlan(released="labels"))
    audited = Audited(small.config, small.dataset, small.splits, small.model, small.progress, plan=plan)
    measurement = done("membership_auc", audited)
    assert "of 3 attacks tried" in measurement.attacked and "the boundary attack" in (measurement.details or ())
    assert not any("can be asked" in assumption for assumption in measurement.assumptions)
    access = audited_access(audited)
    row_indices = np.repeat(np.arange(small.dataset.n)[:, np.newaxis], access.columns, axis=1)
    assert np.array_equal(access.ask(row_indices), small.model.predictions)


def test_membership_attacks_see_the_decimals_that_are_released():
    unrounded = given_audit(1500, sets=True)
    audited = releasing(unrounded, decimals=1)
    score = members(audited).guesses["loss"].score
    assert 5 < np.unique(score).size <= 11 and np.unique(members(unrounded).guesses["loss"].score).size > 100
    assert any("(decimals: 1);" in assumption for assumption in done("membership_auc", audited).assumptions)


def test_given_scores_are_attacked_without_lira_and_only_with_known_sets():
    unknown = measured("membership_gap", given_audit(1500, sets=False))
    assert unknown.outcome == "not_run" and "no column says which they are" in unknown.reason
    audited = given_audit(9000, sets=True)
    assert audited.splits.train.size == audited.splits.test.size == 3000
    measurement = done("membership_caught", audited)
    assert "the best of 3 attacks tried" in measurement.attacked
    assert any("Not tried (" in assumption and "RMIA" in assumption for assumption in measurement.assumptions)
    assert (
        measurement.estimate is not None and measurement.estimate.low < 0.01 < measurement.estimate.high
    )  # nobody was trained on


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
        config=replace(CONFIG, method=GIVEN_PREDICTIONS),
    )
    file = read_model(skops.io.dumps(model), "m.skops")
    audited = audited_of(plan, table, model_file=file)
    assert np.array_equal(audited.model.predictions == 1, model.predict(columns) == "yes")
    assert audited.model.scores == pytest.approx(model.predict_proba(columns)[:, 1])
    assert audited.has_scores and not audited.trainable and not audited.has_true_sets
    assert audited.dataset.feature_names == small_names(table)
    row_indices = np.repeat(np.arange(audited.dataset.n)[:, np.newaxis], 2, axis=1)
    assert audited.access is not None and np.array_equal(audited.access.ask(row_indices), audited.model.predictions)
    with pytest.raises(InputError, match="needs its model file, got none"):
        audited_of(plan, table)


def small_names(table: Table) -> tuple[str, ...]:
    """Return the features of the people, without label, attribute and whatever a model answered."""
    return tuple(str(name) for name in table.frame.columns if name not in ("origin", "hired"))
