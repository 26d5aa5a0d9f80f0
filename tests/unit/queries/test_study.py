"""The study of planned answers: its checks against the trials, its words, a planted leak and none."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from core.datasets import Roles, build_dataset
from core.stats.estimates import Estimate, certain, mean_over_repeats, points, strongest
from core.studies.bias_queries import (
    DECODERS,
    NOISES,
    BiasQueriesResult,
    BiasQueriesSettings,
    ErrorQuantiles,
    Leak,
    NoisySums,
    Trials,
    answers_excess,
    findings,
    query_pool,
)
from core.studies.bias_queries.findings import curve_finding
from core.studies.bias_queries.study import STUDY
from core.studies.bias_queries.trials import two_sided
from core.studies.study import Measurement
from core.studies.subject import AuditConfig, Subject, subject_of
from tests import samples

ROLES = Roles(label="hired", positive="yes", favourable="yes", sensitive="region", each=True)
SUMS = BiasQueriesSettings(questions=6, people=40, mechanism="noisy_sums", epsilon=0.5, repeats=4)
EXACT = replace(SUMS, mechanism="exact")


CONFIG = AuditConfig(dataset="sample", method="unmitigated", tolerance=0.05, seed=7)


@pytest.fixture(scope="module")
def two() -> Subject:
    return subject_of(CONFIG, samples.dataset(1500, seed=8))


@pytest.fixture(scope="module")
def three() -> Subject:
    """People of one origin and of two kinds of another, of 35%, about 33% and 33%."""
    table = samples.table(1500, seed=8)
    east = np.arange(len(table.frame)) % 2 == 0
    region = np.where(table.frame["origin"] == "north", "north", np.where(east, "east", "west"))
    frame = table.frame.drop(columns="origin").assign(region=region)
    return subject_of(CONFIG, build_dataset(replace(table, frame=frame, roles=(ROLES,)), ROLES))


def result(subject: Subject, settings: BiasQueriesSettings) -> BiasQueriesResult:
    *_, leak = STUDY.run(subject, settings)
    return leak


def done(check: str, subject: Subject, settings: BiasQueriesSettings) -> Measurement:
    return STUDY.checks(result(subject, settings), settings)[check]


def test_answers_excess_is_that_of_the_best_decoder_paired_by_draw(two: Subject):
    measured = done("answers_excess", two, SUMS)
    trials = Trials(query_pool(two), n=40, repeats=4, seed=7, most=6)
    prior = np.array(trials.leakages(0, NoisySums(0.5), "strongest"))
    excess = [mean_over_repeats(np.array(trials.leakages(6, NoisySums(0.5), decoder)) - prior) for decoder in DECODERS]
    assert measured.estimate is not None
    assert measured.estimate.value == max(mean.value for mean in excess)
    assert measured.estimate.high == strongest({str(i): mean for i, mean in enumerate(excess)}, freedom=3)[1].high
    assert measured.control is not None
    assert measured.control.value == pytest.approx(prior.mean())


def test_answers_excess_of_draws_that_agree_is_not_certain(two: Subject):
    """Answers that move nobody: every draw has the same excess, and one person more or less is still possible."""
    trials = Trials(query_pool(two), n=40, repeats=4, seed=7, most=6)
    leaks = tuple(trials.leak_of(6, decoder, [0.75] * 4, [0.75] * 4) for decoder in DECODERS)
    measured = answers_excess(replace(result(two, SUMS), leaks=leaks), SUMS).estimate
    one_person = 0.5 / min(trials.n_advantaged, trials.n_disadvantaged)
    assert measured is not None
    assert measured.value == 0.0
    assert measured.low < 0.0
    assert measured.high == pytest.approx(one_person * (1 - 0.025**0.25))


@pytest.mark.parametrize(
    ("mechanism", "value"),
    [("noisy_sums", math.e / (1 + math.e)), ("laplace", math.e / (1 + math.e)), ("exact", 1.0), ("rounded", 1.0)],
)
def test_the_bound_on_one_person_follows_from_the_budget(two: Subject, mechanism: str, value: float):
    measurement = done("targeted_leakage", two, replace(SUMS, mechanism=mechanism))
    assert measurement.basis == "declared" and measurement.estimate is not None
    assert measurement.estimate.value == pytest.approx(value) and measurement.estimate.low == measurement.estimate.high


def test_two_sided_sets_the_largest_of_three_groups_against_everybody_else(two: Subject, three: Subject):
    dataset = two_sided(three.dataset)
    largest = int(np.bincount(three.dataset.sensitive, minlength=3).argmax())
    assert dataset.group_names == ("everybody else", three.dataset.group_names[largest])
    assert (dataset.sensitive == (three.dataset.sensitive == largest)).all()
    assert two_sided(two.dataset) is two.dataset
    measurement = done("answers_excess", three, EXACT)
    assert measurement.estimate is not None
    assert measurement.estimate.value > 0.05  # six exact answers about forty people
    pool = query_pool(three)
    assert (pool.people.base == three.model.scores[three.splits.test]).all()  # nobody the model was trained on


def test_answers_about_three_groups_name_the_largest_and_about_two_none(two: Subject, three: Subject):
    _, largest = two_sided(three.dataset).group_names
    few = replace(SUMS, questions=1, repeats=2)
    of_two, of_three = result(two, few), result(three, few)
    assert (of_two.largest, of_three.largest) == ("", largest)
    assumed = [answers_excess(leak, few).assumptions for leak in (of_two, of_three)]
    assert [any("stands against everybody else" in text for text in texts) for texts in assumed] == [False, True]


@pytest.mark.parametrize(("change", "reason"), [("labels", "only predicted labels"), ("people", "must hold 4 to")])
def test_what_cannot_be_asked_has_a_reason_and_still_a_bound(two: Subject, change: str, reason: str):
    model = replace(two.model, has_scores=change != "labels")
    settings = replace(SUMS, people=40 if change == "labels" else 5_000)
    leak = result(replace(two, model=model), settings)
    checks = STUDY.checks(leak, settings)
    assert checks["answers_excess"].outcome == "not_run"
    assert reason in checks["answers_excess"].reason
    assert checks["targeted_leakage"].outcome == "done"
    assert STUDY.findings(leak, settings)[0].point == leak.reason


def leaked(gain: float, half: float) -> BiasQueriesResult:
    """Return answers that add a gain, with so long an interval on either side."""

    def about(middle: float) -> Estimate:
        return Estimate(value=middle, low=middle - half, high=middle + half, n=8)

    leak = Leak(m=25, decoder="strongest", leakage=about(0.65 + gain), gain=about(gain), complete=0.0, typical=0)
    errors = {noise: ErrorQuantiles(median=0.01, high=0.02) for noise in NOISES}
    return BiasQueriesResult(attribute="sex", prior=about(0.65), leaks=(leak,), errors=errors, targeted=0.6)


@pytest.mark.parametrize("gain", [0.002, 0.03])
@pytest.mark.parametrize("half", [0.001, 0.02, 0.2])
@pytest.mark.parametrize("noise", ["exact", "rounded", "cauchy", "noisy_sums"])
def test_the_interval_decides_whether_answers_add_anything(gain: float, half: float, noise: str):
    (finding,) = findings(leaked(gain, half), BiasQueriesSettings(mechanism=noise))
    assert ("no statistically significant effect" in finding.point) == (gain - half <= 0)
    assert (f"a gain of {points(gain)}" in finding.point) == (gain - half > 0)


def test_curve_finding_names_the_most_answers_where_they_are_too_few():
    few = leaked(0.02, 0.01)
    many = replace(few, leaks=(*(replace(few.leaks[0], m=m) for m in (60, 50)),))
    finding = curve_finding([few, many], EXACT)
    assert finding.point.count("not reached with 60") == 2
    everybody = replace(many.leaks[0], leakage=certain(1.0, 8), complete=1.0)
    finding = curve_finding([few, replace(many, leaks=(everybody,))], EXACT)
    assert finding.point.count("60") == 2 and "not reached" not in finding.point
