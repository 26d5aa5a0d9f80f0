"""The choice: right among planted candidates, honest about what many candidates cost, one sentence for bad input."""

from __future__ import annotations

import itertools
import math
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from statistics import NormalDist
from typing import Any

import numpy as np
import pytest

from core.auditing import AuditPlan
from core.auditing.policy import Limit, Policy, Status
from core.base.errors import InputError
from core.base.validation import child_generator
from core.experiments.choose import (
    PREFERENCES,
    CandidatePoint,
    CandidateSet,
    Choice,
    ChoiceOutcome,
    ChooseSettings,
    candidate_configs,
    choose,
    measure_all,
)
from core.experiments.choose.candidates import Half
from core.experiments.choose.findings import candidate_label, choice_reason, finding, rows
from core.stats.estimates import paired_gain, proportion
from core.studies.subject import AuditConfig
from tests import samples
from tests.unit.choose.candidate_samples import LIMITS, MAJORITY, POLICY, SAFE, N, half, point

RUNS = 100
WRONG = 11
"""Most wrong choices of 100 where one in twenty is allowed: 12 or more have a probability of 0.4%."""


def chosen(points: list[CandidatePoint], **settings: object) -> Choice:
    return choose(points, POLICY, ChooseSettings(**settings), attribute="sex")  # type: ignore[arg-type]


@pytest.mark.long
def test_choose_recommends_the_safe_model_among_twenty_leaky_models():
    leaks = {**SAFE, "membership_auc": 0.6}
    right = 0
    for run in range(RUNS):
        rng = np.random.default_rng(run)
        points = [point(k, 0.8, leaks, rng) for k in range(20)] + [point(20, 0.75, SAFE, rng)]
        choice = chosen(points)
        right += choice.outcome == ChoiceOutcome.RECOMMENDED and choice.chosen.points[0].config.tolerance == 0.02
    assert right >= RUNS - WRONG


@pytest.mark.long
def test_of_twenty_at_a_limit_hardly_one_is_recommended_though_many_would_pass_where_they_are_chosen():
    edge = {**SAFE, "attribute_excess": LIMITS["attribute_excess"]}
    wrong = flattered = 0
    for run in range(RUNS):
        rng = np.random.default_rng(1000 + run)
        choice = chosen([point(k, 0.8, edge, rng) for k in range(20)])
        wrong += choice.outcome == ChoiceOutcome.RECOMMENDED
        flattered += bool(choice.with_status(Status.PASS))
    assert wrong <= WRONG
    assert flattered > 2 * WRONG  # which is what judging on the same people would let through


@pytest.mark.long
def test_of_many_within_the_limits_one_is_recommended_and_its_accuracy_is_not_flattered():
    choices = []
    for run in range(40):
        rng = np.random.default_rng(2000 + run)
        choices.append(chosen([point(k, 0.75, SAFE, rng) for k in range(20)]))
    assert sum(choice.outcome == ChoiceOutcome.RECOMMENDED for choice in choices) >= 34
    error = math.sqrt(0.75 * 0.25 / N)
    judging_accuracy = np.array([choice.chosen.judging.accuracy.value for choice in choices])
    assert abs(judging_accuracy.mean() - 0.75) < 4 * error / math.sqrt(40)
    looked = np.array([choice.chosen.choosing.accuracy.value for choice in choices])
    optimism = np.mean([choice.selection_optimism for choice in choices])
    assert looked.mean() - 0.75 > error  # the best of 20 independent ones looks 1.87 standard errors better
    assert 0.4 * (looked.mean() - 0.75) < optimism < 1.6 * (looked.mean() - 0.75)


def test_the_selection_optimism_is_the_mean_gain_of_the_best_of_a_draw_by_its_draw():
    rng = np.random.default_rng(7)
    choice = chosen([point(k, 0.75, SAFE, rng) for k in range(4)])
    right = [candidate.points[0].choosing.correct for candidate in choice.eligible]
    draws = child_generator(0, "flattery of the best").multinomial(N, np.full(N, 1 / N), size=200)
    gains = []
    for times in draws:  # how often each person is drawn
        scores = [float(np.repeat(correct, times).mean()) for correct in right]
        best = scores.index(max(scores))
        gains.append(scores[best] - float(right[best].mean()))
    assert len(right) == 4 and choice.selection_optimism == pytest.approx(np.mean(gains), rel=1e-9)


def test_seeds_are_replicates_and_not_candidates():
    rng = np.random.default_rng(4)
    points = [point(k, 0.75, SAFE, rng, seed=seed) for k in range(3) for seed in range(4)]
    choice = chosen(points)
    assert [len(candidate.points) for candidate in choice.candidates] == [4, 4, 4] and choice.trained == 12
    first = choice.candidates[0]
    values = [p.choosing.accuracy.value for p in first.points]
    assert first.choosing.accuracy.value == pytest.approx(np.mean(values))
    widths = [p.choosing.accuracy.high - p.choosing.accuracy.low for p in first.points]
    assert first.choosing.accuracy.high - first.choosing.accuracy.low == pytest.approx(np.mean(widths))


def test_the_lead_is_paired_and_of_the_people_who_judge():
    rng = np.random.default_rng(6)
    accurate, weaker = point(1, 0.8, SAFE, rng), point(2, 0.7, SAFE, rng)
    same = replace(weaker, judging=replace(accurate.judging))
    first, second = chosen([accurate, same]).candidates
    lead = first.accuracy_lead(second)
    assert lead.value == 0.0 and lead.high - lead.low < 0.005


def test_models_without_a_common_seed_have_no_lead():
    rng = np.random.default_rng(1)
    choice = chosen(
        [point(k, 0.8, SAFE, rng, seed=k, **changes) for k, changes in ((1, {}), (2, {"method": "unmitigated"}))]
    )
    assert choice.runner_up is not None and choice.chosen.accuracy_lead(choice.runner_up).n == 0
    assert "lead" not in choice_reason(choice) and "costs" not in finding(choice).so_what and finding(choice).so_what


def test_what_is_within_all_limits_where_it_is_judged_alone_is_not_said_to_be_so_on_both_halves():
    rng = np.random.default_rng(2)
    choice = chosen([point(1, 0.8, {**SAFE, "membership_auc": 0.53}, rng)])
    assert choice.outcome == ChoiceOutcome.RECOMMENDED and choice.chosen.choosing.status == Status.INCONCLUSIVE
    text = f"{finding(choice).text} {choice_reason(choice)}"
    assert "both halves" not in text and "within all limits where it is judged." in text
    assert text.count("inconclusive on the half that chooses: membership (AUC)") == 2


def test_balanced_prefers_the_smaller_leak_within_one_standard_error_of_the_best():
    rng = np.random.default_rng(7)
    best = half(0.8, SAFE, rng)
    auc = best.checks["membership_auc"]
    loud, quiet = (
        {**best.checks, "membership_auc": replace(auc, value=v, low=v - 0.01, high=v + 0.01)} for v in (0.52, 0.5)
    )
    first = replace(point(1, 0.8, SAFE, rng), choosing=replace(best, checks=loud), judging=replace(best, checks=loud))
    error = (best.accuracy.high - best.accuracy.low) / 2 / NormalDist().inv_cdf(0.975)
    for fewer, tolerance in ((math.floor(N * error), 0.002), (math.floor(N * error) + 1, 0.001)):
        accuracy = proportion(round(best.accuracy.value * N) - fewer, N)
        less = replace(best, checks=quiet, accuracy=accuracy)
        pair = [first, replace(point(2, 0.8, SAFE, rng), choosing=less, judging=less)]
        assert chosen(pair).chosen.points[0].config.tolerance == 0.001
        assert chosen(pair, prefer="balanced").chosen.points[0].config.tolerance == tolerance


def test_the_least_leak_is_that_of_models_within_all_limits_or_of_all_where_there_are_none():
    rng = np.random.default_rng(21)
    exact, leaky = (point(k, 0.9, {**SAFE, "membership_auc": auc}, rng) for k, auc in ((1, 0.52), (2, 0.7)))
    quiet = point(3, 0.7, SAFE, rng)
    assert chosen([exact, quiet, leaky], prefer="leak").chosen.points == (quiet,)
    assert chosen([exact, quiet, leaky]).chosen.points == (exact,)
    unfair = {"unfairness": 0.2}
    beyond = [point(k, 0.8, {**SAFE, **unfair, "membership_auc": auc}, rng) for k, auc in ((4, 0.53), (5, 0.505))]
    none = chosen([leaky, *beyond], prefer="leak")
    assert none.outcome == ChoiceOutcome.NONE and none.chosen.points == (beyond[1],)
    sentence = f"of those within it and accurate enough, the smallest is that of {candidate_label(none.candidates[2])}"
    assert f"above the limit; {sentence}" in finding(none).so_what
    checks = {name: estimate for name, estimate in beyond[1].choosing.checks.items() if name != "membership_auc"}
    broken = replace(beyond[1].choosing, checks=checks, broken=("membership_auc",))
    blind = replace(beyond[1], choosing=broken)  # an attack that stopped is no small leak
    assert chosen([leaky, beyond[0], blind], prefer="leak").chosen.points == (beyond[0],)


def test_who_was_not_attacked_as_others_were_does_not_leak_least_though_its_policy_excuses_it():
    rng = np.random.default_rng(21)
    seen, twin = (point(k, 0.8, {**SAFE, "membership_auc": 0.52}, rng) for k in (1, 2))
    auc = seen.choosing.checks["membership_auc"]
    more = {**seen.choosing.checks, "membership_auc": replace(auc, value=auc.value + 0.001)}
    loud = replace(point(3, 0.8, SAFE, rng), choosing=replace(seen.choosing, checks=more))
    checks = {name: estimate for name, estimate in twin.choosing.checks.items() if name != "membership_auc"}
    side = replace(seen.choosing, checks=checks)  # as accurate
    unseen = replace(twin, choosing=side, judging=side)
    excusing = replace(POLICY, limits=tuple(replace(limit, if_not_run="allowed") for limit in POLICY.limits))
    for points, prefer, ending in (
        ([unseen, seen], "leak", "smallest measured leak of 1 within all limits, measured whole."),
        ([unseen, seen, loud], "leak", "smallest measured leak of 2 within all limits, measured whole."),
        ([unseen, seen], "balanced", "best of 2 within all limits."),
    ):
        choice = choose(points, excusing, ChooseSettings(prefer=prefer), attribute="sex")
        assert choice.chosen.points == (seen,) and finding(choice).point.endswith(f": {ending}")
        (label,) = (candidate_label(candidate) for candidate in choice.candidates if candidate.points == (unseen,))
        caveat = f"Not measured, so that the worst leak is without it: membership (AUC), for {label}."
        assert caveat in finding(choice).caveats


def test_who_leaks_more_than_the_least_is_told_from_chance():
    rng = np.random.default_rng(3)
    safe_choices = [chosen([point(k, 0.8, SAFE, rng) for k in range(8)], prefer="leak") for _ in range(60)]
    assert (
        np.mean([bool(choice.shown_leakier) for choice in safe_choices]) < 0.1
    )  # 5% of any of them, here 3 times of 60 at most 6
    leaky = {**SAFE, "membership_auc": 0.6}
    planted = chosen([*(point(k, 0.8, SAFE, rng) for k in range(3)), point(3, 0.8, leaky, rng)], prefer="leak")
    assert [candidate.points[0].config.tolerance for candidate in planted.shown_leakier] == [0.003]
    sentence = (
        "Others shown to leak more: 1 of 3 (95%, comparisons adjusted for: 3). Others that may differ by chance: 2. "
    )
    assert sentence in finding(planted).evidence and [row["Leaks more"] for row in rows(planted)] == [
        "",
        "",
        "",
        "shown",
    ]
    all_more = chosen([planted.chosen.points[0], *(point(k, 0.8, leaky, rng) for k in (4, 5))], prefer="leak")
    assert "Others shown to leak more: 2 of 2 (95%, comparisons adjusted for: 2). " in finding(all_more).evidence


def test_what_leaks_less_but_is_not_accurate_enough_is_not_hidden():
    rng = np.random.default_rng(9)
    quiet, loud = point(1, 0.6, SAFE, rng), point(2, 0.8, {**SAFE, "membership_auc": 0.7}, rng)
    choice = chosen([quiet, loud], prefer="leak", least_accuracy=0.7)
    assert choice.chosen.points == (loud,) and choice.candidates[1].choosing.status == Status.PASS
    beginning = "No model within all limits is accurate enough. Smallest measured leak of those accurate enough: "
    assert finding(choice).point.startswith(beginning)


def test_the_leak_counted_may_be_that_of_the_attribute_alone():
    rng = np.random.default_rng(5)
    member, attribute = {**SAFE, "membership_auc": 0.545}, {**SAFE, "attribute_excess": 0.018}
    pair = [point(1, 0.8, member, rng), point(2, 0.8, attribute, rng)]
    for leak, tolerance, check in (("attribute", 0.001, "attribute_excess"), ("membership", 0.002, "membership_auc")):
        choice = chosen(pair, prefer="leak", leak=leak)
        assert choice.chosen.points[0].config.tolerance == tolerance and choice.chosen.choosing.leaking == check
        assert choice.chosen.choosing.low <= choice.chosen.choosing.leak <= choice.chosen.choosing.high


def test_who_is_less_accurate_than_accepted_or_gives_everybody_the_same_answer_is_not_recommended():
    rng = np.random.default_rng(8)
    accurate = point(0, 0.75, SAFE, rng)
    assert chosen([accurate], least_accuracy=0.9).outcome == ChoiceOutcome.NONE
    assert chosen([point(0, 0.55, SAFE, rng)]).outcome == ChoiceOutcome.NONE  # below the majority class
    assert chosen([accurate], least_accuracy=accurate.choosing.accuracy.value).eligible  # at least so much
    less = point(2, 0.65, SAFE, rng)
    verdict = finding(chosen([accurate, less], least_accuracy=0.7))
    assert verdict.point.endswith(": best of 1 within all limits, accurate enough.")
    assert "Within all limits on the half that chooses: 2. Accurate enough of these: 1." in verdict.evidence
    same, useful = replace(point(0, 0.9, SAFE, rng), constant=True), point(1, 0.7, SAFE, rng)
    for prefer in PREFERENCES:
        both = chosen([same, useful], prefer=prefer)
        assert both.outcome == ChoiceOutcome.RECOMMENDED and both.chosen.points == (useful,)
    alone = chosen([same])
    assert alone.outcome == ChoiceOutcome.NONE and not alone.eligible and "same answer" in finding(alone).so_what


def with_accuracy(
    candidate: CandidatePoint, choosing: float, judging: float, majority: float = 0.685
) -> CandidatePoint:
    """Return a candidate with these accuracies on its halves, beside one answer for everybody (discordant: 10%)."""

    def side(part: Half, accuracy: float) -> Half:
        gain = round((accuracy - majority) * N)
        lost = round(0.05 * N)
        return replace(
            part,
            accuracy=proportion(round(accuracy * N), N),
            majority=proportion(round(majority * N), N),
            gain=paired_gain(lost + gain, lost, N),
        )

    return replace(
        candidate,
        choosing=side(candidate.choosing, choosing),
        judging=side(candidate.judging, judging),
        majority=proportion(round(2 * majority * N), 2 * N),
    )


@pytest.mark.parametrize("prefer", PREFERENCES)
@pytest.mark.parametrize("least", [None, 0.0])
@pytest.mark.parametrize(
    ("choosing", "judging", "half_at_fault"),
    [(0.70, 0.683, "judges"), (0.70, 0.69, "judges"), (0.683, 0.72, "chooses"), (0.69, 0.72, "chooses")],
)
def test_who_is_not_shown_to_beat_one_answer_for_everybody_is_not_recommended_whatever_accuracy_is_accepted(
    prefer: str, least: float | None, choosing: float, judging: float, half_at_fault: str
):
    candidate = with_accuracy(point(1, 0.7, SAFE, np.random.default_rng(1)), choosing, judging)
    assert candidate.choosing.gain.low > 0.0 or half_at_fault == "chooses"
    choice = chosen([candidate], prefer=prefer, least_accuracy=least)
    assert choice.chosen.choosing.status == choice.chosen.judging.status == Status.PASS
    assert choice.outcome != ChoiceOutcome.RECOMMENDED
    accuracy = judging if half_at_fault == "judges" else choosing
    why = choice_reason(choice)
    assert f"On the half that {half_at_fault}, its accuracy ({100 * accuracy:.1f}%) is not shown to be above" in why
    assert "the majority class's (68.5%): difference" in why
    verdict = finding(choice)
    assert "not shown to be above that of one answer for everybody" in verdict.so_what
    assert "one answer for everybody may do as well" in verdict.to_do
    assert "majority class 68.5%" in verdict.evidence
    assert any(caveat.startswith("Models never recommended, not shown") for caveat in verdict.caveats)


def test_the_least_leak_is_that_of_models_that_beat_one_answer_for_everybody():
    rng = np.random.default_rng(1)
    quiet = with_accuracy(point(1, 0.7, SAFE, rng), 0.686, 0.686)
    loud = with_accuracy(point(2, 0.7, {**SAFE, "membership_auc": 0.52}, rng), 0.75, 0.75)
    choice = chosen([quiet, loud], prefer="leak", least_accuracy=0.0)
    assert choice.chosen.points == (loud,)
    held = {row["Model"]: row["Held back by"] for row in rows(choice)}
    assert list(held.values()) == ["", "majority class"]


@pytest.mark.long
def test_of_models_without_use_hardly_one_in_forty_is_recommended():
    wrong = 0
    for run in range(RUNS):
        rng = np.random.default_rng(3000 + run)
        choice = chosen([point(k, MAJORITY, SAFE, rng) for k in range(20)], least_accuracy=0.0)
        wrong += choice.outcome == ChoiceOutcome.RECOMMENDED
    assert wrong <= 7  # of 100 where 2.5 are allowed: 8 or more have a probability of 0.4%


def test_finding_says_the_cost_of_fairness_on_the_judging_half():
    rng = np.random.default_rng(14)
    unfair = point(0, 0.85, {**SAFE, "unfairness": 0.2}, rng, method="unmitigated")
    choice = chosen([unfair, point(1, 0.75, {**SAFE, "membership_auc": 0.56}, rng)])
    lead = choice.chosen.accuracy_lead(choice.unconstrained)
    ends = f"{-100 * lead.high:.1f} to {-100 * lead.low:.1f}"
    assert lead.high < 0 and finding(choice).so_what.startswith(
        "Held back by: membership (AUC). On the half that judges, it costs "
        f"{-100 * lead.value:.1f} points of accuracy (95% CI {ends})"
    )


def test_a_choice_is_compared_with_the_most_accurate_model_without_a_constraint():
    rng = np.random.default_rng(14)
    free = [point(k, accuracy, SAFE, rng, method="unmitigated") for k, accuracy in ((0, 0.7), (1, 0.85))]
    choice = chosen([*free, point(2, 0.75, SAFE, rng)])
    assert choice.unconstrained is not None and choice.unconstrained.points[0] is free[1]
    leaky = point(3, 0.85, {**SAFE, "membership_auc": 0.6}, rng, method="unmitigated")
    choice = chosen([leaky, point(2, 0.75, SAFE, rng)])
    (side,) = (candidate.judging for candidate in choice.candidates if candidate.points[0] is leaky)
    assert finding(choice).so_what.endswith(f"which leaks {side.leak:.2f} of its limit.")  # where it is judged


def test_private_candidates_are_charged_together_replicates_too():
    rng = np.random.default_rng(9)
    both = itertools.product((1, 2), (1.0, 3.0))
    private = [point(0, 0.7, SAFE, rng, seed=seed, method="dp_id3", epsilon=epsilon) for seed, epsilon in both]
    choice = chosen([*private, point(1, 0.7, SAFE, rng)])
    assert choice.spent == 8.0
    assert chosen([point(1, 0.7, SAFE, rng)]).spent == 0.0
    assert math.isinf(chosen([*private, point(0, 0.7, SAFE, rng, method="dp_id3", epsilon=math.inf)]).spent)


def test_the_frontier_has_those_whom_nobody_matches_in_both():
    rng = np.random.default_rng(10)
    points = [point(k, 0.6 + 0.02 * (k % 7), SAFE, rng) for k in range(21)]
    best = max(points, key=lambda candidate: candidate.choosing.accuracy.value)
    leaks = {**best.choosing.checks, "membership_auc": replace(best.choosing.checks["membership_auc"], value=0.6)}
    twin = replace(point(21, 0.7, SAFE, rng), choosing=replace(best.choosing, checks=leaks))  # as accurate, leaks more
    every = [
        (candidate.choosing.leak, -candidate.choosing.accuracy.value, candidate)
        for candidate in chosen([*points, twin]).candidates
    ]
    left = [
        entry
        for entry in every
        if not any(rival is not entry and rival[0] <= entry[0] and rival[1] <= entry[1] for rival in every)
    ]
    frontier = chosen([*points, twin]).frontier
    assert [candidate.points for candidate in frontier] == [
        candidate.points for *_, candidate in sorted(left, key=lambda entry: entry[0])
    ]
    assert (best,) in [candidate.points for candidate in frontier]


def test_progress_counts_the_models_of_all_plans_and_there_are_no_more_workers_than_models(
    monkeypatch: pytest.MonkeyPatch,
):
    workers: list[int] = []

    def points_of(
        configs: Sequence[AuditConfig], *_: Any, n_jobs: int, report: Any, **__: Any
    ) -> Iterator[AuditConfig]:
        workers.append(n_jobs)
        for done, config in enumerate(configs, 1):
            report(done, len(configs))
            yield config

    monkeypatch.setattr(sys.modules["core.experiments.choose.candidates"], "measured_points", points_of)
    data, configs = samples.dataset(400), candidate_configs(AuditPlan(), ChooseSettings(), (1,))
    sets = [CandidateSet(configs[:n], data, AuditPlan()) for n in (1, 3)]
    progress: list[tuple[int, int]] = []
    assert len(list(measure_all(sets, n_jobs=2, report=lambda *done: progress.append(done)))) == 4
    assert progress == [(1, 4), (2, 4), (3, 4), (4, 4)] and workers == [1, 2]


def test_bad_input_is_one_sentence():
    rng = np.random.default_rng(11)
    with pytest.raises(InputError, match="at least one finished model"):
        chosen([])
    for check, leak, message in (
        ("targeted_leakage", "all", "must require a check that candidates are measured by"),
        ("membership_auc", "attribute", r"must require a check of the leak counted \(attribute\), got none"),
    ):
        policy = Policy(name="x", version="1", limits=(Limit(check=check, value=0.7),))
        with pytest.raises(InputError, match=message):
            choose([point(0, 0.7, SAFE, rng)], policy, ChooseSettings(leak=leak), attribute="sex")
