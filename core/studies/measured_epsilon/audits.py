"""The mechanisms with a privacy budget, each run where one person shows most, and what was seen of them.

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
from dataclasses import dataclass
from functools import partial

import numpy as np

from ...base.arrays import Codes, Floats, Mask
from ...base.seeds import child_generator, child_seed
from ...base.serialize import Result
from ...desk.noise import HALF_STEP, MILLION, Noise, centred, on_grid, release
from ...models.tree_budget import BudgetLedger
from ..bias_queries.guarantees import largest_loss
from ..bias_queries.mechanisms import (
    AdditiveNoise,
    LaplaceGlobal,
    NoisySums,
    SmoothCauchy,
    SmoothLaplace,
)
from ..model_card.release import Release, noisy_sums
from .bounds import OneRun, TwoTables, distinguished

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
    delta: float = 0.0

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

    def mechanism_audit(
        name: str, seen: OneRun | TwoTables, spent: float | None, delta: float = 0.0
    ) -> MechanismAudit:
        return MechanismAudit(mechanism=name, promised=epsilon, spent=spent, seen=seen, delta=delta)

    def answers(name: str, build: Callable[[float], _Mechanism], delta: float) -> MechanismAudit:
        claimed = build(epsilon)
        spent = largest_loss(claimed, _PEOPLE - 2, 2, 1)
        if spent is None and claimed.holds:
            spent = epsilon  # proved up to δ
        seen = answer_draws(
            claimed, build(applied_epsilon), repeats, seed=seed, name=name, delta=delta
        )
        return mechanism_audit(name, seen, spent, delta)

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
            scales.append([claimed.scales(scores).count, claimed.scales(scores).sums])
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

    def laws(budget: float) -> tuple[Noise, Noise]:
        budget_units = round(budget * MILLION)
        count = budget_units // _COUNT_SHARE
        return Noise(1, count, 1.0), Noise(reach, budget_units - count, HALF_STEP)

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
        outputs.append(np.array([[draw.sizes[0], draw.sums[0, 0]] for draw in noisy_draws]))
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
