"""Attacks that ask one model or train shadow models, each beside a second formulation; and what they all share."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import invgamma, norm, t
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

from core.adversaries.released_outputs import cross_fitted_interval
from core.stats.estimates import Estimate
from core.studies.membership import REGISTRY, Evidence, MembershipSplit, judging_everybody, roc, true_label_probability
from core.studies.membership.attack import Shadows, best_threshold, logit
from core.studies.membership.attacks import bavaria, boundary, lira
from core.studies.membership.roc import advantage
from tests import samples
from tests.zhang_protocol import id3_target, member_people, member_split

N = 400
QUICK = ("loss", "confidence", "network")


def half(n, *, seed=0):
    return member_split(n, seed=seed, known_share=0.3, judged_share=0.5)


def guess(name, p, labels, split, **more):
    """Return what an attack says of the judged, given the model's answers about everybody."""
    return REGISTRY[name].scores(Evidence(labels=labels, split=split, released=p, **more))


def curve(name, evidence):
    score, _ = REGISTRY[name].scores(evidence)
    assert np.isfinite(score).all() and score.size == evidence.split.judged_rows.size
    return roc(score, evidence.split.judged_records[1])


@pytest.mark.parametrize("name", QUICK)
@settings(max_examples=4)
@given(seed=st.integers(0, 1000), levels=st.integers(1, 6))
def test_people_alike_get_the_same_verdict_and_others_among_the_judged_have_no_say(name, seed, levels):
    rng, split = np.random.default_rng(seed), half(N, seed=seed)
    p, y = rng.integers(0, levels + 1, N) / levels, rng.integers(0, 2, N)
    score, verdict = guess(name, p, y, split)
    rows = split.judged_rows
    for key in set(zip(p[rows], y[rows], strict=True)):
        same_output = (p[rows] == key[0]) & (y[rows] == key[1])
        assert np.unique(score[same_output]).size == 1 and np.unique(verdict[same_output]).size == 1
    altered = rows[::3]
    p[altered], y[altered] = 1 - p[altered], 1 - y[altered]
    (again, verdict_again), same = guess(name, p, y, split), ~np.isin(rows, altered)
    assert score[same] == pytest.approx(again[same], abs=1e-9)
    assert np.array_equal(verdict[same], verdict_again[same])


@pytest.mark.parametrize("name", QUICK)
@pytest.mark.parametrize(("share", "expected"), [(0.8, 0.8), (0.2, 0.5)], ids=["memory", "nothing"])
def test_judge_finds_a_memory_and_nothing_where_there_is_none(name, share, expected):
    """A model that is sure of this share of its members, and of a fifth of all others."""
    rng, split = np.random.default_rng(0), half(2000)
    labels = rng.integers(0, 2, 2000).astype(np.uint8)
    sure = rng.random(2000) < np.where(np.isin(np.arange(2000), split.members), share, 0.2)
    confidence = np.where(sure, 0.95, 0.6)
    released = np.where(labels == 1, confidence, 1 - confidence)
    area = curve(name, Evidence(released=released, labels=labels, split=split)).auc
    assert area.value == pytest.approx(expected, abs=0.04)


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 1)), min_size=2, max_size=40))
def test_the_threshold_is_the_best_of_all(people):
    score, member = np.array([x for x, _ in people], dtype=float), np.array([m for _, m in people], dtype=np.uint8)
    if np.unique(member).size < 2:
        return

    def balanced(threshold):
        called = score >= threshold
        return called[member == 1].mean() - called[member == 0].mean()

    chosen = best_threshold(score, member)
    best = max(balanced(t) for t in [*score, np.inf])
    assert balanced(chosen) == pytest.approx(best, abs=1e-12)
    assert not [t for t in score if t > chosen and balanced(t) > best - 1e-12]


def test_loss_and_confidence_are_what_they_say():
    split = half(N)
    p, y = np.random.default_rng(0).random(N), np.random.default_rng(1).integers(0, 2, N)
    (loss, _), (sure, _) = guess("loss", p, y, split), guess("confidence", p, y, split)
    assert np.exp(loss) == pytest.approx(true_label_probability(p, y)[split.judged_rows])
    assert sure == pytest.approx(np.maximum(p, 1 - p)[split.judged_rows])
    assert np.isfinite(guess("loss", 1.0 - y, y, split)[0]).all()
    thirds = np.where(p < 0.5, 1 / 3, 2 / 3)  # a model as sure of everybody, whichever label it prefers
    assert np.unique(guess("confidence", thirds, y, split)[0]).size == 1


@pytest.mark.long
@pytest.mark.parametrize("labels_alone", [False, True])
def test_where_nothing_leaks_the_scores_of_both_halves_say_nothing(labels_alone):
    areas, rates, gains, split = [], [], [], judging_everybody(np.arange(1000), np.arange(1000, 2000))
    member = split.judged_records[1]
    for seed in range(40):
        rng = np.random.default_rng(seed)
        feature = rng.normal(size=2000)
        labels = (feature + rng.normal(size=2000) > 0.3).astype(np.uint8)
        score = np.round(1 / (1 + np.exp(-feature)), 2)
        predicted = (score >= 0.5).astype(np.uint8)
        released = None if labels_alone else score
        ranks, verdict = guess("released", released, labels, split, predictions=predicted, seed=seed)
        curve = roc(ranks, member)
        areas.append(curve.auc.value)
        rates.append(curve.tpr_at(0.01).value)
        gains.append(advantage(verdict, member).value)
    assert np.mean(areas) == pytest.approx(0.5, abs=0.0065)
    assert np.mean(rates) == pytest.approx(0.01, abs=0.0018)
    assert np.mean(gains) == pytest.approx(0.0, abs=0.011)


def test_cross_fitted_interval_is_wider_only_near_chance():
    """Of pure chance: a and b are what the halves show, each judged by the sign of the other."""
    a, b = np.random.default_rng(0).normal(size=(2, 20_000))
    means, reach = (np.sign(b) * a + np.sign(a) * b) / 2, 1.959964 / np.sqrt(2)
    plain = [Estimate(value=x, low=x - reach, high=x + reach, n=1) for x in means]
    wider = [cross_fitted_interval(estimate, 0.0) for estimate in plain]
    held, plainly_held = (np.mean([e.low <= 0 <= e.high for e in estimates]) for estimates in (wider, plain))
    assert plainly_held < 0.92
    assert 0.95 <= held <= 0.985  # the mean of two sizes has lighter tails than a normal variable
    sure = Estimate(value=9.0, low=8.0, high=10.0, n=1)
    assert cross_fitted_interval(sure, 0.0) == sure


def test_every_file_of_the_folder_is_an_attack_that_can_be_run():
    assert REGISTRY.keys() == {path.stem for path in Path(lira.__file__).parent.glob("*.py")} - {"__init__"}
    progress = []
    evidence = Evidence(
        released=np.random.default_rng(0).random(N),
        labels=np.tile([0, 1], N // 2).astype(np.uint8),
        split=half(N),
        features=np.arange(2 * N).reshape(N, 2),
        access=(2, lambda rows: rows.sum(axis=1) % 2),
        train=lambda rows, seed: np.random.default_rng(seed).random(N),
        shadows=4,
        report=lambda done, total: progress.append(done),
    )
    for name, attack in REGISTRY.items():
        assert attack.name == name
        curve(name, evidence)
    assert progress == [1, 2, 3, 4]  # the shadow models, trained once for all


def test_network_scores_of_each_half_lie_evenly_between_0_and_1():
    split = judging_everybody(np.arange(30), np.arange(30, 60))
    rng = np.random.default_rng(4)
    score, _ = guess("network", rng.random(60), rng.integers(0, 2, 60).astype(np.uint8), split)
    assert score.mean() == pytest.approx(0.5)
    assert score.min() > 0 and score.max() < 1


EVERYBODY = 1200


def test_the_predictive_density_is_the_integral_over_mean_and_variance(monkeypatch):
    """Six shadows of three people, one of them in none: Bayes' rule summed over a grid."""
    kappa, alpha, beta = prior = (0.7, 2.5, 1.2)
    monkeypatch.setattr(bavaria, "fitted_prior", lambda *_: prior)
    rng = np.random.default_rng(0)
    used = rng.random((6, 3)) < 0.6
    used[:, 2] = False
    shadows = Shadows(n_targets=3, label_probability=rng.random((6, 3)), trained=used)
    logits, phi = logit(shadows.label_probability), np.array([-1.0, 0.5, 2.0])
    densities, centre = t.pdf(phi, *bavaria.predictive(shadows, used)), logits[used].mean()
    variance = np.exp(np.linspace(-8.0, 12.0, 500))[:, np.newaxis]
    mu = centre + np.sqrt(variance) * np.linspace(-30.0, 30.0, 3000)  # as wide as the variance asks for
    prior_mass = norm.pdf(mu, centre, np.sqrt(variance / kappa)) * invgamma.pdf(variance, alpha, scale=beta)
    for person in range(3):
        cell = prior_mass * np.sqrt(variance) * variance  # of equal steps in both variables of the grid
        for value in logits[used[:, person], person]:
            cell = cell * norm.pdf(value, mu, np.sqrt(variance))
        expected = (cell * norm.pdf(phi[person], mu, np.sqrt(variance))).sum() / cell.sum()
        assert densities[person] == pytest.approx(expected, rel=1e-5)


def test_a_memory_behind_the_record_is_found_without_shadows():
    """Of people of three kinds φ lies about -2, 0, 2 with deviations of 0.2, 0.4, 0.6, as their records tell.

    Two deviations of memory: Φ(2 / √2) = .921 for who knows the kinds.
    """
    rng, n = np.random.default_rng(1), 6000
    split, kind = member_split(n, seed=1, known_share=0.5, judged_share=0.5), rng.integers(0, 3, n)
    phi = 2.0 * kind - 2.0 + 0.2 * (kind + 1) * rng.normal(size=n)
    phi[split.members] += 0.4 * (kind[split.members] + 1)
    labels = rng.integers(0, 2, n).astype(np.uint8)
    released = 1 / (1 + np.exp(np.where(labels == 1, -phi, phi)))
    features = np.column_stack([kind, rng.random(n)])
    evidence = Evidence(released=released, labels=labels, split=split, features=features)
    area, loss = (curve(name, evidence).auc for name in ("quantile", "loss"))
    assert area.value == pytest.approx(0.92, abs=0.025) and loss.high < 0.7


def label_evidence(model, n, *, seed, noise, width=4, trained=None):
    """Return labels alone of a model trained on the members, or on `trained`, which can be asked about records."""
    rng = np.random.default_rng(seed)
    features = rng.random((n, width)).round(2)
    labels = (features[:, 0] + noise * rng.normal(size=n) > 0.5).astype(np.uint8)
    split = member_split(n, seed=seed, known_share=0.0625, judged_share=0.75)
    rows = split.members if trained is None else trained
    model.fit(features[rows], labels[rows])
    access = (width, lambda rows: model.predict(features[rows, np.arange(width)]))
    return Evidence(labels=labels, predictions=model.predict(features), split=split, access=access, seed=seed)


def test_copies_are_other_peoples_values_a_column_at_a_time():
    """A model that echoes whether any value is another's: every column has four turns, and nothing else changes."""
    seen = []

    def echo(rows):
        seen.append(rows)
        return np.ones(len(rows), dtype=np.uint8)

    split, ones = member_split(EVERYBODY, seed=0), np.ones(EVERYBODY, dtype=np.uint8)
    evidence = Evidence(labels=ones, predictions=ones, split=split, access=(4, echo))
    score, _ = REGISTRY["boundary"].scores(evidence)
    copies = np.concatenate(seen).reshape(split.judged_rows.size, boundary.COPIES, 4)
    changed = copies != split.judged_rows[:, np.newaxis, np.newaxis]
    assert changed.sum(axis=2).max() == 1 and changed.sum(axis=1).max() == 4 and changed.mean() > 0.24
    assert np.unique(score).size == 1  # a label that withstands everything tells nobody apart


@pytest.mark.parametrize(
    ("make", "width", "robust"),
    [(lambda: KNeighborsClassifier(1), 12, True), (lambda: DecisionTreeClassifier(random_state=0), 4, False)],
)
def test_the_half_that_teaches_tells_whether_labels_of_members_withstand(make, width, robust):
    """A nearest neighbour remembers a whole neighbourhood; a tree a record, whose copies it labels as others' are."""
    evidence = label_evidence(make(), 4000, seed=0, noise=0.5, width=width)
    gap, area = curve("gap", evidence).auc, curve("boundary", evidence).auc
    assert area.low > gap.high
    rows, member = evidence.split.judged_records
    rng = np.random.default_rng(0)
    unchanged = boundary._count_unchanged(evidence.access, rows, evidence.labels[rows], 4000, rng)
    right = (evidence.predictions == evidence.labels)[rows]
    assert (roc(unchanged[right], member[right]).auc.low > 0.5) == robust


def without_members(name, seed):
    if name == "boundary":
        split = member_split(EVERYBODY, seed=seed, known_share=0.0625, judged_share=0.75)
        unjudged = np.setdiff1d(np.arange(EVERYBODY), split.judged_rows)
        return label_evidence(DecisionTreeClassifier(random_state=0), EVERYBODY, seed=seed, noise=0.5, trained=unjudged)
    people = member_people(samples.table(EVERYBODY, seed=seed), samples.ROLES)
    split = member_split(EVERYBODY, seed=seed, judged_share=0.8)
    train = id3_target(people, max_depth=4)
    unjudged = np.setdiff1d(np.concatenate([split.members, split.outsiders]), split.judged_rows)
    more = {"features": people.codes, "seed": seed, "train": train, "shadows": 8}
    return Evidence(released=train(unjudged, seed), labels=people.labels, split=split, **more)


@pytest.mark.parametrize(
    "name",
    [pytest.param("bavaria", marks=pytest.mark.long), pytest.param("quantile", marks=pytest.mark.long), "boundary"],
)
def test_judge_a_model_trained_on_no_member(name):
    curves = [curve(name, without_members(name, seed)) for seed in range(24)]
    areas, rates = [c.auc.value for c in curves], [float(c.reached(0.01)) for c in curves]
    for values, chance, most in ((areas, 0.5, 0.008), (rates, 0.01, 0.003)):
        error = np.std(values, ddof=1) / np.sqrt(len(values))
        assert abs(np.mean(values) - chance) <= 3 * error
        assert error < most


def test_either_finds_all_members_where_one_statistic_gives_them_away():
    member, noise = np.tile([1, 0], 20).astype(np.uint8), np.random.default_rng(0).random(40)
    for statistics in ((2.0 * member, noise), (noise, 2.0 * member)):
        _, verdict = boundary._either(*statistics, member, seed=3)
        assert verdict.tolist() == member.tolist()


@given(seed=st.integers(0, 1000), shadows=st.sampled_from([4, 6, 10]))
def test_everybody_is_in_half_of_the_shadows(seed, shadows):
    split, seen = half(200, seed=seed), []

    def train(rows, seed):
        seen.append(rows)
        return np.full(200, 0.5)

    evidence = Evidence(train=train, labels=np.zeros(200, dtype=int), split=split, seed=seed, shadows=shadows)
    shadow_set = evidence.shadow_models
    times = np.bincount(np.concatenate(seen), minlength=200)
    assert len(seen) == shadows and (times == shadows // 2).all()
    assert all(np.unique(rows).size == split.members.size for rows in seen)
    assert np.array_equal(shadow_set.inside, [np.isin(split.judged_rows, rows) for rows in seen])


M, K = 12, 7
"""Judged people, and people they are compared with."""


def at_random(seed, *, shadows=6):
    """Return evidence of shadows that answer at random with two decimals, as the target does."""
    rng = np.random.default_rng(seed)
    people = rng.permutation(30)[: M + K]
    trained = rng.random((shadows, M + K)) < 0.5
    trained[:, -2:] = False  # two whom no shadow was trained on
    trained[:, M] = True
    probability = rng.random((shadows, M + K)).round(2)
    targets, rest = people[:M], people[M:]
    split = MembershipSplit(members=targets[: M // 2], outsiders=rest, known_rows=rest, judged_rows=targets)
    shadow_set = Shadows(n_targets=M, label_probability=probability, trained=trained)
    labels = rng.integers(0, 2, 30)
    return Evidence(released=rng.random(30).round(2), labels=labels, split=split, memo={"shadows": shadow_set})


@pytest.mark.parametrize("per_person", [True, False])
def test_liras_score_is_the_likelihood_ratio(per_person):
    """With a variance per person, or with one for all, whichever was chosen."""
    evidence = at_random(1, shadows=64)
    evidence.memo[lira._CHOICE] = per_person
    shadow_set, score = evidence.shadow_models, REGISTRY["lira"].scores(evidence)[0]
    logits = logit(shadow_set.label_probability[:, :M])
    phi = logit(evidence.label_probability)[evidence.split.judged_rows]
    parts = {}
    for side in (True, False):
        values = [logits[shadow_set.inside[:, i] == side, i] for i in range(M)]
        shared = sum(v.var() * v.size for v in values) / sum(v.size - 1 for v in values)
        deviation = [v.std(ddof=1) if per_person else np.sqrt(shared) for v in values]
        parts[side] = ([v.mean() for v in values], deviation)
    assert score == pytest.approx(norm.logpdf(phi, *parts[True]) - norm.logpdf(phi, *parts[False]), abs=1e-9)


def test_sums_give_somebody_without_a_shadow_the_mean_of_all():
    probability = np.array([[0.2, 0.5], [0.6, 0.5], [0.9, 0.5]])
    used = np.array([[True, False]] * 3)
    count, mean, squares = Shadows(n_targets=2, label_probability=probability, trained=used).sums(used)
    assert count.tolist() == [3, 0]
    assert mean == pytest.approx([logit(probability[:, 0]).mean()] * 2)
    assert squares == pytest.approx([3 * logit(probability[:, 0]).var(), 0.0])


def by_hand(evidence):
    """Return RMIA's score, the share of the population that each judged person beats, pair by pair."""
    shadow_set, a = evidence.shadow_models, 0.3

    def ratio(index, row):
        trained = shadow_set.trained[:, index]
        with_her, without = (shadow_set.label_probability[trained == side, index] for side in (True, False))
        if not without.size:
            marginal = np.mean(with_her)
        elif with_her.size:
            marginal = 0.5 * np.mean(with_her) + 0.5 * np.mean(without)
        else:
            marginal = ((1 + a) * np.mean(without) + (1 - a)) / 2
        return max(evidence.label_probability[row], 0.01) / max(marginal, 0.01)

    ratios = np.array([ratio(M + k, row) for k, row in enumerate(evidence.split.population)])
    return [np.mean(ratio(i, row) / ratios >= 1 - 1e-9) for i, row in enumerate(evidence.split.judged_rows)]


@given(seed=st.integers(0, 10_000))
def test_rmias_score_is_the_share_of_the_population_beaten(seed):
    evidence = at_random(seed)
    assert REGISTRY["rmia"].scores(evidence)[0] == pytest.approx(by_hand(evidence), abs=1e-12)


def scattered(n, least, most):
    """Return noise with a deviation for each person, between these."""
    deviations = np.exp(np.random.default_rng(2).uniform(np.log(least), np.log(most), n))
    return lambda rng: deviations * rng.normal(size=n)


def remembering(noise, *, gain, shadows, seed, n):
    """Return evidence of a law whose answers have noise, and are surer about members by a gain."""

    def train(rows, number):
        logits = noise(np.random.default_rng([number, seed]))
        logits[rows] += gain
        return 1 / (1 + np.exp(-logits))

    split = half(n, seed=seed)
    released, labels = train(split.members, 10**6), np.ones(n, dtype=np.uint8)
    return Evidence(released=released, labels=labels, split=split, train=train, shadows=shadows, seed=seed)


def test_the_variances_are_compared_on_shadows_attacked_by_the_rest():
    evidence = remembering(scattered(600, 0.1, 1.5), gain=1.0, shadows=8, seed=3, n=600)
    drawn = evidence.shadow_models
    rounded = 1 / (1 + np.exp(-logit(drawn.label_probability).round(5)))  # last digits decide no rank
    shadows = evidence.memo["shadows"] = replace(drawn, label_probability=rounded)
    columns = slice(0, shadows.n_targets)
    probability, trained = shadows.label_probability[:, columns], shadows.trained[:, columns]
    by_hand = [[], []]
    for target in range(8):
        pair = {target, target ^ 1}
        rest = [i for i in range(8) if i not in pair]
        left = Shadows(n_targets=probability.shape[1], label_probability=probability[rest], trained=trained[rest])
        phi = logit(probability[target])
        for rate, per_person in zip(by_hand, (True, False), strict=True):
            mean, deviation = left.normal(~left.inside, per_person)
            score = norm.logpdf(phi, *left.normal(left.inside, per_person)) - norm.logpdf(phi, mean, deviation)
            rate.append(float(roc(score, trained[target].astype(int)).reached(0.01)))
    per_person, shared = (np.mean(rate) for rate in by_hand)
    assert lira.variance_rates(evidence) == pytest.approx([per_person, shared], abs=1e-6)
    assert lira.chooses_variance_per_person(evidence) == (per_person > shared)


def test_lira_is_at_chance_where_nothing_is_remembered():
    noise = scattered(8000, 0.1, 1.5)
    curves = [curve("lira", remembering(noise, gain=0.0, shadows=16, seed=seed, n=8000)) for seed in range(20)]
    # of 20 means over 2,000 members the standard error is .0007 at 1% FPR and .002 of the AUC
    assert np.mean([c.reached(0.01) for c in curves]) == pytest.approx(0.01, abs=0.0025)
    assert np.mean([c.auc.value for c in curves]) == pytest.approx(0.5, abs=0.007)


def test_lira_shares_one_variance_without_enough_shadows_or_records():
    few = remembering(scattered(400, 0.1, 1.5), gain=1.0, shadows=4, seed=0, n=400)
    assert not lira.chooses_variance_per_person(few)
    assert np.isnan(lira.variance_rates(at_random(1))).all()


@pytest.mark.parametrize("leaks", [True, False])
def test_rmia_compares_everybody_judged_with_those_aside(leaks):
    split = judging_everybody(np.arange(400), np.arange(400, 700), aside=np.arange(700, 1000))
    assert np.array_equal(split.population, np.arange(700, 1000))
    evidence = remembering(lambda rng: 0.5 * rng.normal(size=1000), gain=1.0, shadows=16, seed=0, n=1000)
    released = evidence.train(split.members if leaks else split.population, 99)
    area = curve("rmia", replace(evidence, split=split, released=released)).auc
    assert (area.low > 0.8) == leaks
    assert leaks or area.low <= 0.5 <= area.high
