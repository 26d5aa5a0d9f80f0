"""``python -m core attribution``: where one kind of model's leak comes from, over seeds."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

from core.cli.arguments import (
    add_dataset_arguments,
    add_running_arguments,
    add_seeds_argument,
    check_epsilon,
    finished,
    seeds_in,
)
from core.cli.console import Console, aligned, estimate_words, table
from core.cli.runner import Row, sentences, show
from core.config import AuditConfig
from core.correction import (
    KINDS,
    MEASURES,
    STEP_TITLES,
    LeakAttribution,
    LeakPoint,
    RepeatedStep,
    attribute_over_seeds,
    leak_configs,
    measure_leak,
)
from core.correction.findings import constraint_effect, control_findings, mitigation_rows, mitigation_truth
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
    import pandas as pd

    config = from_arguments(arguments, AuditConfig, dataset=arguments.dataset)
    check_epsilon(config.epsilon, (config.method,))
    configs = leak_configs(config, seeds_in(arguments.seeds))
    points = sorted(
        finished(configs, arguments, console, measure=measure_leak, result=LeakPoint), key=lambda p: p.config.seed
    )
    own = [point for point in points if point.config.method == config.method]
    leaks = [attribute_over_seeds([point.attributions[name] for point in own]) for name in KINDS]
    sections = chain(_steps(config, leaks), _compared(points, own, config))
    show(sections, arguments, console, rows=pd.concat([leak.to_frame() for leak in leaks]))


def _steps(config: AuditConfig, leaks: Sequence[LeakAttribution]) -> Iterator[Iterable[str]]:
    first = leaks[0]
    over = "over seeds (t)" if first.n_seeds > 1 else "over people; one seed says nothing of another"
    what = f"{config.dataset}, {config.method}, {config.metric}"
    noise = f", trained with epsilon {config.epsilon:g}" if config.method == "dp_id3" else ""
    yield [
        f"Where the leak comes from: {what}, tolerance {config.tolerance:g}{noise}",
        f"{first.n_seeds} seeds; the model kept the tolerance in {first.n_true}. In brackets: 95% intervals {over}.",
        "Accuracies in %, log-loss in nats a person; each change is against the step the line builds on.",
    ]
    header = ["step", "accuracy", "change", "balanced", "change", "log-loss", "change"]
    for leak in leaks:
        yield [
            f"The {leak.attacker} attacker",
            aligned(header, [_cells(step) for step in leak.steps]),
            *(constraint_effect(leak, measure).text for measure in MEASURES),
            *(f"{STEP_TITLES[step.step]}: {reason}" for step in leak.steps for reason in step.reasons),
        ]


def _cells(step: RepeatedStep) -> list[str]:
    cells = [STEP_TITLES[step.step]]
    for measure in MEASURES:
        percent = measure != "log_loss"
        cells.append(estimate_words(step.values[measure], percent=percent))
        changed = estimate_words(step.changes[measure], percent=percent, signed=True) if step.changes else ""
        cells.append(changed)
    return cells


def _compared(points: Sequence[LeakPoint], own: Sequence[LeakPoint], config: AuditConfig) -> Iterator[Iterable[str]]:
    """Yield the model beside the unmitigated one, paired by seed, and the controls."""
    if rows := mitigation_rows(points, config):
        yield [
            f"With mitigation ({config.method}) and without, in %; differences in points, paired by seed",
            *sentences(mitigation_truth(points, config)),
            table([{name: f"{x:.2f}" if isinstance(x, float) else x for name, x in row.items()} for row in rows]),
        ]
    yield [finding.text for finding in control_findings(points, own, config)]
    yield [
        "Accuracy of the published attack A in %, by seed: corrected with the model's predictions, with permuted",
        "ones, and with a constraint the attacker estimates; and of both attackers on their own validation sets",
        table([_by_seed(point) for point in own]),
        "n/a: no guess agrees with the tolerance.",
    ]


def _by_seed(point: LeakPoint) -> Row:
    permuted, unknown = point.permuted, point.unknown
    return {
        "seed": str(point.config.seed),
        "before": permuted.real.before,
        "corrected": estimate_words(permuted.real.after),
        "permuted": estimate_words(permuted.permuted.after),
        "measured": estimate_words(unknown.estimated.after),
        "measured as": unknown.estimate.metric,
        "tolerance": f"{unknown.estimate.tolerance:.4f}",
        "A held out": point.held_out["features"],
        "strong": point.held_out["strong"],
    }
