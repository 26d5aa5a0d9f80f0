"""Curves, areas, rates and advantages by brute force; the study's verdicts, gaps, tables and limits by group."""

import math
from dataclasses import replace
from functools import cache
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.auditing.policy import default_policy, judge, predictions_policy
from core.base.errors import InputError
from core.datasets.splits import split
from core.stats.estimates import Estimate
from core.studies.membership import MembershipResult, MembershipSettings, most_caught, roc, vulnerability_disparity
from core.studies.membership.attack import audited_target
from core.studies.membership.findings import EPSILONS, curve_rows, release_findings
from core.studies.membership.result import MISSING, column_grouping, grouping_columns
from core.studies.membership.roc import advantage, area, counts_above, cross_fitted_verdict, members_above
from core.studies.membership.study import STUDY, measured
from core.studies.membership.tpr_gaps import net_gaps
from core.studies.study import Measurement, subject_of, synthetic_people
from core.studies.subject import AuditConfig, train_model
from core.studies.subject import subject_of as trained
from tests import samples
from tests.policy_samples import policy
from tests.unit.charts.samples import bands
from tests.unit.policy.test_files import comfortable


@st.composite
def judgements(draw):
    """Draw scores with many ties, and who is a member."""
    inside, outside = draw(st.integers(10, 25)), draw(st.integers(10, 25))
    levels = draw(st.integers(1, 8))
    scores = draw(st.lists(st.integers(0, levels), min_size=inside + outside, max_size=inside + outside))
    order = draw(st.permutations(range(inside + outside)))
    member = np.repeat([1, 0], [inside, outside])[list(order)]
    return np.array(scores) / 7.0, member


@given(judgements())
def test_a_point_for_each_threshold_and_the_area_counts_pairs(people):
    score, member = people
    curve, thresholds = roc(score, member), [math.inf, *sorted(set(score.tolist()), reverse=True)]
    assert curve.fpr.tolist() == [np.mean(score[member == 0] >= t) for t in thresholds]
    assert curve.tpr.tolist() == [np.mean(score[member == 1] >= t) for t in thresholds]
    inside, outside = score[member == 1][:, None], score[member == 0][None]
    pairs = (inside > outside).mean() + 0.5 * (inside == outside).mean()
    assert curve.auc.value == pytest.approx(pairs, abs=1e-12)
    assert np.trapezoid(curve.tpr, curve.fpr) == pytest.approx(pairs, abs=1e-12)
    assert 0.0 <= curve.auc.low <= curve.auc.value <= curve.auc.high <= 1.0


@given(judgements())
def test_the_variance_is_that_of_the_placements(people):
    score, member = people
    inside, outside = score[member == 1], score[member == 0]
    wins = (inside[:, None] > outside) + 0.5 * (inside[:, None] == outside)
    value, placements = wins.mean(), (wins.mean(axis=1), wins.mean(axis=0))
    if value in (0.0, 1.0):
        return
    error = math.sqrt(sum(side.var(ddof=1) / side.size for side in placements))
    half = 1.959963984540054 * error / (value * (1 - value))
    logit = math.log(value / (1 - value))
    low, high = (1 / (1 + math.exp(end - logit)) for end in (half, -half))
    interval = area(inside, outside)
    if any(side.size - np.unique(side, return_counts=True)[1].max() < 10 for side in placements):
        assert interval.low < low + 1e-9 and interval.high > high - 1e-9  # wider where few are placed unlike the rest
    else:
        assert (interval.low, interval.high) == pytest.approx((low, high), abs=1e-9)


def test_rates_are_read_within_ties_as_if_these_were_in_random_order():
    member = np.repeat([1, 0], [100, 1000])
    score = np.concatenate([np.repeat([3, 2, 1], [20, 30, 50]), np.repeat([3, 2, 1], [5, 45, 950])])
    curve = roc(score, member)
    assert curve.tpr_at(0.01).value == pytest.approx(0.2 + 0.3 * 5.01 / 46)  # five above the tie, 5.01 into it
    assert curve.reached([0.01, 1.0]) == pytest.approx([curve.tpr_at(0.01).value, 1.0])
    low = curve.tpr_at(0.01)
    assert low.low < 0.2 < low.high and low.n == 100


def counts(score, member):
    """Return non-members and members at or above each distinct score, falling, after a 0 each."""
    levels = np.unique(score)[::-1]
    false, true = ([0, *(int(((score >= t) & (member == kind)).sum()) for t in levels)] for kind in (0, 1))
    return np.array(false), np.array(true)


@pytest.mark.parametrize("scores", [(0,) * 7, (3, 2, 2, 2, 1, 0, 0), (6, 5, 4, 3, 2, 1, 0), (1, 1, 1, 1, 1, 0, 0)])
@pytest.mark.parametrize("fpr", [0.1, 0.25, 0.6, 1.0])
def test_without_a_leak_the_rate_is_exactly_the_fpr_on_average(scores, fpr):
    """Over all ways to call three of seven people members, whatever the ties."""
    score, rates = np.array(scores), []
    for chosen in combinations(range(7), 3):
        member = np.zeros(7, dtype=int)
        member[list(chosen)] = 1
        rates.append(float(members_above(fpr * 5, *counts(score, member))) / 3)
    assert np.mean(rates) == pytest.approx(fpr, abs=1e-12)


LAWS = {
    "continuous": lambda rng, n: rng.standard_normal(n),
    "binary": lambda rng, n: (rng.random(n) < 0.3).astype(float),
    "two decimals": lambda rng, n: rng.random(n).round(2),
    "forest": lambda rng, n: np.minimum(rng.binomial(100, 0.9, n), 95) / 100,
}


@pytest.mark.parametrize("law", LAWS)
def test_nothing_leaks_and_hardly_any_interval_lies_above_the_rate(law):
    rng, member = np.random.default_rng(0), np.repeat([1, 0], 1000)
    estimates = [roc(LAWS[law](rng, 2000), member).tpr_at(0.01) for _ in range(100)]
    mean = np.mean([estimate.value for estimate in estimates])
    assert mean == pytest.approx(0.01, abs=0.0013)  # three standard errors
    assert sum(estimate.low > 0.01 for estimate in estimates) <= 5  # 2.5% of 100, and two standard errors


def test_the_best_threshold_of_the_same_people_would_be_optimistic_and_this_is_not():
    rng, gains, best = np.random.default_rng(0), [], []
    member = np.repeat([1, 0], [300, 500])
    for seed in range(200):
        score = rng.random(800)
        gains.append(advantage(cross_fitted_verdict(score, member, seed=seed), member))
        cuts = np.sort(score)
        above = [1 - np.searchsorted(np.sort(score[kind == member]), cuts) / (kind == member).sum() for kind in (1, 0)]
        best.append(float((above[0] - above[1]).max()))
    assert np.mean([gain.value for gain in gains]) == pytest.approx(0.0, abs=0.007)  # three standard errors
    assert np.mean(best) > 0.04
    assert sum(gain.low > 0 for gain in gains) <= 10  # 2.5% of 200, and two standard errors


SIDE = 4_000
"""Members, and as many non-members."""


def rare_group(leaks, share, *, seed, side=SIDE):
    """Return given scores of people of whom so many are of group 1; where it leaks, each of its members is known."""
    rng, attack_records = np.random.default_rng(seed), 1_200
    n = 2 * side + attack_records
    features = rng.normal(size=(n, 2))
    chance = 1 / (1 + np.exp(-1.5 * features[:, 0]))
    labels = (rng.random(n) < chance).astype(np.uint8)
    rare = rng.random(n) < share
    if leaks:
        chance = np.where(rare & (np.arange(n) < side), np.where(labels == 1, 0.99, 0.01), chance)
    scores = chance.round(4)
    people = synthetic_people(features, labels, rare.astype(np.uint8))
    return subject_of(people, (scores >= 0.5).astype(np.uint8), (side, attack_records, side), seed=seed, scores=scores)


@cache
def checks_of_group(leaks, share, seed, side=SIDE):
    settings = MembershipSettings(shadows=0)
    *_, result = STUDY.run(rare_group(leaks, share, seed=seed, side=side), settings)
    return dict(STUDY.checks(result, settings))


def verdicts_by(policy_of, measurements):
    """Return a policy's verdict, and those of its checks, where all other checks keep their limit."""
    rest = comfortable(policy_of(), without=tuple(measurements))
    verdict = judge(policy_of(), [*measurements.values(), *rest], attribute="group")
    return verdict.overall, {row.check: row.verdict for row in verdict.rows}


POLICIES = pytest.mark.parametrize("policy_of", [predictions_policy, default_policy], ids=["predictions", "default"])


@POLICIES
@pytest.mark.parametrize(("seed", "side"), [(0, SIDE), (1, SIDE), (5, 700)])
def test_a_rare_group_that_is_wholly_memorised_fails_where_all_people_together_do_not(policy_of, seed, side):
    overall, checks = verdicts_by(policy_of, checks_of_group(True, 0.029, seed, side))
    assert "fail" not in [checks[f"membership_{check}"] for check in ("auc", "advantage", "caught")]
    assert checks["membership_gap"] == "fail"
    assert overall == "fail"


@pytest.mark.long
@POLICIES
@pytest.mark.parametrize("share", [0.029, 0.2])
def test_one_of_whom_nobody_is_remembered_never_fails_and_passes_where_it_is_large_enough(policy_of, share):
    gaps = [verdicts_by(policy_of, checks_of_group(False, share, seed))[1]["membership_gap"] for seed in range(4)]
    assert set(gaps) <= {"pass", "inconclusive"}
    assert share < 0.1 or gaps.count("pass") >= 3


def scored(size, seed, *, shift=0.0):
    """Return score, group and membership: group 1 has so many members, who score higher by a shift, and non-members."""
    member = np.repeat([0, 1, 0, 1], [2_000, 2_000, size, size]).astype(np.uint8)
    group = np.repeat([0, 1], [4_000, 2 * size]).astype(np.uint8)
    return np.random.default_rng(seed).normal(size=group.size) + shift * group * member, group, member


@pytest.mark.parametrize("decimals", [0, 9])
def test_the_rates_at_one_threshold_are_those_of_a_plain_loop(decimals):
    score, group, member = scored(150, 7, shift=2.0)
    score = score.round(decimals)
    (gap,) = net_gaps(score, group, member, names=("most", "rare"))
    rng, draws = np.random.default_rng(8), []
    alarms = counts_above(score, member)[0][-1]
    for _ in range(400):
        order = np.lexsort((rng.random(score.size), -score))
        rank = int(0.01 * (alarms + 1) + rng.random())
        cut = np.flatnonzero(np.cumsum(member[order] == 0) >= rank)[0]
        flagged = np.zeros(score.size, dtype=bool)
        flagged[order[:cut]] = True
        draws.append([flagged[(group == g) & (member == m)].mean() for m, g in ((1, 1), (1, 0), (0, 1), (0, 0))])
    plain = np.mean(draws, axis=0)
    rates = [rate.value for rate in (*gap.rates, *gap.false_positives)]
    assert rates == pytest.approx(plain, abs=0.004)
    assert gap.estimate.value == pytest.approx(rates[0] - rates[2] - rates[1] + rates[3])


@pytest.mark.parametrize("size", [1_000, 9])
def test_net_gaps_are_of_groups_of_10_to_some_hundred(size):
    score, group, member = scored(size, 3)
    assert net_gaps(score, group, member, names=("most", "rare")) == ()


@pytest.fixture(scope="module")
def result():
    subject = trained(AuditConfig(method="unmitigated", depth=6, seed=3), samples.dataset(1500))
    *_, last = STUDY.run(subject, MembershipSettings(shadows=4))
    return last


@pytest.mark.parametrize(
    ("attack", "sentence"),
    [
        ("lira", "at least 4 for the attack lira, got 0"),
        ("magic", "attacks must"),
        ("boundary", "one that can be run on this model's scores, got boundary"),
    ],
)
def test_run_refuses_attacks(attack, sentence, result):
    dataset = replace(result.subject.dataset, sets=np.full(1500, "train"))
    answers = replace(result.subject, trainable=False, dataset=dataset)
    with pytest.raises(InputError, match=sentence):
        list(STUDY.run(answers, MembershipSettings(shadows=0, attacks=(attack,))))


def test_disparities_are_those_of_the_verdicts(result):
    verdict, member, group = result.verdicts[result.strongest], result.member, result.groups
    alone = vulnerability_disparity(verdict, group, member)
    (gaps,) = result.disparities
    for name in ("vd", "fpr_gap", "advantage_gap"):
        assert getattr(gaps, name).value == pytest.approx(getattr(alone, name).value, abs=1e-12)
    assert result.ranges[0].vd == pytest.approx(alone.vd.value, abs=1e-12)
    advantage = verdict[member == 1].mean() - verdict[member == 0].mean()
    assert advantage == pytest.approx(result.advantages[result.strongest].value)


def test_grouped_changes_nothing_but_the_gaps(result):
    thirds = (np.arange(1500) % 3).astype(np.uint8)
    regrouped = result.grouped(thirds, ("a", "b", "c"))
    assert regrouped.curves[result.strongest].auc == result.curves[result.strongest].auc
    assert {gaps.group for gaps in regrouped.disparities} == {"a", "b", "c"}


def drawn_result(sensitive, side, names, remembered=None):
    """Return a result on people of these groups, of whom one attack says chance, or remembers a share."""
    n, rng = sensitive.size, np.random.default_rng(2)
    labels = np.arange(n, dtype=np.uint8) % 2
    drawn = synthetic_people(np.zeros((n, 1)), labels, sensitive.astype(np.uint8))
    subject = subject_of(drawn, labels, (side, 200, side), seed=0, scores=rng.random(n))
    subject.dataset = replace(subject.dataset, group_names=names)
    rows = np.concatenate([subject.splits.train, subject.splits.test])
    score = rng.standard_normal(rows.size)
    if remembered is not None:
        score += 4.0 * ((rows < side) & remembered[rows])
    return MembershipResult(subject=subject, shadows=0, guesses={"loss": (score, None)})


@pytest.mark.parametrize("names", [("men", "women"), ("A", "B", "C")])
def test_the_table_of_an_audit_has_a_row_a_group_and_one_of_everybody(names):
    side = 1000 * len(names)
    sensitive = np.arange(2 * side + 200) % len(names)
    result = drawn_result(sensitive, side, names)
    score, _ = result.guesses["loss"]
    table = STUDY.tables(result, MembershipSettings(shadows=0))["Membership attacks"]
    rates = {row["people"]: row["TPR at 1% FPR"] for row in table}
    assert sorted(rates) == sorted((*names, "everybody"))
    for code, name in enumerate(names):
        in_group = sensitive[result.rows] == code
        rate = roc(score[in_group], result.member[in_group]).tpr_at(0.01).value
        assert rates[name] == pytest.approx(rate)


@pytest.mark.parametrize(("leaks", "verdict"), [(True, "fail"), (False, "inconclusive")])
def test_a_small_group_takes_the_gap_of_no_other_and_can_break_a_limit_but_not_keep_it(leaks, verdict):
    sensitive = np.arange(4600) % 2
    sensitive[:20] = sensitive[-20:] = 2
    remembered = (sensitive == 1) if leaks else None
    result = drawn_result(sensitive, 2200, ("men", "women", "rather not say"), remembered)
    measurement = measured(result)["membership_gap"]
    assert measurement.estimate.high == 1.0
    assert (measurement.estimate.low > 0.4) == leaks
    assert "at least 100 non-members, got 20 of “rather not say”" in measurement.reason
    row = judge(policy(membership_gap=0.3), [measurement], attribute="sex").rows[0]
    assert row.verdict == verdict


def test_curve_rows_rise_with_what_the_curve_is_over_and_have_its_numbers():
    curve = bands(EPSILONS[:3], repeats=9)
    rows = curve_rows(curve[::-1], "ε")
    assert [row["ε"] for row in rows] == sorted(EPSILONS[:3])
    assert [row["repeats"] for row in rows] == [9, 8, 7]
    assert [row["AUC"].value for row in rows] == [band.values["auc"] for band in curve]


@pytest.mark.parametrize(("low", "beats"), [(0.5, False), (0.501, True)])
def test_release_findings_need_an_auc_surely_above_a_half(low, beats):
    checks = {f"membership_{name}": Measurement(check=f"membership_{name}") for name in ("auc", "caught", "gap")}
    auc = Estimate(value=0.55, low=low, high=0.6, n=1000)
    checks |= {"membership_auc": Measurement(check="membership_auc", estimate=auc)}
    (finding,) = release_findings(checks, "loss")
    assert ("beats" in finding.point, bool(finding.to_do)) == (beats, beats)


def test_findings_name_the_attack_that_identifies_most_and_give_the_size_of_the_gap():
    sensitive = np.arange(6200) % 2
    result = drawn_result(sensitive, 3000, ("men", "women"), (sensitive == 0) & (np.arange(6200) % 5 == 0))
    few, _ = result.guesses["loss"]
    rng = np.random.default_rng(3)
    guesses = {"lira": (few, None), "rmia": (rng.standard_normal(few.size) + 0.5 * result.member, None)}
    result = replace(result, guesses=guesses)
    _, caught, gap = STUDY.findings(result, MembershipSettings(shadows=0))
    assert (result.strongest, result.identifying) == ("rmia", "lira")
    assert caught.point.endswith("% of the training records are identified at 1% FPR by LiRA.")
    assert result.gaps["lira"][0].estimate.value < 0 < gap.estimate.low
    size, low, high = (f"{number:.3f}" for number in (gap.estimate.value, gap.estimate.low, gap.estimate.high))
    assert gap.point.endswith(f" is {size} in size.")
    assert "by LiRA: TPR at 1% FPR" in gap.evidence and f"95% CI of the size: {low} to {high}, adj" in gap.evidence


def test_column_grouping_keeps_the_first_value_apart_from_missing_ones():
    people = samples.dataset(400)
    column = next(iter(grouping_columns(people)))
    index = people.feature_names.index(column)
    codes = np.arange(400) % (len(people.categories[index]) + 1) - 1
    features = people.features.copy()
    features[:, index] = codes
    groups, names = column_grouping(replace(people, features=features), column)
    values = (*people.categories[index], MISSING)
    assert [names[code] for code in groups] == [values[code] for code in codes]


@pytest.mark.parametrize(
    "method", ["unmitigated", "exponentiated_gradient", "threshold_optimizer", "correlation_remover", "dp_id3"]
)
def test_the_audited_model_is_the_audits(method):
    dataset = samples.dataset(400)
    config = AuditConfig(method=method, tolerance=0.05, train_share=0.4, seed=3)
    splits = split(dataset, train_share=config.train_share, seed=config.seed)
    audited = train_model(config, dataset, splits)
    p = audited_target(config, dataset)(splits.train, config.seed)
    assert np.array_equal(p, audited.scores)


def law(count, epsilon):
    """Return the discrete Laplace distribution around a count, of -60 to 60."""
    shares = np.exp(-epsilon * np.abs(np.arange(-60, 61) - count))
    return shares / shares.sum()


@cache
def curve(epsilon):
    """Return (false alarms, members caught) of the best attacks on her, shape (m, 2).

    A leaf tells the noisy counts of both labels. She has label 1, the other has label 0, and one of both is trained
    on. By Neyman and Pearson the best attacks flag what is told in the order of its likelihood ratio.
    """
    hers = np.outer(law(0, epsilon), law(1, epsilon)).ravel()
    other_law = np.outer(law(1, epsilon), law(0, epsilon)).ravel()
    order = np.argsort(-hers / other_law, kind="stable")
    return np.column_stack([np.cumsum(other_law[order]), np.cumsum(hers[order])])


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 2.0])
def test_no_attack_on_one_of_two_people_is_better_and_the_best_needs_twice_epsilon(epsilon):
    alarms, caught = curve(epsilon).T
    for false_alarms, share in zip(alarms, caught, strict=True):
        assert share <= most_caught(min(false_alarms, 1.0), epsilon) + 1e-9
    ratio = float((caught[alarms > 1e-6] / alarms[alarms > 1e-6]).max())
    assert ratio > 1.5 * math.exp(epsilon)  # a bound of once epsilon is broken
    assert ratio == pytest.approx(math.exp(2 * epsilon), rel=1e-6)


def test_most_caught_by_hand():
    twice = math.log(2.0) / 2.0  # of a record replaced: outcomes are at most twice as likely
    by_hand = {0.0: 0.0, 0.1: 0.2, 1 / 3: 2 / 3, 0.4: 0.7, 0.8: 0.9}  # doubled, and 1 less half of those not flagged
    assert [most_caught(rate, twice) for rate in by_hand] == pytest.approx(list(by_hand.values()))
    assert [most_caught(0.2, epsilon) for epsilon in (0.0, math.inf)] == pytest.approx([0.2, 1.0])
