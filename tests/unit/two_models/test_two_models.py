"""Two models of one table: what both reveal beyond the better one, and nothing where they are of other people."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from core.__main__ import main
from core.base.errors import InputError
from core.datasets.splits import Splits
from core.models import GIVEN_PREDICTIONS
from core.stats.estimates import Estimate
from core.studies.subject import AuditConfig, OutputsPlan, Progress, Subject, fit_rows, subject_of, train_model
from core.studies.two_models.study import STUDY, TwoModels, TwoModelsSettings, attributes, companion_of, membership
from tests import samples

SETTINGS = TwoModelsSettings(companion="counterpart")


def gain(result: TwoModels) -> Estimate:
    estimate = STUDY.checks(result, SETTINGS)["two_models_gain"].estimate
    assert estimate is not None
    return estimate


def planted(seed: int, leaks: bool, outputs: OutputsPlan | None = None) -> TwoModels:
    subject, settings = STUDY.plants[0].make(seed, leaks)
    subject.outputs = outputs or OutputsPlan()
    (result,) = STUDY.run(subject, settings)
    return result


@pytest.mark.long
@pytest.mark.parametrize(
    ("outputs", "least"),
    [(OutputsPlan(), 0.4), (OutputsPlan(decimals=2), 0.4), (OutputsPlan(released="labels"), 0.1)],
)
@pytest.mark.parametrize("seed", [2, 3])  # members, then a group
def test_a_difference_that_reveals_what_neither_model_does(seed: int, outputs: OutputsPlan, least: float):
    result = planted(seed, True, outputs)
    leak, harmless = (result.membership, result.attributes[0])[:: 1 if seed == 2 else -1]
    assert leak.gain.low > least and harmless.gain.low <= 0
    assert all(alone.low <= 0.5 for inference in (leak, harmless) for alone in inference.alone)
    assert gain(result).low > least  # the larger of the two
    findings = STUDY.findings(result, SETTINGS)
    leaking = findings[seed % 2]
    assert leaking.to_do.startswith("Do not release the 2 models together") and "not statistically" not in leaking.point
    assert leaking.so_what.startswith(f"The difference of the models' {outputs.released} reveals")
    quiet = findings[1 - seed % 2]
    assert quiet.to_do == "" and quiet.point.endswith("which is not statistically significant.")
    rows = STUDY.tables(result, SETTINGS)[STUDY.title]
    assert [row["inferred"] for row in rows] == ["membership"] * 3 + ["group 1"] * 3
    attacked = STUDY.checks(replace(result, attribute="race: Any"), SETTINGS)["two_models_gain"].attacked
    assert attacked.startswith(("Training records inferred from", "Race: Any (group 1) inferred from")[seed % 2])


def test_a_loss_that_is_significant_is_not_said_to_be_none():
    result = planted(2, False)
    lost = replace(result.membership.gain, value=-0.04, low=-0.07, high=-0.01)
    worse = replace(result, membership=replace(result.membership, gain=lost))
    finding = STUDY.findings(worse, SETTINGS)[0]
    better = ("the audited model", "the second model")[worse.membership.better]
    added = "Releasing the 2 models adds −4.0 points to identifying training records, over"
    assert finding.point.startswith(f"{added} {better} (") and finding.point.endswith(") alone.") and not finding.to_do
    lower, higher = (replace(result.membership.alone[0], value=value) for value in (0.5, 0.6))
    pairs = [(lower, higher), (higher, lower), (lower, lower)]  # of models as good the audited one is named
    assert [replace(result.membership, alone=pair).better for pair in pairs] == [1, 0, 0]


def test_models_that_differ_by_chance_reveal_nothing():
    assert [gain(planted(seed, False)).low <= 0 for seed in range(2)] == [True] * 2


def of_other_people(seed: int) -> Subject:
    """Return a tree and its fair counterpart, trained on none of those who are judged."""
    dataset = samples.dataset(1800, seed=seed)
    trained, inside, outside, rest = np.split(np.random.default_rng(seed).permutation(1800), [500, 1000, 1500])
    config = AuditConfig(dataset="sample", roles=samples.ROLES, method="unmitigated", tolerance=0.02, seed=seed)
    sets = {"attack": rest[:200], "validation": rest[200:], "test": outside}
    model = train_model(config, dataset, Splits(train=trained, **sets))
    subject = Subject(config, dataset, Splits(train=inside, **sets), model, Progress(1))
    fair = fit_rows(replace(config, method="exponentiated_gradient"), dataset, trained, seed=seed)
    x, s = dataset.features, dataset.sensitive
    subject.once("second model exponentiated_gradient", lambda: (fair.predict(x, s, seed=seed), fair.scores(x, s)))
    return subject


def test_two_models_of_other_people_add_nothing_to_membership_inference():
    memberships = [membership(of_other_people(seed), "exponentiated_gradient") for seed in range(3)]
    assert sum(result.gain.low > 0 for result in memberships) == 0
    assert sum(result.both.low > 0.5 for result in memberships) <= 1


def test_it_trains_the_counterpart_on_the_same_records_once(monkeypatch: pytest.MonkeyPatch):
    config = AuditConfig(dataset="sample", roles=samples.ROLES, method="unmitigated", tolerance=0.02, seed=3)
    subject, trained = subject_of(config, samples.dataset(700)), []

    def fit(config, dataset, rows, *, seed):
        trained.append((config.method, config.tolerance, rows, seed))
        return fit_rows(config, dataset, rows, seed=seed)

    monkeypatch.setattr("core.studies.two_models.study.fit_rows", fit)
    (first,), (again,) = (STUDY.run(subject, SETTINGS) for _ in range(2))
    assert first == again
    ((method, tolerance, rows, seed),) = trained
    assert (method, tolerance, seed) == ("exponentiated_gradient", 0.02, 3)
    assert np.array_equal(rows, subject.splits.train)
    inference = first.membership
    assert inference.gain.value == pytest.approx(
        inference.both.value - max(estimate.value for estimate in inference.alone)
    )
    assert inference.better == int(inference.alone[1].value > inference.alone[0].value)
    assert STUDY.checks(first, SETTINGS)["two_models_gain"].control in (*inference.alone, *first.attributes[0].alone)


@pytest.mark.parametrize(
    ("method", "second"),
    [
        ("unmitigated", "exponentiated_gradient"),
        ("dp_id3", "exponentiated_gradient"),
        ("exponentiated_gradient", "unmitigated"),
        ("correlation_remover", "unmitigated"),
    ],
)
def test_the_counterpart_of_a_fair_model_is_unmitigated(method: str, second: str):
    subject, _ = STUDY.plants[0].make(0, False)
    subject.config = replace(subject.config, method=method)
    assert companion_of(subject, SETTINGS) == second and STUDY.unavailable(subject, SETTINGS) == ""
    subject.config, same = replace(subject.config, method=second), TwoModelsSettings(companion=second)
    assert STUDY.unavailable(subject, same).startswith("The second model must be of another method than the audited")


def test_groups_that_are_too_small_are_left_out_and_of_three_each_is_inferred():
    subject, _ = STUDY.plants[0].make(1, True)
    groups = subject.dataset.sensitive.copy()
    groups[np.flatnonzero(groups == 0)[:60]] = 2
    subject.dataset = replace(subject.dataset, sensitive=groups, group_names=("a", "b", "c"))
    by_group = {inference.target: inference for inference in attributes(subject, "unmitigated")}
    assert [*by_group] == ["a", "b", "c"] and by_group["b"].gain.low > 0.3
    groups = np.where((groups == 2) & (np.cumsum(groups == 2) > 39), 0, groups).astype(np.uint8)
    subject.dataset = replace(subject.dataset, sensitive=groups)
    assert [inference.target for inference in attributes(subject, "unmitigated")] == ["a", "b"]


def test_one_model_s_predictions_are_refused_in_one_sentence(capsys: pytest.CaptureFixture[str]):
    subject, _ = STUDY.plants[0].make(0, False)
    subject.trainable = False
    assert subject.config.method == GIVEN_PREDICTIONS
    assert STUDY.unavailable(subject, SETTINGS) == (
        "Two models of the same records are needed; only the predictions of one are given."
    )
    for companion in ("forest", "dp_id3"):  # of which no plan can say the ε
        with pytest.raises(InputError, match=rf"companion must be one of none, counterpart, .*, got '{companion}'\."):
            TwoModelsSettings(companion=companion)
    assert main(["attack", "two_models", "--set", "method=unmitigated", "--set", "companion=unmitigated"]) == 3
    assert "got No mitigation." in capsys.readouterr().err
