"""Published numbers and the sizes they say; bits by hand, by formula, predicted from draws, and measured."""

import itertools
import math
from dataclasses import replace
from types import SimpleNamespace

import cvxpy
import numpy as np
import pytest

from core.base.errors import InputError
from core.stats.estimates import certain
from core.studies.model_card import (
    ModelCardSettings,
    Release,
    Tried,
    accuracy_under,
    ceiling,
    measure_card,
    measured,
    meter,
    pinned,
    predict,
    project,
)
from core.studies.model_card import findings as card_findings
from core.studies.model_card.equations import LATTICE, modes_of
from core.studies.model_card.meter import Prediction, exact_posterior, formula_prediction, gained_bits
from core.studies.model_card.pinned_people import Advice
from tests.oracles.exact_posterior import agreeing
from tests.oracles.exact_posterior import exact_posterior as by_every_vector
from tests.release_samples import card, invented, large_case, part_mask, people, small_case

S = np.array([1, 1, 1, 1, 0, 0, 0, 0])
Y = np.array([1, 1, 0, 0, 1, 1, 0, 0])
H = np.array([[1, 1, 1, 0, 1, 0, 0, 0], [1, 0, 0, 0, 1, 1, 1, 0]])


def test_noisy_intervals_hold_95_times_of_100():
    rng = np.random.default_rng(4)
    s, h = rng.integers(0, 2, 500), rng.integers(0, 2, 500)
    release = Release(h, statistics=("sp_gap",), epsilon=0.5)
    sizes = [release.publish(s, rng=np.random.default_rng(i)).numbers[0] for i in range(4000)]
    assert np.mean([size.low <= s.sum() <= size.high for size in sizes]) == pytest.approx(0.95, abs=0.008)


@pytest.mark.parametrize("statistics", [("sp_gap",), ("tpr_gap",), ("sp_gap", "fpr_rate"), ("tpr_gap", "fpr_gap")])
def test_one_persons_attribute_costs_at_most_the_budget(statistics):
    """The largest log-ratio of the densities of two releases whose attribute differs in one person, by every person."""
    rng = np.random.default_rng(2)
    n, k, epsilon = 60, 4, 2.0
    h, y, s = rng.integers(0, 2, (k, n)), rng.integers(0, 2, n), rng.integers(0, 2, n)
    h[:, 0] = 1  # accepted by every model: she costs all of it
    y[0] = statistics[0] != "fpr_gap"
    release = Release(h, labels=y, statistics=statistics, epsilon=epsilon)

    def without_noise(vector):
        silent = SimpleNamespace(laplace=lambda *, scale, size: np.zeros(size))
        noise = release.publish(vector, rng=silent).noise
        return np.concatenate([numbers.ravel() for numbers in noise])

    neighbours = np.where(np.eye(n, dtype=bool), 1 - s, s)
    moves = [np.abs(without_noise(neighbour) - without_noise(s)).sum() for neighbour in neighbours]
    costs = np.array(moves) / release.noise_scale
    assert max(costs) == pytest.approx(epsilon) and costs[0] == pytest.approx(epsilon)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Release([[1, 0, 1], [1, 0]]), "All models must predict for the same people"),
        (lambda: Release(np.zeros((201, 3), int)), "1 to 200 models and at least one person, got .201, 3"),
        (lambda: Release(np.zeros((1, 0), int)), "at least one person"),
        (lambda: Release([[0, 2, 1]]), "only 0 and 1, got 2"),
        (lambda: Release([[0, 1, 1]]), "labels must be given for tpr_gap"),
        (lambda: Release([[0, 1, 1]], labels=[1, 1]), "labels must have one value for each of 3 people"),
        (lambda: Release([[0, 1, 1]], labels=[1, 1, 1]), "fpr_gap needs people with label 0, got none among 3"),
        (lambda: Release(H, labels=Y, names=["a", "a"]), "a name of its own for each of 2 models, got 1"),
        (lambda: Release(H, labels=Y).publish(S[:3]), "one value for each of 8 people, got 3"),
        (lambda: Release(H, labels=Y).publish(np.ones(8, int)), "both groups, got none of group 0"),
        (lambda: Release(H, labels=Y).publish(Y), "tpr_gap needs people of both groups with label 1, got none"),
        (lambda: Release(H, labels=Y, epsilon=1.0).publish(S), "needs a random generator"),
    ],
)
def test_release_and_publish_refuse(make, message):
    with pytest.raises(InputError, match=message):
        make()


@pytest.mark.parametrize("precision", ["exact", "rounded"])
def test_a_size_is_known_only_where_all_vectors_that_agree_have_it(precision):
    n_sizes = 0
    for seed in range(40):
        case = small_case(seed, precision=precision, sizes=False)
        for part, size in case.published.sizes.items():
            n_sizes += 1
            assert set((agreeing(case.published) @ part_mask(case.release, part)).tolist()) == {size}
    assert n_sizes >= (5 if precision == "exact" else 1)


@pytest.mark.parametrize(("name", "ends"), [("sp_gap", 0.0), ("sp_rate_1", 0.0), ("sp_rate_0", 0.0), ("sp_gap", 0.1)])
def test_one_number_of_one_model_tells_the_size_exactly_where_one_fits(name, ends):
    n = 7
    for accepted in range(n + 1):
        release = Release(np.arange(n) < accepted, statistics=("sp_gap",), sizes=False)
        ways = [(size, c) for size in range(1, n) for c in range(max(0, size - n + accepted), min(size, accepted) + 1)]
        rates = {(size, c): (c / size, (accepted - c) / (n - size)) for size, c in ways}
        number = {way: {"sp_gap": r1 - r0, "sp_rate_1": r1, "sp_rate_0": r0}[name] for way, (r1, r0) in rates.items()}
        least = -1.0 if name == "sp_gap" else 0.0
        for value in {round(value, 12) for value in number.values()}:
            low, high = max(least, value - ends), min(1.0, value + ends)
            fit = {size for (size, _), rate in number.items() if low - 1e-9 <= rate <= high + 1e-9}
            sizes = invented(release, {("model 1", name): (low, high)}).sizes
            assert sizes == ({"all": fit.pop()} if len(fit) == 1 else {})


def test_one_number_by_hand():
    """Sizes of 4 people at probability 1/2, and one model that accepts two of them."""
    release = Release(np.array([[1, 1, 0, 0]]), statistics=("sp_gap",))
    metered = meter(np.full(4, 0.5), release)
    k = np.array([[1.0, 0.5], [0.5, 0.5]])  # var of the sum, covariance with the count, var of the count
    r = 1 / (2 * math.pi * math.e) * np.eye(2)
    assert metered.df_bits == pytest.approx(np.trace(k @ np.linalg.inv(k + r)) / (2 * math.log(2)))
    assert metered.joint_bits == pytest.approx(0.5 * np.log2(np.linalg.det(np.eye(2) + k / LATTICE)))
    assert metered.prior_bits == pytest.approx(4.0)
    accepted, not_accepted = np.array([1.0, 1.0]), np.array([1.0, 0.0])
    rhos = [0.25 * a @ np.linalg.inv(k + r) @ a for a in (accepted, not_accepted)]
    assert metered.person_bits == pytest.approx(sum(2 * min(-0.5 * math.log2(1 - rho), 1.0) for rho in rhos))


@pytest.mark.parametrize(
    ("precision", "r"),
    [
        ({"decimals": 2}, (LATTICE, (0.01 * 500 * 500 / 1000) ** 2 / 12)),  # of the people a hundredth of the gap is
        ({"epsilon": 0.5}, (2 * (2 / 0.5) ** 2,) * 2),  # one size and one count share the budget
    ],
)
def test_precision_counts_by_the_variance_it_leaves_open(precision, r):
    h, q = (np.arange(1000) < 400).astype(int), np.full(1000, 0.5)
    k = 0.25 * np.array([[1000.0, 400.0], [400.0, 400.0]])
    metered = meter(q, Release(h, statistics=("sp_gap",), **precision))
    assert metered.df_bits == pytest.approx(np.trace(k @ np.linalg.inv(k + np.diag(r))) / (2 * math.log(2)))
    assert metered.joint_bits == pytest.approx(0.5 * np.log2(np.linalg.det(np.eye(2) + np.diag(1 / np.array(r)) @ k)))
    assert meter(q, Release(h, statistics=("sp_gap",), decimals=6)) == meter(q, Release(h, statistics=("sp_gap",)))


def test_measured_by_hand():
    before, after, s = np.array([0.5, 0.25, 0.75, 0.4]), np.array([1.0, 0.5, 0.75, 0.8]), np.array([1, 1, 0, 1])
    outcome = measured(before, after, s)
    assert outcome.bits.value == pytest.approx(1 + 1 + 0 + 1)
    assert (outcome.accuracy_before.value, outcome.accuracy_after.value) == (0, 0.5)
    assert (outcome.accuracy_gain.value, outcome.majority.value, outcome.majority_balanced.value) == (0.5, 0.75, 0.5)


def test_pinned_are_those_who_were_unsure_and_are_near_certain():
    before = np.array([0.04, 0.05, 0.5, 0.95, 0.5, 0.5])
    after = np.array([0.0, 0.004, 0.996, 0.999, 0.995, 0.6])
    outcome = pinned(before, after, sensitive=np.array([0, 0, 1, 0, 1, 1]))
    assert (outcome.people.tolist(), outcome.n_unsure) == ([1, 2, 3], 5)
    assert outcome.inferred.tolist() == [0, 1, 1]
    assert outcome.right.value == pytest.approx(2 / 3)


def gained(q, release, s, rng=None):
    return float(gained_bits(q, project(q, release.publish(s, rng=rng)).probability, s).sum())


@pytest.mark.parametrize(("n", "k"), [(300, 30), (600, 20)])
def test_where_people_settle_cards_are_tried_out_and_the_formula_falls_short(n, k):
    rng, case = np.random.default_rng([8, n, k]), large_case(1, n=4000, k=30)
    chosen = rng.choice(4000, n, replace=False)
    q = case.posterior[chosen]
    release = Release(case.release.predictions[:k, chosen], labels=case.release.labels[chosen])
    gain = np.mean([gained(q, release, (rng.random(n) < q).astype(np.uint8)) for _ in range(24)])
    predicted = predict(q, release)
    assert predicted.draws > 0 and 0.9 <= gain / predicted.bits.value <= 1.15
    assert gain / meter(q, release).df_bits > (1.2 if n == 300 else 1.0)


@pytest.mark.parametrize("precision", [{}, {"epsilon": 30.0}])
def test_the_spread_of_the_formula_is_that_of_draws(precision):
    case = large_case(7, n=2000, k=2, **precision)
    rng = np.random.default_rng(5)
    drawn = ((rng.random(2000) < case.posterior).astype(np.uint8) for _ in range(160))
    gains = [gained(case.posterior, case.release, s, rng) for s in drawn]
    predicted = formula_prediction(modes_of(case.posterior, case.release))
    assert np.mean(gains) == pytest.approx(predicted.bits.value, rel=0.15)
    assert np.std(gains) == pytest.approx(predicted.deviation, rel=0.2)
    assert 0.91 <= np.mean([predicted.low <= gain <= predicted.high for gain in gains]) <= 0.99


@pytest.mark.parametrize("systematic", [0.0, 4.0, 60.0])
@pytest.mark.parametrize("numbers", [3, 30])
def test_the_interval_holds_the_expected_gain_of_a_wrong_posterior(numbers, systematic):
    """Half a noncentral chi-squared in nats: what independent numbers gain where their means are off."""
    x = np.random.default_rng([numbers, int(systematic)]).noncentral_chisquare(numbers, systematic + 1e-12, 400)
    gains, mean = x / (2 * math.log(2)), (numbers + systematic) / (2 * math.log(2))
    right = Prediction(
        bits=certain(numbers / (2 * math.log(2)), 100),
        deviation=math.sqrt(numbers / 2) / math.log(2),
        skewness=math.sqrt(8 / numbers),
        noise=False,
    )
    intervals = [right.expected(float(gain), 100) for gain in gains]
    assert 0.92 <= np.mean([interval.low <= mean <= interval.high for interval in intervals]) <= 0.98


@pytest.mark.parametrize("sizes", [True, False])
@pytest.mark.parametrize("precision", ["exact", "rounded"])
def test_the_posterior_is_that_of_every_vector(precision, sizes):
    for seed in range(30):
        case = small_case(seed, precision=precision, sizes=sizes)
        exact = exact_posterior(case.posterior, case.published)
        assert exact == pytest.approx(by_every_vector(case.posterior, case.published), abs=1e-9)


def test_a_rate_says_that_there_are_both_groups():
    """Two of four are accepted, and half of group 1: it has two people, although all four would have that rate, too."""
    typed = invented(Release([1, 1, 0, 0], statistics=("sp_rate",)), {("model 1", "sp_rate_1"): 0.5})
    assert exact_posterior(np.full(4, 0.9), typed) == pytest.approx(np.full(4, 0.5))
    assert project(np.full(4, 0.9), typed).probability == pytest.approx(np.full(4, 0.5))


@pytest.mark.parametrize("seed", range(4))
def test_no_guess_of_all_is_better_than_the_ceiling(seed):
    case = small_case(seed + 70, precision="rounded")
    n, posterior = case.release.n, by_every_vector(case.posterior, case.published)
    expected = [np.where(guess, posterior, 1 - posterior).mean() for guess in itertools.product((0, 1), repeat=n)]
    bound = ceiling(case.posterior, case.published)
    assert bound == pytest.approx(max(expected), abs=1e-9)
    projected = project(case.posterior, case.published).probability > 0.5
    assert np.where(projected, posterior, 1 - posterior).mean() <= bound + 1e-9
    assert bound >= np.where(case.posterior > 0.5, posterior, 1 - posterior).mean() - 1e-9


@pytest.mark.parametrize("wrong", [0.0, 0.4])
def test_hundreds_of_people_keep_to_the_published_counts(wrong):
    """Also where the prior is wrong, and the counts are far out in the tails of their laws."""
    rng = np.random.default_rng(3)
    q = np.concatenate([rng.uniform(0, 1 - wrong, 296), [0.0, 1.0, 1e-9, 1 - 1e-9]])
    sensitive, accepts = (rng.random(300) < q + wrong).astype(np.uint8), (rng.random(300) < 0.4).astype(np.uint8)
    sensitive[[296, 298]] = 0
    release = Release(accepts, statistics=("sp_gap",))
    exact = exact_posterior(q, release.publish(sensitive))
    assert exact[[296, 297]].tolist() == [0.0, 1.0]
    for h in (0, 1):
        assert exact[accepts == h].sum() == pytest.approx(sensitive[accepts == h].sum(), abs=1e-6)


@pytest.mark.parametrize("prior", [0.1, 0.4, 0.5, 0.8])
@pytest.mark.parametrize("epsilon", [0.01, 0.5, 2.0])
def test_no_private_output_is_worth_more(prior, epsilon):
    """The best of all ε-private mechanisms with four outputs, by a linear program for each number guessed to be 1."""
    law = cvxpy.Variable((2, 4), nonneg=True)
    private = [law[a] <= math.exp(epsilon) * law[1 - a] for a in (0, 1)]
    best = 0.0
    for ones in range(5):
        right = (1 - prior) * cvxpy.sum(law[0, ones:]) + prior * cvxpy.sum(law[1, :ones])
        program = cvxpy.Problem(cvxpy.Maximize(right), [cvxpy.sum(law, axis=1) == 1, *private])
        best = max(best, program.solve(solver=cvxpy.SCIPY))
    assert accuracy_under([prior], epsilon) == pytest.approx(best, abs=1e-9)


def test_under_noise_the_ceiling_is_the_guarantee_whatever_came_out():
    q, accepts = np.array([0.3, 0.5, 0.6, 0.45]), np.array([1, 0, 1, 1])
    release = Release(accepts, statistics=("sp_gap",), epsilon=1.5)
    for seed, sensitive in enumerate(([1, 0, 0, 1], [1, 1, 0, 0])):
        bound = ceiling(q, release.publish(sensitive, rng=np.random.default_rng(seed)))
        assert bound == accuracy_under(q, 1.5)


NOISY = {"decimals": None, "epsilon": 10.0}


@pytest.mark.parametrize(
    ("worst", "point"),
    [
        (Tried(**NOISY, draws=20, pinned=0, converged=True), "In the worst of 20 draws of the noise: 0."),
        (Tried(**NOISY, draws=4, pinned=1, converged=True), "In the worst of 4 draws of the noise: 1."),
        (Tried(**NOISY, draws=20, pinned=0, converged=False), "could not be computed in all of 20 draws of "),
    ],
)
def test_where_one_draw_discloses_nobody_the_headline_goes_by_the_worst(worst, point):
    study = card(12, epsilon=10.0)
    nobody = replace(study.pinned, people=np.arange(0), inferred=np.zeros(0, dtype=np.uint8), right=None)
    assert point in card_findings.headline(replace(study, pinned=nobody, worst=worst)).point


@pytest.mark.parametrize(
    ("low", "high", "unpredicted", "so_what"),
    [
        (1, 9, 1, "More was gained than chance explains"),
        (-9, -1, -1, "Less was gained"),
        (-1, 1, 0, "Chance explains the difference"),
    ],
)
def test_chance_explains_a_gain_whose_interval_holds_the_prediction(low, high, unpredicted, so_what):
    study = card(4)
    predicted = study.prediction.bits.value
    bits = replace(study.measured.bits, low=predicted + low, high=predicted + high)
    study = replace(study, measured=replace(study.measured, bits=bits))
    assert study.unpredicted == unpredicted
    assert so_what in card_findings.information_gain(study).so_what


def test_a_guess_that_was_too_sure_gains_more_than_predicted():
    """The attacker's odds are twice too long: group sizes alone repair that, and more than predicted is gained."""
    q = people().posterior
    sure = np.clip(q**2 / (q**2 + 3 * (1 - q) ** 2), 0.01, 0.99)
    wrong = replace(people(), posteriors=np.column_stack([1 - sure, sure]))
    study = measure_card(wrong, ModelCardSettings(decimals=None))
    assert study.unpredicted == 1
    assert "the numbers correct it" in card_findings.information_gain(study).so_what


@pytest.mark.parametrize(
    ("certain", "accuracy", "everybody"), [(-1, None, False), (0, None, True), (0, 1.0, True), (0, 0.858, False)]
)
def test_everybody_is_determined_where_all_are_near_certain_and_no_ceiling_forbids_it(certain, accuracy, everybody):
    study = card(12)
    pinned = replace(study.pinned, people=np.arange(study.pinned.n_unsure + certain))
    meter = replace(study.meter, joint_bits=study.meter.prior_bits + 1)
    point = card_findings.uncertainty_resolved(replace(study, meter=meter, pinned=pinned, ceiling=accuracy)).point
    assert (point == "The numbers could determine everybody's attribute.") == everybody
    assert ("not everybody's attribute is near certain" in point) != everybody


def test_a_card_says_once_what_it_gains_and_what_to_publish():
    study = card(12)
    advice = Advice(tried=(Tried(decimals=None, epsilon=None, pinned=3), Tried(decimals=1, epsilon=None, pinned=0)))
    somebody = replace(study.pinned, people=np.arange(3), inferred=np.zeros(3, dtype=np.uint8))
    texts = [finding.text for finding in card_findings.findings(replace(study, pinned=somebody, advice=advice))]
    for once in ("Publish at most 1 decimal", "Information gain over imputation", "Accuracy over all people"):
        assert sum(text.count(once) for text in texts) == 1, once
    assert "Publish at most 1 decimal" in texts[0]


def test_a_column_of_draws_is_not_read_as_people():
    advice = Advice(tried=(Tried(decimals=None, epsilon=0.1, pinned=0, draws=20),))
    (row,) = card_findings.precision_rows(advice)
    assert (row["disclosed, most of all draws"], row["draws of the noise"]) == (0, 20)
