"""``python -m core reveal``: leakage from answers to bias queries; the paper's table.

The noiseless rows of table 1 of Hamman et al. (2023), recomputed and printed beside the paper's.
"""

from __future__ import annotations

import argparse
import math
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
from core.estimates import percent
from core.fairness import METRIC_TITLES
from core.queries import (
    DECODER_TITLES,
    DECODERS,
    NOISELESS_ATTACKS,
    TABLE_1,
    Answering,
    Asking,
    RevealSettings,
    Trials,
    answers_leak,
    findings,
    noise_text,
    noiseless_row,
    query_pool,
    repeats_for,
)
from core.settings import add_arguments as add_settings
from core.settings import from_arguments, given

_TABLE = ((100, 25), (100, 40), (1000, 300), (1000, 400))
_COMPLETE = {100: (25, 30, 35, 40, 45, 50, 55, 60), 1000: (200, 300, 400)}
_ATTACKS = {"l1": "l1 (paper's)", "nonnegative": "s >= 0", "box": "box, sum", "box_with_prior": "box, sum, prior"}


NAME = "reveal"
HELP = "measure leakage from answers to bias queries"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    add_dataset_arguments(parser)
    parser.add_argument(
        "--table", action="store_true", help="recompute the noiseless rows of Hamman et al.'s table 1 on Adult"
    )
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
    yield "Hamman et al. (2023), table 1 without noise: Adult, Black and White people, queries perturbed by 0.1"
    yield f"Leakage in % with 95% CI over draws of people and queries, seed {seed}; random guessing: 50"
    yield ""
    rows, records = [], []
    for i, (n, m) in enumerate(_TABLE):
        repeats = asked or (200 if n == 100 else 5)
        row = noiseless_row(pool, n, m, repeats=repeats, seed=seed)
        console.progress(i + 1, len(_TABLE), noun="rows")
        printed = next(r for r in TABLE_1 if (r.n, r.m, r.epsilon) == (n, m, math.inf)).leakages["cauchy"]
        cells = [f"n = {n}, m = {m}", str(repeats), f"{100 * printed:.0f}"]
        packed = f"{row.bits_questions} queries" if row.bits_complete else "not everybody"
        rows.append([*cells, *map(estimate_words, row.leakages.values()), packed])
        for attack, found in row.leakages.items():
            records.append({"n": n, "m": m, "attack": attack, "published": printed} | found.to_dict())
    yield aligned(["", "draws", "paper", *(_ATTACKS[a] for a in NOISELESS_ATTACKS), "bits: all in"], rows)
    for n, numbers in _COMPLETE.items():
        repeats = asked or (60 if n == 100 else 3)
        console.note(f"From how many queries on everybody of {n} is known")
        shares = {m: noiseless_row(pool, n, m, repeats=repeats, seed=seed).complete for m in numbers}
        yield ""
        yield f"Queries after which everybody is known in each of {repeats} draws, n = {n}:"
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
    """Yield the leakage of one way of asking, and what was found after the last answer."""
    mechanism, dataset = answering.mechanism(), dataset_of(arguments)
    pool = query_pool(replace(config, roles=dataset.roles), dataset)
    trials = Trials(pool, asking)
    numbers = _numbers(questions, trials)
    model = config.method + (f", epsilon {config.epsilon:g}" if config.method == "dp_id3" else "")
    answers = noise_text(answering) + (f", δ = {answering.delta:g}" if answering.noise == "smooth_laplace" else "")
    answers += ", paper's protocol" if answering.as_published else ""
    groups = f"{trials.n_advantaged} {pool.advantaged}, {trials.n_disadvantaged} {pool.disadvantaged}"
    yield f"{asking.n} people of {dataset.title}: {groups}"
    yield f"Queries: {asking.design}, {METRIC_TITLES[pool.metric].lower()}, model {model}; answers: {answers}"
    draws = f"{asking.repeats} draws of people, queries and noise, seed {asking.seed}"
    yield f"Balanced accuracy in % with 95% CI over {draws}"
    yield ""
    same = {"dataset": config.dataset, "metric": pool.metric, "model": model, "people": asking.n}
    same |= {"design": asking.design, "answers": answers, "seed": asking.seed, "draws": asking.repeats}
    rows, records = [], []
    for i, m in enumerate(numbers):
        leaks = [trials.leak(m, mechanism, decoder) for decoder in DECODERS]
        rows.append([str(m), *(estimate_words(leak.leakage) for leak in leaks)])
        for leak in leaks:
            rate = {"leakage": leak.leakage.value, "low": leak.leakage.low, "high": leak.leakage.high}
            own = {"lowest draw": leak.lowest, "draws with everybody recovered": leak.complete}
            records.append(same | {"number of answers": m, "decoder": leak.decoder} | rate | own)
        console.progress(i + 1, len(numbers), noun="numbers of answers")
    yield aligned(["answers", *(DECODER_TITLES[decoder] for decoder in DECODERS)], rows)
    yield ""
    found = findings(answers_leak(trials, numbers[-1], answering, attribute=dataset.roles.attribute), answering)[0]
    yield from (found.point, found.evidence, *found.caveats, found.so_what, found.to_do)
    if (bound := trials.bound(mechanism)) is not None:
        yield f"Bound for any attacker with a calibrated prior and the group sizes: {percent(bound)}."
    write_csv(records, arguments, console)


def _numbers(questions: tuple[int, ...] | None, trials: Trials) -> tuple[int, ...]:
    most = trials.numbers[-1]
    if questions is None:
        return trials.numbers[:: max(1, len(trials.numbers) // 8)]
    numbers = tuple(dict.fromkeys(questions))
    if outside := [m for m in numbers if m > most]:
        raise InputError(f"--questions must be in 0 to {most}, got {outside[0]}.")
    return numbers
