"""Newer attacks: chance where nothing leaks, a planted leak found, and a second formulation beside each."""

import numpy as np
import pytest
from scipy.stats import invgamma, norm, t
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

from core.models.model_answers import QueryAccess
from core.studies.membership import REGISTRY, Evidence, roc
from core.studies.membership.attack import Shadows, logit
from core.studies.membership.attacks import bavaria, boundary
from tests import samples
from tests.unit.membership.samples import curve
from tests.zhang_protocol import id3_target, member_people, member_split

N = 1200


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


def test_four_shadows_tell_more_where_people_differ_in_how_much_trainings_move_them():
    """φ is normal, as both assume; deviations are unlike, which LiRA cannot learn from two values a person."""
    rng, n = np.random.default_rng(2), 4000
    split = member_split(n, seed=0, known_share=0.1, judged_share=0.9)
    level, deviation = rng.normal(0.0, 0.5, n), np.sqrt(invgamma.rvs(1.0, scale=0.02, size=n, random_state=rng))

    def train(rows, seed):
        inside = np.isin(np.arange(n), rows)
        phi = np.random.default_rng(seed).normal(level + inside, np.minimum(deviation, 1.5))
        return 1 / (1 + np.exp(-phi))

    evidence = Evidence(
        released=train(split.members, 99), labels=np.ones(n, dtype=np.uint8), split=split, train=train, shadows=4
    )
    ours, lira = curve("bavaria", evidence), curve("lira", evidence)
    assert ours.auc.low > lira.auc.high and ours.tpr_at(0.01).low > lira.tpr_at(0.01).high


def of_three_kinds(seed, remembered):
    """Return people of three kinds, told by their record: φ lies about -2, 0, 2 with deviations of 0.2, 0.4, 0.6."""
    rng, n = np.random.default_rng(seed), 6000
    split, kind = member_split(n, seed=seed, known_share=0.5, judged_share=0.5), rng.integers(0, 3, n)
    phi = 2.0 * kind - 2.0 + 0.2 * (kind + 1) * rng.normal(size=n)
    phi[split.members] += 0.2 * remembered * (kind[split.members] + 1)
    labels = rng.integers(0, 2, n).astype(np.uint8)
    return Evidence(
        released=1 / (1 + np.exp(np.where(labels == 1, -phi, phi))),
        labels=labels,
        split=split,
        features=np.column_stack([kind, rng.random(n)]),
    )


def test_a_memory_behind_the_record_is_found_without_shadows():
    """Two deviations of memory: Φ(2 / √2) = .921 for who knows the kinds."""
    evidence = of_three_kinds(1, 2.0)
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
    access = QueryAccess(columns=width, ask=lambda rows: model.predict(features[rows, np.arange(width)]))
    return Evidence(labels=labels, predictions=model.predict(features), split=split, access=access, seed=seed)


def test_copies_are_other_peoples_values_a_column_at_a_time():
    """A model that echoes whether any value is another's: every column has four turns, and nothing else changes."""
    seen = []

    def echo(rows):
        seen.append(rows)
        return np.ones(len(rows), dtype=np.uint8)

    split, ones = member_split(N, seed=0), np.ones(N, dtype=np.uint8)
    access = QueryAccess(columns=4, ask=echo)
    guessed = REGISTRY["boundary"].judge(Evidence(labels=ones, predictions=ones, split=split, access=access))
    copies = np.concatenate(seen).reshape(split.judged_rows.size, boundary.COPIES, 4)
    changed = copies != split.judged_rows[:, np.newaxis, np.newaxis]
    assert changed.sum(axis=2).max() == 1 and changed.sum(axis=1).max() == 4 and changed.mean() > 0.24
    assert np.unique(guessed.score).size == 1  # a label that withstands everything tells nobody apart


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
    """Return evidence of a model trained on nobody who is judged."""
    if name == "boundary":
        split = member_split(N, seed=seed, known_share=0.0625, judged_share=0.75)
        unjudged = np.setdiff1d(np.arange(N), split.judged_rows)
        return label_evidence(DecisionTreeClassifier(random_state=0), N, seed=seed, noise=0.5, trained=unjudged)
    people = member_people(samples.table(N, seed=seed), samples.ROLES)
    split = member_split(N, seed=seed, judged_share=0.8)
    train = id3_target(people, max_depth=4)
    unjudged = np.setdiff1d(np.concatenate([split.members, split.outsiders]), split.judged_rows)
    more = {"features": people.codes, "seed": seed, "train": train, "shadows": 8}
    return Evidence(released=train(unjudged, seed), labels=people.labels, split=split, **more)


@pytest.mark.parametrize(
    ("name", "widest"),
    [
        pytest.param("bavaria", 0.008, marks=pytest.mark.long),
        pytest.param("quantile", 0.008, marks=pytest.mark.long),
        ("boundary", 0.008),
    ],
)
def test_judge_a_model_trained_on_no_member(name, widest):
    curves = [curve(name, without_members(name, seed)) for seed in range(24)]
    areas, rates = [c.auc.value for c in curves], [float(c.reached(0.01)) for c in curves]
    for values, chance, most in ((areas, 0.5, widest), (rates, 0.01, 0.003)):
        error = np.std(values, ddof=1) / np.sqrt(len(values))
        assert abs(np.mean(values) - chance) <= 3 * error
        assert error < most


def test_either_finds_all_members_where_one_statistic_gives_them_away():
    member, noise = np.tile([1, 0], 20).astype(np.uint8), np.random.default_rng(0).random(40)
    for statistics in ((2.0 * member, noise), (noise, 2.0 * member)):
        _, verdict = boundary._either(*statistics, member, seed=3)
        assert verdict.tolist() == member.tolist()
