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
def test_the_audit_is_the_same(both: tuple[AuditDataset, AuditDataset]):
    trained = run(replace(TRAINED, roles=SETS), dataset=both[0])
    submitted = run(replace(AUDIT, roles=GIVING), dataset=both[1])
    for name in ("accuracy_train", "accuracy_test", "majority_test", "unfairness_train", "unfairness_test"):
        assert getattr(submitted.model, name) == getattr(trained.model, name), name
    assert (
        submitted.model.rates_train == trained.model.rates_train
        and submitted.model.rates_test == trained.model.rates_test
    )
    assert np.array_equal(submitted.model.scores, trained.model.scores) and submitted.model.has_scores
    assert not submitted.model.needs_sensitive and not submitted.model.randomised
    assert submitted.strong == trained.strong
    for name in ("train", "attack", "validation", "test"):
        assert np.array_equal(*(getattr(audited.subject.splits, name) for audited in (submitted, trained))), name
    assert trained.subject.trainable and not submitted.subject.trainable
    for pair, attack in trained.attacks.items():
        again = submitted.attacks[pair]
        assert again.held_out_accuracy == attack.held_out_accuracy
        assert np.array_equal(again.attacked.probability, attack.attacked.probability), pair
    for tolerance in (0.0, 0.02, 0.1):
        for settings in ({}, {"adversary": "strong_predictions", "cost": "log_odds"}, {"as_published": True}):
            now, was = (audited.disclose(tolerance, **settings) for audited in (submitted, trained))  # type: ignore[arg-type]
            assert (now.after, now.before, now.used, now.gain) == (was.after, was.before, was.used, was.gain)


def test_membership_attacks_are_the_same_but_for_those_with_shadow_models(both: tuple[AuditDataset, AuditDataset]):
    settings = MembershipSettings(shadows=4)
    *_, was = STUDY.run(subject_of(TRAINED, both[0]), settings)
    subject = subject_of(AUDIT, both[1])
    *_, now = STUDY.run(subject, settings)
    assert list(now.guesses) == ["loss", "released", "quantile"] and STUDY.steps(subject, settings) == 0
    for name in now.guesses:
        assert now.curves[name].to_dict() == was.curves[name].to_dict()
        assert now.advantages[name] == was.advantages[name] and now.gaps[name] == was.gaps[name]
    (why,) = (text for text in STUDY.checks(now, settings)["membership_auc"].assumptions if "Not tried" in text)
    assert "LiRA" in why and "a model that can be trained again is needed" in why and "lira" in was.guesses


def test_attriguard_guards_the_records_and_cannot_ask_the_model(both: tuple[AuditDataset, AuditDataset]):
    settings = AttriGuardSettings(trained_budgets=(0.25,))
    guards = [defense_of(data, config, settings) for data, config in zip(both, (TRAINED, AUDIT), strict=True)]
    was, now = (next(exposure for exposure in guard.expose() if exposure.guesses) for guard in guards)
    assert now.at(1.0) == was.at(1.0) and now.spent(1.0) == was.spent(1.0)
    with pytest.raises(InputError, match="changed records") as caught:
        table_utility(guards[1], both[1], AUDIT)
    assert_one_sentence(str(caught.value))
