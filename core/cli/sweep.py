"""``python -m core sweep``: measure a grid of configurations and print it as tables."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Iterator

from core.cli.arguments import (
    add_dataset_arguments,
    add_running_arguments,
    add_seeds_argument,
    check_epsilon,
    finished,
    parts_of,
    seeds_in,
)
from core.cli.console import Console, estimate_words, picked
from core.cli.runner import show
from core.config import AuditConfig
from core.settings import add_arguments as add_settings
from core.settings import from_arguments
from core.sweep import (
    PAPER_TOLERANCES,
    TOLERANCES,
    SweepPoint,
    SweepRow,
    SweepSettings,
    SweepSummary,
    grid,
    measure,
    summarise,
)
from core.validation import unit_interval

NAME = "sweep"
HELP = "measure many configurations and print what attackers recover from each"

_RECOVERED = "method, metric, attacker, tolerance, seeds, true, majority, before, after, +gain"
_MODELS = (
    "method, metric, tolerance, model_train, model_test, model_majority, =unfairness_train, =unfairness_test, "
    "=difference_train, =difference_test"
)
_NAMED_TOLERANCES = {"18": TOLERANCES, "49": PAPER_TOLERANCES}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    add_dataset_arguments(parser)
    add_settings(parser, SweepSettings)
    add_settings(parser, AuditConfig, "epsilon", "train_share", "forest")
    add_seeds_argument(parser)
    add_running_arguments(parser)


def run(arguments: argparse.Namespace, console: Console) -> None:
    """Measure and print; what is stored already is not measured again."""
    settings = from_arguments(arguments, SweepSettings)
    config = from_arguments(arguments, AuditConfig, dataset=arguments.dataset)
    check_epsilon(config.epsilon, settings.methods)
    configs = grid(
        config,
        tolerances=_tolerances(settings.tolerances),
        methods=settings.methods,
        metrics=settings.metrics,
        seeds=seeds_in(arguments.seeds),
    )
    summary = summarise(finished(configs, arguments, console, measure=measure, result=SweepPoint))
    show(_sections(summary, settings, config), arguments, console, rows=summary.to_frame())


def _tolerances(text: str) -> tuple[float, ...]:
    if (named := _NAMED_TOLERANCES.get(text.strip())) is not None:
        return named
    parts = parts_of(text, name="--tolerances")
    return tuple(dict.fromkeys(unit_interval(part, name="--tolerances") for part in parts))  # type: ignore[arg-type]


def _sections(summary: SweepSummary, settings: SweepSettings, config: AuditConfig) -> Iterator[Iterable[str]]:
    """Yield the tables: recovered people, then the audited models; each number with its interval."""
    rows = [row for row in summary.rows if (row.protocol, row.cost) == (settings.protocol, settings.cost)]
    several = len({seed for row in rows for seed in row.seeds}) > 1
    over = "over seeds (t)" if several else "over people; one seed says nothing of another"
    where = f"{config.dataset}, exponent chosen {settings.protocol}, cost {settings.cost}"
    yield [
        f"People whose attribute is recovered, % of those trained on ({where})",
        f"In brackets: 95% intervals {over}. Majority: naming the larger group for everybody.",
    ]
    private = any(row.method == "dp_id3" for row in rows)
    yield [
        picked(rows, _RECOVERED, left=3, **_CELLS),
        f"dp_id3: a private tree trained with epsilon {config.epsilon:g}." if private else "",
        "true: seeds in which the model kept the tolerance told. n/a: no guess agrees with it; with --protocol",
        "as_published the tolerance is raised until the model keeps it.",
    ]
    yield [
        "Audited models: accuracy in %. Unfairness: largest deviation of a group from the overall rate. Difference:",
        "that between groups, which is Fairlearn's (demographic parity difference and kin).",
    ]
    yield [picked(rows, _MODELS, left=2)]


def _after(row: SweepRow) -> str:
    words, seeds = estimate_words(row.after), len(row.seeds)
    return words if row.after is None or row.after.seeds == seeds else f"{words} ({row.after.seeds} of {seeds})"


_CELLS: dict[str, Callable[[SweepRow], str]] = {
    "attacker": lambda row: row.adversary,
    "seeds": lambda row: str(len(row.seeds)),
    "true": lambda row: str(row.n_true),
    "after": _after,
}
