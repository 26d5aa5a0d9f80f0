"""``python -m core attribution``: where one kind of model's leak comes from, over seeds."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from core.cli.arguments import (
    add_dataset_arguments,
    add_running_arguments,
    add_seeds_argument,
    check_epsilon,
    finished,
    seeds_in,
)
from core.cli.console import Console
from core.cli.outcome import Outcome, present
from core.config import AuditConfig
from core.correction import (
    KINDS,
    MEASURES,
    Attribution,
    LeakPoint,
    attribute_over_seeds,
    leak_configs,
    measure_leak,
)
from core.correction.findings import constraint_effect, control_findings, mitigation_truth
from core.correction.tables import DETAILS, MEANING, tables
from core.serialize import plain
from core.settings import add_arguments as add_settings
from core.settings import from_arguments

NAME = "attribution"
HELP = "print what each piece of knowledge adds to what attackers recover, over seeds"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    add_dataset_arguments(parser)
    add_settings(parser, AuditConfig, "method", "metric", "tolerance", "epsilon", "train_share", "forest")
    add_seeds_argument(parser)
    add_running_arguments(parser)


def run(arguments: argparse.Namespace, console: Console) -> None:
    """Measure the model and its unmitigated twin for every seed, and print the attribution of both attackers."""
    config = from_arguments(arguments, AuditConfig, dataset=arguments.dataset)
    check_epsilon(config.epsilon, (config.method,))
    configs = leak_configs(config, seeds_in(arguments.seeds))
    points = sorted(
        finished(configs, arguments, console, measure=measure_leak, result=LeakPoint), key=lambda p: p.config.seed
    )
    own = [point for point in points if point.config.method == config.method]
    leaks = [attribute_over_seeds([point.attributions[name] for point in own]) for name in KINDS]
    effects = [constraint_effect(leak, measure) for leak in leaks for measure in MEASURES]
    mitigated = [] if config.method == "unmitigated" else [mitigation_truth(points, config)]
    found = Outcome(
        about=list(_about(config, leaks[0])),
        findings=[*effects, *mitigated, *control_findings(points, own, config)],
        tables=tables(points, leaks, config),
        details=DETAILS,
        notes=MEANING,
        settings={"settings": plain(config) | {"seed": [point.config.seed for point in own]}},
    )
    present(found, arguments, console)


def _about(config: AuditConfig, first: Attribution) -> Iterator[str]:
    over = "over seeds (t)" if first.n_seeds > 1 else "over people; one seed says nothing of another"
    what = f"{config.dataset}, {config.method}, {config.metric}"
    noise = f", trained with epsilon {config.epsilon:g}" if config.method == "dp_id3" else ""
    yield f"Where the leak comes from: {what}, tolerance {config.tolerance:g}{noise}"
    yield f"{first.n_seeds} seeds; the model kept the tolerance in {first.n_true}. In brackets: 95% intervals {over}."
