"""Published numbers: computed, rounded, noisy; the sizes they say, and what is believed after them."""

from types import SimpleNamespace

import numpy as np
import pytest

from core.base.errors import InputError
from core.studies.model_card import Release, pinned, project
from tests.oracles.exact_posterior import agreeing
from tests.release_samples import invented, large_case, part_mask, small_case

S = np.array([1, 1, 1, 1, 0, 0, 0, 0])
Y = np.array([1, 1, 0, 0, 1, 1, 0, 0])
H = np.array([[1, 1, 1, 0, 1, 0, 0, 0], [1, 0, 0, 0, 1, 1, 1, 0]])


def test_noise_is_of_the_scale_it_should_be():
    rng = np.random.default_rng(1)
    s, h, y = rng.integers(0, 2, 500), rng.integers(0, 2, (3, 500)), rng.integers(0, 2, 500)
    release = Release(h, labels=y, epsilon=2.0)
    draws = [release.publish(s, rng=np.random.default_rng(i)).noise for i in range(400)]
    errors = np.array([sums[0] - (h * (y == 1)) @ s for _, sums in draws])
    assert np.abs(errors).mean() == pytest.approx((1 + 3) / 2.0, rel=0.1)  # E|Laplace| is its scale


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

    exact_values = without_noise(s)
    costs = []
    for person in range(n):
        neighbour = s.copy()
        neighbour[person] = 1 - neighbour[person]
        costs.append(np.abs(without_noise(neighbour) - exact_values).sum() / release.noise_scale)
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
        (
            lambda: Release(H, labels=Y).publish(Y),
            "tpr_gap needs people of both groups with label 1, got none of group 0",
        ),
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


def test_twin_models_name_the_person_they_differ_in():
    case = large_case(9, n=400, k=1)
    unsure = np.flatnonzero((case.posterior > 0.3) & (case.posterior < 0.7))
    for person in unsure[:6]:
        twin = case.release.predictions[0].copy()
        twin[person] = 1 - twin[person]
        release = Release(np.vstack([case.release.predictions, twin]), labels=case.release.labels)
        after = project(case.posterior, release.publish(case.sensitive)).probability
        pinned_people = pinned(case.posterior, after)
        assert pinned_people.people.tolist() == [person]
        assert after[person] == pytest.approx(case.sensitive[person], abs=1e-6)
