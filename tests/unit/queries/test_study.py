"""The study of planned answers: its checks against the trials, its words, a planted leak and none."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from core.datasets import Roles, build_dataset
from core.stats.estimates import Estimate, mean_over_repeats, percent, points, share, strongest
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
    measurement = STUDY.checks(result(subject, settings), settings)[check]
    assert measurement.outcome == "done" and measurement.reason == "" and measurement.check == check
    assert measurement.attacked.endswith(".") and measurement.knows.endswith(".")
    assert measurement.assumptions and all(assumption.endswith(".") for assumption in measurement.assumptions)
    assert bool(measurement.control_name) == (measurement.control is not None)
    return measurement


@pytest.mark.parametrize("noise", NOISES)
def test_nothing_leaks_before_the_first_answer(two: Subject, noise: str):
    trials = Trials(query_pool(two), n=40, repeats=2, seed=7, most=2)
    settings = replace(SUMS, questions=1, repeats=2, mechanism=noise)
    none = trials.leak(0, settings.answer_mechanism, "strongest")
    assert none.leakage == trials.alone == result(two, settings).prior and none.gain.value == 0


def test_the_gain_is_paired_by_draw_and_draws_that_agree_are_not_certain(two: Subject):
    measured = done("answers_excess", two, SUMS)
    trials = Trials(query_pool(two), n=40, repeats=4, seed=7, most=6)
    prior = np.array(trials.leakages(0, NoisySums(0.5), "strongest"))
    excess = [mean_over_repeats(np.array(trials.leakages(6, NoisySums(0.5), decoder)) - prior) for decoder in DECODERS]
    assert measured.estimate is not None and measured.freedom == 3 and measured.basis == "measured"
    assert measured.estimate.value == max(mean.value for mean in excess)
    assert measured.estimate.high == strongest({str(i): mean for i, mean in enumerate(excess)}, freedom=3)[1].high
    assert measured.control is not None and measured.control.value == pytest.approx(prior.mean())
    (rows,) = STUDY.tables(result(two, SUMS), SUMS).values()
    assert [row["answers"] for row in rows] == [0, 6, 6, 6]
    assert rows[0]["balanced accuracy"] == share(measured.control)
    # answers that move nobody: every draw has the same excess, and one person more or less is still possible
    trials = Trials(query_pool(two), n=40, repeats=4, seed=7, most=6)
    leaks = tuple(trials.leak_of(6, decoder, [0.75] * 4, [0.75] * 4) for decoder in DECODERS)
    measured = answers_excess(replace(result(two, SUMS), leaks=leaks), SUMS).estimate
    one_person = 0.5 / min(trials.n_advantaged, trials.n_disadvantaged)
    assert measured is not None and measured.value == 0.0 and measured.low < 0.0
    assert measured.high == pytest.approx(one_person * (1 - 0.025**0.25))


@pytest.mark.parametrize(
    ("mechanism", "value"),
    [("noisy_sums", math.e / (1 + math.e)), ("laplace", math.e / (1 + math.e)), ("exact", 1.0), ("rounded", 1.0)],
)
def test_the_bound_on_one_person_follows_from_the_budget(two: Subject, mechanism: str, value: float):
    measurement = done("targeted_leakage", two, replace(SUMS, mechanism=mechanism))
    assert measurement.basis == "declared" and measurement.estimate is not None
    assert measurement.estimate.value == pytest.approx(value) and measurement.estimate.low == measurement.estimate.high


def test_of_three_groups_the_largest_stands_against_everybody_else(two: Subject, three: Subject):
    dataset = two_sided(three.dataset)
    counts = np.bincount(three.dataset.sensitive, minlength=3)
    largest = int(counts.argmax())
    assert dataset.group_names == ("everybody else", three.dataset.group_names[largest])
    assert (dataset.sensitive == (three.dataset.sensitive == largest)).all()
    assert (dataset.features == three.dataset.features).all() and two_sided(two.dataset) is two.dataset
    measurement = done("answers_excess", three, EXACT)
    assert (
        measurement.estimate is not None and measurement.estimate.value > 0.05
    )  # six exact answers about forty people
    assert f"Whether the region is {dataset.group_names[1]}, of 40 test people" in measurement.attacked
    assert any(
        f"of 3 the largest, {dataset.group_names[1]}, stands" in assumption for assumption in measurement.assumptions
    )
    pool = query_pool(three)
    assert pool.people.n == three.splits.test.size  # asked about nobody the model was trained on
    assert (pool.people.base == three.model.scores[three.splits.test]).all()


@pytest.mark.parametrize("scores", [True, False])
def test_no_answers_are_a_statement(scores: bool, three: Subject):
    """Whoever plans none declares that none are given; with labels alone as well."""
    model = three.model if scores else replace(three.model, has_scores=False)
    subject, none = replace(three, model=model), BiasQueriesSettings()
    excess, aimed = done("answers_excess", subject, none), done("targeted_leakage", subject, none)
    for measurement, value in ((excess, 0.0), (aimed, 0.5)):
        assert measurement.basis == "not_released" and measurement.estimate is not None
        assert (measurement.estimate.value, measurement.estimate.low, measurement.estimate.high) == (
            value,
            value,
            value,
        )
        assert measurement.attacked == "No answers to bias queries are planned."
        assert "was not measured" in measurement.assumptions[0]
    assert excess.control is None and aimed.control is not None and aimed.control.value == 0.5
    assert not STUDY.tables(result(subject, none), none)


@pytest.mark.parametrize(("change", "reason"), [("labels", "only predicted labels"), ("people", "must hold 4 to")])
def test_what_cannot_be_asked_has_a_reason_and_still_a_bound(two: Subject, change: str, reason: str):
    model = replace(two.model, has_scores=change != "labels")
    settings = replace(SUMS, people=40 if change == "labels" else 5_000)
    leak = result(replace(two, model=model), settings)
    checks = STUDY.checks(leak, settings)
    assert checks["answers_excess"].outcome == "not_run" and reason in checks["answers_excess"].reason
    assert checks["targeted_leakage"].outcome == "done"
    assert STUDY.findings(leak, settings)[0].point == leak.reason
    assert STUDY.tables(leak, settings) == {"Planned answers": ({"not made": leak.reason},)}


# --- the finding: the interval decides, and a balanced accuracy is called so


def leaked(value: float, gain: float, half: float, *, m: int = 25, complete: float = 0.0, error: float = 0.01):
    def about(middle: float) -> Estimate:
        return Estimate(value=middle, low=middle - half, high=middle + half, n=8)

    leak = Leak(m=m, decoder="strongest", leakage=about(value), gain=about(gain), complete=complete, typical=0)
    errors = {noise: ErrorQuantiles(median=error, high=2 * error) for noise in NOISES}
    return BiasQueriesResult(attribute="sex", prior=about(value - gain), leaks=(leak,), errors=errors, targeted=0.6)


@pytest.mark.parametrize("gain", [0.002, 0.01, 0.03, 0.15])
@pytest.mark.parametrize("half", [0.001, 0.02, 0.2])
@pytest.mark.parametrize("noise", ["exact", "rounded", "cauchy", "noisy_sums"])
def test_the_interval_decides_whether_answers_add_anything(gain: float, half: float, noise: str):
    leak = leaked(0.65 + gain, gain, half)
    (finding,) = findings(leak, BiasQueriesSettings(mechanism=noise))
    nothing = "no statistically significant effect" in finding.point
    assert nothing == (gain - half <= 0)
    reached = f"{percent(leak.best.leakage)} balanced accuracy, a gain of {points(gain)}"
    assert nothing or f"{reached} over features alone ({percent(leak.prior)})." in finding.point
    assert "balanced accuracy (95% CI" in finding.evidence and "random guessing 50%" in finding.evidence
    private = noise in ("cauchy", "noisy_sums")
    assert ("targeted query with the whole budget reveals" in finding.so_what) == private
    assert any(phrase in finding.so_what for phrase in ("one solution", "guarantees nothing")) != private
    assert "query desk" in finding.to_do


@pytest.mark.parametrize(("gain", "useless"), [(0.01, True), (0.081, False)])
def test_answers_that_leak_are_not_called_useless(gain: float, useless: bool):
    (finding,) = findings(leaked(0.6, gain, 0.02, error=1.05), BiasQueriesSettings(mechanism="laplace", epsilon=1.1))
    assert ("useless" in finding.point) == useless == ("raise ε" in finding.to_do)
    assert ("a gain of +8.1 points" in finding.point) != useless


@pytest.mark.parametrize(("gain", "clear"), [(0.022, False), (0.03, True)])
def test_the_finding_on_the_best_of_several_decoders_is_that_of_the_check(gain: float, clear: bool):
    leak = leaked(0.65, gain, 0.02)
    (decoder_leak,) = leak.leaks
    tried = replace(leak, leaks=tuple(replace(decoder_leak, decoder=decoder) for decoder in DECODERS))
    (finding,) = findings(tried, BiasQueriesSettings(mechanism="cauchy"))
    assert ("a gain of" in finding.point) == (answers_excess(tried, SUMS).estimate.low > 0) == clear
    assert "a gain of" in findings(leak, BiasQueriesSettings(mechanism="cauchy"))[0].point
