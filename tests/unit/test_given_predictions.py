"""An audit of predictions that came with a table finds what the audit of the model that made them finds."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pytest

from core.base.errors import InputError
from core.datasets import AuditDataset, Roles, build_dataset
from core.datasets.splits import split
from core.models import GIVEN_PREDICTIONS
from core.studies.attriguard import AttriGuardSettings, defense_of, table_utility
from core.studies.correction import run
from core.studies.membership import MembershipSettings
from core.studies.membership.study import STUDY
from core.studies.subject import AuditConfig, subject_of, train_model
from tests.samples import ROLES, frame, table
from tests.unit.datasets.bad_tables import assert_one_sentence

SETS = replace(ROLES, sets="part")
GIVING = replace(SETS, prediction="p", score="s")
TRAINED = AuditConfig(dataset="sample", method="threshold_optimizer", tolerance=0.02, seed=3)
AUDIT = replace(TRAINED, method=GIVEN_PREDICTIONS)


def people(roles: Roles, **columns: npt.NDArray[np.generic]) -> AuditDataset:
    part = np.array(["train", "train", "attack", "attack", "test"])[np.arange(1200) % 5]
    return build_dataset(replace(table(), frame=frame().assign(part=part, **columns)), roles)


@pytest.fixture(scope="module")
def both() -> tuple[AuditDataset, AuditDataset]:
    """The data on which a model is trained, and the same with its predictions and scores as columns."""
    before = people(SETS)
    model = train_model(TRAINED, before, split(before, seed=TRAINED.seed))
    assert model.has_scores and model.randomised
    return before, people(GIVING, p=model.predictions, s=model.scores)


@pytest.mark.long
def test_the_audit_is_the_same(both):
    configs = (replace(config, roles=data.roles) for config, data in zip((TRAINED, AUDIT), both, strict=True))
    trained, submitted = (run(config, dataset=data) for config, data in zip(configs, both, strict=True))
    for name in ("accuracy_train", "accuracy_test", "majority_test", "unfairness_train", "unfairness_test"):
        assert getattr(submitted.model, name) == getattr(trained.model, name), name
    assert submitted.model.rates_test == trained.model.rates_test and submitted.strong == trained.strong
    assert trained.subject.trainable and not submitted.subject.trainable
    for pair, attack in trained.attacks.items():
        assert np.array_equal(submitted.attacks[pair][0].probability, attack[0].probability), pair
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


def test_attriguard_guards_the_records_and_cannot_ask_the_model(both):
    settings = AttriGuardSettings(trained_budgets=(0.25,))
    guards = [defense_of(data, config, settings) for data, config in zip(both, (TRAINED, AUDIT), strict=True)]
    was, now = (next(exposure for exposure in guard.expose() if exposure.guesses) for guard in guards)
    assert now.at(1.0) == was.at(1.0) and now.spent(1.0) == was.spent(1.0)
    with pytest.raises(InputError, match="changed records") as caught:
        table_utility(guards[1], both[1], AUDIT)
    assert_one_sentence(str(caught.value))
