"""An experiment and the audits of its plans: the same numbers, each once; what cannot be attacked is one sentence."""

from dataclasses import replace
from unittest.mock import Mock

import numpy as np
import pytest

import core.auditing.run
import core.studies.subject
from core.auditing.run import audited_of, measured
from core.base.errors import InputError
from core.datasets import build_dataset
from core.datasets.splits import split
from core.experiments.experiment import grid_of, models_of, rows_frame, run_experiment
from core.models import GIVEN_PREDICTIONS
from core.studies.correction import ATTACKERS, CorrectionResult, attack_model, audit_key, run
from core.studies.correction import attribute_attacks as attack
from core.studies.correction.attribute_attacks import protocols_of
from core.studies.membership import MembershipSettings
from core.studies.membership.study import STUDY
from core.studies.subject import AuditConfig, check_cells, subject_of, train_model
from tests import samples
from tests.samples import ROLES, dataset, frame, table

TABLE = samples.table(600)
PLAN = samples.plan()


def test_a_row_has_the_number_of_the_audit_of_its_plan():
    points = grid_of(PLAN, {"model.method": ("unmitigated", "private_fair"), "model.epsilon": (3.0,)})
    rows = list(run_experiment(points, TABLE, studies=("fairness", "membership")))
    assert len(rows) == 2 * 7
    for plan, values in points.items():
        audited = audited_of(plan, TABLE)
        for row in rows:
            assert row.values != values or row.measurement == measured(row.measurement.check, audited)


@pytest.mark.parametrize(
    ("varied", "message"),
    [
        ({"model.beauty": (1,)}, "must be TABLE.KEY"),
        ({"model.tolerance": (2.0,)}, r"model.tolerance must be in \[0, 1\], got 2.0"),
        ({"model.tolerance": ()}, "model.tolerance must have at least one value"),
        ({"model.seed": tuple(range(2001))}, "at most 2,000 plans"),
    ],
    ids=["key", "rule", "empty", "many"],
)
def test_a_grid_that_there_cannot_be(varied, message):
    with pytest.raises(InputError, match=message):
        grid_of(PLAN, varied)


def test_a_frame_has_a_reason_where_there_is_no_number():
    points = grid_of(PLAN, {"outputs.released": ("labels",)})
    (row, *_) = run_experiment(points, TABLE, studies=("membership",))
    line = rows_frame([row]).iloc[0]
    assert line["check"] == "membership_caught" and line["reason"] and line["value"] is None


FOREST_PLAN = samples.plan(forest=(("n_estimators", 10),))


@pytest.fixture(scope="module")
def result():
    return CorrectionResult.of(audited_of(FOREST_PLAN, TABLE), as_published=True)


NUMBERS = {"attack_before": "before", "attack_after": "after", "attack_gain": "gain", "tolerance_used": "used"}
NUMBERS |= {"tolerance_holds": "is_true"}
"""Number of an experiment -> that of a disclosure."""


@pytest.mark.long
def test_a_model_is_trained_once_for_all_its_attackers(monkeypatch, result):
    trained = Mock(wraps=core.auditing.run.train_model)
    monkeypatch.setattr(core.auditing.run, "train_model", trained)
    attackers = {"correction.adversary": ("features", "strong"), "correction.as_published": (False, True)}
    points = grid_of(FOREST_PLAN, attackers | {"correction.tolerance": (None, 0.01)})
    rows = list(run_experiment(points, TABLE, measures=tuple(NUMBERS)))
    assert (len(points), len(models_of(points)), trained.call_count, len(rows)) == (8, 1, 1, 8 * 5)
    for row in rows:
        tolerance, published = row.values["correction.tolerance"], row.values["correction.as_published"]
        now = result.disclose(
            0.05 if tolerance is None else tolerance,
            adversary=row.values["correction.adversary"],
            as_published=published,
            until_true=published or tolerance is None,  # of a model that was trained for none
        )
        estimate = row.measurement.estimate
        assert getattr(now, NUMBERS[row.measurement.check]) in (estimate, estimate and estimate.value)


def test_the_controls_use_other_peoples_predictions_and_an_estimated_constraint(result):
    audited = audited_of(FOREST_PLAN, TABLE)
    now = result.disclose(0.05, until_true=True)
    permuted = result.disclose(now.used, permuted=True)
    assert measured("permuted_gain", audited).estimate == permuted.gain
    accuracy = measured("own_accuracy", audited)
    assert accuracy.estimate == result.attack("features")[1].accuracy and accuracy.control is not None
    assert measured("estimates_statistical_parity", audited).estimate.value in (0.0, 1.0)
    assert measured("estimated_difference", audited).reason == "The model was trained for no constraint."


TRAINED = AuditConfig(dataset="sample", method="threshold_optimizer", tolerance=0.02, seed=3)
AUDIT = replace(TRAINED, method=GIVEN_PREDICTIONS)


@pytest.fixture(scope="module")
def both():
    """The data on which a model is trained, and the same with its predictions and scores as columns."""
    people = frame().assign(part=np.tile(["train", "train", "attack", "attack", "test"], 240))
    before = build_dataset(replace(table(), frame=people), replace(ROLES, sets="part"))
    model = train_model(TRAINED, before, split(before, seed=TRAINED.seed))
    assert model.has_scores and model.randomised
    answered = replace(table(), frame=people.assign(p=model.predictions, s=model.scores))
    return before, build_dataset(answered, replace(ROLES, sets="part", prediction="p", score="s"))


@pytest.mark.long
def test_the_audit_is_the_same(both):
    configs = (replace(config, roles=data.roles) for config, data in zip((TRAINED, AUDIT), both, strict=True))
    trained, submitted = (run(config, dataset=data) for config, data in zip(configs, both, strict=True))
    for name in ("accuracy_train", "accuracy_test", "majority_test", "unfairness_train", "unfairness_test"):
        assert getattr(submitted.model, name) == getattr(trained.model, name), name
    assert submitted.model.rates_test == trained.model.rates_test and submitted.strong == trained.strong
    assert trained.subject.trainable and not submitted.subject.trainable
    for pair, (records, _) in trained.attacks.items():
        assert np.array_equal(submitted.attacks[pair][0].probability, records.probability), pair
    for settings in ({}, {"adversary": "strong_predictions", "cost": "log_odds"}, {"as_published": True}):
        now, was = (audited.disclose(0.02, **settings) for audited in (submitted, trained))
        assert (now.after, now.before, now.used, now.gain) == (was.after, was.before, was.used, was.gain)


def test_membership_attacks_are_the_same_but_for_those_with_shadow_models(both):
    settings, subjects = MembershipSettings(shadows=4), zip((TRAINED, AUDIT), both, strict=True)
    was, now = ([*STUDY.run(subject_of(config, data), settings)][-1] for config, data in subjects)
    assert list(now.guesses) == ["loss", "released", "quantile"] and "lira" in was.guesses
    for name in now.guesses:
        assert now.curves[name].to_dict() == was.curves[name].to_dict()
        assert now.advantages[name] == was.advantages[name] and now.gaps[name] == was.gaps[name]
    assumptions = STUDY.checks(now, settings)["membership_auc"].assumptions
    assert any("LiRA" in text and "a model that can be trained again is needed" in text for text in assumptions)


CONFIG = AuditConfig(dataset="sample", roles=ROLES, tolerance=0.01, seed=7)


@pytest.fixture(scope="module")
def crowd():
    return dataset(3000, seed=8)


@pytest.mark.long
def test_without_a_leak_there_is_nothing_to_gain():
    """The sensitive attribute is independent of everything: no attacker may be measurably better than a guess."""
    nobody = dataset(3000, leak=0.0, bias=0.0, seed=9)
    shuffled = replace(nobody, sensitive=np.random.default_rng(1).permutation(nobody.sensitive))
    audited = run(replace(CONFIG, tolerance=0.05), dataset=shuffled)
    disclosure = audited.disclose(0.05)
    for balanced in (disclosure.balanced_before, disclosure.balanced_after):
        assert balanced.low <= 0.5 <= balanced.high
    assert audited.strong.value <= disclosure.majority.value + 0.02


def test_the_key_of_an_audit_changes_with_every_setting(crowd):
    changes = [{}, {"seed": 1}, {"metric": "equal_opportunity"}, {"tolerance": 0.02}, {"train_share": 0.5}]
    changes += [{"method": "unmitigated"}, {"roles": replace(ROLES, missing="drop")}]
    keys = {audit_key(replace(CONFIG, **change), crowd) for change in changes}
    assert len(keys) == len(changes) and audit_key(CONFIG, dataset(3000, seed=10)) not in keys


def test_a_group_without_people_of_a_label_is_one_sentence(crowd):
    labels = crowd.labels.copy()
    labels[crowd.sensitive == 1] = 1
    empty = replace(crowd, labels=labels)
    with pytest.raises(InputError, match="Predictive equality needs at least 3 people of each group with label 0"):
        run(replace(CONFIG, metric="predictive_equality"), dataset=empty)
    splits = split(crowd)
    for rows in (splits.train, splits.validation, splits.test):
        labels[rows[crowd.sensitive[rows] == 1][:3]] = 0
    check_cells("predictive_equality", replace(crowd, labels=labels), splits)
    labels[splits.test[crowd.sensitive[splits.test] == 1][0]] = 1
    with pytest.raises(InputError, match="among the test records, got 2 of"):
        check_cells("predictive_equality", replace(crowd, labels=labels), splits)


@pytest.mark.parametrize(("members", "message"), [(1, "at least 3 people of each group"), (9, "group third has")])
def test_a_group_too_small_to_attack_is_one_sentence(crowd, members, message):
    sensitive = crowd.sensitive.copy()
    sensitive[:members] = 2
    few = replace(crowd, sensitive=sensitive, group_names=(*crowd.group_names, "third"))
    with pytest.raises(InputError, match=message) as caught:
        run(CONFIG, dataset=few)
    assert str(caught.value).count(". ") == 0 and str(caught.value).endswith(".")


QUICK = replace(CONFIG, forest=(("n_estimators", 5),))
KINDS = [(kind, protocol) for kind in ATTACKERS for protocol in protocols_of(kind)]


@pytest.fixture
def trained(monkeypatch):
    trainings = Mock()
    imputation = (core.studies.subject, "train_imputation")
    for module, name in ((attack, "train_adversary"), (attack, "attack_released"), imputation):
        trainings.attach_mock(Mock(wraps=getattr(module, name)), name)
        monkeypatch.setattr(module, name, getattr(trainings, name))
    return trainings


def attacked(crowd, model=0, *, config=QUICK):
    """Return what every attacker finds out about a model, which answers at random."""
    splits = split(crowd, train_share=config.train_share, seed=config.seed)
    answers = np.random.default_rng(model).integers(0, 2, crowd.n).astype(np.uint8)
    return [attack_model(*kind, crowd, splits, answers, config=config) for kind in KINDS]


def test_a_second_model_is_attacked_as_if_it_were_the_first(trained):
    few = dataset(400, seed=8)
    attacked(few, 0)
    first = len(trained.mock_calls)
    second = attacked(few, 1)
    names = [name for name, *_ in trained.mock_calls[first:]]
    assert first == len(KINDS) and sorted(names) == ["attack_released", "train_adversary", "train_adversary"]
    for ours, fresh in zip(second, attacked(replace(few), 1), strict=True):
        for records, fresh_records in zip(ours, fresh, strict=True):
            assert records.accuracy == fresh_records.accuracy
            for name in ("probability", "calibrated", "predictions", "labels", "truth"):
                assert np.array_equal(getattr(records, name), getattr(fresh_records, name)), name


@pytest.mark.parametrize("change", [{"seed": 8}, {"train_share": 0.5}, {"forest": (("n_estimators", 6),)}])
def test_other_settings_are_another_attacker(trained, change):
    few = dataset(400, seed=8)
    both = 2 * len(KINDS) - ("forest" in change)  # imputation has no forest, and stays as it is
    for config, number in ((QUICK, len(KINDS)), (replace(QUICK, **change), both)):
        (first, *_) = attacked(few, config=config)
        assert len(trained.mock_calls) == number
    with pytest.raises(ValueError, match="read-only"):
        first[0].probability[0] = 0
