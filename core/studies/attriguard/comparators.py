"""What attackers trained on clean ratings read off other noise: of other surrogates, and of other defences.

The other defences have neither search nor budget: each makes one noisy record of each.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ...base.serialize import Result
from ...base.solvers import solve
from ...base.validation import Floats, Ints, child_generator
from ...stats.estimates import Estimate, accuracy, mean, mean_rate
from ..study import ReportProgress
from .attackers import drawn
from .defense import RatingsDefense

if TYPE_CHECKING:
    from scipy import sparse


SURROGATES = {
    "logistic": ("Logistic", "logistic", 0.0),
    "logistic_margin": ("… with margin", "logistic_smooth", 1.5),
    "network": ("Network", "network", 0.0),
}
"""Noise to try: what a chart calls it, the classifier it is found against, and the margin."""

CLEAN_ATTACKERS = ("logistic", "forest", "network")
"""Attackers trained on clean ratings, who are shown this noise and the records of other defences."""

_TRANSFER_PEOPLE = 300
"""People whose noise is shown to them, at most."""


def transfer(
    defense: RatingsDefense, report: ReportProgress | None = None
) -> tuple[dict[tuple[str, str], Estimate], dict[str, Estimate]]:
    """Show the noise of every surrogate to the attackers trained on clean ratings.

    Returned are, by (key of `SURROGATES`, attacker of `CLEAN_ATTACKERS`), the share of the noisy records that are read
    as the defender wants, over people and all values but the one the defender reads anyway; and by surrogate the
    ratings changed by the same noises, on average over people of their means.

    Noise that makes one classifier read a wanted value need not make another one read it; a margin buys more of that.
    Policy, classifiers and people are the defense's; its own defender and margin are not used. The report is called
    with (surrogates done, surrogates in all).
    """
    records = defense.ratings.people_test
    rng = child_generator(defense.seed, "guard transfer")
    records = records[np.sort(rng.permutation(records.shape[0])[:_TRANSFER_PEOPLE])]
    share = {}
    size = {}
    for done, (surrogate, (_, kind, margin)) in enumerate(SURROGATES.items()):
        if report is not None:
            report(done, len(SURROGATES))
        noise = defense.noise_of(records, defender=kind, margin=margin)
        counted = noise.reached & (np.arange(noise.size.shape[1]) != noise.predicted[:, None])
        rows = np.flatnonzero(counted)
        counts = counted.sum(axis=1)
        some = counts > 0
        size[surrogate] = mean((noise.size * counted).sum(axis=1)[some] / counts[some])
        for attacker in CLEAN_ATTACKERS:
            hits = np.zeros(counted.shape)
            if rows.size:
                guesses = defense.classifier(attacker).predict(noise.noisy[rows])
                hits.ravel()[rows] = guesses == rows % counted.shape[1]
            share[surrogate, attacker] = mean_rate(hits.sum(axis=1)[some] / counts[some])
    return share, size


def with_additions(
    records: sparse.csr_array,
    value: Ints,
    listed: Ints,
    ratings: Floats,
    n_added: int,
) -> sparse.csr_array:
    """Return the records (u, d) with some items added.

    `value` (u,) is everybody's, known or guessed; `listed` (m, l) the items to add for each value, the best first, -1
    in the place of one that is not added; `ratings` (d,) what each item is rated when it is added; `n_added` how many
    a person gets, fewer where the list ends.
    """
    from scipy import sparse

    rows = []
    columns = []
    for k in range(records.shape[0]):
        rated = records.indices[records.indptr[k] : records.indptr[k + 1]]
        candidates = listed[value[k]]
        new = candidates[(candidates >= 0) & ~np.isin(candidates, rated)][:n_added]
        rows.append(np.full(new.size, k))
        columns.append(new)
    row, column = (
        np.concatenate(part).astype(np.int32) for part in (rows, columns)
    )  # forests take no 64 bit positions
    added = sparse.csr_array((ratings[column], (row, column)), shape=records.shape)
    return sparse.csr_array(records + added)


def usual_ratings(records: sparse.csr_array) -> Floats:
    """Return each item's mean rating among those who rated it, in steps of a fifth; 0 where nobody did."""
    count = np.diff(records.tocsc().indptr)
    return np.asarray(np.round(5 * records.sum(axis=0) / np.maximum(count, 1)) / 5)


def blurme(
    records: sparse.csr_array,
    value: Ints,
    known_records: sparse.csr_array,
    classifier: Any,
    *,
    n_added: int,
) -> sparse.csr_array:
    """Return the records with `n_added` items added that speak most against one's value.

    They get the rating they usually get. BlurMe (Weinsberg et al. 2012) reads off a logistic regression's weights which
    items do; the classifier is one of the known people. The original knows two values; with more, the items with the
    lowest weight for one's own value are added. `value` (u,) is the true one, which BlurMe asks for, or what a
    classifier takes it for.
    """
    weights = classifier.coef_
    if len(weights) == 1:  # two values have one row
        weights = np.vstack([-weights, weights])
    ratings = usual_ratings(known_records)
    order = np.argsort(weights, axis=1, kind="stable")
    return with_additions(records, value, np.where(ratings[order] > 0, order, -1), ratings, n_added)


_LISTED = 500


def chisquare(
    records: sparse.csr_array,
    value: Ints,
    known_records: sparse.csr_array,
    known_values: Ints,
    *,
    n_added: int,
) -> sparse.csr_array:
    """Return the records with `n_added` items added that tell best, and speak for another value.

    ChiSquare (Chen et al. 2014): an item's chi-square statistic between its ratings and the attribute says how much it
    tells; it speaks for the value among whose people it is rated most. Items get the best rating. `value` (u,) is the
    true one, which ChiSquare asks for, or what a classifier takes it for.
    """
    indicators = np.eye(known_values.max() + 1)[known_values]
    statistic = _statistic(known_records, indicators)
    order = np.argsort(-statistic, kind="stable")[:_LISTED]
    among = np.asarray((known_records > 0).T.astype(np.float64) @ indicators)[
        order
    ] / indicators.sum(axis=0)
    speaks_for = among.argmax(axis=1)
    listed = np.where(speaks_for == np.arange(indicators.shape[1])[:, None], -1, order)
    return with_additions(records, value, listed, np.ones(records.shape[1]), n_added)


def _statistic(records: sparse.csr_array, indicators: Floats) -> Floats:
    """Return Σ (observed − expected)² / expected of each item's ratings over the values, (d,); 0 where nobody rated."""
    observed = np.asarray(records.T @ indicators)
    expected = observed.sum(axis=1, keepdims=True) * indicators.mean(axis=0)
    return np.asarray(
        ((observed - expected) ** 2 / np.where(expected > 0, expected, 1.0)).sum(axis=1)
    )


LEVELS = np.array([0.0, 0.2, 0.4, 0.6, 0.8, 1.0])
"""No rating, and one to five stars."""


def local_dp(
    records: sparse.csr_array, *, epsilon: float, rng: np.random.Generator
) -> sparse.csr_array:
    """Return records (u, d) whose every entry passed through randomised response, with budget epsilon (above 0) each.

    With k levels (no rating, and each rating) an entry, rounded to the nearest level first (the lower of two as near),
    stays with probability e^ε / (e^ε + k − 1), else becomes another level. The comparator of Jia and Gong is a succinct
    histogram; this is the plain mechanism.
    """
    from scipy import sparse

    records = records.copy()
    records.data = LEVELS[_nearest(records.data)]
    records.eliminate_zeros()
    people, entries = records.shape
    moved = (len(LEVELS) - 1) / (math.exp(min(epsilon, 700.0)) + len(LEVELS) - 1)
    count = rng.binomial(entries, moved, size=people)
    if not count.any():
        return records
    rows = np.repeat(np.arange(people, dtype=np.int32), count)
    drawn = [rng.choice(entries, size=number, replace=False) for number in count]
    columns = np.concatenate(drawn).astype(np.int32)  # forests take no 64 bit positions
    old = np.asarray(records[rows, columns]).ravel()
    another = LEVELS[(_nearest(old) + rng.integers(1, LEVELS.size, size=old.size)) % LEVELS.size]
    changed = sparse.csr_array((another - old, (rows, columns)), shape=records.shape)
    noisy = sparse.csr_array(records + changed)
    noisy.data = np.round(noisy.data, 12)  # sums of floats: what became no rating is 0 again
    noisy.eliminate_zeros()
    return noisy


def _nearest(ratings: Floats) -> Ints:
    """Return the place of each rating's nearest level."""
    return np.asarray(np.abs(ratings[:, None] - LEVELS).argmin(axis=1))


_MOST_CLUSTERS = 20


def qpm(
    records: sparse.csr_array,
    known_records: sparse.csr_array,
    known_values: Ints,
    *,
    slack: float,
    rng: np.random.Generator,
) -> sparse.csr_array:
    """Return for every record the representative drawn for it, one of the known people's records.

    Quantised probabilistic mapping (Salamatian et al. 2015), the game of Calmon and Fawaz on clusters: known people are
    put into clusters, and the record nearest to a cluster's centre stands for it. The mapping q(j | c) from a person's
    cluster to the representative they show makes the attribute and what is shown share the least information,

        min I(S; X̂)   with   P(s, j) = Σ_c P(s, c) q(j | c),   Σ_c P(c) Σ_j q(j | c) D(c, j) ≤ δ,

    where D(c, j) is the mean number of entries in which cluster c's people differ from representative j. δ lies `slack`
    in (0, 1] of the way from the least distortion there is to that of one representative for everybody. Where everybody
    rates few of many items, the centres themselves round to blank records, so a real person's record is shown instead;
    and on records as they are nearly everybody falls into one cluster, so k-means looks at their directions.
    """
    from scipy import sparse
    from sklearn.cluster import MiniBatchKMeans
    from sklearn.preprocessing import normalize

    clusters = min(_MOST_CLUSTERS, known_records.shape[0])
    means = MiniBatchKMeans(
        clusters, random_state=int(rng.integers(2**31)), n_init=3, batch_size=1024
    )
    directions = normalize(known_records)
    assignment = means.fit_predict(directions)
    shows = _representatives(known_records, means.transform(directions))
    joint = np.zeros((known_values.max() + 1, clusters))
    np.add.at(joint, (known_values, assignment), 1.0 / assignment.size)
    mapping = _mapping(joint, _distances(known_records, assignment, shows, clusters), slack)
    return sparse.csr_array(shows[drawn(mapping[means.predict(normalize(records))], rng)])


def _representatives(records: sparse.csr_array, distance: Floats) -> sparse.csr_array:
    """Return for each centre the record nearest to it (clusters, d), of people who rated anything."""
    from scipy import sparse

    rated = np.diff(records.indptr) > 0
    nearest = np.where(rated[:, None], distance, np.inf).argmin(axis=0)
    return sparse.csr_array(records[nearest])


def _distances(
    records: sparse.csr_array, assignment: Ints, shows: sparse.csr_array, clusters: int
) -> Floats:
    """Return the mean number of entries in which each cluster's people differ from each record shown."""
    size = np.maximum(np.bincount(assignment, minlength=clusters), 1)
    repeated = (shows[np.full(records.shape[0], index)] for index in range(clusters))
    differ = [np.asarray((records != show).sum(axis=1)).ravel() for show in repeated]
    return np.column_stack(
        [np.bincount(assignment, weights=count, minlength=clusters) / size for count in differ]
    )


def _mapping(joint: Floats, distance: Floats, slack: float) -> Floats:
    """Return the mapping q that shares the least information within the distortion allowed, (clusters, shown)."""
    import cvxpy as cp

    weight = joint.sum(axis=0)
    least = float(weight @ distance.min(axis=1))
    single_distortion = float((weight @ distance).min())
    mapping = cp.Variable(distance.shape, nonneg=True)
    independent = joint.sum(axis=1)[:, None] @ (weight[None] @ mapping)
    spent = cp.sum(cp.multiply(weight[:, None] * distance, mapping))
    problem = cp.Problem(
        cp.Minimize(cp.sum(cp.rel_entr(joint @ mapping, independent))),
        [cp.sum(mapping, axis=1) == 1, spent <= least + slack * (single_distortion - least) + 1e-9],
    )
    solve(problem)  # a mapping to a few digits is good enough
    solution = np.maximum(mapping.value, 0.0)  # type: ignore[arg-type]
    return np.asarray(solution / solution.sum(axis=1, keepdims=True))


_EPSILONS = (7.0, 8.0, 9.0)
_SLACKS = (0.25, 0.5, 1.0)
_ADDED = (1, 3, 5)


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared(Result):
    """One defence ("blurme", "chisquare", "qpm" or "local_dp") with one parameter, in words.

    `knows_truth` says whether it knows everybody's true value, which BlurMe and ChiSquare ask for; `size` are the
    ratings changed per person, `accuracy` is by attacker (`CLEAN_ATTACKERS`).
    """

    method: str
    parameter: str
    knows_truth: bool
    size: Estimate
    accuracy: dict[str, Estimate]


def comparison(defense: RatingsDefense, report: ReportProgress | None = None) -> Iterator[Compared]:
    """Yield every other defence at some of its settings, read by the attackers who learned from the clean ratings.

    The report is called with (defences done, defences in all); it may raise `core.base.errors.Cancelled`.
    """
    defences = _defences(defense)
    records = defense.ratings.people_test
    truth = defense.ratings.values_test
    for done, (method, parameter, knows_truth, make) in enumerate(defences):
        if report is not None:
            report(done, len(defences))
        noisy = make()
        changed = (noisy != records).sum(axis=1)
        read = {attacker: defense.reader(attacker).predict(noisy) for attacker in CLEAN_ATTACKERS}
        yield Compared(
            method=method,
            parameter=parameter,
            knows_truth=knows_truth,
            size=mean(np.asarray(changed, dtype=np.float64).ravel()),
            accuracy={attacker: accuracy(truth, values) for attacker, values in read.items()},
        )


def _defences(defense: RatingsDefense) -> list[tuple[str, str, bool, Callable[[], Any]]]:
    """Return method, parameter, whether it knows the truth, and what makes the noisy records, of each defence."""
    known_people = defense.known_people
    known_records = defense.ratings.people_train
    records = defense.ratings.people_test
    seed = defense.seed
    logistic = defense.classifier("logistic")
    defences: list[tuple[str, str, bool, Callable[[], Any]]] = []
    for knows in (True, False):
        if knows:
            value = defense.ratings.values_test
        else:
            value = logistic.predict(records).astype(np.int64)
        for n in _ADDED:
            defences.append(
                (
                    "blurme",
                    f"{n} added",
                    knows,
                    partial(blurme, records, value, known_records, logistic, n_added=n),
                )
            )
            defences.append(
                (
                    "chisquare",
                    f"{n} added",
                    knows,
                    partial(chisquare, records, value, *known_people, n_added=n),
                )
            )
    for slack in _SLACKS:
        rng = child_generator(seed, f"guard qpm {slack}")
        defences.append(
            (
                "qpm",
                f"slack {slack:g}",
                False,
                partial(qpm, records, *known_people, slack=slack, rng=rng),
            )
        )
    for epsilon in _EPSILONS:
        rng = child_generator(seed, f"guard local dp {epsilon}")
        make = partial(local_dp, records, epsilon=epsilon, rng=rng)
        defences.append(("local_dp", f"epsilon {epsilon:g} an entry", False, make))
    return defences
