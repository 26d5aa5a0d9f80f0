"""Table 1 of Hamman et al. (2023) without noise: Attribute-Reveal on Adult, Black and White people, recomputed.

The paper leaves open which Black and White people a test set holds; here a sample holds the share it names (10.4%,
rounded up: 11 of 100, 104 of 1,000) and the base model is the tree without mitigation. The attacks are the paper's l1
and three stronger ones on the same answers.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from core.estimates import Estimate, rate_over_repeats
from core.queries.bits import reveal_bits
from core.queries.compressed import reveal_compressed
from core.queries.designs import design_scores, most_questions
from core.queries.gaps import leakage, statistical_parity_gap
from core.questions import People, QueryPool
from core.results import Result
from core.seeds import child_generator

PAPER_SHARE = 0.104
"""Share of Black people the paper names; complete records hold 9.8%."""

NOISELESS_ATTACKS = ("l1", "nonnegative", "box", "box_with_prior")
"""The paper's attack, s ≥ 0, the box with known sum, and the same with the strong attacker's prior."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NoiselessRow(Result):
    """One row of the table.

    Attributes
    ----------
    n, m : int
        People and questions.
    leakages : dict of attack to Estimate
        Mean and 95% interval over repeats.
    spreads : dict of attack to float
        Standard deviation over repeats.
    complete : dict of attack to float
        Share of repeats in which everybody was recovered.
    bits_complete : bool
        Whether the bits attack recovered everybody in every repeat, with `bits_questions` questions.
    """

    n: int
    m: int
    leakages: dict[str, Estimate]
    spreads: dict[str, float]
    complete: dict[str, float]
    bits_complete: bool
    bits_questions: int


def _people(pool: QueryPool, n: int, repeat: int, seed: int) -> People:
    rng = child_generator(seed, f"noiseless table, {n} people, repeat {repeat}")
    return pool.sample(n, rng, n_disadvantaged=math.ceil(PAPER_SHARE * n))


def noiseless_leakages(people: People, m: int, *, rng: np.random.Generator) -> dict[str, float]:
    """Return what each attack recovers of these people from m jittered questions, as leakage in [0, 1]."""
    scores = design_scores("jitter", people.base, m, rng=rng)
    answers = statistical_parity_gap(scores, people.sensitive)
    sizes = dict(zip(("n_advantaged", "n_disadvantaged"), people.sizes, strict=True))
    found = {}
    for attack in NOISELESS_ATTACKS:
        prior = people.prior if attack == "box_with_prior" else None
        method = "box" if attack == "box_with_prior" else attack
        found[attack] = leakage(
            people.sensitive, reveal_compressed(scores, answers, method=method, prior=prior, **sizes)
        )
    return found


def noiseless_row(
    pool: QueryPool,
    n: int,
    m: int,
    *,
    repeats: int,
    seed: int = 42,
) -> NoiselessRow:
    """Return one row: `repeats` draws of people and jitter.

    Raises
    ------
    InputError
        If the pool cannot give such samples.
    """
    told, packed = [], True
    questions = most_questions("bits", n) or 1
    for repeat in range(repeats):
        people = _people(pool, n, repeat, seed)
        told.append(noiseless_leakages(people, m, rng=_questions(seed, n, repeat)))
        packed = packed and _bits(people, questions)
    by_attack = {attack: [one[attack] for one in told] for attack in NOISELESS_ATTACKS}
    return NoiselessRow(
        n=n,
        m=m,
        leakages={attack: rate_over_repeats(values) for attack, values in by_attack.items()},
        spreads={attack: float(np.std(values, ddof=1)) if repeats > 1 else 0.0 for attack, values in by_attack.items()},
        complete={attack: float(np.mean([v == 1.0 for v in values])) for attack, values in by_attack.items()},
        bits_complete=packed,
        bits_questions=questions,
    )


def complete_from(
    pool: QueryPool, n: int, numbers: Sequence[int], *, repeats: int, seed: int = 42
) -> Iterator[tuple[int, dict[str, float]]]:
    """Yield, for each number of questions, the share of repeats in which each attack recovered everybody."""
    for m in numbers:
        row = [
            noiseless_leakages(_people(pool, n, repeat, seed), m, rng=_questions(seed, n, repeat))
            for repeat in range(repeats)
        ]
        yield m, {attack: float(np.mean([one[attack] == 1.0 for one in row])) for attack in NOISELESS_ATTACKS}


def _questions(seed: int, n: int, repeat: int) -> np.random.Generator:
    return child_generator(seed, f"noiseless table, questions about {n} people, repeat {repeat}")


def _bits(people: People, questions: int) -> bool:
    scores = design_scores("bits", people.base, questions, rng=np.random.default_rng(0))
    n1, n0 = people.sizes
    answers = statistical_parity_gap(scores, people.sensitive)
    found = reveal_bits(answers, people.n, n_advantaged=n1, n_disadvantaged=n0)
    return bool((found == people.sensitive).all())
