"""Targets: each is trained on the rows it is given alone, answers for everybody, and is measured on both sides."""

from __future__ import annotations

import numpy as np
import pytest

from core.config import AuditConfig
from core.datasets import AuditDataset, build_dataset, split
from core.errors import InputError
from core.membership import (
    TARGET_TITLES,
    TARGETS,
    MemberPeople,
    MembershipSettings,
    audited_target,
    default_depth,
    loss_attack,
    split_between,
)
from core.membership.targets import ID3Target, library_target, quality, target_of
from core.models import DPID3Classifier
from core.subject import train_model
from tests.unit.membership.villagers import ROLES, half, table, villagers

N = 400
CONFIG = AuditConfig(method="unmitigated", train_share=0.4, seed=3)


def made(name: str, people: MemberPeople | None = None, dataset: AuditDataset | None = None):
    """Return a target of the villagers, or of others."""
    if name == "audited":
        return audited_target(AuditConfig(method="unmitigated"), dataset or build_dataset(table(N), ROLES))
    return target_of(people or villagers(N), MembershipSettings(target=name, max_depth=4))


@pytest.mark.parametrize("name", TARGETS)
def test_a_target_answers_for_everybody_and_learns_from_its_rows_alone(name):
    people, rows = villagers(N), half(N).members
    train = made(name)
    p = train(rows, 0)
    assert p.shape == (N,) and p.min() >= 0 and p.max() <= 1 and np.unique(p).size > 2
    assert np.array_equal(p, train(rows, 0)) and not np.array_equal(p, train(half(N, seed=1).members, 0))
    found = quality(p, people.labels, rows, half(N).outsiders)
    assert found.accuracy_train.value > 0.6
    assert name in TARGET_TITLES


@pytest.mark.parametrize("name", TARGETS)
def test_labels_of_outsiders_have_no_say(name):
    people, split_ = villagers(N), half(N)
    first = made(name)(split_.members, 0)
    people.labels[split_.outsiders] = 1 - people.labels[split_.outsiders]
    dataset = build_dataset(table(N), ROLES)
    dataset.labels[split_.outsiders] = 1 - dataset.labels[split_.outsiders]
    again = made(name, people, dataset)
    assert np.array_equal(first, again(split_.members, 0))


def test_the_tree_is_the_classifier_on_public_domains():
    people, rows = villagers(N), half(N).members
    tree = DPID3Classifier(2.0, 3, 7, domains=people.n_values, classes=(0, 1)).fit(
        people.codes[rows], people.labels[rows]
    )
    target = ID3Target(people=people, epsilon=2.0, max_depth=3)
    assert np.array_equal(target(rows, 7), tree.predict_proba(people.codes)[:, 1])
    assert target.fit(rows, 7).budget_ledger_.total == pytest.approx(2.0, abs=1e-9)
    assert not np.array_equal(target(rows, 7), target(rows, 8))


def test_any_classifier_can_be_a_target():
    from sklearn.naive_bayes import BernoulliNB

    people, rows = villagers(N), half(N).members
    seen = []

    class Watched(BernoulliNB):
        def fit(self, x, y):
            seen.append(x)
            return super().fit(x, y)

    target = library_target(people, lambda seed: Watched())
    assert np.unique(target(rows, 0)).size > 5
    (indicators,) = seen
    assert indicators.shape == (rows.size, sum(people.n_values))
    assert (indicators.sum(axis=1) == len(people.names)).all()
    place = people.n_values[0] + people.codes[rows, 1]
    assert (indicators[np.arange(rows.size), place] == 1).all()


def test_one_label_alone_is_what_a_library_target_says():
    people = villagers(N)
    ones = np.flatnonzero(people.labels == 1)
    assert (made("logistic")(ones, 0) == 1.0).all() and (made("dp_id3")(ones, 0) == 1.0).all()


@pytest.mark.parametrize(
    "method", ["unmitigated", "exponentiated_gradient", "threshold_optimizer", "correlation_remover"]
)
def test_the_audited_model_is_the_audits(method):
    dataset = build_dataset(table(N), ROLES)
    config = AuditConfig(method=method, tolerance=0.05, train_share=0.4, seed=3)
    splits = split(dataset, train_share=config.train_share, seed=config.seed)
    audited = train_model(config, dataset, splits)
    p = audited_target(config, dataset)(splits.train, config.seed)
    assert np.array_equal(p, audited.scores)
    between = split_between(splits.train, splits.test, seed=0)
    assert np.array_equal(between.members, np.sort(splits.train))
    assert loss_attack(p, dataset.labels, between).score.size == 2 * between.judged_members.size


def test_quality_counts():
    p, y = np.array([0.9, 0.5, 0.2, 0.6, 0.4, 0.1]), np.array([1, 1, 0, 0, 1, 0])
    found = quality(p, y, [0, 1, 2], [3, 4, 5])
    assert found.accuracy_train.value == pytest.approx(2 / 3)  # one half predicts 0
    assert found.accuracy_test.value == pytest.approx(1 / 3)
    assert found.majority_test.value == pytest.approx(1 / 3)  # members are mostly 1


def test_default_depths():
    people = villagers(N)
    assert default_depth(people) == 4  # no more than there are columns


def test_bad_targets_are_refused():
    people = villagers(N)
    with pytest.raises(InputError, match="only with the audit's settings and data, got none"):
        target_of(people, MembershipSettings(target="audited"))
    with pytest.raises(InputError, match="epsilon must be"):
        ID3Target(people=people, epsilon=0.0)(half(N).members, 0)
