"""The choice: right among planted candidates, honest about what many cost; its command on planted answers."""

import itertools
import json
import math
import sys
from dataclasses import replace
from pathlib import Path
from statistics import NormalDist
from types import SimpleNamespace
from unittest.mock import Mock, call

import numpy as np
import pytest

from core.auditing import AuditPlan, OutputsPlan, plan_text, read_plan
from core.auditing.policy import Status, policy_text
from core.base.errors import InputError
from core.base.validation import child_generator
from core.experiments.choose import (
    PREFERENCES,
    CandidateSet,
    ChoiceOutcome,
    ChooseSettings,
    candidate_configs,
    candidates,
    choose,
    measure_all,
)
from core.experiments.choose.candidates import in_choosing_half, measured_candidate
from core.experiments.choose.charts import draw_choice
from core.experiments.choose.findings import candidate_label, finding
from core.experiments.engine import MemoryStore
from core.stats.estimates import paired_gain, proportion
from core.studies.study import Outcome, not_run
from core.studies.subject import AuditConfig
from tests import samples
from tests.policy_samples import policy as limits
from tests.refusals import exit_code, refused
from tests.unit.charts.checks import check, dots
from tests.unit.choose.candidate_samples import POLICY, SAFE, N, half, point

RUNS = 100
WRONG = 11
"""Most wrong choices of 100 where one in twenty is allowed: 12 or more have a probability of 0.4%."""

MEMBER = {**SAFE, "membership_auc": 0.6}
"""What a model leaks that gives its training data away."""


def chosen(points, **settings):
    return choose(points, POLICY, ChooseSettings(**settings), attribute="sex")


def generator(seed=1):
    return np.random.default_rng(seed)


@pytest.mark.long
def test_choose_recommends_the_safe_model_among_twenty_leaky_models():
    right = 0
    for run in range(RUNS):
        rng = generator(run)
        choice = chosen([*(point(k, 0.8, MEMBER, rng) for k in range(20)), point(20, 0.75, SAFE, rng)])
        right += choice.outcome == ChoiceOutcome.RECOMMENDED and choice.chosen.points[0].config.tolerance == 0.02
    assert right >= RUNS - WRONG


@pytest.mark.long
def test_of_twenty_at_a_limit_hardly_one_is_recommended_though_many_would_pass_where_they_are_chosen():
    edge, rngs = {**SAFE, "attribute_excess": 0.02}, map(generator, range(1000, 1000 + RUNS))
    choices = [chosen([point(k, 0.8, edge, rng) for k in range(20)]) for rng in rngs]
    assert sum(choice.outcome == ChoiceOutcome.RECOMMENDED for choice in choices) <= WRONG
    assert sum(bool(choice.with_status(Status.PASS)) for choice in choices) > 2 * WRONG


def test_selection_optimism_is_the_mean_gain_of_the_best_of_a_draw_by_its_draw():
    rng = generator(7)
    choice = chosen([point(k, 0.75, SAFE, rng) for k in range(4)])
    right = [candidate.points[0].choosing.correct for candidate in choice.eligible]
    draws = child_generator(0, "flattery of the best").multinomial(N, np.full(N, 1 / N), size=200)
    gains = []
    for times in draws:  # how often each person is drawn
        scores = [float(np.repeat(correct, times).mean()) for correct in right]
        best = scores.index(max(scores))
        gains.append(scores[best] - float(right[best].mean()))
    assert choice.selection_optimism == pytest.approx(np.mean(gains), rel=1e-9)


def test_seeds_are_replicates_and_not_candidates():
    rng = generator(4)
    choice = chosen([point(k, 0.75, SAFE, rng, seed=seed) for k in range(3) for seed in range(4)])
    assert [len(candidate.points) for candidate in choice.candidates] == [4, 4, 4]
    first = choice.candidates[0]
    together, accuracies = first.choosing.accuracy, [p.choosing.accuracy for p in first.points]
    assert together.value == pytest.approx(np.mean([accuracy.value for accuracy in accuracies]))
    widths = [accuracy.high - accuracy.low for accuracy in accuracies]
    assert together.high - together.low == pytest.approx(np.mean(widths))


def with_leak(side, value):
    """Return a half on which members are told apart this well."""
    measurement = side.checks["membership_auc"]
    auc = replace(measurement.estimate, value=value, low=value - 0.01, high=value + 0.01)
    return replace(side, checks={**side.checks, "membership_auc": replace(measurement, estimate=auc)})


@pytest.mark.parametrize("beyond", [0, 1])
def test_balanced_prefers_the_smaller_leak_within_one_standard_error_of_the_best(beyond):
    rng = generator(7)
    best = half(0.8, SAFE, rng)
    error = (best.accuracy.high - best.accuracy.low) / 2 / NormalDist().inv_cdf(0.975)
    accuracy = proportion(round(best.accuracy.value * N) - math.floor(N * error) - beyond, N)
    loud, quiet = with_leak(best, 0.52), replace(with_leak(best, 0.5), accuracy=accuracy)
    numbered = ((1, loud), (2, quiet))
    first, second = (replace(point(k, 0.8, SAFE, rng), choosing=x, judging=x) for k, x in numbered)
    assert chosen([first, second]).chosen.points == (first,)
    assert chosen([first, second], prefer="balanced").chosen.points == ((first,) if beyond else (second,))


def test_the_least_leak_is_that_of_models_within_all_limits():
    rng = generator(21)
    exact, leaky = (point(k, 0.9, {**SAFE, "membership_auc": auc}, rng) for k, auc in ((1, 0.52), (2, 0.7)))
    quiet = point(3, 0.7, SAFE, rng)
    assert chosen([exact, quiet, leaky], prefer="leak").chosen.points == (quiet,)
    assert chosen([exact, quiet, leaky]).chosen.points == (exact,)


def without_members(side, outcome=Outcome.NOT_RUN):
    """Return a half on which the attack on members was not run."""
    missing = not_run("membership_auc", "It was not measured.", outcome=outcome)
    return replace(side, checks={**side.checks, "membership_auc": missing})


def test_where_no_model_is_within_all_limits_the_least_leak_is_that_of_all():
    rng = generator(21)
    unfair = {**SAFE, "unfairness": 0.2}
    truths = (MEMBER, {**unfair, "membership_auc": 0.53}, unfair)
    leaky, loud, quiet = (point(k, 0.8, truth, rng) for k, truth in enumerate(truths, 1))
    choice = chosen([leaky, loud, quiet], prefer="leak")
    assert (choice.outcome, choice.chosen.points) == (ChoiceOutcome.NONE, (quiet,))
    blind = replace(quiet, choosing=without_members(quiet.choosing, Outcome.FAILED))
    assert chosen([leaky, loud, blind], prefer="leak").chosen.points == (loud,)


@pytest.mark.parametrize("prefer", ["leak", "balanced"])
def test_who_was_not_attacked_as_others_were_does_not_leak_least_though_its_policy_excuses_it(prefer):
    rng = generator(21)
    seen, twin = (point(k, 0.8, {**SAFE, "membership_auc": 0.52}, rng) for k in (1, 2))
    side = without_members(seen.choosing)  # as accurate
    unseen = replace(twin, choosing=side, judging=side)
    excusing = replace(POLICY, limits=tuple(replace(limit, if_not_run="allowed") for limit in POLICY.limits))
    choice = choose([unseen, seen], excusing, ChooseSettings(prefer=prefer), attribute="sex")
    assert choice.chosen.points == (seen,)
    (label,) = (candidate_label(candidate) for candidate in choice.candidates if candidate.points == (unseen,))
    assert any("Not measured" in caveat and label in caveat for caveat in finding(choice).caveats)


def test_who_leaks_more_than_the_least_is_told_from_chance():
    rng = generator(3)
    safe_choices = [chosen([point(k, 0.8, SAFE, rng) for k in range(8)], prefer="leak") for _ in range(60)]
    assert np.mean([bool(choice.shown_leakier) for choice in safe_choices]) < 0.1  # 5% of any of them
    points = [*(point(k, 0.8, SAFE, rng) for k in range(3)), point(3, 0.8, MEMBER, rng)]
    leakier = chosen(points, prefer="leak").shown_leakier
    assert [candidate.points for candidate in leakier] == [(points[3],)]


@pytest.mark.parametrize("prefer", PREFERENCES)
@pytest.mark.parametrize(
    ("accuracy", "constant", "least"),
    [(0.75, False, 0.9), (0.55, False, None), (0.9, True, None), (0.55, True, None)],
    ids=["less than accepted", "below the majority", "one answer for everybody", "the rarer answer for everybody"],
)
def test_a_model_without_use_is_not_recommended(accuracy, constant, least, prefer):
    useless = replace(point(0, accuracy, SAFE, generator(8)), constant=constant)
    choice = chosen([useless], prefer=prefer, least_accuracy=least)
    assert choice.outcome == ChoiceOutcome.NONE and not choice.eligible
    assert ("No useful model" in finding(choice).point) == constant  # or none is accurate enough


@pytest.mark.parametrize("prefer", PREFERENCES)
@pytest.mark.parametrize("least", [None, 0.0])
@pytest.mark.parametrize(("choosing", "judging"), [(0.70, 0.69), (0.69, 0.72)])
def test_who_is_not_shown_to_beat_one_answer_for_everybody_is_not_recommended(prefer, least, choosing, judging):
    """One answer for everybody has 68.5%, in each half (discordant: 10%)."""
    candidate = replace(point(1, 0.7, SAFE, generator()), majority=proportion(round(1.37 * N), 2 * N))
    majority, lost = proportion(round(0.685 * N), N), round(0.05 * N)
    for name, accuracy in (("choosing", choosing), ("judging", judging)):
        gain = paired_gain(lost + round((accuracy - 0.685) * N), lost, N)
        rates = {"accuracy": proportion(round(accuracy * N), N), "majority": majority, "gain": gain}
        candidate = replace(candidate, **{name: replace(getattr(candidate, name), **rates)})
    choice = chosen([candidate], prefer=prefer, least_accuracy=least)
    assert choice.chosen.choosing.status == choice.chosen.judging.status == Status.PASS
    assert choice.outcome != ChoiceOutcome.RECOMMENDED
    assert "not shown to be above that of one answer for everybody" in finding(choice).so_what


def test_unconstrained_is_the_most_accurate_model_without_a_constraint():
    rng = generator(14)
    free = [point(k, accuracy, SAFE, rng, method="unmitigated") for k, accuracy in ((0, 0.7), (1, 0.85))]
    choice = chosen([*free, point(2, 0.75, SAFE, rng)])
    assert choice.unconstrained.points[0] is free[1]


@pytest.mark.parametrize(("budgets", "spent"), [((1.0, 3.0), 8.0), ((1.0, math.inf), math.inf)])
def test_private_candidates_are_charged_together_replicates_too(budgets, spent):
    rng = generator(9)
    trainings = itertools.product((1, 2), budgets)
    private = [point(0, 0.7, SAFE, rng, seed=seed, method="dp_id3", epsilon=epsilon) for seed, epsilon in trainings]
    assert chosen([*private, point(1, 0.7, SAFE, rng)]).spent == spent


def test_the_frontier_has_those_whom_nobody_matches_in_both():
    rng = generator(10)
    points = [point(k, 0.6 + 0.02 * (k % 7), SAFE, rng) for k in range(21)]
    best = max(points, key=lambda candidate: candidate.choosing.accuracy.value)
    twin = replace(point(21, 0.7, SAFE, rng), choosing=with_leak(best.choosing, 0.6))  # as accurate, leaks more
    choice = chosen([*points, twin])
    corners = {(side.choosing.leak, -side.choosing.accuracy.value): side.points for side in choice.candidates}
    unmatched, most_accurate = [], math.inf
    for leak, error in sorted(corners):
        if error < most_accurate:
            unmatched.append(corners[leak, error])
            most_accurate = error
    assert [candidate.points for candidate in choice.frontier] == unmatched
    assert (best,) in unmatched and (twin,) not in unmatched


def test_progress_counts_the_models_of_all_plans_and_there_are_no_more_workers_than_models(monkeypatch):
    workers = []

    def points_of(configs, *_, n_jobs, report, **__):
        workers.append(n_jobs)
        for number in range(len(configs)):
            report(number + 1, len(configs))
            yield number

    monkeypatch.setattr(sys.modules["core.experiments.choose.candidates"], "measured_points", points_of)
    configs, progress = candidate_configs(AuditPlan(), ChooseSettings(), (1,)), Mock()
    sets = [CandidateSet(configs[:n], samples.dataset(400), AuditPlan()) for n in (1, 3)]
    assert len(list(measure_all(sets, n_jobs=2, report=progress))) == 4
    assert progress.mock_calls == [call(1, 4), call(2, 4), call(3, 4), call(4, 4)]
    assert workers == [1, 2]


@pytest.mark.parametrize(
    ("n", "check", "leak", "message"),
    [
        (0, "membership_auc", "all", "at least one finished model"),
        (1, "targeted_leakage", "all", "must require a check that candidates are measured by"),
        (1, "membership_auc", "attribute", r"must require a check of the leak counted \(attribute\), got none"),
    ],
)
def test_choose_refuses(n, check, leak, message):
    points = [point(0, 0.7, SAFE, generator(11))] * n
    with pytest.raises(InputError, match=message):
        choose(points, limits(**{check: 0.7}), ChooseSettings(leak=leak), attribute="sex")


def test_draw_choice_shades_what_is_accurate_enough_and_within_all_limits():
    """From the least accuracy accepted to the top, and from no leak to the limit, which is at 1."""
    rng = generator(21)
    points = [point(k, accuracy, SAFE, rng) for k, accuracy in ((1, 0.65), (2, 0.85))]
    figure = check(draw_choice(chosen(points, least_accuracy=0.7)))
    (shade,) = (shape for shape in figure.layout.shapes if shape.type == "rect")
    assert (shade.x0, shade.x1) == (0.0, 1.0)
    assert (shade.y0, shade.y1) == (pytest.approx(70.0), figure.layout.yaxis.range[1])
    dashed = [shape for shape in figure.layout.shapes if shape.line.dash == "longdash"]
    assert [line.y0 for line in dashed if line.y0 == line.y1] == [pytest.approx(70.0)]


def test_draw_choice_draws_the_candidates_of_a_method_larger_step_by_step():
    """From 9 to 15 pixels, however many they are."""
    rng = generator(22)
    for sizes in ([9, 15], [9, 11, 13, 15]):
        points = [point(k, 0.7 + 0.02 * k, SAFE, rng, method="unmitigated") for k in range(len(sizes))]
        figure = check(draw_choice(chosen(points)))
        assert [list(trace.marker.size) for trace in dots(figure) if len(trace.x) == len(sizes)] == [sizes]


def planned(plan, **roles):
    """Return a plan that releases labels alone and keeps a tolerance of 0.2, with other roles."""
    config = replace(plan.config, tolerance=0.2, roles=replace(samples.ROLES, **roles))
    return replace(plan, config=config, outputs=OutputsPlan(released="labels"))


@pytest.fixture
def folder(tmp_path):
    """Plans for three columns of answers: the best gives the group away, the next is fair, the last is random."""
    people, rng = samples.frame(4000), np.random.default_rng(1)
    hired, north = people["hired"] == "yes", people["origin"] == "north"
    answers = {
        "leaks": np.where(rng.random(4000) < 0.45, hired, north),
        "fair": np.where(rng.random(4000) < 0.6, hired, rng.random(4000) < 0.5),
        "coarse": rng.random(4000) < 0.5,
    }
    plans = {"train": planned(samples.plan(seed=9), excluded=tuple(answers))}
    for name in answers:
        plans[name] = planned(samples.given_plan(), prediction=name, excluded=tuple(set(answers) - {name}))
    plans["strict"] = replace(plans["fair"], policy="policy.toml")
    for name, plan in plans.items():
        (tmp_path / f"{name}.toml").write_text(plan_text(plan))
    (tmp_path / "policy.toml").write_text(policy_text(limits(attribute_excess=0.05, unfairness=0.25)))
    people = people.assign(**{name: answer.astype(int) for name, answer in answers.items()})
    people.to_csv(tmp_path / "people.csv", index=False)
    return tmp_path


def command_chooses(folder, *more, columns=("leaks", "fair", "coarse")):
    plans = [folder / f"{name}.toml" for name in columns]
    policy = ("--policy", folder / "policy.toml")
    return exit_code("choose", *plans, *policy, "--store", "none", "--least-accuracy", "0.55", *more)


@pytest.mark.long
def test_of_planted_answers_the_fair_ones_are_recommended(folder, capsys):
    out, choice = folder / "chosen.toml", folder / "choice.json"
    assert command_chooses(folder, "-o", out, "--json", choice) == 0
    assert read_plan(out.read_text(), name="plan").config.roles.prediction == "fair"
    assert json.loads(choice.read_text())["model"] == "fair"
    audit = ["--choice", choice, "--no-self-test", "--out", folder / "report", "--policy", folder / "policy.toml"]
    assert exit_code("audit", out, *audit) < 3
    assert "How this model was chosen: Choose fair" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("choose", "none.toml"), "PLAN"),
        (("choose", "fair.toml", "strict.toml"), "under one policy alone, got plans with several"),
        (("choose", "fair.toml", "coarse.toml", "--depths", "4"), "--depths must be left out where plans say it"),
        (("choose", "--policy", "none.toml"), "--policy"),
        (("audit", "fair.toml", "--out", "x", "--choice", "policy.toml"), "--choice must be a file of fairleak choose"),
    ],
)
def test_commands_refuse(arguments, sentence, folder, monkeypatch, capsys):
    monkeypatch.chdir(folder)
    assert sentence in refused(capsys, *arguments)


@pytest.fixture
def slow(monkeypatch):
    """Models that take a minute of a clock of their own each: how many were measured, and what they leak."""
    slow = SimpleNamespace(measured=0, leaks=SAFE)

    def measure(config, dataset, **_):
        slow.measured += 1
        settings = {"seed": config.seed, "method": config.method, "depth": config.depth}
        return point(slow.measured, 0.7, slow.leaks, np.random.default_rng(0), **settings)

    monkeypatch.setattr(candidates, "measured_candidate", measure)
    monkeypatch.setattr(candidates, "time", SimpleNamespace(monotonic=lambda: 60.0 * slow.measured))
    return slow


def test_a_time_budget_ends_it_and_the_rest_follows_later(slow):
    store = MemoryStore()
    configs = candidate_configs(AuditPlan(), ChooseSettings(), (1,))
    sets = [CandidateSet(configs, samples.dataset(400), AuditPlan())]
    assert len(list(measure_all(sets, seconds=150.0, store=store))) == 3 == slow.measured
    for _ in range(2):  # nothing is measured again
        assert len(list(measure_all(sets, store=store))) == len(configs) == slow.measured


FEW = ["--methods", "unmitigated", "--depths", "2", "--store", "none"]


@pytest.mark.parametrize(
    ("output", "more", "seed"), [("chosen.toml", (), 9), ("below/chosen.toml", ("--seeds", "3"), 3)]
)
def test_choose_trains_with_the_seed_of_plan_or_option_and_says_to_move_a_plan_not_beside_its_files(
    output, more, seed, slow, folder, monkeypatch, capsys
):
    monkeypatch.chdir(folder)
    Path("below").mkdir()
    assert exit_code("choose", "train.toml", *FEW, "-o", output, *more) < 3
    assert read_plan(Path(output).read_text(), name="plan").config.seed == seed
    assert ("move it there" in capsys.readouterr().err) == output.startswith("below")


def test_choose_ends_with_1_where_it_recommends_none(slow, folder):
    slow.leaks = {**SAFE, "attribute_excess": 0.2}
    assert command_chooses(folder, *FEW, columns=("train",)) == 1


def test_in_choosing_half_is_half_of_each_cell():
    data = samples.dataset(600)
    for group, label in itertools.product((0, 1), repeat=2):
        cell = (data.sensitive == group) & (data.labels == label)
        assert abs(int(in_choosing_half(data)[cell].sum()) - cell.sum() / 2) <= 1


@pytest.mark.long
def test_candidate_measure_has_two_halves():
    config = AuditConfig(method="unmitigated", tolerance=0.0, depth=3)
    candidate = measured_candidate(config, samples.dataset(600), plan=AuditPlan())
    assert candidate.choosing.accuracy.n + candidate.judging.accuracy.n == candidate.majority.n
    for side in (candidate.choosing, candidate.judging):
        assert side.correct.sum() == round(side.accuracy.value * side.accuracy.n)
        assert {"attribute_excess", "membership_auc", "unfairness"} <= {*side.checks}
    assert candidate.choosing.checks["attribute_excess"] != candidate.judging.checks["attribute_excess"]
