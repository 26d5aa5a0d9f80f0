"""Attackers that do not see the model are trained once for all models, and what they said goes with the data."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from core.config import AuditConfig
from core.correction import ATTACKERS, attack_model
from core.correction import attribute_attacks as attack
from core.correction.attribute_attacks import AttackFindings, protocols_of
from core.datasets import AuditDataset
from core.datasets.splits import split
from tests.samples import ROLES, dataset

CONFIG = AuditConfig(dataset="sample", roles=ROLES, seed=7, forest=(("n_estimators", 5),))
KINDS = [(kind, protocol) for kind in ATTACKERS for protocol in protocols_of(kind)]


@pytest.fixture
def people() -> AuditDataset:
    return dataset(400, seed=8)


@pytest.fixture
def trained(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Every attacker that is trained, as it is."""
    kinds: list[str] = []

    def counted(name: str) -> Callable[..., Any]:
        train = getattr(attack, name)

        def work(*arguments: Any, **named: Any) -> Any:
            kinds.append(f"{name} of {arguments[0] if isinstance(arguments[0], str) else arguments[3] is not None}")
            return train(*arguments, **named)

        return work

    for name in ("train_adversary", "train_strong"):
        monkeypatch.setattr(attack, name, counted(name))
    return kinds


def answers(people: AuditDataset, seed: int) -> npt.NDArray[np.uint8]:
    """Return the answers of a model that answers at random."""
    return np.random.default_rng(seed).integers(0, 2, people.n).astype(np.uint8)


def attacked(people: AuditDataset, model: int = 0, *, config: AuditConfig = CONFIG) -> list[AttackFindings]:
    """Return what every attacker finds out about a model."""
    splits = split(people, train_share=config.train_share, seed=config.seed)
    return [attack_model(*kind, people, splits, answers(people, model), config=config) for kind in KINDS]


def test_a_second_model_is_attacked_as_if_it_were_the_first(people: AuditDataset, trained: list[str]):
    attacked(people, 0)
    assert len(trained) == len(KINDS)
    second = attacked(people, 1)
    assert sorted(trained[len(KINDS) :]) == ["train_adversary of predictions"] * 2 + ["train_strong of True"]
    for ours, fresh in zip(second, attacked(replace(people), 1), strict=True):
        assert ours.held_out_accuracy == fresh.held_out_accuracy
        for one, other in ((ours.attacked, fresh.attacked), (ours.held_out, fresh.held_out)):
            for name in ("probability", "calibrated", "predictions", "labels", "truth"):
                assert np.array_equal(getattr(one, name), getattr(other, name)), name
    assert len(trained) == 2 * len(KINDS) + 3


@pytest.mark.parametrize("change", [{"seed": 8}, {"train_share": 0.5}, {"forest": (("n_estimators", 6),)}])
def test_other_settings_are_another_attacker_and_both_are_kept(
    people: AuditDataset, trained: list[str], change: dict[str, Any]
):
    for config, told in ((CONFIG, 1), (replace(CONFIG, **change), 2)):
        (first, *_) = attacked(people, config=config)
        assert len(trained) == told * len(KINDS)
    with pytest.raises(ValueError, match="read-only"):
        first.attacked.probability[0] = 0
    attacked(people)
    assert len(trained) == 2 * len(KINDS) + 3  # those that see the model
