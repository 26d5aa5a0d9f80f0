"""NamedValues behind answers to bias queries are as they were: few people, lone ones, ties, either group the larger."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pytest

from core.studies.bias_queries import (
    BiasQueriesSettings,
    declared_limits,
    decoders,
    error_text,
    gaps,
    guarantees,
    mechanisms,
    reveal,
    trials,
)
from core.studies.bias_queries.mechanisms import (
    Exact,
    LaplaceGlobal,
    NoisySums,
    Rounded,
    SmoothCauchy,
    SmoothLaplace,
)
from tests.golden.numbers import NamedValues, compare_numbers, lines, refused
from tests.unit.queries.people import attribute, pool, posterior

SCORES = np.array([[0.0, 1.0, 0.25, 0.5, 0.875], [0.5, 0.5, 0.5, 1.0, 0.0], [0.3, 0.3, 0.3, 0.3, 0.3]])
SENSITIVE = np.array([1, 0, 1, 1, 0], dtype=np.uint8)
SIZES = [(n1, n0) for n1 in (1, 2, 3, 5, 9) for n0 in (1, 2, 4, 7) if n1 + n0 > 2]
KINDS = [{"absolute": absolute} for absolute in (False, True)]


def noisy(epsilon: float) -> list[Any]:
    """Return every mechanism with noise at a budget."""
    noises = [kind(epsilon, **how) for kind in (LaplaceGlobal, SmoothCauchy) for how in KINDS]
    noises += [SmoothLaplace(epsilon, delta, **how) for delta in (1e-5, 0.5) for how in KINDS]
    return [*noises, NoisySums(epsilon), NoisySums(epsilon, absolute=True)]


MECHANISMS = [Exact(), Exact(absolute=True), Rounded(0), Rounded(2), Rounded(1, absolute=True)]
MECHANISMS += [mechanism for epsilon in (0.3, 8.0, math.inf) for mechanism in noisy(epsilon)]


def name(mechanism: Any) -> str:
    """Return a short name: "LaplaceGlobal 0.3 absolute"."""
    budget = getattr(mechanism, "epsilon", getattr(mechanism, "decimals", ""))
    flags = ["absolute"] * mechanism.absolute
    return " ".join([type(mechanism).__name__, str(budget), str(getattr(mechanism, "delta", "")), *flags])


def flat(*values: Any) -> np.ndarray:
    """Return all numbers of some results in one array, None and what is no number as nan."""
    numbers = []
    for word in " ".join(line.partition(" = ")[2] for line in lines("", values)).split():
        try:
            numbers.append(float(word))
        except ValueError:
            numbers.append(math.nan)
    return np.array(numbers)


def rng() -> np.random.Generator:
    return np.random.default_rng(5)


def _gaps() -> NamedValues:
    wrong = [0, 1], [[1.0, 0.0]], [0.5], [1.0, 1.01], [0, -0.1], [[]]
    yield "scores", [refused(gaps.score_matrix, h, n=2) for h in wrong]
    yield "answers", [refused(gaps.answer_array, y) for y in (0.5, [1, -1], [[1.0]], [0, math.inf, math.nan], "x")]
    yield "attribute", [refused(gaps.attribute_array, a) for a in ([0, 1], [0, 0], [1], [], [2, 0])]
    yield "sizes", [refused(gaps.check_sizes, *s) for s in ((1, 1), (0, 3), (3, 0), (2, 3, 5), (3, 3, 5), (2, 2, 5))]
    yield "gap", gaps.statistical_parity_gap(SCORES, SENSITIVE)
    for values in ([1, 0, 1, 1, 0], [0, 0, 1, 1, 0], [1, 1, 1, 1, 0], [0, 1, 0, 0, 1], [1, 0]):
        yield f"leakage {values}", refused(gaps.leakage, SENSITIVE, values)
    prior = np.array([[0.2, 0.5, 0.9, 0.01], [0.999999, 0.5, 1e-6, 0.3]])
    yield "counted", [gaps.counted(prior, total) for total in (1, 2, 3)]
    sure = np.array([[1e-12, 1 - 1e-12, 1 - 1e-12, 1 - 1e-12], [1e-12, 1e-12, 1e-12, 1 - 1e-12]])
    yield "sure", [gaps.counted(sure, total) for total in (1, 2, 3)]
    for design, (n, m) in product(gaps.DESIGNS, ((3, 1), (3, 4), (3, 5), (60, 1), (60, 2), (60, 3))):
        base = np.linspace(0, 1, n) ** 2
        yield f"{design} {n} {m}", refused(gaps.design_scores, design, base, m, rng=rng())
    yield "most", [gaps.most_questions(design, n) for design in gaps.DESIGNS for n in (1, 49, 50, 51, 100, 101)]
    for beta, how in product((0.0, 0.04, 0.6, math.inf), KINDS):
        values = np.array([gaps.smooth_sensitivity(*s, m, beta, **how) for s in SIZES for m in (1, 3)])
        yield f"smooth {beta} {how}", values
    yield "refused", [refused(gaps.local_sensitivity, *s) for s in ((1, 1, 1), (0, 5, 1), (2, 2, 0))]
    yield "refused beta", [refused(gaps.smooth_sensitivity, 2, 2, 1, beta) for beta in (-0.1, math.nan)]


def _mechanisms() -> NamedValues:
    values = np.array([-3.2, -0.5, 0.49, 0.51, 1.5, 2.5, 1e30, -1e30])
    for scale in (0.0, 1e-9, 1.0, 1023.0, 1024.0, 1025.0, 3e6):
        grid = mechanisms.public_grid(scale)
        yield f"grid {scale}", [grid, *mechanisms.to_grid(values, grid), *mechanisms.to_grid(values, 1.0)]
    yield "epsilon", [refused(mechanisms.positive_epsilon, e) for e in (1, 0.0, -1, True, "1", math.nan, math.inf)]
    yield "refused", [refused(SmoothLaplace, 1.0, d) for d in (0.0, 1.0, 1.5)] + [refused(Rounded, d) for d in (-1, 16)]
    short = [(SCORES[:, :4], SENSITIVE[:4]), (SCORES[:2], SENSITIVE), (1 - SCORES[:1, ::-1], 1 - SENSITIVE)]
    for mechanism in MECHANISMS:
        reasons = [mechanism.why] if getattr(mechanism, "epsilon", 0.3) == 0.3 else []
        yield f"{name(mechanism)}", [mechanism.noise, mechanism.noisy, mechanism.half_width, *reasons]
        yield "holds", mechanism.holds
        yield "draws", np.concatenate([mechanism.draws(h, a, rng=rng(), draws=3).ravel() for h, a in short])
        if isinstance(mechanism, mechanisms.AdditiveNoise):
            yield (
                "scale",
                np.array([[mechanism.scale(*s, m), mechanism.grid(sum(s), m)] for s in SIZES for m in (1, 3)]),
            )
        elif isinstance(mechanism, NoisySums):
            yield "release", flat([mechanism.release(h, a, rng=rng()) for h, a in short])
            yield "one group", flat(refused(mechanism.release, SCORES, np.ones(5, dtype=int), rng=rng()))
            yield "alone", [refused(mechanism.answer, np.eye(k)[:1], [1, 0][:k], rng=rng()) for k in (1, 2)]
            yield "alike", mechanism.scales(SCORES[2])
    for noise, absolute in product(mechanisms.NOISES, (False, True)):
        mechanism = mechanisms.mechanism_of(noise, epsilon=2.0, decimals=4, absolute=absolute, delta=0.1)
        laplace = mechanisms.mechanism_of("laplace", epsilon=7.0, absolute=absolute)
        yield f"{noise} {absolute}", [str(mechanism), mechanism.noisy, str(laplace)]


def _guarantees() -> NamedValues:
    yield "no limit", [refused(guarantees.accuracy_limit, e) for e in (-0.1, math.nan)]
    prior, limit = np.array([[0.2, 0.5, 0.9, 0.01, 0.7]]), guarantees.exact_accuracy_limit
    untold: dict[str, Any] = {"answers": np.zeros((1, 0)), "half_width": 0.0, "absolute": False}
    sure = limit(np.zeros((1, 0, 400)), prior=np.full((1, 400), 0.99), n_advantaged=399, **untold)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(guarantees, "MOST_CELLS", 50)
        few = [limit(np.zeros((1, 0, 5)), prior=prior, n_advantaged=n1, **untold) for n1 in (1, 2, 3)]
        many = [limit(np.zeros((1, 0, 6)), prior=np.full((1, 6), 0.5), n_advantaged=n1, **untold) for n1 in (1, 2)]
    yield "ways", [sure, few, many]
    for mechanism in MECHANISMS:
        pairs = [
            (guarantees.largest_loss(mechanism, *s, m), guarantees.targeted_leakage(mechanism, *s))
            for s in SIZES
            for m in (1, 4)
        ]
        yield (
            f"{name(mechanism)}",
            np.array([[math.nan if bound is None else bound for bound in pair] for pair in pairs]),
        )
        yield "error", guarantees.answer_error(mechanism, SCORES, SENSITIVE, rng=rng(), draws=40)
    laws = product((0.0, 0.5), (0.0, 0.2), ("cauchy", "laplace"))
    yield "laws", [guarantees._two_laws(*law) for law in laws]
    yield "useless", [guarantees.ErrorQuantiles(median=m, high=2.0).exceeds_range for m in (0.999, 1.0, 1.001)]


def _propagation() -> NamedValues:
    generator = rng()
    rows, prior = generator.normal(size=(3, 4, 9)), generator.uniform(0.1, 0.9, (3, 9))
    truth = (np.arange(9) < 4) * np.array([[1], [1], [0]]) + (np.arange(9) > 4) * np.array([[0], [0], [1]])
    target = np.einsum("rmn,rn->rm", rows, truth) + 0.05
    for noise, scale in product(("laplace", "cauchy"), (0.02, 0.4, np.array([[0.1], [1.0], [30.0]]))):
        posterior = decoders.propagate(rows, target, noise=noise, scale=scale, n_ones=4, prior=prior)
        yield f"{noise} {np.ravel(scale)}", posterior
        state = decoders._begun(rows, target, np.full((3, 4), 0.3), prior)
    system = np.concatenate([rows, np.ones((3, 1, 9))], axis=1), np.hstack([target, np.full((3, 1), 4.0)])
    state = decoders._begun(*system, np.full((3, 4), 0.3), prior)
    for noise, floor in product(("laplace", "cauchy"), (1.0, 0.1)):
        after = decoders._round(decoders._round(state, noise, floor), noise, floor)
        yield f"round {noise} {floor}", flat(after, after.only(np.array([True, False, True])))
    yield "nothing told", decoders.propagate(rows * 0, target, noise="cauchy", scale=1.0, n_ones=4, prior=prior)
    yield "far", decoders.propagate(rows, target * 1e60, noise="laplace", scale=1e80, n_ones=4, prior=prior)


def _answered(mechanism: Any, design: str, m: int, n1: int, n0: int) -> decoders.AnsweredQueries:
    """Return three repeats of questions about few people, answered."""
    generator, n, repeats = np.random.default_rng([n1, m]), n1 + n0, range(3)
    sensitive = [attribute(n, n0, r) for r in repeats]
    base = generator.beta(0.4, 1.2, (3, n))
    base[0, :3] = 0.5
    if design == "single" or not m:
        scores = np.tile(np.eye(n)[:m], (3, 1, 1))
    else:
        scores = np.array([gaps.design_scores(design, b, m, rng=generator) for b in base])
    sums, released, answers = isinstance(mechanism, NoisySums) and m, [], np.zeros((3, m))
    for r in repeats if m else ():
        if sums:
            released.append(mechanism.release(scores[r], sensitive[r], rng=generator))
        answers[r] = released[r].gaps if sums else mechanism.draws(scores[r], sensitive[r], rng=generator, draws=1)[0]
    prior = np.clip(0.5 + 0.3 * (np.array(sensitive) - 0.5) + generator.uniform(-0.3, 0.3, (3, n)), 0.01, 0.99)
    how: dict[str, Any] = {"design": design, "mechanism": mechanism, "n_advantaged": n1, "n_disadvantaged": n0}
    return decoders.AnsweredQueries(scores=scores, answers=answers, released=released, prior=prior, **how)


def _read(answered: decoders.AnsweredQueries, decoder: str) -> np.ndarray:
    decoded = decoders.read_answers(answered, decoder)
    return np.concatenate(
        [np.concatenate([attribute.recovered, [attribute.threshold], attribute.values]) for attribute in decoded]
    )


def _decoders() -> NamedValues:
    yield (
        "few",
        flat([_read(_answered(mechanism, "jitter", 2, 6, 3), "strongest") for mechanism in (Exact(), Rounded(1))]),
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(guarantees, "MOST_CELLS", 0)  # few people stand for many, which are read otherwise
        yield from _decoders_of_many()


def _decoders_of_many() -> NamedValues:
    kinds = [Exact(), Rounded(2), LaplaceGlobal(400.0), SmoothCauchy(3000.0), NoisySums(30.0)]
    designs = {"jitter": (0, 3, 8), "random_binary": (4, 8), "targeted": (4, 8, 9), "bits": (1,)}
    for design, (n1, n0), mechanism in product(designs, ((6, 3), (3, 6), (4, 4)), kinds):
        for m in designs[design]:
            answered = _answered(mechanism, design, m, n1, n0)
            for decoder in decoders.DECODERS:
                if decoder != "published" or design in ("targeted", "bits") or m == 0:
                    yield f"{design} {n1} {n0} {name(mechanism)} {m} {decoder}", _read(answered, decoder)
    for (n1, n0), m, kind in product(((5, 3), (4, 4), (2, 6), (7, 1)), (1, 4, 8), (*kinds[:4], Rounded(0))):
        answered = _answered(replace(kind, absolute=True), "single", m, n1, n0)
        for decoder in decoders.DECODERS:
            yield f"single {n1} {n0} {name(answered.mechanism)} {m} {decoder}", _read(answered, decoder)
    for (n1, n0), decoder in product(((6, 2), (2, 6)), (*decoders.PROGRAMS, "published")):
        yield f"program {n1} {n0} {decoder}", _read(_answered(Exact(), "jitter", 7, n1, n0), decoder)
    exact = _answered(Exact(), "jitter", 3, 3, 2)
    uniform = replace(
        exact, scores=np.tile(SCORES, (3, 1, 1)), answers=np.tile(SCORES @ [1 / 3, -0.5, 1 / 3, 1 / 3, -0.5], (3, 1))
    )
    for how, m in product((Exact(), Rounded(0), Rounded(1), Rounded(2)), (1, 2)):
        output = [replace(uniform, mechanism=how, scores=h[np.newaxis, :m]) for h in (SCORES, np.round(SCORES))]
        yield f"suffices {name(how)} {m}", [decoders._suffices(variant, 0) for variant in output]
    for how in (Exact(), Rounded(1)):
        for aware in (False, True):
            vector = 1.0 - SENSITIVE
            yield "swaps", flat(decoders._but_for_swaps(replace(uniform, mechanism=how), 0, vector, aware=aware))
            yield "missed", decoders._missed(uniform, 0, vector)
    for mechanism in (Exact(), SmoothLaplace(5.0, 0.1), LaplaceGlobal(9.0, absolute=True)):
        for sizes in ((3, 2), (2, 3)):
            size_options: dict[str, Any] = dict(zip(("n_advantaged", "n_disadvantaged"), sizes, strict=True))
            alone, sure = np.eye(5), [0.0, 1.0, 0.4, 0.6, 0.7]
            for h, prior in ((SCORES, None), (alone[:3], sure), (alone[:3] / 2 + alone[2:] / 2, sure)):
                output = refused(posterior, h, [0.3, -0.2, 0.1], mechanism, prior=prior, **size_options)
                yield f"decoded {name(mechanism)} {sizes} {prior is None}", output
    released = NoisySums(9.0).release(SCORES, SENSITIVE, rng=rng())
    yield "sums", posterior(SCORES, released, NoisySums(9.0), n_advantaged=3, n_disadvantaged=2)


def _reveal() -> NamedValues:
    for first, second in ((0.2, 0.7), (0.7, 0.2), (0.5, 0.5), (0.0, 1e-13)):
        for answers in ((0.1, 0.3), (0.3, 0.1), (0.2, 0.2), (0.0, math.inf)):
            yield f"double {first} {second} {answers}", refused(reveal.reveal_double, answers, (first, second))
    for n, n0, off in product((3, 50, 51, 103), (1, 2, 30), (0.0, 1e-16, 0.01)):
        if n0 < n:
            a = attribute(n, n0)
            m = min(2, math.ceil(n / 50))
            gap_values = gaps.statistical_parity_gap(gaps.design_scores("bits", np.zeros(n), m, rng=rng()), a) + off
            output = reveal.reveal_bits(gap_values, n, n_advantaged=n - n0, n_disadvantaged=n0)
            yield f"bits {n} {n0} {off}", "".join(map(str, output))
    for m in (0, 2):
        yield f"bits refused {m}", refused(reveal.reveal_bits, np.zeros(m), 50, n_advantaged=49, n_disadvantaged=1)
    yield "alone", refused(reveal.partition_absolute, lambda h: np.ones(1), 1)
    yield "size", [refused(reveal._size, y, 5) for y in (1.0, 0.5, 0.25, 0.2, 0.0, 1 + 9e-7, 1 + 2e-6, 0.3, -0.5)]
    for (n1, n0), method, slack in product(((6, 2), (2, 6), (4, 4)), reveal.RECOVERY_METHODS, (0.0, 0.004)):
        answered = _answered(Exact(), "jitter", 7, n1, n0)
        options: dict[str, Any] = {"n_advantaged": n1, "n_disadvantaged": n0, "method": method, "slack": slack}
        for prior in (None, answered.prior[1]) if method == "box" else (None,):
            output = reveal.recover_compressed(answered.scores[1], answered.answers[1], prior=prior, **options)
            none = reveal.recover_compressed(answered.scores[1], answered.answers[1] + 5.0, prior=prior, **options)
            values = () if slack else (output.values,)
            yield f"{n1} {n0} {method} {slack} {prior is None}", flat(output.recovered, output.threshold, none, *values)
    box, sizes = {"method": "box"}, {"n_advantaged": 3, "n_disadvantaged": 2}
    for options in (
        *({"slack": slack} | sizes for slack in (-0.1, math.inf)),
        *({"prior": [0.5] * 5, "method": method} | sizes for method in ("l1", "l2")),
        *({"prior": prior} | box | sizes for prior in ([0.5] * 4, [2.0] * 5, 0.5)),
        *(box | extra for extra in ({}, {"n_advantaged": 3}, {"n_advantaged": 3, "n_disadvantaged": 3})),
    ):
        yield f"refused {options}", refused(reveal.recover_compressed, SCORES, [0.1, 0.2, 0.3], **options)
    yield "refused", refused(reveal.recover_compressed, SCORES, [0.1, 0.2], **sizes)
    for s in ([0.9, 0.8, 0.1, 0.05, 0], [0.35, 0.3, 0.3, 0.2, 0.2, 0.1], [0.4, 0, 0, 0], [1, 1, 1, 0]):
        yield f"two values {s}", reveal._nearest_two_values(np.array(s, dtype=float))
    for cost, low in (([1.0, 2.0], 0.5), ([-1.0, 1.0], 0.5), ([1.0, 1.0], 3.0)):
        output = reveal.solve_program(np.array(cost), np.ones((1, 2)), np.array([low]), np.array([2.0]), upper=1.0)
        yield f"program {cost} {low}", [output]


def _trials() -> NamedValues:
    for n, design in product((4, 7, 60, 300, 301, 2000), (*gaps.DESIGNS, "single")):
        yield f"numbers {n} {design}", trials.question_numbers(n, design)
    sizes = (0.0, 0.00009, 0.0001, 0.5, 1.0, 9.99, 99.99, 100.0, 999.9, 1000.0, 1000.5, 123456.0)
    yield "errors", [error_text(size) for size in sizes]
    for mechanism, questions in product(("exact", "rounded", "cauchy"), (0, 1)):
        yield f"declared {mechanism}", declared_limits(BiasQueriesSettings(questions=questions, mechanism=mechanism))
    people = pool(60, 14, seed=3)
    people = replace(people, people=replace(people.people, base=np.round(people.people.base, 1)))
    for n, n0 in (*((n, None) for n in (3, 4, 9, 20, 60, 61)), (20, 2), (20, 1), (20, 14), (20, 15), (50, 3)):
        yield f"sizes {n} {n0}", refused(people.sizes, n, n0)
        yield "drawn", flat(refused(people.sample, n, rng(), n_disadvantaged=n0))
    for n, design, most in ((12, "jitter", None), (12, "targeted", 5), (8, "single", None), (12, "bits", 1)):
        trial_runs = trials.Trials(people, n=n, design=design, repeats=4, seed=3, most=most)
        single = design == "single"
        yield (
            f"{n} {design}",
            [
                trial_runs.numbers,
                trial_runs.n_advantaged,
                trial_runs.n_disadvantaged,
                list(trials.coarse_first(trial_runs.numbers)),
            ],
        )
        yield (
            "limits",
            [trial_runs.limit(e, with_sizes=with_sizes) for e in (0.0, 0.5, 3.0) for with_sizes in (False, True)],
        )
        for how in (Exact(), Rounded(1), SmoothCauchy(500.0), LaplaceGlobal(1.0)):
            mechanism = replace(how, absolute=single)
            for m in (0, 1, trial_runs.numbers[-1]):
                yield (
                    f"{name(mechanism)} {m}",
                    flat(trial_runs.leak(m, mechanism, "strongest"), trial_runs.ceiling(m, mechanism)),
                )
            yield "error", trial_runs.error(1, mechanism)
        yield (
            "kept",
            [trial_runs.bound(noise_mechanism) for noise_mechanism in (SmoothCauchy(0.3), SmoothLaplace(0.3, 0.1))],
        )
        yield "sums", [trial_runs.bound(NoisySums(0.7)), refused(trial_runs.ask, trial_runs.numbers[-1] + 1, Exact())]
        yield "accuracy", flat([trial_runs.accuracy(m) for m in (0, 1, trial_runs.numbers[-1])])
        yield "reading", flat(trial_runs.decoding(1, Exact(absolute=single), "strongest", 2))


CASES = {"gaps": _gaps, "mechanisms": _mechanisms, "guarantees": _guarantees, "propagation": _propagation}
CASES |= {"decoders": _decoders, "reveal": _reveal, "trials": _trials}


@pytest.mark.long
@pytest.mark.parametrize("part", CASES)
def test_numbers(part: str) -> None:
    compare_numbers(f"queries-{part}", CASES[part]())
