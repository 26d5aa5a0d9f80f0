"""Published numbers: computed, rounded, noisy, typed; the whole people and the sizes they say."""

from __future__ import annotations

import numpy as np
import pytest

from core.errors import InputError
from core.model_card import Published, Release, pinned, project
from core.model_card.equations import equations
from tests.release_cases import agreeing, large_case, small_case

S = np.array([1, 1, 1, 1, 0, 0, 0, 0])
Y = np.array([1, 1, 0, 0, 1, 1, 0, 0])
H = np.array([[1, 1, 1, 0, 1, 0, 0, 0], [1, 0, 0, 0, 1, 1, 1, 0]])


def values(published: Published) -> dict[tuple[str, str], float]:
    return {(row.model, row.statistic): row.value for row in published.numbers}


def test_whole_people_settle_a_count_of_rounded_and_of_typed_numbers():
    release = Release(H, labels=Y, decimals=1)
    counts = release.publish(S).counts
    assert counts is not None
    assert counts.limits["all"].tolist() == [[3, 3], [1, 1]]
    assert counts.limits["label 1"].tolist() == [[2, 2], [1, 1]]
    counts = typed({("", "size"): 4, ("a", "sp_gap"): (0.3, 0.6)}).counts
    assert counts is not None and counts.limits["all"][0].tolist() == [3, 3]
    assert counts.told["all"].tolist() == [True, False]


def test_a_gap_that_rounds_to_nothing_has_no_sign():
    accepted = np.repeat([1, 0], [10, 9])
    release = Release(np.array([accepted, 1 - accepted]), statistics=("sp_gap",), decimals=0)
    gaps = [row.value for row in release.publish(np.arange(19) % 2).numbers if row.statistic == "sp_gap"]
    assert [str(gap) for gap in gaps] == ["0.0", "0.0"]


def test_noise_is_of_the_scale_it_should_be_and_intervals_hold_95_times_of_100():
    rng = np.random.default_rng(1)
    s, h, y = rng.integers(0, 2, 500), rng.integers(0, 2, (3, 500)), rng.integers(0, 2, 500)
    release = Release(h, labels=y, epsilon=2.0)
    one, two = (release.publish(s, rng=np.random.default_rng(7)) for _ in range(2))
    assert values(one) == values(two)
    draws = [release.publish(s, rng=np.random.default_rng(i)).noise for i in range(400)]
    errors = np.array([d.sums[0] - (h * (y == 1)) @ s for d in draws if d is not None])
    assert np.abs(errors).mean() == pytest.approx((1 + 3) / 2.0, rel=0.1)  # E|Laplace| is its scale
    inside = [one.low <= truth <= one.high for one, truth in _with_truth(release, s)]
    assert np.mean(inside) > 0.85
    rng = np.random.default_rng(4)
    s, h = rng.integers(0, 2, 500), rng.integers(0, 2, 500)
    release = Release(h, statistics=("sp_gap",), epsilon=0.5)
    sizes = [release.publish(s, rng=np.random.default_rng(i)).numbers[0] for i in range(4000)]
    assert np.mean([size.low <= s.sum() <= size.high for size in sizes]) == pytest.approx(0.95, abs=0.008)


@pytest.mark.parametrize("statistics", [("sp_gap",), ("tpr_gap",), ("sp_gap", "fpr_rate"), ("tpr_gap", "fpr_gap")])
def test_one_persons_attribute_costs_at_most_the_budget(statistics: tuple[str, ...]):
    """The largest log-ratio of the densities of two releases whose attribute differs in one person, by every person."""
    rng = np.random.default_rng(2)
    n, k, epsilon = 60, 4, 2.0
    h, y, s = rng.integers(0, 2, (k, n)), rng.integers(0, 2, n), rng.integers(0, 2, n)
    h[:, 0] = 1  # accepted by every model: she costs all of it
    y[0] = statistics[0] != "fpr_gap"
    release = Release(h, labels=y, statistics=statistics, epsilon=epsilon)

    def without_noise(vector: np.ndarray) -> tuple[np.ndarray, float]:
        noise = release.publish(vector, rng=_Nothing()).noise  # type: ignore[arg-type]
        assert noise is not None
        return np.concatenate([noise.sizes, noise.sums.ravel()]), noise.scale

    told, scale = without_noise(s)
    costs = []
    for person in range(n):
        other = s.copy()
        other[person] = 1 - other[person]
        costs.append(np.abs(without_noise(other)[0] - told).sum() / scale)
    assert max(costs) == pytest.approx(epsilon) and costs[0] == pytest.approx(epsilon)


class _Nothing:
    """A generator whose noise is 0."""

    def laplace(self, *, scale: float, size: tuple[int, ...]) -> np.ndarray:
        return np.zeros(size)


def _with_truth(release: Release, s: np.ndarray):
    truth = values(release.with_precision().publish(s))
    for seed in range(40):
        for number in release.publish(s, rng=np.random.default_rng(seed)).numbers:
            yield number, truth[number.model, number.statistic]


TYPED = {("", "size"): 4, ("a", "sp_gap"): 0.5}


def typed(values: dict, **told) -> Published:
    return Published.from_values(Release(H, labels=Y, names=["a", "b"], **told), values)


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (lambda: Release([[1, 0, 1], [1, 0]]), "All models must predict for the same people"),
        (lambda: Release(np.zeros((500, 3), int)), "1 to 200 models and at least one person, got .500, 3"),
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
        (lambda: typed({}), "At least one published number"),
        (lambda: typed({("a", "sp_rate"): 0.5}), "a rate ending in _1 or _0"),
        (lambda: typed({("", "size"): 9}), "size must be at most 8, the people there are, got 9"),
        (lambda: typed({("a", "sp_gap"): "x"}), "must be a number or an interval"),
        (lambda: typed({("", "size"): 0, ("a", "sp_gap"): 0.5}), "both groups, got none of group 1"),
        (lambda: typed({("", "size"): 4, ("a", "sp_gap"): 0.4}), "fits no whole number of people in groups of 4 and 4"),
        (lambda: typed({("", "size"): 3, ("", "size_label_1"): 1, ("", "size_label_0"): 1}), "sizes contradict"),
        (
            lambda: typed({("", "size"): 6, ("", "size_label_1"): 1}),
            "6 in all, 1 of 4 with label 1, 5 of 4 with label 0",
        ),
        (
            lambda: typed({**TYPED, ("a", "sp_rate_1"): 0.25}),
            "contradicts what else is published or known: it says 1 accepted people of group 1, the rest 3",
        ),
        (
            lambda: typed({**TYPED, ("", "size_label_1"): 2, ("a", "tpr_gap"): -0.5, ("a", "fpr_gap"): -0.5}),
            "those within the labels do not add up",
        ),
        (lambda: typed({("", "size"): 4}, epsilon=1.0), "no privacy noise of known size"),
        (
            lambda: Published.from_values(Release(H, statistics=("sp_gap",)), {("", "size_label_1"): 2}),
            "labels must be given for size_label_1",
        ),
    ],
)
def test_one_sentence_on_what_is_wrong(make, told: str):
    with pytest.raises(InputError, match=told) as caught:
        make()
    sentence = str(caught.value)
    assert sentence.endswith(".") and sentence.count(". ") == 0


def test_numbers_that_contradict_each_other():
    release = Release(np.vstack([H[0], H[0], 1 - H[0]]), statistics=("sp_gap",), names=["a", "b", "c"])
    with pytest.raises(InputError, match="The numbers of a and b contradict each other: these models predict the same"):
        Published.from_values(release, {("", "size"): 4, ("a", "sp_gap"): 0.5, ("b", "sp_gap"): 0.0})
    with pytest.raises(InputError, match="these models predict the opposite"):
        Published.from_values(release, {("", "size"): 4, ("a", "sp_gap"): 0.5, ("c", "sp_gap"): 0.5})
    release = Release(np.array([[1, 1, 1, 0, 0, 0, 0]]), statistics=("sp_rate",), names=["a"])
    with pytest.raises(InputError, match="contradict each other: no sizes of the groups make whole people") as caught:
        Published.from_values(release, {("a", "sp_rate_1"): 0.123})
    assert str(caught.value).count(". ") == 0


def test_models_that_predict_the_same_or_the_opposite_settle_each_others_counts():
    release = Release(np.vstack([H[0], H[0], 1 - H[0]]), statistics=("sp_gap",), names=["a", "b", "c"])
    for told in (("a", 0.5), ("b", 0.5), ("c", -0.5)):  # three of the four accepted by "a" are of group 1
        counts = Published.from_values(release, {("", "size"): 4, (told[0], "sp_gap"): told[1]}).counts
        assert counts is not None and counts.limits["all"].tolist() == [[3, 3], [3, 3], [1, 1]]
    wide = Published.from_values(release, {("", "size"): 4, ("a", "sp_gap"): (0.0, 0.5)}).counts
    assert wide is not None and wide.limits["all"].tolist() == [[2, 3], [2, 3], [1, 2]]


def sizes_of(release: Release, vectors: np.ndarray, part: str) -> set[int]:
    return set((vectors * release.mask(part)).sum(axis=1).tolist())


@pytest.mark.parametrize("precision", ["exact", "rounded"])
def test_a_size_is_known_only_where_all_vectors_that_agree_have_it(precision: str):
    found = 0
    for seed in range(40):
        case = small_case(seed, precision=precision, sizes=False)
        if case.release.n > 8:
            continue
        assert case.published.counts is not None
        for part, size in case.published.counts.sizes.items():
            found += 1
            assert sizes_of(case.release, np.array(agreeing(case)), part) == {size}
    assert found >= (5 if precision == "exact" else 1)


@pytest.mark.parametrize(("name", "ends"), [("sp_gap", 0.0), ("sp_rate_1", 0.0), ("sp_rate_0", 0.0), ("sp_gap", 0.1)])
def test_one_number_of_one_model_tells_the_size_exactly_where_one_fits(name: str, ends: float):
    n = 7
    for accepted in range(n + 1):
        release = Release(np.arange(n) < accepted, statistics=("sp_gap",), sizes=False)
        ways = [(size, c) for size in range(1, n) for c in range(max(0, size - n + accepted), min(size, accepted) + 1)]
        rates = {(size, c): (c / size, (accepted - c) / (n - size)) for size, c in ways}
        number = {way: {"sp_gap": r1 - r0, "sp_rate_1": r1, "sp_rate_0": r0}[name] for way, (r1, r0) in rates.items()}
        least = -1.0 if name == "sp_gap" else 0.0
        for value in {round(value, 12) for value in number.values()}:
            low, high = max(least, value - ends), min(1.0, value + ends)
            fit = {size for (size, _), other in number.items() if low - 1e-9 <= other <= high + 1e-9}
            counts = Published.from_values(release, {("model 1", name): (low, high)}).counts
            assert counts is not None and counts.sizes == ({"all": fit.pop()} if len(fit) == 1 else {})


@pytest.mark.parametrize("decimals", [None, 3, 2])
def test_leaving_the_sizes_out_hides_nobody_in_a_small_table(decimals: int | None):
    """Twenty models about 200 people: their numbers fit one size of each group, so the same people are pinned down."""
    case = large_case(3, n=200, k=20, decimals=decimals)
    release = Release(case.release.predictions, labels=case.release.labels, sizes=False, decimals=decimals)
    without = release.publish(case.sensitive)
    assert without.counts is not None and case.published.counts is not None
    assert without.counts.sizes == case.published.counts.sizes
    found, known = (pinned(case.posterior, project(case.posterior, p).probability) for p in (without, case.published))
    assert known.count > 10 and found.people.tolist() == known.people.tolist()


@pytest.mark.parametrize("n", [200, 1000])
@pytest.mark.parametrize("statistics", [("sp_gap",), ("sp_rate", "tpr_gap")])
def test_the_truth_meets_the_equations_of_groups_of_unknown_size(statistics: tuple[str, ...], n: int):
    """At the truth a gap's line is no approximation: it touches the curve there."""
    for seed in range(6):
        case = large_case(seed, n=n, k=3, sizes=False, decimals=1, statistics=statistics)
        assert case.published.counts is not None and not case.published.counts.sizes
        told = equations(case.published, case.sensitive.astype(float))
        sums = told.features @ case.release.cells.expected(case.sensitive.astype(float))
        assert told.curved and told.low.size >= 3
        assert (told.low - 1e-9 <= sums).all() and (sums <= told.high + 1e-9).all()


def test_a_group_size_among_nobody_is_nothing():
    release = Release(np.array([[1, 1, 0, 0]]), labels=np.zeros(4, dtype=int), statistics=("sp_gap",))
    published = Published.from_values(release, {("", "size_label_1"): 0, ("", "size"): 2, ("model 1", "sp_gap"): 0.0})
    assert published.counts is not None and published.counts.sizes["label 0"] == 2
    assert project(np.array([0.3, 0.6, 0.3, 0.6]), published).converged
