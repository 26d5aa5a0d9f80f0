"""``fairleak attack queries``: leakage from answers to bias queries; the paper's table.

The noiseless rows of table 1 of Hamman et al. (2023), recomputed and printed beside the paper's.
"""

from __future__ import annotations

import argparse
import math
from dataclasses import replace

from core.cli.arguments import add_dataset_arguments, add_file_arguments, check_epsilon, dataset_of, table_named
from core.cli.console import Console, Outcome, present
from core.config import AuditConfig
from core.datasets import build_dataset
from core.datasets.catalog import black_and_white
from core.errors import InputError
from core.fairness import METRIC_TITLES
from core.quantities import Row, share
from core.queries import (
    DECODERS,
    NOISELESS_ATTACKS,
    NOISES,
    TABLE_1,
    Answering,
    Asking,
    RevealSettings,
    Trials,
    answers_leak,
    curve_finding,
    findings,
    noise_text,
    noiseless_row,
    query_pool,
    repeats_for,
)
from core.queries.findings import MEANING, tables
from core.serialize import plain
from core.settings import add_arguments as add_settings
from core.settings import from_arguments, given, params

_TABLE = ((100, 25), (100, 40), (1000, 300), (1000, 400))
_COMPLETE = {100: (25, 30, 35, 40, 45, 50, 55, 60), 1000: (200, 300, 400)}
_ATTACKS = {"l1": "l1 (paper's)", "nonnegative": "s >= 0", "box": "box, sum", "box_with_prior": "box, sum, prior"}


HELP = "Measure leakage from answers to bias queries."


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    add_dataset_arguments(parser)
    told = "The noiseless rows of Hamman et al.'s table 1 on Adult, recomputed."
    parser.add_argument("--table", action="store_true", help=told)
    add_settings(parser, Asking, "n")
    add_settings(parser, RevealSettings, "questions")
    add_settings(parser, Asking, "design")
    add_settings(parser, Answering)
    add_settings(parser, Asking, "repeats", defaults={"repeats": None})
    add_settings(parser, AuditConfig, "method", "metric", "epsilon", "depth", "train_share", "seed")
    add_file_arguments(parser)


def run(arguments: argparse.Namespace, console: Console) -> None:
    """Measure and print."""
    asked = given(arguments, Asking)
    settings, answering = from_arguments(arguments, RevealSettings), from_arguments(arguments, Answering)
    config = from_arguments(arguments, AuditConfig, dataset=arguments.dataset)
    if arguments.table:
        _check_table(arguments)
        present(_noiseless_table(arguments, asked.get("repeats"), config.seed, console), arguments, console)
        return
    check_epsilon(config.epsilon, (config.method,))
    if answering.as_published and answering.noise in ("exact", "rounded", "noisy_sums"):
        raise InputError(f"--as-published needs noise that the paper has, got --noise {answering.noise}.")
    repeats = repeats_for(asked.get("n", Asking().n))
    asking = Asking(**{"repeats": repeats, **asked}, seed=config.seed)
    present(_asked(arguments, settings.questions, answering, asking, config, console), arguments, console)


def _check_table(arguments: argparse.Namespace) -> None:
    """Refuse what the paper's table does not use."""
    flags = [
        params(cls)[name].flag
        for cls in (Asking, RevealSettings, Answering, AuditConfig)
        for name in given(arguments, cls)
    ]
    flags = [flag for flag in dict.fromkeys(flags) if flag not in ("--dataset", "--repeats", "--seed")]
    flags += ["--dataset"] * (arguments.dataset != "demo") + ["--attribute"] * (arguments.attribute is not None)
    if flags:
        raise InputError(
            f"--table is about Adult without noise and takes only --repeats, --seed and --data, got {', '.join(flags)}."
        )


def _noiseless_table(arguments: argparse.Namespace, asked: int | None, seed: int, console: Console) -> Outcome:
    """Return the noiseless rows, and the numbers of questions from which on everybody is known."""
    table, roles = black_and_white(table_named("adult", arguments))
    config = AuditConfig(dataset="adult", roles=roles, method="unmitigated", seed=seed)
    pool = query_pool(config, build_dataset(table, roles))
    rows: list[Row] = []
    report = console.counting("rows")
    for i, (n, m) in enumerate(_TABLE):
        repeats = asked or (200 if n == 100 else 5)
        row = noiseless_row(pool, n, m, repeats=repeats, seed=seed)
        report(i + 1, len(_TABLE))
        printed = next(r for r in TABLE_1 if (r.n, r.m, r.epsilon) == (n, m, math.inf)).leakages["cauchy"]
        own = {_ATTACKS[attack]: share(found) for attack, found in row.leakages.items()}
        packed = f"{row.bits_questions} queries" if row.bits_complete else "not everybody"
        beside = {"paper": share(printed), "features alone": share(row.prior)}
        rows.append({"n": n, "m": m, "draws": repeats} | beside | own | {"bits: all in": packed})
    complete: list[Row] = []
    for n, numbers in _COMPLETE.items():
        repeats = asked or (60 if n == 100 else 3)
        console.note(f"From how many queries on everybody of {n} is known")
        shares = {m: noiseless_row(pool, n, m, repeats=repeats, seed=seed).complete for m in numbers}
        for attack in NOISELESS_ATTACKS:
            known = next((m for m in numbers if all(shares[k][attack] == 1.0 for k in numbers if k >= m)), None)
            queries = str(known) if known is not None else f"more than {numbers[-1]}"
            complete.append({"attack": _ATTACKS[attack], "n": n, "draws": repeats, "queries": queries})
    return Outcome(
        about=(
            "Hamman et al. (2023), table 1 without noise: Adult, Black and White people, queries perturbed by 0.1",
            f"Leakage with 95% CI over people and queries drawn at random, seed {seed}; random guessing: 50%",
        ),
        findings=(),
        tables={"Leakage": rows, "Queries after which everybody is known in each repetition": complete},
    )


def _asked(
    arguments: argparse.Namespace,
    questions: tuple[int, ...] | None,
    answering: Answering,
    asking: Asking,
    config: AuditConfig,
    console: Console,
) -> Outcome:
    """Return the leakage of one way of asking, and what was found after the last answer."""
    mechanism, dataset = answering.mechanism(), dataset_of(arguments)
    pool = query_pool(replace(config, roles=dataset.roles), dataset)
    trials = Trials(pool, asking)
    numbers, leaks = _numbers(questions, trials), []
    report = console.counting("numbers of answers")
    for i, m in enumerate(numbers):
        leaks += [trials.leak(m, mechanism, decoder) for decoder in DECODERS]
        report(i + 1, len(numbers))
    model = config.method + (f", epsilon {config.epsilon:g}" if config.method == "dp_id3" else "")
    answers = noise_text(answering) + (f", δ = {answering.delta:g}" if answering.noise == "smooth_laplace" else "")
    answers += ", paper's protocol" if answering.as_published else ""
    groups = f"{trials.n_advantaged} {pool.advantaged}, {trials.n_disadvantaged} {pool.disadvantaged}"
    attribute, noises = dataset.roles.attribute, [noise for noise in NOISES if noise != "exact"]
    beside = answers_leak(trials, numbers[-1], answering, attribute=attribute, decoders=(), noises=noises)
    found = replace(beside, leaks=tuple(leak for leak in leaks if leak.m == numbers[-1]))
    return Outcome(
        about=(
            f"{asking.n} people of {dataset.title}: {groups}",
            f"Queries: {asking.design}, {METRIC_TITLES[pool.metric].lower()}, model {model}; answers: {answers}",
            f"{asking.repeats} draws of people, queries and noise, seed {asking.seed}",
        ),
        findings=(*findings(found, answering), curve_finding(trials, leaks, answering)),
        tables=tables({noise_text(answering): leaks}, found.errors),
        notes=MEANING,
        settings={"dataset": config.dataset, "model": plain(config), "asking": plain(asking)}
        | {"answering": plain(answering)},
    )


def _numbers(questions: tuple[int, ...] | None, trials: Trials) -> tuple[int, ...]:
    """Return after how many answers to measure, in their order; the finding is about the last."""
    most = trials.numbers[-1]
    numbers = trials.numbers[:: max(1, len(trials.numbers) // 8)] if questions is None else questions
    numbers = tuple(sorted({*numbers, most} if questions is None else set(numbers)))
    if outside := [m for m in numbers if m > most]:
        raise InputError(f"--questions must be in 0 to {most}, got {outside[0]}.")
    return numbers
