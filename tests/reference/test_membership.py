"""Membership of training data, beside Zhang et al. (2020): ID3 without noise, half of the people members.

Adult, depth 14. Independent figures: accuracy .951 / .802; the published attack's precision .557, recall .883;
vulnerability disparity by sex +.131, gap of false alarms +.210, the first less the second -.079; LiRA with 64 shadows
area .688, TPR at 1 % FPR .098, their gap by sex -.051; with one leaf the published attack's area .50 and a disparity of
.19 either way. Measured, mean and standard deviation over seeds 0 to 4:

| figure                            | measured      |
|-----------------------------------|---------------|
| accuracy, members / outsiders     | .952 / .800 ± .001, .002 |
| precision, recall                 | .560 ± .002, .885 ± .002 |
| sex: disparity, false alarms, rest | +.132 ± .010, +.211 ± .012, -.079 ± .009 |
| race: the same                    | +.115 ± .006, +.092 ± .015, +.023 ± .016 |
| LiRA area, TPR at 1 %, gap        | .685 ± .004, .096 ± .004, -.038 ± .013 |
| the same, everybody judged        | .687 ± .002, .095 ± .004, -.036 ± .004 |
| boosting on the same shadows, everybody judged, seeds 0 and 1: area, TPR at 1 % | .703, .702; .105, .107 |
| one leaf: area, size of disparity | .501 ± .002, .202 ± .010 |
| LiRA on scikit-learn's tree, everybody judged, TPR at 1 %: variance a person, shared | .015 ± .002, .025 ± .002 |
| LiRA on ID3, everybody judged, TPR at 1 %: the same | .095 ± .004, .080 ± .003 |

By the published measure women are the more exposed; by what really leaks men are. Bands: ± .02 for precision and
recall, ± .03 for gaps, which covers three deviations of the mean of two runs; LiRA ± .02, its gap in one run ± .04.

COMPAS, depth 10. The 6,907 complete records with all columns but decile_score and is_recid, numbers in bins between a
column's extremes. Independent figures: accuracy .766 / .640; the published attack's precision .551, recall .745; by sex
disparity +.093, gap of false alarms +.027, rest +.067, LiRA's gap at 1 % false alarms +.041. Measured, mean and
standard deviation over seeds 0 to 15 (LiRA over 0 to 7):

| figure                             | measured      |
|------------------------------------|---------------|
| accuracy, members / outsiders      | .765 ± .004, .642 ± .006 |
| precision, recall                  | .546 ± .016, .688 ± .078 |
| sex: disparity, false alarms, rest | +.051 ± .076, +.013 ± .082, +.037 ± .050 |
| LiRA area, everybody judged        | .652 ± .005 |
| its gap, everybody judged          | +.001 ± .009 |

Without score_text as well the tree reaches .727 / .638 only. So few people are judged (690 members, 122 of them women
in one split) that one run says little: the sign of a gap changes with the seed. Another sixteen seeds have a mean
recall of .722. The independent gaps lie within two standard errors of these means or three; the tests hold to the
measured. LiRA's gap is nothing that could be told from zero; the rate is not read for women, of whom some 650 are
outsiders. Bands, for the mean of five seeds: ± .02 precision and accuracies; ± .1 recall and ± .07 gaps, two deviations
of that mean or more.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier

from core.datasets import Table, load
from core.studies.membership import REGISTRY, Evidence, MembershipSplit, judging_everybody, roc
from core.studies.membership.attacks import lira
from core.studies.membership.result import table_grouping
from tests.reference.data import FOLDER, needs_adult, needs_compas
from tests.zhang_protocol import (
    MemberPeople,
    TargetFindings,
    id3_target,
    library_target,
    member_people,
    member_split,
    precision_recall,
    quality,
)

DEPTH = {"adult": 14, "compas": 10}
SEEDS = {"adult": (0, 1), "compas": range(5)}
both = pytest.mark.parametrize(
    "name", [pytest.param("adult", marks=needs_adult), pytest.param("compas", marks=needs_compas)]
)


@dataclass(frozen=True, kw_only=True)
class Run:
    """One split, its tree, and the network's verdicts."""

    split: MembershipSplit
    probability: np.ndarray
    quality: TargetFindings
    verdict: np.ndarray
    precision: float
    recall: float
    auc: float


def run(people: MemberPeople, *, max_depth: int, seed: int) -> Run:
    """Train the tree on half of the people and let the published network judge."""
    split = member_split(people.n, seed=seed)
    p = id3_target(people, max_depth=max_depth)(split.members, seed)
    guess = REGISTRY["network"].judge(Evidence(released=p, labels=people.labels, split=split, seed=seed))
    precision, recall = precision_recall(guess.verdict, split.judged_records[1])
    return Run(
        split=split,
        probability=p,
        quality=quality(p, people.labels, split.members, split.outsiders),
        verdict=guess.verdict,
        precision=precision.value,
        recall=recall.value,
        auc=roc(guess.score, split.judged_records[1]).auc.value,
    )


def gaps(verdict: np.ndarray, split: MembershipSplit, groups: np.ndarray) -> tuple[float, float, float]:
    """Return the gaps of group 1 and the others: members called members, outsiders called members, and the rest."""
    rows, member = split.judged_records
    rates = {(m, g): float(verdict[(member == m) & (groups[rows] == g)].mean()) for m in (0, 1) for g in (0, 1)}
    vd, alarms = rates[1, 1] - rates[1, 0], rates[0, 1] - rates[0, 0]
    return vd, alarms, vd - alarms


def caught(score: np.ndarray, member: np.ndarray, fpr: float = 0.01) -> float:
    """Return the TPR at this FPR, however few people there are."""
    return float(roc(score, member).reached(fpr))


def caught_gap(score: np.ndarray, split: MembershipSplit, groups: np.ndarray) -> float:
    """Return group 1's TPR at 1% FPR, less the others'."""
    rows, member = split.judged_records
    first, rest = (caught(score[groups[rows] == g], member[groups[rows] == g]) for g in (1, 0))
    return first - rest


@cache
def race_of_adult() -> np.ndarray:
    return table_grouping(table("adult"), table("adult").roles[0], table("adult").roles[1]).codes


@pytest.fixture(scope="module")
def people() -> MemberPeople:
    return people_of("adult")


@pytest.fixture(scope="module")
def runs() -> list[Run]:
    return runs_of("adult")


@cache
def table(name: str) -> Table:
    return load(name, data_folder=FOLDER)


@cache
def people_of(name: str) -> MemberPeople:
    return member_people(table(name), table(name).roles[0])


@cache
def runs_of(name: str) -> list[Run]:
    return [run(people_of(name), max_depth=DEPTH[name], seed=seed) for seed in SEEDS[name]]


@pytest.mark.long
@both
def test_the_tree_overfits_and_the_published_attack_sees_it(name: str):
    runs, people = runs_of(name), people_of(name)
    assert (people.n, len(people.names)) == {"adult": (45222, 14), "compas": (6907, 11)}[name]
    accuracies = np.array(
        [(attacked_run.quality.accuracy_train.value, attacked_run.quality.accuracy_test.value) for attacked_run in runs]
    )
    attack = np.mean([(attacked_run.precision, attacked_run.recall) for attacked_run in runs], axis=0)
    if name == "adult":
        assert np.abs(accuracies - (0.951, 0.802)).max() <= 0.01
        assert attack == pytest.approx((0.557, 0.883), abs=0.02)
        return
    assert accuracies.mean(axis=0) == pytest.approx((0.766, 0.640), abs=0.02)
    assert attack[0] == pytest.approx(0.551, abs=0.02) and attack[1] == pytest.approx(0.69, abs=0.1)


@pytest.mark.parametrize(
    ("name", "attribute", "expected", "band"),
    [
        pytest.param("adult", "sex", (0.131, 0.210, -0.079), 0.03, marks=needs_adult),
        pytest.param("adult", "race", (0.115, 0.092, 0.023), 0.03, marks=needs_adult),
        pytest.param("compas", "sex", (0.051, 0.013, 0.037), 0.07, marks=needs_compas),
    ],
)
def test_gaps_of_the_verdicts(name: str, attribute: str, expected: tuple[float, ...], band: float):
    groups = people_of(name).groups if attribute == "sex" else race_of_adult()
    gap_means = np.mean(
        [gaps(attacked_run.verdict, attacked_run.split, groups) for attacked_run in runs_of(name)], axis=0
    )
    assert gap_means == pytest.approx(expected, abs=band)


@needs_compas
def test_lira_on_everybody():
    people, first = people_of("compas"), runs_of("compas")[0]
    everybody = judging_everybody(first.split.members, first.split.outsiders)
    train = id3_target(people, max_depth=DEPTH["compas"])
    evidence = Evidence(released=first.probability, labels=people.labels, split=everybody, train=train)
    score = REGISTRY["lira"].judge(evidence).score
    curve = roc(score, everybody.judged_records[1])
    assert curve.auc.value == pytest.approx(0.652, abs=0.02) and curve.auc.low > first.auc
    assert caught_gap(score, everybody, people.groups) == pytest.approx(0.001, abs=0.04)


@pytest.fixture(scope="module")
def evidence(people, runs):
    """The first run's, with 64 shadows."""
    train = id3_target(people, max_depth=DEPTH["adult"])
    return Evidence(released=runs[0].probability, labels=people.labels, split=runs[0].split, train=train)


@pytest.fixture(scope="module")
def scored(evidence):
    """LiRA's scores in the first run."""
    return REGISTRY["lira"].judge(evidence).score


@pytest.mark.long
@needs_adult
def test_the_quick_attack_lira_and_boosting_on_the_same_shadows(runs, evidence, people, scored):
    outcome = REGISTRY["loss"].judge(evidence)
    quick = roc(outcome.score, runs[0].split.judged_records[1]).auc
    assert quick.value == pytest.approx(0.608, abs=0.02) and quick.low > 0.5
    assert quick.value < runs[0].auc
    outcome = roc(scored, runs[0].split.judged_records[1])
    assert outcome.auc.value == pytest.approx(0.688, abs=0.02)
    assert outcome.tpr_at(0.01).value == pytest.approx(0.098, abs=0.02)
    assert caught_gap(scored, runs[0].split, people.groups) == pytest.approx(-0.051, abs=0.04)
    assert outcome.auc.low > runs[0].auc  # the published attack misses much
    # independent figures: area .702, TPR at 1 % .108, where LiRA gets .6855 and .090
    member = runs[0].split.judged_records[1]
    outcome = roc(REGISTRY["lira_boosted"].judge(evidence).score, member)
    assert outcome.auc.value == pytest.approx(0.702, abs=0.02) and outcome.auc.value > roc(scored, member).auc.value
    assert outcome.tpr_at(0.01).value == pytest.approx(0.108, abs=0.02)


def by_variance(evidence: Evidence) -> tuple[float, float, float]:
    """Return LiRA's TPR at 1% FPR by a variance per person, by a shared one, and by the one it takes."""
    member = evidence.split.judged_records[1]
    rates = []
    for choice in (True, False, lira.chooses_variance_per_person(evidence)):
        memo = {**evidence.memo, lira._CHOICE: choice}
        rates.append(caught(REGISTRY["lira"].judge(replace(evidence, memo=memo)).score, member))
    return rates[0], rates[1], rates[2]


@needs_adult
def test_of_the_two_variances_lira_takes_that_of_each_person_on_id3(evidence):
    per_person, shared, chosen = by_variance(evidence)
    assert chosen == per_person
    assert lira.variance_rates(evidence) == pytest.approx((0.095, 0.079), abs=0.015)
    assert per_person == pytest.approx(0.098, abs=0.02) and shared == pytest.approx(0.08, abs=0.02)


@needs_adult
@pytest.mark.long
@pytest.mark.parametrize("seed", SEEDS["adult"])
def test_of_the_two_variances_lira_takes_the_shared_one_on_a_tree_of_scikit_learn(people, seed):
    """Independent figures: .0165 by a variance per person, .0248 by a shared one. Bands: four deviations over seeds."""
    split = member_split(people.n, seed=seed)
    everybody = judging_everybody(split.members, split.outsiders)
    train = library_target(people, lambda number: DecisionTreeClassifier(max_depth=14, random_state=number))
    released = train(split.members, seed)
    evidence = Evidence(released=released, labels=people.labels, split=everybody, train=train, seed=seed)
    per_person, shared, chosen = by_variance(evidence)
    assert chosen == shared
    assert per_person == pytest.approx(0.0153, abs=0.006) and shared == pytest.approx(0.0252, abs=0.006)


@needs_adult
@pytest.mark.long
def test_rmia_on_the_same_shadows(runs, evidence, scored):
    """About LiRA's area, but far fewer members at 1 % FPR: .063 (.048 to .078), where LiRA gets .102 (.087 to .115)."""
    member = runs[0].split.judged_records[1]
    curve, lira = roc(REGISTRY["rmia"].judge(evidence).score, member), roc(scored, member)
    assert curve.auc.value == pytest.approx(0.694, abs=0.005) and lira.auc.value == pytest.approx(0.689, abs=0.005)
    assert curve.auc.low < lira.auc.value < curve.auc.high
    ours, theirs = curve.tpr_at(0.01), lira.tpr_at(0.01)
    assert ours.value == pytest.approx(0.063, abs=0.01) and ours.high < theirs.low


@needs_adult
@pytest.mark.parametrize("seed", [0, 1])
def test_one_leaf_leaks_nothing_and_still_has_a_disparity(people, runs, seed):
    split = runs[seed].split
    same = np.full(people.n, people.labels[split.members].mean())
    guess = REGISTRY["network"].judge(Evidence(released=same, labels=people.labels, split=split, seed=seed))
    area = roc(guess.score, split.judged_records[1]).auc
    assert area.low <= 0.5 <= area.high
    vd, alarms, rest = gaps(guess.verdict, split, people.groups)
    assert abs(vd) == pytest.approx(0.19, abs=0.03) and abs(alarms) == pytest.approx(0.19, abs=0.03)
    assert rest == pytest.approx(0.0, abs=0.03)
