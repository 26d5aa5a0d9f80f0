"""Whole audits on small data; attackers that do not see the model are trained once for all models."""

from dataclasses import replace
from unittest.mock import Mock

import numpy as np
import pytest

import core.studies.subject
from core.base.errors import InputError
from core.datasets.splits import split
from core.studies.correction import ATTACKERS, PROTOCOLS, attack_model, audit_key, run
from core.studies.correction import attribute_attacks as attack
from core.studies.correction.attribute_attacks import protocols_of
from core.studies.subject import AuditConfig, check_cells
from tests.samples import ROLES, dataset

CONFIG = AuditConfig(dataset="sample", roles=ROLES, tolerance=0.01, seed=7)
QUICK = replace(CONFIG, forest=(("n_estimators", 5),))


@pytest.fixture(scope="module")
def people():
    return dataset(3000, seed=8)


@pytest.fixture(scope="module")
def findings(people):
    return run(CONFIG, dataset=people)


def test_the_findings_hang_together(findings):
    truth = findings.attacks["features", "held_out"][0].truth
    assert truth.size == findings.subject.splits.train.size
    assert all(np.array_equal(records.truth, truth) for records, _ in findings.attacks.values())
    without, _ = findings.attacks["strong", "held_out"]
    assert findings.strong.value == pytest.approx((without.guess == without.truth).mean())
    first = findings.disclose(0.01)
    assert first.before.value == pytest.approx(
        sum(before.value * before.n for before, _ in first.groups.values()) / first.before.n
    )
    held_out = [findings.attacks["features", protocol][1].truth.size for protocol in PROTOCOLS]
    assert sorted(held_out) == sorted([findings.subject.splits.validation.size, findings.subject.splits.test.size])


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


def test_the_key_of_an_audit_changes_with_every_setting(people):
    changes = [{"seed": 1}, {"metric": "equal_opportunity"}, {"tolerance": 0.02}, {"train_share": 0.5}]
    changes += [{"method": "unmitigated"}, {"roles": replace(ROLES, missing="drop")}]
    keys = {audit_key(replace(CONFIG, **change), people) for change in changes}
    assert len(keys | {audit_key(CONFIG, people)}) == len(changes) + 1
    assert audit_key(CONFIG, people) != audit_key(CONFIG, dataset(3000, seed=10))


def test_a_group_without_people_of_a_label_is_one_sentence(people):
    labels = people.labels.copy()
    labels[people.sensitive == 1] = 1
    empty = replace(people, labels=labels)
    with pytest.raises(InputError, match="Predictive equality needs at least 3 people of each group with label 0"):
        run(replace(CONFIG, metric="predictive_equality"), dataset=empty)
    splits = split(people)
    for rows in (splits.train, splits.validation, splits.test):
        labels[rows[people.sensitive[rows] == 1][:3]] = 0
    check_cells("predictive_equality", replace(people, labels=labels), splits)
    labels[splits.test[people.sensitive[splits.test] == 1][0]] = 1
    with pytest.raises(InputError, match="among the test records, got 2 of"):
        check_cells("predictive_equality", replace(people, labels=labels), splits)


@pytest.mark.parametrize(("members", "message"), [(1, "at least 3 people of each group"), (9, "group third has")])
def test_a_group_too_small_to_attack_is_one_sentence(people, members, message):
    sensitive = people.sensitive.copy()
    sensitive[:members] = 2
    few = replace(people, sensitive=sensitive, group_names=(*people.group_names, "third"))
    with pytest.raises(InputError, match=message) as caught:
        run(CONFIG, dataset=few)
    assert str(caught.value).count(". ") == 0 and str(caught.value).endswith(".")


KINDS = [(kind, protocol) for kind in ATTACKERS for protocol in protocols_of(kind)]


@pytest.fixture
def few():
    return dataset(400, seed=8)


@pytest.fixture
def trained(monkeypatch):
    trainings = Mock()
    imputation = (core.studies.subject, "train_imputation")
    for module, name in ((attack, "train_adversary"), (attack, "attack_released"), imputation):
        trainings.attach_mock(Mock(wraps=getattr(module, name)), name)
        monkeypatch.setattr(module, name, getattr(trainings, name))
    return trainings


def attacked(people, model=0, *, config=QUICK):
    """Return what every attacker finds out about a model, which answers at random."""
    splits = split(people, train_share=config.train_share, seed=config.seed)
    answers = np.random.default_rng(model).integers(0, 2, people.n).astype(np.uint8)
    return [attack_model(*kind, people, splits, answers, config=config) for kind in KINDS]


def test_a_second_model_is_attacked_as_if_it_were_the_first(few, trained):
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
def test_other_settings_are_another_attacker(few, trained, change):
    both = 2 * len(KINDS) - ("forest" in change)  # imputation has no forest, and stays as it is
    for config, number in ((QUICK, len(KINDS)), (replace(QUICK, **change), both)):
        (first, *_) = attacked(few, config=config)
        assert len(trained.mock_calls) == number
    with pytest.raises(ValueError, match="read-only"):
        first[0].probability[0] = 0
