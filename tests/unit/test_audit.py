"""Whole audits on small data, and sweeps of them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from core.config import AuditConfig
from core.correction import PROTOCOLS, CorrectionResult, attack_model, audit_key, run
from core.datasets import AuditDataset
from core.datasets.splits import split
from core.errors import Cancelled, InputError
from core.fairness import METRICS
from core.subject import Progress, Subject, train_model
from tests.samples import ROLES, dataset

CONFIG = AuditConfig(dataset="sample", roles=ROLES, tolerance=0.01, seed=7)


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


def told_tolerances(config: AuditConfig, people: AuditDataset) -> CorrectionResult:
    """Return the result of another configuration or other people, attacked from the features alone."""
    splits = split(people, train_share=config.train_share, seed=config.seed)
    model = train_model(config, people, splits)
    attacks = {
        ("features", protocol): attack_model("features", protocol, people, splits, model.predictions, config=config)
        for protocol in PROTOCOLS
    }
    return CorrectionResult(subject=Subject(config, people, splits, model, Progress(1)), attacks=attacks)


def test_the_findings_hang_together(findings: CorrectionResult, people: AuditDataset) -> None:
    subject = findings.subject
    assert findings.model.predictions.shape == (people.n,)
    assert set(findings.attacks) == {
        *((a, p) for a in ("features", "predictions") for p in PROTOCOLS),
        ("strong", "held_out"),
        ("strong_predictions", "held_out"),
    }
    for attack in findings.attacks.values():
        assert attack.attacked.truth.size == subject.splits.train.size
        assert np.array_equal(attack.attacked.truth, findings.attacks["features", "held_out"].attacked.truth)
    assert findings.model.accuracy_test.low > findings.model.majority_test.value
    told_nothing = findings.attacks["strong", "held_out"].attacked
    assert findings.strong.value == pytest.approx((told_nothing.guess == told_nothing.truth).mean())
    first = findings.disclose(0.01)
    assert first.before.low > 0.5
    assert first.before.value == pytest.approx(sum(g.before.value * g.before.n for g in first.groups) / first.before.n)


def test_the_attacker_tunes_on_records_it_did_not_learn_from_and_that_are_not_attacked(
    findings: CorrectionResult,
) -> None:
    assert findings.attacks["features", "held_out"].held_out.truth.size == findings.subject.splits.validation.size
    assert findings.attacks["features", "as_published"].held_out.truth.size == findings.subject.splits.test.size


def test_same_seed_same_findings_other_seed_others(findings: CorrectionResult, people: AuditDataset) -> None:
    again, other = run(CONFIG, dataset=people), replace(CONFIG, seed=8)
    assert np.array_equal(again.model.predictions, findings.model.predictions)
    ours, same = findings.disclose(0.01).to_dict(), again.disclose(0.01).to_dict()
    for told in (ours, same):
        told["certificate"].pop("seconds")
    assert ours == same
    others = train_model(other, people, split(people, train_share=other.train_share, seed=other.seed))
    assert not np.array_equal(others.predictions, findings.model.predictions)


def test_without_a_leak_there_is_nothing_to_gain() -> None:
    """The sensitive attribute is independent of everything: no attacker may be measurably better than a guess."""
    nobody = dataset(3000, leak=0.0, bias=0.0, seed=9)
    shuffled = replace(nobody, sensitive=np.random.default_rng(1).permutation(nobody.sensitive))
    found = run(replace(CONFIG, tolerance=0.05), dataset=shuffled)
    told = found.disclose(0.05)
    assert told.balanced_before.low <= 0.5 <= told.balanced_before.high
    assert told.balanced_after is not None
    assert told.balanced_after.low <= 0.5 <= told.balanced_after.high
    assert found.strong.value <= told.majority.value + 0.02


@pytest.mark.parametrize("metric", METRICS)
def test_every_metric_runs_and_its_certificate_holds(people: AuditDataset, metric: str) -> None:
    found = told_tolerances(replace(CONFIG, metric=metric, method="unmitigated"), people)
    told = found.disclose(0.05)
    assert told.certificate.status == "optimal"
    assert told.reached <= 0.05 + 1e-9
    assert told.metric == metric
    raised = found.disclose(0.0, as_published=True)
    assert raised.is_true and raised.achieved <= raised.used < raised.achieved + 0.0011


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
    found = told_tolerances(replace(CONFIG, method="unmitigated"), empty)
    assert found.disclose(0.1).certificate.status == "optimal"


@pytest.mark.parametrize(("members", "words"), [(1, "at least 3 people of each group"), (9, "group third has")])
def test_a_group_too_small_to_attack_is_one_sentence(people: AuditDataset, members: int, words: str) -> None:
    sensitive = people.sensitive.copy()
    sensitive[:members] = 2
    few = replace(people, sensitive=sensitive, group_names=(*people.group_names, "third"))
    with pytest.raises(InputError, match=words) as told:
        run(CONFIG, dataset=few)
    assert str(told.value).count(". ") == 0 and str(told.value).endswith(".")
