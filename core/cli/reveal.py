"""``python -m core reveal``: what answers to bias queries give away; the paper's table.

The noiseless rows of table 1 of Hamman et al. (2023), recomputed and printed beside the paper's.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import replace

from core.cli.arguments import (
    add_dataset_arguments,
    add_file_arguments,
    check_epsilon,
    dataset_of,
    table_named,
    write_csv,
)
from core.cli.console import Console, aligned, estimate_words
from core.config import AuditConfig
from core.datasets import build_dataset
from core.datasets.catalog import black_and_white
from core.errors import InputError
from core.queries import (
    NOISELESS_ATTACKS,
    TABLE_1,
    Answering,
    Asking,
    Leak,
    Mechanism,
    RevealSettings,
    Trials,
    accuracy_limit_with_prior,
    noiseless_row,
    prior_given_sizes,
    query_pool,
    repeats_for,
)
from core.settings import add_arguments as add_settings
from core.settings import from_arguments, given

_TABLE = ((100, 25), (100, 40), (1000, 300), (1000, 400))
_COMPLETE = {100: (25, 30, 35, 40, 45, 50, 55, 60), 1000: (200, 300, 400)}
_ATTACKS = {"l1": "l1 (paper's)", "nonnegative": "s >= 0", "box": "box, sum", "box_with_prior": "box, sum, prior"}


NAME = "reveal"
HELP = "print how much of an attribute answers to bias queries give away"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    add_dataset_arguments(parser)
    parser.add_argument("--table", action="store_true", help="the noiseless rows of Hamman et al.'s table 1, on Adult")
    add_settings(parser, Asking, "n")
    add_settings(parser, RevealSettings, "questions")
    add_settings(parser, Asking, "design")
    add_settings(parser, Answering)
    add_settings(parser, RevealSettings, "model_epsilon")
    add_settings(parser, Asking, "repeats", defaults={"repeats": None})
    add_settings(parser, AuditConfig, "method", "metric", "train_share", "seed")
    add_file_arguments(parser, "csv")


def run(arguments: argparse.Namespace, console: Console) -> None:
    """Measure and print."""
    asked = given(arguments, Asking)
    settings, answering = from_arguments(arguments, RevealSettings), from_arguments(arguments, Answering)
    config = from_arguments(arguments, AuditConfig, dataset=arguments.dataset, epsilon=settings.model_epsilon)
    if arguments.table:
        console.results(_noiseless_table(arguments, asked.get("repeats"), config.seed, console))
        return
    check_epsilon(config.epsilon, (config.method,), flag="--model-epsilon")
    if answering.as_published and answering.noise in ("exact", "rounded", "noisy_sums"):
        raise InputError(f"--as-published needs noise that the paper has, got --noise {answering.noise}.")
    repeats = repeats_for(asked.get("n", Asking().n))
    asking = Asking(**{"repeats": repeats, **asked}, seed=config.seed)
    console.results(_asked(arguments, settings.questions, answering, asking, config, console))


def _noiseless_table(arguments: argparse.Namespace, asked: int | None, seed: int, console: Console) -> Iterator[str]:
    """Yield the noiseless rows as printed lines, and the numbers of questions from which on everybody is known."""
    table, roles = black_and_white(table_named("adult", arguments))
    config = AuditConfig(dataset="adult", roles=roles, method="unmitigated", seed=seed)
    pool = query_pool(config, build_dataset(table, roles))
    yield "Hamman et al. (2023), table 1 without noise: Adult, Black and White people, questions jittered by 0.1"
    yield f"Leakage in % with 95% intervals over draws of people and questions, seed {seed}; a coin toss: 50"
    yield ""
    rows, records = [], []
    for i, (n, m) in enumerate(_TABLE):
        repeats = asked or (200 if n == 100 else 5)
        row = noiseless_row(pool, n, m, repeats=repeats, seed=seed)
        console.progress(i + 1, len(_TABLE), noun="rows")
        printed = next(r for r in TABLE_1 if (r.n, r.m) == (n, m) and r.epsilon == float("inf"))
        cells = [f"n = {n}, m = {m}", str(repeats), f"{100 * printed.leakage_cauchy:.0f}"]
        rows.append(cells + [estimate_words(row.leakages[attack]) for attack in NOISELESS_ATTACKS])
        packed = f"{row.bits_questions} questions" if row.bits_complete else "not everybody"
        rows[-1].append(packed)
        for attack in NOISELESS_ATTACKS:
            found = row.leakages[attack]
            records.append({"n": n, "m": m, "attack": attack, "published": printed.leakage_cauchy} | found.to_dict())
    yield aligned(["", "draws", "paper", *(_ATTACKS[a] for a in NOISELESS_ATTACKS), "bits: all in"], rows)
    for n, numbers in _COMPLETE.items():
        repeats = asked or (60 if n == 100 else 3)
        console.note(f"From how many questions on everybody of {n} is known")
        shares = {m: noiseless_row(pool, n, m, repeats=repeats, seed=seed).complete for m in numbers}
        yield ""
        yield f"Questions after which everybody is known in each of {repeats} draws, n = {n}:"
        for attack in NOISELESS_ATTACKS:
            known = next((m for m in numbers if all(shares[k][attack] == 1.0 for k in numbers if k >= m)), None)
            yield f"  {_ATTACKS[attack]}: " + (str(known) if known is not None else f"more than {numbers[-1]}")
    write_csv(records, arguments, console)


def _asked(
    arguments: argparse.Namespace,
    questions: tuple[int, ...] | None,
    answering: Answering,
    asking: Asking,
    config: AuditConfig,
    console: Console,
) -> Iterator[str]:
    """Yield the leakage of one way of asking."""
    mechanism = answering.mechanism()
    dataset = dataset_of(arguments)
    pool = query_pool(replace(config, roles=dataset.roles), dataset)
    trials = Trials(pool, asking)
    if answering.as_published and not mechanism.holds(trials.n_advantaged, trials.n_disadvantaged):
        console.note(mechanism.why(True))
    numbers = _numbers(questions, trials)
    model = config.method + (f", epsilon {config.epsilon:g}" if config.method == "dp_id3" else "")
    answers = _answers(answering)
    groups = f"{trials.n_advantaged} {pool.advantaged}, {trials.n_disadvantaged} {pool.disadvantaged}"
    yield f"{asking.n} people of {dataset.title}: {groups}"
    yield f"Questions: {asking.design}, about {pool.metric}, model {model}; answers: {answers}"
    yield f"{asking.repeats} draws of people, questions and noise, seed {asking.seed}; 95% intervals over them"
    yield "Leakage in % (balanced accuracy; a coin toss gives 50)"
    yield ""
    same = {"dataset": config.dataset, "metric": pool.metric, "model": model, "people": asking.n}
    same |= {"design": asking.design, "answers": answers, "seed": asking.seed, "draws": asking.repeats}
    rows, records = [], []
    for i, m in enumerate(numbers):
        leaks = [trials.leak(m, mechanism, decoder) for decoder in ("strongest", "without_prior", "published")]
        rows.append([str(m), *(estimate_words(leak.leakage) for leak in leaks)])
        records += [same | _record(leak) for leak in leaks]
        console.progress(i + 1, len(numbers), noun="numbers of questions")
    yield aligned(["answers", "strongest, with prior", "without prior", "paper's decoder"], rows)
    prior = trials.leak(0, mechanism, "strongest").leakage
    yield f"Without any answer, from features and label alone: {estimate_words(prior)}"
    limit = _limit(trials, mechanism)
    if limit is not None:
        yield f"What anybody with a calibrated prior and the group sizes can expect at most: {100 * limit:.1f}"
    write_csv(records, arguments, console)


def _answers(settings: Answering) -> str:
    """Return how answers are made, in words."""
    if settings.noise == "exact":
        return "exact"
    if settings.noise == "rounded":
        return f"rounded to {settings.decimals} decimals"
    delta = f", delta {settings.delta:g}" if settings.noise == "smooth_laplace" else ""
    return f"{settings.noise}, epsilon {settings.epsilon:g}{delta}" + (
        ", as published" if settings.as_published else ""
    )


def _limit(trials: Trials, mechanism: Mechanism) -> float | None:
    """Return the limit for attackers with prior and sizes, where the noise keeps its epsilon."""
    if not mechanism.holds(trials.n_advantaged, trials.n_disadvantaged):
        return None
    given = prior_given_sizes(trials.prior, trials.n_advantaged)
    return accuracy_limit_with_prior(given, 2 * mechanism.epsilon)  # type: ignore[attr-defined]


def _record(leak: Leak) -> dict[str, object]:
    """Return what a row of the file of numbers says of one leak."""
    found = leak.leakage
    return {
        "number of answers": leak.m,
        "decoder": leak.decoder,
        "leakage": found.value,
        "low": found.low,
        "high": found.high,
        "lowest draw": leak.lowest,
        "draws with everybody recovered": leak.complete,
    }


def _numbers(questions: tuple[int, ...] | None, trials: Trials) -> tuple[int, ...]:
    most = trials.numbers[-1]
    if questions is None:
        return trials.numbers[:: max(1, len(trials.numbers) // 8)]
    numbers = tuple(dict.fromkeys(questions))
    if outside := [m for m in numbers if m > most]:
        raise InputError(f"--questions must be in 0 to {most}, got {outside[0]}.")
    return numbers
