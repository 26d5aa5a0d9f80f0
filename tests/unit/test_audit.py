"""Whole audits on small data; attackers that do not see the model are trained once for all models."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import core.studies.subject
from core.base.errors import Cancelled, InputError
from core.datasets import AuditDataset
from core.datasets.splits import split
from core.studies.correction import (
    ATTACKERS,
    PROTOCOLS,
    STUDY,
    CorrectionResult,
    CorrectionSettings,
    attack_model,
    audit_key,
    run,
)
from core.studies.correction import attribute_attacks as attack
from core.studies.correction.attribute_attacks import AdversaryResult, protocols_of
from core.studies.correction.findings import HELD_OUT_BELOW
from core.studies.subject import AuditConfig, check_cells
from tests.samples import ROLES, dataset

CONFIG = AuditConfig(dataset="sample", roles=ROLES, tolerance=0.01, seed=7)
QUICK = replace(CONFIG, forest=(("n_estimators", 5),))


@pytest.fixture(scope="module")
def people() -> AuditDataset:
    return dataset(3000, seed=8)


@pytest.fixture(scope="module")
def steps() -> list[tuple[int, int]]:
    """What the audit of `findings` reported."""
    return []


@pytest.fixture(scope="module")
def findings(people: AuditDataset, steps: list[tuple[int, int]]) -> CorrectionResult:
    return run(CONFIG, lambda done, total: steps.append((done, total)), dataset=people)


def test_the_findings_hang_together(findings: CorrectionResult, people: AuditDataset) -> None:
    subject = findings.subject
    assert findings.model.predictions.shape == (people.n,)
    assert set(findings.attacks) == {
        *((a, p) for a in ("features", "predictions") for p in PROTOCOLS),
        ("strong", "held_out"),
        ("strong_predictions", "held_out"),
    }
    for adversary in findings.attacks.values():
        assert adversary.attacked.truth.size == subject.splits.train.size
        assert np.array_equal(adversary.attacked.truth, findings.attacks["features", "held_out"].attacked.truth)
    assert findings.model.accuracy_test.low > findings.model.majority_test.value
    told_nothing = findings.attacks["strong", "held_out"].attacked
    assert findings.strong.value == pytest.approx((told_nothing.guess == told_nothing.truth).mean())
    first = findings.disclose(0.01)
    assert first.before.low > 0.5
    assert first.before.value == pytest.approx(sum(g.before.value * g.before.n for g in first.groups) / first.before.n)
    assert findings.attacks["features", "held_out"].held_out.truth.size == findings.subject.splits.validation.size
    assert findings.attacks["features", "as_published"].held_out.truth.size == findings.subject.splits.test.size


def test_tables_of_another_protocol_than_the_papers_say_so(findings: CorrectionResult) -> None:
    names = "Where the leak comes from", "Corrections over tolerances", "Correction with a true tolerance"
    assert tuple(STUDY.tables(findings, CorrectionSettings())) == names
    settings = CorrectionSettings(as_published=True, tolerance=0.02)
    tables = STUDY.tables(findings, settings)
    assert list(tables) == ["Correction by the paper's protocol", *(f"{name} (held-out protocol)" for name in names)]
    headline, effect, *_ = STUDY.findings(findings, settings)
    assert effect.evidence.endswith("By the held-out protocol.") and HELD_OUT_BELOW in headline.caveats
    for row, kind in zip(tables["Correction by the paper's protocol"], ("features", "predictions"), strict=True):
        now = findings.disclose(0.02, adversary=kind, as_published=True)
        assert now.after is not None and now.gain is not None
        measured = (row["attacker"], row["tolerance"], row["before"], row["after"], row["gain"], row["exponent"])
        assert measured == (
            ATTACKERS[kind], now.used, now.before.value, now.after.value, now.gain.value, now.exponent,
        )  # fmt: skip


@pytest.mark.long
def test_without_a_leak_there_is_nothing_to_gain() -> None:
    """The sensitive attribute is independent of everything: no attacker may be measurably better than a guess."""
    nobody = dataset(3000, leak=0.0, bias=0.0, seed=9)
    shuffled = replace(nobody, sensitive=np.random.default_rng(1).permutation(nobody.sensitive))
    audited = run(replace(CONFIG, tolerance=0.05), dataset=shuffled)
    disclosure = audited.disclose(0.05)
    assert disclosure.balanced_before.low <= 0.5 <= disclosure.balanced_before.high
    assert disclosure.balanced_after is not None
    assert disclosure.balanced_after.low <= 0.5 <= disclosure.balanced_after.high
    assert audited.strong.value <= disclosure.majority.value + 0.02


def test_progress_is_reported_and_can_stop_the_work(
    findings: CorrectionResult, people: AuditDataset, steps: list[tuple[int, int]]
) -> None:
    assert [done for done, _ in steps] == list(range(steps[0][1] + 1))

    def stop(done: int, total: int) -> None:
        if done == 2:
            raise Cancelled("Stopped.")

    with pytest.raises(Cancelled):
        run(CONFIG, stop, dataset=people)


def test_the_key_of_an_audit_changes_with_every_setting(people: AuditDataset) -> None:
    changes = [{"seed": 1}, {"metric": "equal_opportunity"}, {"tolerance": 0.02}, {"train_share": 0.5}]
    changes += [{"method": "unmitigated"}, {"roles": replace(ROLES, missing="drop")}]
    keys = {audit_key(replace(CONFIG, **change), people) for change in changes}  # type: ignore[arg-type]
    assert len(keys | {audit_key(CONFIG, people)}) == len(changes) + 1
    assert audit_key(CONFIG, people) != audit_key(CONFIG, dataset(3000, seed=10))


def test_a_group_without_people_of_a_label_is_one_sentence(people: AuditDataset) -> None:
    labels = people.labels.copy()
    labels[people.sensitive == 1] = 1
    empty = replace(people, labels=labels)
    with pytest.raises(InputError, match="Predictive equality needs at least 3 people of each group with label 0"):
        run(replace(CONFIG, metric="predictive_equality"), dataset=empty)
    audited = run(replace(QUICK, method="unmitigated"), dataset=empty)
    assert audited.disclose(0.1).certificate.status == "optimal"
    splits = split(people)
    for rows in (splits.train, splits.validation, splits.test):
        labels[rows[people.sensitive[rows] == 1][:3]] = 0
    check_cells("predictive_equality", replace(people, labels=labels), splits)
    labels[splits.test[people.sensitive[splits.test] == 1][0]] = 1
    with pytest.raises(InputError, match="among the test records, got 2 of"):
        check_cells("predictive_equality", replace(people, labels=labels), splits)


@pytest.mark.parametrize(("members", "message"), [(1, "at least 3 people of each group"), (9, "group third has")])
def test_a_group_too_small_to_attack_is_one_sentence(people: AuditDataset, members: int, message: str) -> None:
    sensitive = people.sensitive.copy()
    sensitive[:members] = 2
    few = replace(people, sensitive=sensitive, group_names=(*people.group_names, "third"))
    with pytest.raises(InputError, match=message) as caught:
        run(CONFIG, dataset=few)
    assert str(caught.value).count(". ") == 0 and str(caught.value).endswith(".")


KINDS = [(kind, protocol) for kind in ATTACKERS for protocol in protocols_of(kind)]


@pytest.fixture
def few() -> AuditDataset:
    return dataset(400, seed=8)


@pytest.fixture
def trained(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Every attacker that is trained, as it is."""
    kinds: list[str] = []

    def counted(module: Any, name: str) -> Callable[..., Any]:
        train = getattr(module, name)

        def work(*arguments: Any, **keywords: Any) -> Any:
            kinds.append(f"{name} of {arguments[0]}" if isinstance(arguments[0], str) else name)
            return train(*arguments, **keywords)

        return work

    for module, name in (
        (attack, "train_adversary"),
        (attack, "attack_released"),
        (core.studies.subject, "train_imputation"),
    ):
        monkeypatch.setattr(module, name, counted(module, name))
    return kinds


def answers(people: AuditDataset, seed: int) -> npt.NDArray[np.uint8]:
    """Return the answers of a model that answers at random."""
    return np.random.default_rng(seed).integers(0, 2, people.n).astype(np.uint8)


def attacked(people: AuditDataset, model: int = 0, *, config: AuditConfig = QUICK) -> list[AdversaryResult]:
    """Return what every attacker finds out about a model."""
    splits = split(people, train_share=config.train_share, seed=config.seed)
    return [attack_model(*kind, people, splits, answers(people, model), config=config) for kind in KINDS]


def test_a_second_model_is_attacked_as_if_it_were_the_first(few: AuditDataset, trained: list[str]):
    attacked(few, 0)
    assert len(trained) == len(KINDS)
    second = attacked(few, 1)
    assert sorted(trained[len(KINDS) :]) == ["attack_released"] + ["train_adversary of predictions"] * 2
    for ours, fresh in zip(second, attacked(replace(few), 1), strict=True):
        assert ours.held_out_accuracy == fresh.held_out_accuracy
        for records, fresh_records in ((ours.attacked, fresh.attacked), (ours.held_out, fresh.held_out)):
            for name in ("probability", "calibrated", "predictions", "labels", "truth"):
                assert np.array_equal(getattr(records, name), getattr(fresh_records, name)), name
    assert len(trained) == 2 * len(KINDS) + 3


@pytest.mark.parametrize("change", [{"seed": 8}, {"train_share": 0.5}, {"forest": (("n_estimators", 6),)}])
def test_other_settings_are_another_attacker(few: AuditDataset, trained: list[str], change: dict[str, Any]):
    both = 2 * len(KINDS) - ("forest" in change)  # imputation has no forest, and stays as it is
    for config, number in ((QUICK, len(KINDS)), (replace(QUICK, **change), both)):
        (first, *_) = attacked(few, config=config)
        assert len(trained) == number
    with pytest.raises(ValueError, match="read-only"):
        first.attacked.probability[0] = 0
    attacked(few)
    assert len(trained) == both + 3  # those that see the model
