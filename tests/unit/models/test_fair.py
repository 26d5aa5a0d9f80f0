"""The ways to train, on small data; the private and fair tree's program, what it spends and what it keeps."""

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.utils.estimator_checks import estimator_checks_generator

from core.base.errors import InputError, PrivacyLeakWarning
from core.datasets.splits import split
from core.models import METHODS, fit_model
from core.models.dp_id3 import DPID3Classifier
from core.models.fair import PrivateFairModel, counted_private_tree, fair_acceptance
from core.models.id3 import BudgetLedger, noisy_counts
from core.stats.fairness import METRICS, unfairness
from core.studies.subject import AuditConfig, train_model
from tests import samples
from tests.samples import dataset


@pytest.fixture(scope="module")
def people():
    return dataset(1500, seed=3)


def _trained(people, method, **settings):
    arrays = people.features, people.labels, people.sensitive
    return people.once((method, *settings.items()), lambda: fit_model(method, *arrays, seed=1, **settings))


def _drawn(people, method, **settings):
    return _trained(people, method, **settings).predict(people.features, people.sensitive, seed=1)


@pytest.mark.parametrize("method", METHODS)
def test_every_method_beats_the_majority_decides_by_its_scores_and_draws_by_its_acceptance(people, method):
    model, drawn = _trained(people, method), _drawn(people, method)
    inputs, swapped = (people.features, people.sensitive), (people.features, 1 - people.sensitive)
    majority = max(people.labels.mean(), 1 - people.labels.mean())
    assert (drawn == people.labels).mean() > majority + 0.05
    assert np.array_equal(drawn, model.predict(*swapped, seed=1)) != model.needs_sensitive
    scores = model.scores(*inputs)
    assert scores.min() >= 0 and scores.max() <= 1 and np.unique(scores).size > 2
    assert model.needs_sensitive or np.array_equal(scores, model.scores(*swapped))
    assert model.randomised or np.array_equal(scores > 0.5, drawn == 1)
    accepted = model.acceptance(*inputs)
    draws = [model.predict(*inputs, seed=seed) for seed in range(60)]
    assert accepted.shape == (people.n,) and ((accepted > 0) & (accepted < 1)).any() == model.randomised
    assert np.abs(np.mean(draws, axis=0) - accepted).max() <= (0.35 if model.randomised else 0.0)
    assert np.mean(draws) == pytest.approx(accepted.mean(), abs=0.01)
    assert np.array_equal(draws[1], drawn) and np.array_equal(draws[1], draws[2]) != model.randomised  # by the seed


@pytest.mark.long
@pytest.mark.parametrize("change", [{"depth": 2}, {"tolerance": 0.2}, {"metric": "equal_opportunity"}, {"seed": 7}])
def test_a_model_trained_before_answers_for_no_other_setting(change):
    first = AuditConfig(dataset="upload", roles=samples.ROLES, tolerance=0.0)
    people, again = dataset(300, seed=3), dataset(300, seed=3)
    splits, changed = split(people, train_share=first.train_share, seed=first.seed), replace(first, **change)
    before, after = (train_model(config, people, splits).scores for config in (first, changed))
    assert np.array_equal(after, train_model(changed, again, splits).scores)
    assert not np.array_equal(after, before)


@pytest.mark.parametrize(
    ("method", "metric"), [("exponentiated_gradient", "equal_opportunity"), ("threshold_optimizer", "equalized_odds")]
)
def test_mitigation_is_fairer_than_the_control(people, method, metric):
    control, mitigated = (
        unfairness(drawn, people.sensitive, metric=metric, labels=people.labels)
        for drawn in (_drawn(people, "unmitigated"), _drawn(people, method, metric=metric, tolerance=0.0))
    )
    assert mitigated < max(0.05, 0.6 * control)


def test_scores_of_exponentiated_gradient_are_its_trees_by_weight(people):
    model = _trained(people, "exponentiated_gradient", tolerance=0.01)
    weights, trees = np.asarray(model.estimator.weights_), model.estimator.predictors_
    assert (weights > 0).sum() > 1 and weights.sum() == pytest.approx(1)
    tree_scores = np.array([tree.predict_proba(people.features)[:, 1] for tree in trees])
    scores = model.scores(people.features, people.sensitive)
    assert scores == pytest.approx(weights @ tree_scores)
    assert np.abs(scores - tree_scores.mean(axis=0)).max() > 1e-3  # weighted, not counted


def test_the_private_tree_keeps_to_its_budget_and_takes_a_missing_category_as_a_value(people):
    ranges = [(column.min(), column.max()) for column in people.features.T[:2]]
    assert people.domains == (*ranges, 3)  # up, down, and a missing value
    tree = _trained(people, "dp_id3", epsilon=20.0, domains=people.domains).estimator
    assert tree.domains_ == people.domains and tree.depth_ <= 3
    assert tree.budget_ledger_.total == pytest.approx(20.0) and tree.accounting == "savings"
    with pytest.warns(PrivacyLeakWarning, match="read from the records"):
        fit_model("dp_id3", people.features, people.labels, people.sensitive, epsilon=20.0)
    features = people.features.copy()
    features[::2, 2] = -1
    labels = (features[:, 2] == -1).astype(np.uint8)
    model = fit_model("dp_id3", features, labels, people.sensitive, epsilon=1000.0, domains=people.domains)
    assert np.array_equal(model.predict(features, people.sensitive, seed=0), labels)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"method": "magic"}, "method must be one of"),
        ({"metric": "magic"}, "metric must be one of"),
        ({"tolerance": 1.4}, r"tolerance must be in \[0, 1\], got 1.4"),
        ({"epsilon": 0.0}, "epsilon must be at least 1e-06"),
        ({"seed": -1}, "seed must be a whole number"),
        ({"labels": np.zeros(1500, dtype=np.uint8)}, "both labels and both groups"),
        ({"sensitive": np.zeros(3, dtype=np.uint8)}, "same length"),
    ],
)
def test_bad_arguments_are_told_in_one_sentence(people, change, message):
    settings = {"method": "unmitigated", "labels": people.labels, "sensitive": people.sensitive} | change
    with pytest.raises(InputError, match=message):
        fit_model(settings.pop("method"), people.features, **settings)


COMPARED = {
    "statistical_parity": [(0, 1)],
    "predictive_equality": [(0,)],
    "equal_opportunity": [(1,)],
    "equalized_odds": [(0,), (1,)],
}


def errors(counts, acceptance):
    return (acceptance * counts[:, :, 0] + (1 - acceptance) * counts[:, :, 1]).sum(axis=(-2, -1))


def distance(counts, acceptance, metric):
    """Return the largest distance of a group's rate from everybody's, for each table of acceptances."""
    worst = np.zeros(acceptance.shape[:-2])
    for labels in COMPARED[metric]:
        people = counts[:, :, list(labels)].sum(axis=2)
        some = people.sum(axis=1) > 0
        if some.any():
            accepted = (people[some] * acceptance[..., some, :]).sum(axis=-1)
            overall = accepted.sum(axis=-1, keepdims=True) / people.sum()
            worst = np.maximum(worst, np.abs(accepted / people[some].sum(axis=1) - overall).max(axis=-1))
    return worst


@pytest.mark.parametrize("metric", METRICS)
def test_no_point_of_a_grid_is_better(metric):
    rng = np.random.default_rng(3)
    grid = np.array(list(itertools.product(np.linspace(0, 1, 11), repeat=4))).reshape(-1, 2, 2)
    for _ in range(5):
        counts = rng.integers(0, 60, size=(2, 2, 2)) + 1
        wrong, worst = errors(counts, grid), distance(counts, grid, metric)
        for tolerance in (0.0, 0.05, 0.2):
            acceptance = fair_acceptance(counts, tolerance=tolerance, metric=metric)
            assert distance(counts, acceptance, metric) <= tolerance + 1e-6
            assert errors(counts, acceptance) <= wrong[worst <= tolerance + 1e-9].min() + 1e-3


@settings(max_examples=40)
@given(
    cells=st.integers(2, 4).flatmap(lambda k: st.lists(st.integers(-40, 300), min_size=4 * k, max_size=4 * k)),
    tolerance=st.floats(0, 0.5),
    metric=st.sampled_from(METRICS),
)
def test_every_table_of_counts_has_a_solution_that_keeps_the_tolerance(cells, tolerance, metric):
    counts = np.array(cells).reshape(-1, 2, 2)
    acceptance = fair_acceptance(counts, tolerance=tolerance, metric=metric)
    assert acceptance.shape == (len(counts), 2) and acceptance.min() >= 0 and acceptance.max() <= 1
    people = np.maximum(counts, 0)
    people[people.sum(axis=(1, 2)) == 0] = 1
    assert distance(people, acceptance, metric) <= tolerance + 1e-6
    looser = fair_acceptance(counts, tolerance=min(1.0, tolerance + 0.1), metric=metric)
    assert errors(people, looser) <= errors(people, acceptance) + 1e-4 * people.sum()


DATA = samples.dataset(900)


def counted(epsilon, *, seed=0, max_depth=3):
    arrays, settings = (DATA.features, DATA.labels, DATA.sensitive), {"max_depth": max_depth, "seed": seed}
    return counted_private_tree(*arrays, epsilon=epsilon, n_groups=2, domains=DATA.domains, **settings)


@pytest.mark.parametrize("metric", METRICS)
def test_without_noise_the_tolerance_is_met_in_expectation(metric):
    tree, counts = counted(math.inf)
    model = PrivateFairModel(tree=tree, acceptance=fair_acceptance(counts, tolerance=0.03, metric=metric))
    chance = model.probability(DATA.features, DATA.sensitive)
    for labels in COMPARED[metric]:
        among = np.isin(DATA.labels, labels)
        rates = [chance[among & (DATA.sensitive == group)].mean() for group in (0, 1)]
        assert max(abs(rate - chance[among].mean()) for rate in rates) <= 0.03 + 1e-6


def test_counted_private_tree_gets_three_quarters_of_the_budget():
    assert counted(7.3)[0].budget_ledger_.total == pytest.approx(0.75 * 7.3)


def test_counts_carry_the_noise_that_their_share_of_the_budget_asks_for():
    epsilon, off = 0.4, []
    for seed in range(60):
        tree, counts = counted(epsilon, seed=seed, max_depth=1)
        true = np.zeros((2, 2, 2), dtype=np.int64)
        np.add.at(true, (DATA.sensitive, tree.predict(DATA.features), DATA.labels), 1)
        off.append(counts - true)
    a = math.exp(-epsilon / 4)  # discrete Laplace: P(k) = (1 - a) / (1 + a) a^|k|
    noise, variance = np.ravel(off), 2 * a / (1 - a) ** 2
    assert abs(noise.mean()) <= 4 * math.sqrt(variance / noise.size)
    assert noise.var() == pytest.approx(variance, rel=0.3)
    assert np.mean(noise == 0) == pytest.approx((1 - a) / (1 + a), abs=0.04)


SIZES = (3, 2, 4)
NEEDS_A_SWITCH = "check_array_api_input"  # runs only with SCIPY_ARRAY_API set before scipy is loaded
CHECKS = [c for _, c in estimator_checks_generator(DPID3Classifier()) if c.func.__name__ != NEEDS_A_SWITCH]


def records():
    """Return records of three columns, and a label that leans on the first two."""
    rng = np.random.default_rng(0)
    codes = np.stack([rng.integers(0, k, 600) for k in SIZES], axis=1)
    return codes, (rng.random(600) < 0.15 + 0.3 * codes[:, 1] + 0.2 * codes[:, 0]).astype(int)


def private(seed=1, **settings):
    return DPID3Classifier(5.0, random_state=seed, **{"domains": SIZES, "classes": (0, 1), **settings})


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.func.__name__)
def test_scikit_learn_accepts_it(check):
    """Without domains the tree has no noise; sample weights and sparse records it does not offer at all."""
    check(DPID3Classifier())


def test_the_same_seed_makes_the_same_tree_and_another_seed_another():
    x, y = records()
    seeds = (1, 1, 2, None, None)
    first, again, *more = (private(seed=seed).fit(x, y).predict_proba(x).tobytes() for seed in seeds)
    assert first == again
    assert len({first, *more}) == 4


@pytest.mark.parametrize("low", [0, -30])
def test_numbers_go_into_ten_bins_of_their_public_range(low):
    x = low + np.array([[-5.0], [0.0], [0.99], [1.0], [5.5], [9.0], [10.0], [99.0]])
    y = np.array([0, 0, 0, 1, 0, 1, 1, 1])
    tree = DPID3Classifier(domains=((low, low + 10),), classes=(0, 1)).fit(x, y)
    assert tree.n_nodes_ == 11
    numbers = [[low + 0.5], [low + 1.9], [low + 8.01], [-1e300], [1e300]]
    assert tree.predict_proba(numbers)[:, 1].tolist() == [0, 1, 0.5, 0, 1]


@pytest.mark.parametrize(
    "settings, message",
    [
        ({"domains": None}, "Domains or classes were read from the records"),
        ({"classes": None}, "Domains or classes were read from the records"),
        ({"accounting": "naive"}, "gives every count the whole epsilon"),
    ],
)
def test_a_promise_that_is_not_kept_is_warned_of(settings, message):
    with pytest.warns(PrivacyLeakWarning, match=message):
        private(**settings).fit(*records())


BAD = [
    ({"epsilon": math.nan}, "epsilon must be at least 1e-06, or infinite, got nan."),
    ({"accounting": "none"}, "accounting must be one of savings, literal, naive, got 'none'."),
    ({"domains": (3, 2, 3)}, "Column 2 must hold whole numbers from 0 to 2, got 3."),
    ({"random_state": -1}, "seed must be a whole number from 0 to 4294967295, got -1."),
]


@pytest.mark.parametrize("settings, sentence", BAD, ids=lambda value: str(value)[:40])
def test_bad_settings_are_told_in_one_sentence(settings, sentence):
    with pytest.raises(InputError) as caught:
        private().set_params(**settings).fit(*records())
    assert str(caught.value) == sentence


SPLIT, LEAF, TRUE = "attributes", "leaf counts", "true counts"
ROOT, INNER = ((level, "node size", 1, 2.0) for level in (0, 1))
PATHS = [
    ("savings", 0, [ROOT, (0, LEAF, 1, 10.0)]),
    ("savings", 2, [ROOT, (0, SPLIT, 4, 0.5), INNER, (1, SPLIT, 3, 2 / 3), (2, LEAF, 1, 4.0)]),
    ("literal", 1, [ROOT, (0, SPLIT, 8, 0.25), INNER, (1, LEAF, 1, 2.0)]),
    ("naive", 1, [(0, TRUE, 1, math.inf), (0, SPLIT, 8, 12.0), (1, TRUE, 1, math.inf), (1, LEAF, 1, 12.0)]),
]


@pytest.mark.parametrize("accounting, level, rows", PATHS)
def test_what_a_path_spends_by_hand(accounting, level, rows):
    settings = {"accounting": accounting, "depth": 2, "n_attributes": 4}
    ledger = BudgetLedger(requested_epsilon=12.0, **settings)  # a slot is 12 / (2 · 3) = 2
    assert [(e.level, e.slot, e.tables, e.table_epsilon) for e in ledger.path(level)] == rows
    if accounting == "naive":
        assert ledger.counts_total == 12.0 * (8 + 6 + 1) and math.isinf(ledger.total)
    else:
        assert len(ledger.entries) == (5 if accounting == "savings" else 6)  # a literal tree asks for the last size too


@pytest.mark.parametrize("epsilon", [0.05, 1.0, 3.0])
def test_noise_is_the_discrete_laplace_distribution(epsilon):
    n, decay = 200_000, math.exp(-epsilon)
    noise = noisy_counts(np.full(n, 7), epsilon, np.random.default_rng(1)) - 7
    most = math.ceil(math.log(n / 50) / epsilon)
    values = np.arange(-most, most + 1)
    expected = n * (1 - decay) / (1 + decay) * decay ** np.abs(values)  # P(x) = (1 - a) / (1 + a) a^|x|
    values, expected = values[expected >= 5], expected[expected >= 5]
    seen = (noise == values[:, None]).sum(axis=1)
    squares, cells = ((seen - expected) ** 2 / expected).sum(), expected.size
    assert squares < cells + 4 * math.sqrt(2 * cells)
