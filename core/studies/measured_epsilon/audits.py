"""The mechanisms with a privacy budget, each run where one person shows most, and bounds on ε from what is seen.

Lower bounds on the ε of a mechanism, at a chosen confidence, are two.

One run (Steinke, Nasr and Jagielski 2023, "Privacy auditing with one (1) training run"). Each of some canaries is
included with probability 1/2, independently; an attacker who sees the output guesses for r of them whether it is in. If
adding or removing a canary is (ε, δ)-private, v or more correct guesses have at most the chance

    p(ε) = min_i P[B ≥ v − i] + r δ / (2 (i + 1)),   B ~ Binomial(r, q),  q = e^ε / (1 + e^ε),  i = 0, 1 … v.

Given the output and the canaries before it, a guess is correct with probability q plus an excess, whose mean over
outputs is at most δ / (1 + e^ε), as Σ_t (P(t) − e^ε Q(t))₊ ≤ δ for the laws P and Q of the output with and without it.
So the number of correct guesses is at most B + F, with E[F] ≤ r δ / 2, and Markov's inequality bounds F > i. Which
canaries are guessed may depend on the output, their number only where δ = 0.

With δ = 0 this p(ε) is theirs, and the analysis of a whole f-DP curve (Mahloujifar, Melis and Chaudhuri 2024) adds
nothing: randomised response is ε-private and attains p(ε), so no valid p-value of correct guesses is smaller. With δ
they let F be independent of B, which it need not be: their p-value (appendix D) is exceeded where few guesses are
correct.

Two tables. Of a mechanism that can be run often, outputs on two neighbouring tables are compared: an event with
probability at least P⁻ on one and at most P⁺ on the other shows ε ≥ ln((P⁻ − δ) / P⁺). P⁻ and P⁺ are exact limits
(Clopper and Pearson 1934), each missed with half of what the confidence leaves. The event is chosen on one half of the
outputs and counted on the other.

A bound below the ε that is claimed proves nothing: another attack may show more.

A guarantee holds on every table, so the tables are chosen for the attacker. The private tree is given columns that all
say the same: which cell a record is in. Whichever the root asks, every cell becomes a leaf with one share of the budget
for its class counts, (2D − 1)/(2D + 2) of it for D columns. A cell holds records of class 0 and perhaps one canary of
class 1: its leaf answers with a share of class 1 above 0 exactly where the noisy count of the canary is above 0.

The other mechanisms answer about ten people, of whom two are disadvantaged, on two tables: in the second, one of the
two has changed group. One question accepts that person alone, so the gap moves as far as any gap can. The score is the
logarithm of the likelihood ratio for the noise that the mechanism should have. The query desk's answers are a noisy
count, for a tenth of the budget, as registering a test set charges it, and a noisy sum for the rest.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import ClassVar

import numpy as np

from ...base.serialize import Result
from ...base.validation import Codes, Floats, Ints, Mask, child_generator, child_seed
from ...desk.noise import HALF_STEP, MILLION, NoisyNumber, centred, on_grid, release
from ...models.id3 import BudgetLedger
from ..bias_queries.guarantees import largest_loss
from ..bias_queries.mechanisms import (
    AdditiveNoise,
    LaplaceGlobal,
    NoisySums,
    SmoothCauchy,
    SmoothLaplace,
)
from ..model_card.release import Release, noisy_sums

_MAX_BOUND = 60.0
"""Largest bound that is looked for."""

_THRESHOLDS = 200
"""Events tried on the first half of the outputs, for each direction."""


def one_run_p_value(guesses: int, correct: int, epsilon: float, delta: float = 0.0) -> float:
    """Return p(ε): a bound on the chance of so many correct guesses, or more, under (ε, δ)-privacy; in [0, 1]."""
    from scipy.stats import binom

    if delta:
        n_terms = correct + 1
    else:
        n_terms = 1
    i = np.arange(n_terms)
    reached = binom.sf(correct - i - 1, guesses, 1.0 / (1.0 + math.exp(-epsilon)))
    return float(min(1.0, (reached + guesses * delta / (2.0 * (i + 1))).min()))


def one_run_bound(guesses: int, correct: int, *, delta: float = 0.0, confidence: float) -> float:
    """Return the largest ε that so many correct guesses reject, 0 where they reject none."""
    low = 0.0
    high = _MAX_BOUND
    for _ in range(50):
        middle = (low + high) / 2
        rejected = one_run_p_value(guesses, correct, middle, delta) < 1.0 - confidence
        low, high = (middle, high) if rejected else (low, middle)
    return low


def two_table_bound(
    draws: int,
    count: Ints | int,
    neighbour_count: Ints | int,
    *,
    delta: float = 0.0,
    confidence: float,
) -> Floats:
    """Return the ε shown by an event seen in so many of the outputs on a table and on its neighbour."""
    from scipy.special import betaincinv

    alpha = (1.0 - confidence) / 2
    # with a count of 0 low is below every high: 0 is shown; with a neighbour's of all draws high is above every low
    low = betaincinv(np.maximum(count, 1), draws - count + 1, alpha)
    high = betaincinv(neighbour_count + 1, np.maximum(draws - neighbour_count, 1), 1.0 - alpha)
    return np.log(np.maximum(low - delta, high) / high)


@dataclass(frozen=True, slots=True, kw_only=True)
class OneRun(Result):
    """What an attacker guessed of the canaries of one run."""

    guesses: int
    correct: int
    delta: ClassVar[float] = 0.0

    @property
    def counts(self) -> str:
        """What was counted, in words."""
        return f"{self.correct:,} of {self.guesses:,} canaries guessed correctly"

    @property
    def clearest(self) -> OneRun:
        """Every guess correct: what shows most."""
        return replace(self, correct=self.guesses)

    def bound(self, confidence: float) -> float:
        """Return the lower bound on ε."""
        return one_run_bound(self.guesses, self.correct, confidence=confidence)


@dataclass(frozen=True, slots=True, kw_only=True)
class TwoTables(Result):
    """How often an event was seen in `draws` outputs on a table, and in as many on its neighbour."""

    draws: int
    first: int
    second: int
    delta: float = 0.0

    @property
    def counts(self) -> str:
        """What was counted, in words."""
        return f"an event in {self.first:,} and {self.second:,} of {self.draws:,} outputs"

    @property
    def clearest(self) -> TwoTables:
        """An event in all outputs on one table and in none on the other: what shows most."""
        return replace(self, first=self.draws, second=0)

    def bound(self, confidence: float) -> float:
        """Return the lower bound on ε."""
        return float(
            two_table_bound(
                self.draws, self.first, self.second, delta=self.delta, confidence=confidence
            )
        )


def distinguished(first: Floats, second: Floats, *, delta: float = 0.0) -> TwoTables:
    """Return an event chosen on the first half of the scores on two tables (n,) each, and counted on the second.

    A high score speaks for the first table, a low one for the second. Any will do: a poor one shows less, and none
    shows what is not there.
    """
    half = first.size // 2
    best = -1.0
    event = (1.0, math.inf)
    for sign in (1.0, -1.0):
        near, far = (
            np.sort(sign * scores[:half])
            for scores in ((first, second) if sign > 0 else (second, first))
        )
        thresholds = np.unique(
            np.quantile(np.concatenate([near, far]), np.linspace(0, 1, _THRESHOLDS), method="lower")
        )
        hits = [half - np.searchsorted(scores, thresholds) for scores in (near, far)]
        bounds = two_table_bound(half, hits[0], hits[1], delta=delta, confidence=0.95)
        if bounds.max() > best:
            best = float(bounds.max())
            event = (sign, float(thresholds[bounds.argmax()]))
    sign, threshold = event
    counts = [
        int(np.count_nonzero(sign * scores[half:] >= threshold)) for scores in (first, second)
    ]
    seen, rarer = counts if sign > 0 else counts[::-1]
    return TwoTables(draws=first.size - half, first=seen, second=rarer, delta=delta)


DELTA = 1e-5
"""Of the one mechanism that may fail."""

COLUMNS = 9
"""Of the tree's table, all alike."""

_RECORDS = 2.0 * math.sqrt(2.0) * 2 * (COLUMNS + 1)
"""Records of a cell times ε, at which the root is as likely to stop as to go on."""

_PEOPLE = 10

_Mechanism = AdditiveNoise | NoisySums


@dataclass(frozen=True, slots=True, kw_only=True)
class MechanismAudit(Result):
    """One mechanism: the ε that is promised, the ε that its ledger or proof says it spends, and what was seen of it.

    `spent` is None where nothing is proved.
    """

    mechanism: str
    promised: float
    spent: float | None
    seen: OneRun | TwoTables

    @property
    def spends(self) -> str:
        """Where `spent` is from."""
        if isinstance(self.seen, OneRun):
            return "ledger"
        return "proof"

    def measured(self, confidence: float) -> float:
        """Return the lower bound on ε with two decimals, never rounded up."""
        return math.floor(100 * self.seen.bound(confidence)) / 100


def audits(
    epsilon: float, *, noise: float, canaries: int, repeats: int, seed: int
) -> Iterator[Callable[[], MechanismAudit]]:
    """Yield what audits each mechanism, the private tree first.

    `epsilon` is promised; `noise` is how much of the noise for it is drawn, as a share: below 1 the mechanisms break
    their guarantee, and neither ledger nor proof knows.
    """
    applied_epsilon = epsilon / noise

    def mechanism_audit(name: str, seen: OneRun | TwoTables, spent: float | None) -> MechanismAudit:
        return MechanismAudit(mechanism=name, promised=epsilon, spent=spent, seen=seen)

    def answers(name: str, build: Callable[[float], _Mechanism], delta: float) -> MechanismAudit:
        claimed = build(epsilon)
        spent = largest_loss(claimed, _PEOPLE - 2, 2, 1)
        if spent is None and claimed.holds:
            spent = epsilon  # proved up to δ
        seen = answer_draws(
            claimed, build(applied_epsilon), repeats, seed=seed, name=name, delta=delta
        )
        return mechanism_audit(name, seen, spent)

    ledger = BudgetLedger(
        accounting="savings", requested_epsilon=epsilon, depth=COLUMNS, n_attributes=COLUMNS
    )
    yield lambda: mechanism_audit(
        "Private tree", tree_run(applied_epsilon, canaries, seed=seed), ledger.total
    )
    kinds: tuple[tuple[str, Callable[[float], _Mechanism], float], ...] = (
        ("Laplace answers", LaplaceGlobal, 0.0),
        ("Cauchy answers", SmoothCauchy, 0.0),
        ("Smooth Laplace answers", lambda budget: SmoothLaplace(budget, DELTA), DELTA),
        ("Noisy sums", NoisySums, 0.0),
    )
    for name, build, delta in kinds:
        yield partial(answers, name, build, delta)
    yield lambda: mechanism_audit(
        "Query desk", *desk_draws(epsilon, applied_epsilon, repeats, seed=seed)
    )
    yield lambda: mechanism_audit(
        "Model card", card_draws(epsilon, applied_epsilon, repeats, seed=seed), epsilon
    )


def tree_run(epsilon: float, canaries: int, *, seed: int) -> OneRun:
    """Return what is guessed of canaries from the predictions of one private tree that was trained with this ε."""
    from ...models.dp_id3 import DPID3Classifier

    included = child_generator(seed, "canaries").random(canaries) < 0.5
    records = max(1, math.ceil(1.25 * _RECORDS / epsilon))
    cells = np.arange(canaries)
    cell = np.concatenate([np.repeat(cells, records), cells[included]])
    labels = np.repeat([0, 1], [canaries * records, int(included.sum())])
    tree = DPID3Classifier(
        epsilon,
        COLUMNS,
        child_seed(seed, "private tree"),
        domains=[canaries] * COLUMNS,
        classes=(0, 1),
    )
    tree.fit(np.repeat(cell[:, np.newaxis], COLUMNS, axis=1), labels)
    inside = tree.predict_proba(np.repeat(cells[:, np.newaxis], COLUMNS, axis=1))[:, 1] > 0
    return OneRun(guesses=canaries, correct=int(np.count_nonzero(inside == included)))


def answer_draws(
    claimed: _Mechanism, mechanism: _Mechanism, draws: int, *, seed: int, name: str, delta: float
) -> TwoTables:
    """Return what distinguishes two neighbouring tables in a mechanism's answers; `claimed` is what it should be."""
    scores = np.eye(1, _PEOPLE)
    tables = [np.array([last, 0, *[1] * (_PEOPLE - 2)], dtype=np.uint8) for last in (0, 1)]
    outputs = []
    centres = []
    scales = []
    for number, sensitive in enumerate(tables):
        rng = child_generator(seed, f"{name}, table {number}")
        if isinstance(claimed, NoisySums) and isinstance(mechanism, NoisySums):
            outputs.append(mechanism.count_and_sums(scores, sensitive, rng, draws))
            group = sensitive == 0
            centres.append([group.sum(), (scores[0, group] - 0.5).sum()])
            scales.append(list(claimed.scales(scores)))
        else:
            assert isinstance(claimed, AdditiveNoise)
            outputs.append(mechanism.draws(scores, sensitive, rng=rng, draws=draws))
            centres.append(list(claimed.exact(scores, sensitive)))
            advantaged = int(sensitive.sum())
            scales.append([claimed.scale(advantaged, _PEOPLE - advantaged, 1)])
    return _compared(outputs, centres, scales, cauchy=claimed.noise == "cauchy", delta=delta)


_COUNT_SHARE = 10
"""The desk's noisy count costs one part in so many of a budget."""


def desk_draws(claimed: float, epsilon: float, draws: int, *, seed: int) -> tuple[TwoTables, float]:
    """Return what distinguishes two neighbouring tables in the desk's noisy count and sum, and what both are charged.

    The noise is exact and discrete, drawn as the desk draws it, here from a seed; the charge is that for `claimed`.
    """
    everybody = np.ones(_PEOPLE, dtype=np.bool_)
    values, reach = centred(on_grid(np.eye(1, _PEOPLE)[0]), everybody)
    questions = everybody.astype(np.int64), values  # the count, then the sum

    def laws(budget: float) -> tuple[NoisyNumber, NoisyNumber]:
        budget_units = round(budget * MILLION)
        count = budget_units // _COUNT_SHARE
        return NoisyNumber(1, count, 1.0), NoisyNumber(reach, budget_units - count, HALF_STEP)

    def drawn(secret: Mask, rng: np.random.Generator) -> Floats:
        noises = laws(epsilon)
        below = partial(_below, rng)
        pairs = list(zip(questions, noises, strict=True))
        return np.array(
            [[release(query, secret, law, below) for query, law in pairs] for _ in range(draws)],
            dtype=float,
        )

    outputs = []
    centres = []
    for number in (0, 1):
        secret = np.array([number == 0, True, *[False] * (_PEOPLE - 2)])
        outputs.append(drawn(secret, child_generator(seed, f"query desk, table {number}")))
        centres.append([float(query[secret].sum()) for query in questions])
    charged = laws(claimed)
    scales = [law.reach * MILLION / law.epsilon for law in charged]
    return _compared(outputs, centres, [scales] * 2), sum(law.epsilon for law in charged) / MILLION


def _below(rng: np.random.Generator, number: int) -> int:
    return int(rng.integers(number))


def card_draws(claimed: float, epsilon: float, draws: int, *, seed: int) -> TwoTables:
    """Return what distinguishes two neighbouring tables in the noisy counts behind a model card."""
    predictions: Codes = np.eye(1, _PEOPLE, dtype=np.uint8)
    claimed_release, applied_release = (
        Release(predictions, statistics=("sp_gap",), decimals=None, epsilon=budget)
        for budget in (claimed, epsilon)
    )
    outputs = []
    centres = []
    for number in (0, 1):
        sensitive = np.array([number, 0, *[1] * (_PEOPLE - 2)], dtype=np.uint8)
        rng = child_generator(seed, f"model card, table {number}")
        members = applied_release.cells.members(sensitive)
        noisy_draws = [noisy_sums(applied_release, members, rng) for _ in range(draws)]
        outputs.append(np.array([[sizes[0], sums[0, 0]] for sizes, sums in noisy_draws]))
        centres.append([float(sensitive.sum()), float(sensitive[0])])
    return _compared(outputs, centres, [[claimed_release.noise_scale] * 2] * 2)


def _compared(
    outputs: list[Floats],
    centres: list[list[float]],
    scales: list[list[float]],
    *,
    cauchy: bool = False,
    delta: float = 0,
) -> TwoTables:
    """Return how the likelihood ratio of the claimed noise distinguishes outputs (draws, d) on each table."""

    def score(output: Floats) -> Floats:
        z = [
            np.abs(output - centre) / scale
            for centre, scale in zip(centres, np.array(scales), strict=True)
        ]
        negative_log_likelihoods = [
            np.log1p(deviation**2) if cauchy else deviation for deviation in z
        ]
        return np.round(
            (negative_log_likelihoods[0] - negative_log_likelihoods[1]).sum(axis=1), 9
        )  # but for a constant, which distinguishes nothing

    return distinguished(*(score(output) for output in reversed(outputs)), delta=delta)
