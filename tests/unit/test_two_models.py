"""Two models of one table: what both reveal beyond the better one, and nothing where they are of other people."""

from dataclasses import replace

import numpy as np
import pytest

from core.__main__ import main
from core.base.errors import InputError
from core.stats.estimates import Estimate
from core.studies.subject import AuditConfig, OutputsPlan, fit_rows, subject_of
from core.studies.two_models.study import STUDY, Inferred, TwoModels, TwoModelsSettings, companion_of
from tests import samples

SETTINGS = TwoModelsSettings(companion="counterpart")


@pytest.mark.long
@pytest.mark.parametrize(("outputs", "least"), [(OutputsPlan(decimals=2), 0.4), (OutputsPlan(released="labels"), 0.1)])
@pytest.mark.parametrize("seed", [2, 3], ids=["members", "a group"])
def test_a_difference_that_reveals_what_neither_model_does(seed, outputs, least):
    subject, settings = STUDY.plants[0].make(seed, True)
    subject.outputs = outputs
    (result,) = STUDY.run(subject, settings)
    leak, harmless = (result.membership, result.attributes[0])[:: 1 if seed == 2 else -1]
    assert leak.gain.low > least and harmless.gain.low <= 0
    assert all(alone.low <= 0.5 for inference in (leak, harmless) for alone in inference.alone)
    assert STUDY.checks(result, SETTINGS)["two_models_gain"].estimate.low > least  # the larger of the two
    findings = STUDY.findings(result, SETTINGS)
    assert [bool(finding.to_do) for finding in findings] == [seed == 2, seed == 3]


def test_it_trains_the_counterpart_on_the_same_records_once(monkeypatch):
    config = AuditConfig(dataset="sample", roles=samples.ROLES, method="unmitigated", tolerance=0.02, seed=3)
    subject, trained = subject_of(config, samples.dataset(450)), []

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
    best = max(estimate.value for estimate in inference.alone)
    assert inference.gain.value == pytest.approx(inference.both.value - best)
    assert inference.better == int(inference.alone[1].value > inference.alone[0].value)
    assert STUDY.checks(first, SETTINGS)["two_models_gain"].control in (*inference.alone, *first.attributes[0].alone)


def test_numbers_have_no_more_digits_than_their_interval():
    level = Estimate(value=0.78616, low=0.772, high=0.799, n=4000)
    change = Estimate(value=0.00036, low=-0.0102, high=0.0121, n=4000)
    inferred = Inferred(
        target="women", alone=(level, replace(level, value=0.7814)), both=replace(level, value=0.78652), gain=change
    )
    models = {"audited": "A", "second": "B", "attribute": "sex", "released": "predicted labels and scores"}
    result = TwoModels(membership=inferred, attributes=(inferred,), **models)
    members, groups = STUDY.findings(result, SETTINGS)
    assert members.point.startswith("Releasing the 2 models adds 0.0 points to identifying training records, over")
    assert groups.evidence.startswith("95% CI −1.0 to +1.2 points, 4,000 people.")
    assert groups.evidence.endswith("Balanced accuracy from the audited model (A) alone: 78.6%.")
    assert "other attacks on one model, which may find more." in members.text


@pytest.mark.parametrize(
    ("method", "second"), [("unmitigated", "exponentiated_gradient"), ("exponentiated_gradient", "unmitigated")]
)
def test_the_counterpart_of_a_fair_model_is_unmitigated(method, second):
    subject, _ = STUDY.plants[0].make(0, False)
    subject.config = replace(subject.config, method=method)
    assert companion_of(subject, SETTINGS) == second and STUDY.unavailable(subject, SETTINGS) == ""
    subject.config, same = replace(subject.config, method=second), TwoModelsSettings(companion=second)
    assert STUDY.unavailable(subject, same).startswith("The second model must be of another method than the audited")


def test_companions_that_say_no_epsilon_or_are_of_the_same_method_are_refused(capsys):
    for companion in ("forest", "dp_id3"):  # of which no plan can say the ε
        with pytest.raises(InputError, match=rf"companion must be one of none, counterpart, .*, got '{companion}'\."):
            TwoModelsSettings(companion=companion)
    assert main(["attack", "two_models", "--set", "method=unmitigated", "--set", "companion=unmitigated"]) == 3
    assert "got No mitigation." in capsys.readouterr().err
