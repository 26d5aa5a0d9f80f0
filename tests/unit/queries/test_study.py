"""The study of planned answers: its checks against the trials, its words, a planted leak and none."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.base.errors import InputError
from core.datasets import build_dataset
from core.datasets.splits import split
from core.stats.estimates import certain, mean_over_repeats, points, strongest
from core.stats.fairness import METRICS
from core.studies.bias_queries import (
    DECODERS,
    NOISES,
    BiasQueriesResult,
    BiasQueriesSettings,
    ErrorQuantiles,
    Exact,
    Leak,
    NoisySums,
    SmoothCauchy,
    SmoothLaplace,
    Trials,
    answers_excess,
    leakage,
    needed,
    query_pool,
    statistical_parity_gap,
)
from core.studies.bias_queries.study import STUDY, curve_finding
from core.studies.bias_queries.trials import FEWEST_IN_GROUP, two_sided
from core.studies.subject import AuditConfig, subject_of
from tests import expected, samples
from tests.samples_report import estimate
from tests.unit.queries.people import pool

SUMS = BiasQueriesSettings(questions=6, people=40, mechanism="noisy_sums", epsilon=0.5, repeats=4)
EXACT = replace(SUMS, mechanism="exact")

CONFIG = AuditConfig(dataset="sample", method="unmitigated", tolerance=0.05, seed=7)


@pytest.fixture(scope="module")
def two():
    return subject_of(CONFIG, samples.dataset(1500, seed=8))


@pytest.fixture(scope="module")
def three():
    """People of one origin and of two kinds of another, of 35%, about 33% and 33%."""
    table = samples.table(1500, seed=8)
    halves = np.where(np.arange(1500) % 2 == 0, "east", "west")
    frame = table.frame.assign(origin=np.where(table.frame["origin"] == "north", "north", halves))
    roles = replace(samples.ROLES, group=(), each=True)
    return subject_of(CONFIG, build_dataset(replace(table, frame=frame), roles))


def result(subject, settings):
    *_, leak = STUDY.run(subject, settings)
    return leak


def done(check, subject, settings):
    return STUDY.checks(result(subject, settings), settings)[check]


def test_answers_excess_is_that_of_the_best_decoder_paired_by_draw(two):
    """Draws that agree: where answers move nobody, one person more or less is still possible."""
    measured = done("answers_excess", two, SUMS)
    trials = Trials(query_pool(two), n=40, repeats=4, seed=7, most=6)
    prior = np.array(trials.leakages(0, NoisySums(0.5), "strongest"))
    excess = [mean_over_repeats(np.array(trials.leakages(6, NoisySums(0.5), decoder)) - prior) for decoder in DECODERS]
    assert measured.estimate.value == max(mean.value for mean in excess)
    assert measured.estimate.high == strongest({str(i): mean for i, mean in enumerate(excess)}, freedom=3)[1].high
    assert measured.control.value == pytest.approx(prior.mean())
    leaks = tuple(trials.leak_of(6, decoder, [0.75] * 4, [0.75] * 4) for decoder in DECODERS)
    agreed = answers_excess(replace(result(two, SUMS), leaks=leaks), SUMS).estimate
    one_person = 0.5 / min(trials.n_advantaged, trials.n_disadvantaged)
    assert agreed.low < agreed.value == 0.0
    assert agreed.high == pytest.approx(one_person * (1 - 0.025**0.25))


@pytest.mark.parametrize(
    ("mechanism", "value"),
    [("noisy_sums", math.e / (1 + math.e)), ("laplace", math.e / (1 + math.e)), ("exact", 1.0), ("rounded", 1.0)],
)
def test_the_bound_on_one_person_follows_from_the_budget(two, mechanism, value):
    measurement = done("targeted_leakage", two, replace(SUMS, mechanism=mechanism))
    assert measurement.basis == "declared"
    assert measurement.estimate.value == pytest.approx(value) and measurement.estimate.low == measurement.estimate.high


def test_the_largest_of_three_groups_is_set_against_everybody_else_and_said_to_be(two, three):
    dataset = two_sided(three.dataset)
    largest = int(np.bincount(three.dataset.sensitive, minlength=3).argmax())
    assert dataset.group_names == ("everybody else", three.dataset.group_names[largest])
    assert (dataset.sensitive == (three.dataset.sensitive == largest)).all()
    assert two_sided(two.dataset) is two.dataset
    assert done("answers_excess", three, EXACT).estimate.value > 0.05  # six exact answers about forty people
    rows = three.splits.test  # nobody the model was trained on
    assert (query_pool(three).people.base == three.model.scores[rows]).all()
    few = replace(SUMS, questions=1, repeats=2)
    of_two, of_three = result(two, few), result(three, few)
    assert (of_two.largest, of_three.largest) == ("", three.dataset.group_names[largest])
    assumed = [answers_excess(leak, few).assumptions for leak in (of_two, of_three)]
    assert [any("stands against everybody else" in text for text in texts) for texts in assumed] == [False, True]


@pytest.mark.parametrize(("change", "reason"), [("labels", "only predicted labels"), ("people", "must hold 4 to")])
def test_what_cannot_be_asked_has_a_reason_and_still_a_bound(two, change, reason):
    model = replace(two.model, has_scores=change != "labels")
    settings = replace(SUMS, people=40 if change == "labels" else 5_000)
    leak = result(replace(two, model=model), settings)
    checks = STUDY.checks(leak, settings)
    excess, bound = checks["answers_excess"], checks["targeted_leakage"]
    assert (excess.outcome, bound.outcome) == ("not_run", "done") and reason in excess.reason
    assert STUDY.findings(leak, settings)[0].point == leak.reason


def leak(m, leakage, gain=0.0, half=0.0):
    """Return what so many answers leak and add, with so long an interval on either side."""
    estimates = {"leakage": estimate(leakage, half), "gain": estimate(gain, half)}
    return Leak(m=m, decoder="strongest", **estimates, complete=0.0, typical=0)


def leaked(gain, half):
    """Return answers that add a gain, with so long an interval on either side."""
    errors = {noise: ErrorQuantiles(median=0.01, high=0.02) for noise in NOISES}
    leaks = (leak(25, 0.65 + gain, gain, half),)
    return BiasQueriesResult(attribute="sex", prior=estimate(0.65, half), leaks=leaks, errors=errors, targeted=0.6)


@pytest.mark.parametrize("gain", [0.002, 0.03])
@pytest.mark.parametrize("half", [0.001, 0.02, 0.2])
@pytest.mark.parametrize("noise", ["exact", "rounded", "cauchy", "noisy_sums"])
def test_the_interval_decides_whether_answers_add_anything(gain, half, noise):
    (finding,) = STUDY.findings(leaked(gain, half), BiasQueriesSettings(mechanism=noise))
    assert ("no statistically significant effect" in finding.point) == (gain - half <= 0)
    assert (f"a gain of {points(gain)}" in finding.point) == (gain - half > 0)


def test_the_targeted_query_stands_beside_the_bound_that_its_check_is_of(two):
    settings = BiasQueriesSettings(questions=2, people=30, repeats=2)
    headline = STUDY.findings(result(two, settings), settings)[0].so_what
    bound = STUDY.checks(result(two, settings), settings)["targeted_leakage"].estimate.value
    assert f"with the group sizes known: {100 * bound:.1f}%." in headline


def test_curve_finding_names_the_most_answers_where_they_are_too_few():
    few = leaked(0.02, 0.01)
    many = replace(few, leaks=tuple(replace(few.leaks[0], m=m) for m in (60, 50)))
    finding = curve_finding([few, many], EXACT)
    assert finding.point.count("not reached with 60") == 2
    everybody = replace(many.leaks[0], leakage=certain(1.0, 8), complete=1.0)
    finding = curve_finding([few, replace(many, leaks=(everybody,))], EXACT)
    assert finding.point.count("60") == 2 and "not reached" not in finding.point


def trials(design="jitter"):
    return Trials(pool(), n=30, repeats=5, seed=9, design=design)


@pytest.mark.parametrize("design", ["jitter", "random_binary", "targeted", "single"])
def test_the_first_questions_do_not_depend_on_the_last(design):
    drawn_trials, later = trials(design), trials(design)
    later.ask(later.numbers[-1], Exact())
    for m in (1, 7):
        first, again = drawn_trials.ask(m, Exact()), later.ask(m, Exact())
        everything = later.ask(later.numbers[-1], Exact())
        assert (first.scores == again.scores).all() and (first.answers == again.answers).all()
        assert (everything.scores[:, :m] == first.scores).all()
        assert everything.answers[:, :m] == pytest.approx(first.answers, abs=1e-12)


def test_ask_answers_about_the_people_of_each_repeat():
    drawn_trials = trials()
    queries = drawn_trials.ask(6, Exact())
    for r, people in enumerate(drawn_trials.people):
        assert people.sizes == (drawn_trials.n_advantaged, drawn_trials.n_disadvantaged)
        assert queries.answers[r] == pytest.approx(statistical_parity_gap(queries.scores[r], people.sensitive))
        assert np.abs(queries.scores[r] - people.base).max() <= 0.1 + 1e-12
    some = drawn_trials.ask(6, SmoothCauchy(2.0), [3, 1])
    assert (some.answers == drawn_trials.ask(6, SmoothCauchy(2.0)).answers[[3, 1]]).all()
    assert (some.prior == drawn_trials.prior[[3, 1]]).all()


def test_accuracy_has_the_spread_between_the_models_asked_about():
    drawn_trials = trials()
    spread = []
    for people, scores in zip(drawn_trials.people, drawn_trials.ask(6, Exact()).scores, strict=True):
        spread.append(np.std([np.mean((model >= 0.5) == people.labels) for model in scores]))
    assert len(spread) == 5 and drawn_trials.accuracy(6)[2] == pytest.approx(np.mean(spread))


ENDS = {"jitter": 18, "random_binary": 18, "bits": 1, "targeted": 31, "single": 30}


@pytest.mark.parametrize("design", ENDS)
def test_enough_exact_answers_are_the_truth(design):
    drawn_trials, last = trials(design), ENDS[design]
    assert drawn_trials.numbers[-1] == last
    for decoder in ("strongest", "without_prior", *(["published"] if design == "bits" else [])):
        assert drawn_trials.leak(last, Exact(absolute=design == "single"), decoder).complete == 1.0


LOST_AGAIN = [(0, 0.5), (20, 1.0), (5, 0.96), (10, 0.94), (15, 0.999)]


@pytest.mark.parametrize(
    ("leaks", "target", "answers"),
    [
        (LOST_AGAIN, 0.95, 15),  # reached and lost again does not count
        (LOST_AGAIN, 0.5, 0),
        ([(0, 0.5), (20, 1.0), (25, 0.9)], 0.95, None),
        ([], 0.95, None),
    ],
)
def test_needed_is_the_fewest_answers_from_which_on_it_is_reached(leaks, target, answers):
    assert needed([leak(m, value) for m, value in leaks], target) == answers


def test_an_epsilon_that_may_fail_bounds_nobody_where_it_surely_fails():
    drawn_trials = trials()
    limits = [drawn_trials.bound(SmoothLaplace(0.9, delta)) for delta in (1e-9, 0.05, 0.9)]
    assert limits[0] == pytest.approx(drawn_trials.limit(0.9, with_sizes=True))
    assert limits[0] < limits[1] < limits[2] == 1.0


@given(st.integers(2, 300), st.integers(2, 300), st.integers(4, 600))
def test_samples_keep_the_shares(advantaged, disadvantaged, n):
    people_pool = pool(advantaged + disadvantaged, disadvantaged)
    if n > people_pool.people.n:
        with pytest.raises(InputError, match=f"4 to {people_pool.people.n} people, got {n}"):
            people_pool.sizes(n)
        return
    expected = n * disadvantaged / people_pool.people.n
    if min(round(expected), n - round(expected)) < FEWEST_IN_GROUP:
        with pytest.raises(InputError, match="at least 2 people of each group, or the first answer reveals them"):
            people_pool.sizes(n)
        return
    n1, n0 = people_pool.sizes(n)
    assert n1 + n0 == n and abs(n0 - expected) <= 0.5
    assert people_pool.sample(n, np.random.default_rng(0)).sizes == (n1, n0)


@pytest.mark.parametrize("metric", METRICS)
def test_query_pool_holds_the_test_people_a_metric_is_about(metric):
    demo = expected.demo()
    config = AuditConfig(dataset="demo", roles=demo.roles, method="unmitigated", metric=metric)
    people_pool = query_pool(subject_of(config, demo))
    people, rows = people_pool.people, split(demo, train_share=config.train_share, seed=config.seed).test
    label = {"equal_opportunity": 1, "equalized_odds": 1, "predictive_equality": 0}.get(metric)
    if label is not None:
        rows = rows[demo.labels[rows] == label]
    assert (people.sensitive == (demo.sensitive[rows] == demo.group_names.index("men"))).all()
    assert (people.labels == demo.labels[rows]).all()
    assert (people_pool.advantaged, people_pool.disadvantaged) == ("men", "women")  # the larger group is advantaged
    share = people.sizes[0] / people.n
    assert leakage(people.sensitive, people.prior > share) > 0.6
    assert abs(people.prior.mean() - share) < 0.04  # calibrated on other people


def test_groups_that_cannot_be_compared_are_refused_in_one_sentence(two):
    data, test, labels = two.dataset, two.splits.test, two.dataset.labels.copy()
    labels[test[data.sensitive[test] == data.group_names.index("north")]] = 0
    config = replace(two.config, metric="equal_opportunity")
    with pytest.raises(InputError, match=r"Equal opportunity needs at least 2 people of each group .* got 0 of one"):
        query_pool(replace(two, config=config, dataset=replace(data, labels=labels)))
