"""``fairleak attack bias_queries``: leakage from answers to bias queries."""

from __future__ import annotations

import argparse
from dataclasses import replace

from ..base.errors import InputError
from ..base.serialize import plain
from ..base.settings import add_arguments as add_settings
from ..base.settings import flag_values, from_arguments
from ..stats.fairness import METRIC_TITLES
from ..studies.bias_queries import (
    DECODERS,
    NOISES,
    Answering,
    Asking,
    RevealSettings,
    Trials,
    answers_leak,
    curve_finding,
    findings,
    noise_text,
    query_pool,
    repeats_for,
)
from ..studies.bias_queries.findings import MEANING, tables
from ..studies.config import AuditConfig
from .arguments import add_dataset_arguments, add_file_arguments, check_epsilon, dataset_of
from .console import CommandOutcome, Console, present

HELP = "Measure leakage from answers to bias queries."


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    add_dataset_arguments(parser)
    add_settings(parser, Asking, "n")
    add_settings(parser, RevealSettings, "questions")
    add_settings(parser, Asking, "design")
    add_settings(parser, Answering)
    add_settings(parser, Asking, "repeats", defaults={"repeats": None})
    add_settings(parser, AuditConfig, "method", "metric", "epsilon", "depth", "train_share", "seed")
    add_file_arguments(parser)


def run(arguments: argparse.Namespace, console: Console) -> None:
    """Measure and print."""
    options = flag_values(arguments, Asking)
    settings, answering = from_arguments(arguments, RevealSettings), from_arguments(arguments, Answering)
    config = from_arguments(arguments, AuditConfig, dataset=arguments.dataset)
    check_epsilon(config.epsilon, (config.method,))
    repeats = repeats_for(options.get("n", Asking().n))
    asking = Asking(**{"repeats": repeats, **options}, seed=config.seed)
    present(_outcome(arguments, settings.questions, answering, asking, config, console), arguments, console)


def _outcome(
    arguments: argparse.Namespace,
    questions: tuple[int, ...] | None,
    answering: Answering,
    asking: Asking,
    config: AuditConfig,
    console: Console,
) -> CommandOutcome:
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
    groups = f"{trials.n_advantaged} {pool.advantaged}, {trials.n_disadvantaged} {pool.disadvantaged}"
    attribute, noises = dataset.roles.attribute, [noise for noise in NOISES if noise != "exact"]
    beside = answers_leak(trials, numbers[-1], answering, attribute=attribute, decoders=(), noises=noises)
    final_leak = replace(beside, leaks=tuple(leak for leak in leaks if leak.m == numbers[-1]))
    return CommandOutcome(
        about=(
            f"{asking.n} people of {dataset.title}: {groups}",
            f"Queries: {asking.design}, {METRIC_TITLES[pool.metric].lower()}, model {model}; answers: {answers}",
            f"{asking.repeats} draws of people, queries and noise, seed {asking.seed}",
        ),
        findings=(*findings(final_leak, answering), curve_finding(trials, leaks, answering)),
        tables=tables({noise_text(answering): leaks}, final_leak.errors),
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
